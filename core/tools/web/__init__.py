"""Fetching from the web: only from public addresses, within limits, and only what robots.txt allows."""
