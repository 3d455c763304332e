"""The prompt: an editor with history, completion, paste chips and three modes."""
