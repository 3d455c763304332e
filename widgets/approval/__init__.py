"""Dialogs that ask for a decision. They know no policy: what they show and what they answer is `core.contract`."""
