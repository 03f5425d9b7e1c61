"""The papers' experiments: command lines, and one module per paper with what its items need beyond YAML."""
