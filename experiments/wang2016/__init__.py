"""Wang & Tanaka 2016."""
