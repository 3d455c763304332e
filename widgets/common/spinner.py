"""A one-cell spinner: frames by time, and a timer that exists only while something runs and can be seen."""

from __future__ import annotations

from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget

FRAMES = "◐◓◑◒"
STILL = "◐"
INTERVAL = 0.25
"""Seconds between frames: slow enough to cost next to nothing over a slow line."""


def spinner_frame(elapsed: float) -> str:
    """Return the frame that belongs to `elapsed` seconds."""
    return FRAMES[int(elapsed / INTERVAL) % len(FRAMES)]


class Spinner:
    """Calls `tick` while it is started, the application has the focus and motion is not reduced.

    Args:
        widget: owns the timer; it must be mounted before `start`.
        tick: draws the next frame.
    """

    def __init__(self, widget: Widget, tick: Callable[[], None]) -> None:
        self._widget = widget
        self._tick = tick
        self._timer: Timer | None = None
        self._wanted = False
        self._watching = False

    @property
    def is_moving(self) -> bool:
        """Whether a timer runs now."""
        return self._timer is not None

    def start(self) -> None:
        """Start to turn, as soon as that is allowed."""
        self._wanted = True
        if not self._watching:
            self._watching = True
            self._widget.watch(self._widget.app, "app_focus", self._decide, init=False)
        self._decide()

    def stop(self) -> None:
        """Stop; nothing runs any more."""
        self._wanted = False
        self._decide()

    def _decide(self) -> None:
        app = self._widget.app
        moving = self._wanted and app.app_focus and app.animation_level != "none"
        if moving and self._timer is None:
            self._timer = self._widget.set_interval(INTERVAL, self._tick)
        elif not moving and self._timer is not None:
            self._timer.stop()
            self._timer = None
