"""Finding the place that an imperfect edit means, and writing only what the edit changes."""
