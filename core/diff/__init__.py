"""Differences of two texts: computed by line, cut into hunks, marked by word, counted, written and read as text."""
