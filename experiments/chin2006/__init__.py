"""Chin & Suter 2006."""
