"""Slash commands: the registry, and a file a command."""
