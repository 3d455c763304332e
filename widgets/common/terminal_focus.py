"""A cursor that shows whether the terminal has the focus, and lets a key that is typed just then be shown first."""

from __future__ import annotations

from textual.widget import Widget

_PATIENCE = 0.05
"""Seconds until the cursor is painted anew; at once, a key that comes with the focus would wait for the next frame."""


def follow_terminal_focus(widget: Widget) -> None:
    """Paint a widget anew a moment after the terminal lost the focus, or has it again."""

    def repaint() -> None:
        widget.notify_style_update()  # what it keeps of its lines
        widget.refresh()

    def repaint_soon() -> None:
        widget.set_timer(_PATIENCE, repaint)

    widget.watch(widget.app, "app_focus", repaint_soon, init=False)
