"""Frozen data that every part speaks: it imports nothing of the house and only the standard library."""
