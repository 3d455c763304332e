"""The status bar: mode, model, context, cost, branch, jobs, and what the agent does. Idle it has no timer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from rich.segment import Segment
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from widgets.common.measures import format_duration
from widgets.common.spinner import STILL, Spinner, spinner_frame
from widgets.status.state import SEPARATOR, Part, Status, fit_parts, list_parts

SHOW_TIME_AFTER = 2.0
"""Seconds that something takes before its time is shown."""


class StatusBar(Widget):
    """Shows a `Status`; posts `Chosen` with the name of the part that was clicked.

    Args:
        ascii_only: no other than ASCII signs.
        clock: seconds, monotonic.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"status--{name}" for name in ("warn", "bad", "good", "strong", "rule")}

    status: reactive[Status] = reactive(Status(), init=False)

    class Chosen(Message):
        """A part was clicked: `mode`, `model`, `context`, `cost`, `branch`, `jobs`, `servers`, `todo` …"""

        def __init__(self, part: str) -> None:
            super().__init__()
            self.part = part

    def __init__(self, *, ascii_only: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id="status")
        self._ascii = ascii_only
        self._clock = clock
        self._since = 0.0
        self._drawn = ""
        self._shown: list[Part] = []
        self._spinner = Spinner(self, self._tick)

    def update_status(self, **changes: Any) -> None:
        """Change fields of the status: `update_status(model="…", jobs=2)`."""
        self.status = replace(self.status, **changes)

    def on_mount(self) -> None:
        if self.status.activity:
            self._spinner.start()

    def watch_status(self, before: Status, now: Status) -> None:
        if now.activity and not before.activity:
            self._since = self._clock()
        if self.is_mounted and bool(now.activity) is not bool(before.activity):
            if now.activity:
                self._spinner.start()
            else:
                self._spinner.stop()

    @property
    def is_moving(self) -> bool:
        """Whether a timer runs."""
        return self._spinner.is_moving

    def _tick(self) -> None:
        if self._busy() != self._drawn:
            self.refresh()

    def _busy(self) -> str:
        if not self.status.activity:
            return ""
        elapsed = self._clock() - self._since
        sign = "*" if self._ascii else spinner_frame(elapsed) if self._spinner.is_moving else STILL
        took = f" {format_duration(int(elapsed))}" if elapsed >= SHOW_TIME_AFTER else ""
        return f"{sign} {self.status.activity}{took}"

    def parts(self) -> list[Part]:
        """Return everything that there is to show now."""
        return list_parts(self.status, self._busy(), ascii_only=self._ascii)

    def render_line(self, y: int) -> Strip:
        base, width = self.rich_style, self.size.width
        if y:
            return Strip.blank(width, base)
        self._drawn = self._busy()
        self._shown = fit_parts(self.parts(), width)
        rule = Segment("|".center(3) if self._ascii else SEPARATOR, base + self._style("rule"))
        segments: list[Segment] = []
        for part in self._shown:
            if segments:
                segments.append(rule)
            segments.append(Segment(part.text, base + self._style(part.style) if part.style else base))
        return Strip(segments).adjust_cell_length(width, base)

    def _style(self, name: str) -> Any:
        return self.get_component_rich_style(f"status--{name}")

    def on_click(self, event: Click) -> None:
        x = event.x
        for part in self._shown:
            if 0 <= x < part.width:
                self.post_message(self.Chosen(part.name))
                return
            x -= part.width + len(SEPARATOR)
