"""Presenters: one a pane; messages of the session become widget calls, messages of widgets become requests."""
