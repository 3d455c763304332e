"""Undo: what our tools and commands changed on disk, kept so that it can be put back. It asks no one, shows nothing,
and never gives git an order that writes."""
