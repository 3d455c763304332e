"""Screens that compose panes."""
