"""Settings: one model; layers (defaults, user, trusted project, environment, flags); errors that name file and line."""
