"""Tools: the framework that they are made with, the registry that holds them, and the built-in ones."""
