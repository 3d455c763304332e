"""An application of ten lines around a transcript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.pilot import Pilot
from textual.widgets import Input

from core.contract.tool import CallState, Kind
from widgets.transcript.messages import CopyRequested
from widgets.transcript.view import TranscriptView

STYLES = Path(__file__).resolve().parents[3] / "styles"


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Host(App[None]):
    CSS_PATH = STYLES / "transcript.tcss"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, clock: Callable[[], float] | None = None, filters: tuple[LineFilter, ...] = ()) -> None:
        super().__init__()
        self.view = TranscriptView(clock=clock or Clock())
        self.copied: list[tuple[str, str]] = []
        self._extra = filters

    def get_line_filters(self) -> list[LineFilter]:
        return [*super().get_line_filters(), *self._extra]

    def compose(self) -> ComposeResult:
        yield self.view
        yield Input()

    def on_copy_requested(self, message: CopyRequested) -> None:
        self.copied.append((message.what, message.text))


async def settle(pilot: Pilot[None]) -> None:
    """Wait until what was changed is drawn: the view draws once a frame."""
    view = pilot.app.query_one(TranscriptView)
    await pilot.pause(0)
    while view.is_pending:
        await pilot.pause(0.005)
    await pilot.pause(0)


def lines(view: TranscriptView) -> list[str]:
    """Return the rows in view as they are drawn, without the blanks at their ends."""
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def segments(view: TranscriptView) -> list[Segment]:
    """Return every segment in view."""
    return [segment for y in range(view.size.height) for segment in view.render_line(y)]


def add_answer(view: TranscriptView, text: str) -> None:
    """Add a whole answer."""
    answer = view.start_answer()
    view.append_answer(answer, text)
    view.finish_answer(answer)


def fill(view: TranscriptView, count: int) -> None:
    """Add `count` blocks as a session has them: prompts, tool lines and short answers."""
    for number in range(count):
        if number % 3 == 0:
            view.add_user(f"question {number}")
        elif number % 3 == 1:
            tool = view.add_tool("read_file", Kind.READ, f"src/file_{number}.py")
            view.update_tool(tool, CallState.SUCCEEDED, summary="12 lines", duration=0.1)
        else:
            add_answer(view, f"Answer **{number}** with some words in it.\n\n- one\n- two")
