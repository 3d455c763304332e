"""The engine of file operations: what changes in files, found and planned. It asks no one and draws nothing."""
