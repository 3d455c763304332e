"""Settings: one model, four layers (defaults, user, trusted project, environment), errors with file and line."""
