"""The changes pane: what each turn changed on disk."""
