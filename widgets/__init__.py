"""Textual widgets: they know Textual, Rich and core.contract, nothing else of the house."""
