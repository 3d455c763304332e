"""Commands in pseudo-terminals and the emulation of their screens; it knows nothing of Textual, tools or the agent."""
