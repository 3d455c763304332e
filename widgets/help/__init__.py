"""The help; imported when it is first asked for."""
