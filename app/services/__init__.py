"""The edges between the screen and the operating system: editor, clipboard, notifications."""
