"""The transcript: one line-API widget over blocks; it draws what it is given and knows no event, tool or agent."""
