"""Washizawa 2012."""
