"""The application that others are compared with: a Textual `TextArea` and a `Footer`, and nothing else."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Footer, TextArea


class BareApp(App[None]):
    def compose(self) -> ComposeResult:
        yield TextArea()
        yield Footer()


if __name__ == "__main__":
    BareApp().run()
