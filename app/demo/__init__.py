"""The guided session: a scratch project, a scripted model and a guide, played in the real application."""
