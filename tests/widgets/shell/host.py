"""A small host of the shell pane, and what its tests feed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from core.contract.frame import Row, Span, TerminalFrame, WrappedRow
from widgets.shell.messages import JobKillRequested, JobResized, JobShown, KeysTyped, LeaveRequested, TextSelected
from widgets.shell.pane import ShellPane

STYLES = Path(__file__).parents[3] / "styles"


def row(*texts: str | Span) -> Row:
    return tuple(text if isinstance(text, Span) else Span(text) for text in texts)


def frame(*rows: Row, columns: int = 40, lines: int = 9, **values: object) -> TerminalFrame:
    filled = (*rows, *[()] * (lines - len(rows)))
    return replace(TerminalFrame(columns, lines, filled, cursor_line=len(rows)), **values)  # type: ignore[arg-type]  # checked by the dataclass


class Lines:
    """A scrollback of numbered lines."""

    def __init__(self, count: int) -> None:
        self.gone = 0
        self.all = [row(f"old {number}") for number in range(count)]

    def __len__(self) -> int:
        return len(self.all)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        return self.all[max(0, start) : max(0, stop)]

    def wraps(self, start: int, stop: int) -> Sequence[bool]:
        return [isinstance(row, WrappedRow) for row in self.rows(start, stop)]


class ShellHost(App[None]):
    CSS_PATH = [STYLES / "shell.tcss"]

    def __init__(self) -> None:
        super().__init__()
        self.pane = ShellPane(id="shell")
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    @on(JobKillRequested)
    @on(JobResized)
    @on(JobShown)
    @on(KeysTyped)
    @on(LeaveRequested)
    @on(TextSelected)
    def note(self, message: Message) -> None:
        self.told.append(message)

    def of(self, kind: type[Message]) -> list[Message]:
        return [message for message in self.told if isinstance(message, kind)]

    def typed(self) -> bytes:
        return b"".join(message.data for message in self.told if isinstance(message, KeysTyped))

    def copied(self) -> list[str]:
        return [message.text for message in self.told if isinstance(message, TextSelected)]

    def screen_lines(self) -> list[str]:
        return ["".join(segment.text for segment in strip) for strip in self.screen._compositor.render_strips()]


async def start(app: ShellHost, pilot: Pilot[None], *, focus: bool = True) -> None:
    app.pane.add_job("j1", "make test")
    if focus:
        app.pane.focus()
    await pilot.pause()
