"""The user's files: which may be touched, how they are read and written, found and searched. It knows no tool."""
