"""The only place that knows both Textual and the core: composition, presenters, screens, commands, actions."""
