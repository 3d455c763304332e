"""The line at the foot of the screen: how things stand, and which keys work now."""
