"""The context view: what fills the model's window."""
