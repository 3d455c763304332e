"""Makes the pictures of this folder: plays the guided session in the real application and photographs its main moments.

    make screenshots

Only what differs from run to run is made the same: folder names, durations, the blinking of cursors.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import resvg_py
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

import stet  # first: it puts our folders on the path
import widgets.shell.pane as shell_pane
from app.application import StetApp
from app.bridge import Bridge
from app.demo.launch import demo_options
from app.demo.project import make_project
from core.contract.envelope import Envelope
from core.contract.events import ToolCallFinished
from widgets.approval.dialog import DecisionScreen
from widgets.transcript.view import TranscriptView

FOLDER = Path(__file__).parent
FONT = "DejaVu Sans Mono"
SHOWN_PROJECT = "/home/you/shop"
"""Stands in the pictures for the folder that the project is really in; as long as that, so that no line breaks anew."""
RUN_TIME = 0.2
"""Seconds that a command takes in the pictures."""
PATIENCE = 60.0

_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_FONT_FAMILY = re.compile(r"font-family: [^;]*;")
_ID = re.compile(r"terminal-\d+")
_TEST_TIME = re.compile(r"(Ran(?:&#160;| )\d+(?:&#160;| )tests(?:&#160;| )in(?:&#160;| ))\d\.\d{3}s")
_TAGS = re.compile(r"<[^>]*>")


@dataclass(slots=True)
class Session:
    """One run of the application, and its camera."""

    app: StetApp
    pilot: Pilot[int]
    project: Path
    prefix: str

    def picture(self) -> str:
        """Return the screen as SVG."""
        for field in (*self.app.screen.query(TextArea), *self.app.screen.query(Input)):
            field.cursor_blink = False
        svg = self.app.export_screenshot(title="stet")
        svg = _FONT_FAMILY.sub(f"font-family: {FONT}, Menlo, Consolas, monospace;", _FONT_FACES.sub("", svg))
        svg = _TEST_TIME.sub(r"\g<1>0.001s", _ID.sub("terminal", svg))
        return svg.replace(str(self.project), SHOWN_PROJECT)

    @property
    def text(self) -> str:
        shown = self.picture().rpartition('<g class="terminal-matrix">')[2]
        return unescape(_TAGS.sub("", shown)).replace("\u00a0", " ")

    async def shows(self, *texts: str) -> None:
        """Wait until all texts are on the screen."""
        await self.until(lambda: all(text in self.text for text in texts), repr(texts))

    async def until(self, holds: Callable[[], Any], what: str) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while not holds():
            if loop.time() > end:
                raise SystemExit(f"screenshots: {what} was not on the screen within {PATIENCE:.0f} s:\n{self.text}")
            await self.pilot.pause(0.05)

    async def take(self, name: str) -> None:
        """Write `name.svg` and `name.png` as soon as the screen stands still."""
        before, svg = "", self.picture()
        while svg != before:
            await self.pilot.pause(0.2)
            before, svg = svg, self.picture()
        path = FOLDER / f"{self.prefix}{name}.svg"
        path.write_text(svg, encoding="utf-8")
        image = resvg_py.svg_to_bytes(svg_string=svg, font_family=FONT, monospace_family=FONT)
        path.with_suffix(".png").write_bytes(bytes(image))
        print(path.name)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        self.app.last_key = -math.inf  # nobody types: a dialog need not wait

    async def dialog(self, text: str) -> None:
        """Wait for a dialog, and for its guard against typing ahead."""
        await self.shows(text)
        dialog = self.app.screen
        assert isinstance(dialog, DecisionScreen)
        await self.until(lambda: dialog.guard.is_open, "an open guard")

    async def accept(self) -> None:
        """Accept what the dialog shows; first to its end, as it asks for."""
        dialog = self.app.screen
        await self.press("v", "y")
        await self.until(lambda: self.app.screen is not dialog, "the end of a dialog")


@asynccontextmanager
async def demo_session(size: tuple[int, int], prefix: str = "") -> AsyncIterator[Session]:
    """Run the guided session on a screen of so many columns and rows."""
    with (
        tempfile.TemporaryDirectory(prefix="stet-pictures-") as home,
        tempfile.TemporaryDirectory(prefix="s", dir="/tmp") as folder,
    ):
        assert len(folder) == len(SHOWN_PROJECT)
        for kind in ("CONFIG", "STATE", "CACHE"):
            os.environ[f"STET_{kind}_DIR"] = str(Path(home, kind))
        make_project(Path(folder))
        app = StetApp(replace(demo_options(Path(folder)), script_speed=0))
        async with app.run_test(size=size) as pilot:
            session = Session(app, pilot, Path(folder), prefix)
            await session.shows("A guided session", "make a plan")
            now = time.monotonic()
            app.workspace.query_one(TranscriptView)._clock = lambda: now
            app.workspace.status.bar._clock = lambda: now
            yield session


async def photograph(session: Session, wanted: Sequence[str]) -> None:
    """Play the session to its end and take the pictures that are wanted of it."""

    async def moment(name: str) -> None:
        if name in wanted:
            await session.take(name)

    await moment("start")
    await session.press("enter")
    await session.shows("Make the changes.")
    await moment("plan")
    await session.press("enter")
    await session.dialog("[x] shop/till.py")
    if session.app.size.width == 120:
        await session.press("t", "j", "space")  # changes one below the other, the second one out
        await moment("review")
        await session.press("t", "space")
    else:
        await moment("review")
    await session.accept()
    await session.dialog("[x] shop/receipt.py")
    await session.accept()
    await session.shows("Run the tests, and")
    await moment("chat")
    await session.press("enter")
    await session.dialog("Run a command?")
    await moment("approval")
    await session.accept()
    await session.dialog("[x] shop/till.py")
    await moment("fix")
    await session.accept()
    await session.dialog("Run a command?")
    await session.accept()
    await session.shows("Ran 5 tests", "From here:")
    await moment("shell")
    await session.press("f1")
    await session.shows("type to search")
    await moment("help")
    await session.press("escape", "ctrl+p")
    await session.shows("Redraw the screen")
    await moment("palette")


def make_steady() -> None:
    """Give the things that differ from run to run a fixed value: how long commands take, and what the clock says."""
    show = Bridge.show

    def show_steadily(bridge: Bridge, envelope: Envelope) -> None:
        payload = envelope.payload
        if isinstance(payload, ToolCallFinished):
            payload = replace(payload, duration=RUN_TIME if payload.name == "run_shell_command" else 0.0)
            envelope = replace(envelope, payload=payload)
        show(bridge, envelope)

    Bridge.show = show_steadily  # type: ignore[assignment, method-assign]  # the one place through which the screen hears
    vars(shell_pane)["time"] = SimpleNamespace(monotonic=lambda: 0.0)


async def main() -> None:
    """Take all pictures."""
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8")
    for name in [name for name in os.environ if name == "NO_COLOR" or name.startswith(("TEXTUAL", "STET_"))]:
        del os.environ[name]
    make_steady()
    async with demo_session((120, 40)) as session:
        await photograph(session, ("start", "plan", "review", "approval", "fix", "shell", "help", "palette"))
    async with demo_session((200, 60), "wide-") as session:
        await photograph(session, ("review", "shell"))
    async with demo_session((80, 24), "small-") as session:
        await photograph(session, ("chat", "review", "shell"))


if __name__ == "__main__":
    print(f"stet {stet.__version__}")
    asyncio.run(main())
