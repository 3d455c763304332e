"""The agent: one turn from the prompt to the answer. It owns no feature; it only keeps the conversation valid."""
