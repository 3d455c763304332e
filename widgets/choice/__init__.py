"""Choosing one of many, by name."""
