"""Kinds of figures: pure functions of records or arrays; each returns a matplotlib Figure."""
