"""Marukatat 2016."""
