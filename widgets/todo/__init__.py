"""The todo pane."""
