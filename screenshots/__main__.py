"""Makes the pictures of this folder: plays the guided session in the real application and photographs its main moments.

    make screenshots [ARGS="wide small"]

Only what differs from run to run is made the same: folder names, durations, the blinking of cursors.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
from core.bus.recorder import Recorder
from core.contract.envelope import Envelope
from core.contract.events import PromptSubmitted, ToolCallFinished
from core.contract.ids import SessionId
from core.session import statistics
from core.session.store import SessionStore
from widgets.approval.dialog import DecisionScreen
from widgets.diff.review import ReviewScreen
from widgets.transcript.view import TranscriptView

FOLDER = Path(__file__).parent
FONT = "DejaVu Sans Mono"
SHOWN_PROJECT = "/home/you/shop"
"""Stands in the pictures for the folder that the project is really in; as long as that, so that no line breaks anew."""
SHOWN_HOME = "/home/you/.config/stet-demo"
"""The same for the folder of settings and records."""
SHOWN_SESSION = "s-0000000000a-0000-a"
EARLIER = ("Why does the parser lose the last line?", "Write tests for the till", "What is this project about?")
RUN_TIME = 0.2
"""Seconds that a command takes in the pictures."""
PATIENCE = 60.0

PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "": (
        (120, 40),
        (
            "start", "plan", "review", "approval", "fix", "shell", "help", "palette", "context", "settings", "changes",
            "stats", "sessions", "theme",
        ),
    ),
    "wide-": ((200, 60), ("review", "shell")),
    "small-": ((80, 24), ("chat", "review", "shell", "context", "settings")),
}  # fmt: skip
"""Size of the screen and pictures that are taken of it, by how their names begin."""

_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_FONT_FAMILY = re.compile(r"font-family: [^;]*;")
_ID = re.compile(r"terminal-\d+")
_TEST_TIME = re.compile(r"(Ran(?:&#160;| )\d+(?:&#160;| )tests(?:&#160;| )in(?:&#160;| ))\d\.\d{3}s")
_TIME = re.compile(r"\d{4}-\d\d-\d\d((?:&#160;| ))\d\d:\d\d")
_SESSION = re.compile(r"s-[0-9a-f]{11}-[0-9a-f]{4}-[0-9a-z]+")
_TAGS = re.compile(r"<[^>]*>")


@dataclass(slots=True)
class Session:
    """One run of the application, and its camera."""

    app: StetApp
    pilot: Pilot[int]
    project: Path
    home: str
    prefix: str

    def picture(self) -> str:
        """Return the screen as SVG."""
        for field in (*self.app.screen.query(TextArea), *self.app.screen.query(Input)):
            field.cursor_blink = False
        svg = self.app.export_screenshot(title="stet")
        svg = _FONT_FAMILY.sub(f"font-family: {FONT}, Menlo, Consolas, monospace;", _FONT_FACES.sub("", svg))
        svg = _TEST_TIME.sub(r"\g<1>0.001s", _ID.sub("terminal", svg))
        svg = _SESSION.sub(SHOWN_SESSION, _TIME.sub(r"2026-01-05\g<1>09:30", svg))
        return svg.replace(str(self.project), SHOWN_PROJECT).replace(self.home, SHOWN_HOME)

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

    async def command(self, name: str) -> None:
        """Run a slash command."""
        self.app.workspace.prompt.editor.focus()
        await self.press("slash", *name, "enter")

    async def dialog(self, text: str) -> None:
        """Wait for a dialog, and for its guard against typing ahead."""
        await self.shows(text)
        dialog = self.app.screen
        assert isinstance(dialog, DecisionScreen)
        await self.until(lambda: dialog.guard.is_open, "an open guard")

    async def close(self) -> None:
        """Leave the screen on top."""
        screen = self.app.screen
        await self.press("escape")
        await self.until(lambda: self.app.screen is not screen, "the end of a screen")

    async def accept(self) -> None:
        """Accept what the dialog shows; in a review first to its end, as it asks for."""
        dialog = self.app.screen
        await self.press(*("vvvvvv" if isinstance(dialog, ReviewScreen) else ""), "y")
        await self.until(lambda: self.app.screen is not dialog, "the end of a dialog")


def make_sessions(store: SessionStore) -> None:
    """Write records of earlier sessions, for the browser to list."""
    for number, prompt in enumerate(EARLIER):
        id = SessionId(f"s-{number}")
        recorder = Recorder(store.path_of(id), lambda text: text, session=id)
        recorder(Envelope(1, "m-1", 0.0, id, PromptSubmitted(prompt), turn=1))
        recorder.close()


@asynccontextmanager
async def demo_session(size: tuple[int, int], prefix: str = "") -> AsyncIterator[Session]:
    """Run the guided session on a screen of so many columns and rows."""
    with (
        tempfile.TemporaryDirectory(prefix="stet-pictures-", dir="/tmp") as home,
        tempfile.TemporaryDirectory(prefix="s", dir="/tmp") as folder,
    ):
        assert (len(folder), len(home)) == (len(SHOWN_PROJECT), len(SHOWN_HOME))
        for kind in ("CONFIG", "STATE", "CACHE"):
            os.environ[f"STET_{kind}_DIR"] = str(Path(home, kind))
        make_project(Path(folder))
        make_sessions(SessionStore(Path(home, "STATE", "sessions"), Path(folder)))
        app = StetApp(replace(demo_options(Path(folder)), script_speed=0))
        async with app.run_test(size=size) as pilot:
            session = Session(app, pilot, Path(folder), home, prefix)
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
        await session.press("j", "space")  # the second one out
        await moment("review")
        await session.press("space")
    else:
        await moment("review")
    await session.accept()
    over = "Run the tests, and"
    await session.until(lambda: isinstance(session.app.screen, DecisionScreen) or over in session.text, "what follows")
    if isinstance(session.app.screen, DecisionScreen):  # the two changes came one after the other
        await session.dialog("[x] shop/receipt.py")
        await session.accept()
    await session.shows("Run the tests, and")
    await moment("chat")
    await session.press("enter")
    await session.dialog("Run a command?")
    await moment("approval")
    await session.accept()
    await session.dialog("end of shop/till.py")
    await moment("fix")
    await session.accept()
    await session.dialog("Run a command?")
    await session.accept()
    await session.shows("Ran 5 tests", "From here:")
    await moment("shell")
    await session.press("f1")
    await session.shows("type to search")
    await moment("help")
    await session.close()
    await session.press("ctrl+p")
    await session.shows("Redraw the screen")
    await moment("palette")
    await session.close()
    await photograph_screens(session, moment)


async def photograph_screens(session: Session, moment: Callable[[str], Awaitable[None]]) -> None:
    """Open the screens that no prompt leads to."""
    await session.press("f7")
    await session.shows("drop", "result")
    await session.press(*"jjjjjjjj", "space")
    await moment("context")
    await session.close()
    await session.press("f2")
    await session.shows("ui.theme", "built-in")
    await session.press(*"ui.", "down")  # not the model's: it names a file of this machine
    await moment("settings")
    await session.close()
    await session.press("f5")
    await moment("changes")
    await session.press("f3")
    for name, waited in (("stats", "Tool calls"), ("sessions", "the parser"), ("theme", "stet-light")):
        await session.command(name)
        await session.shows(waited)
        if name == "theme":
            await session.press("down")
            await session.until(lambda: session.app.theme == "stet-light", "the light theme")
        await moment(name)
        if name != "stats":
            await session.close()


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
    vars(statistics)["show_seconds"] = lambda seconds: f"{RUN_TIME} s"
    vars(shell_pane)["time"] = SimpleNamespace(monotonic=lambda: 0.0)


async def main(wanted: Sequence[str] = ()) -> None:
    """Take all pictures, or those whose names begin so."""
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8")
    for name in [name for name in os.environ if name == "NO_COLOR" or name.startswith(("TEXTUAL", "STET_"))]:
        del os.environ[name]
    make_steady()
    for prefix, (size, pictures) in PICTURES.items():
        if prefix.startswith(tuple(wanted)) or not wanted:
            async with demo_session(size, prefix) as session:
                await photograph(session, pictures)


if __name__ == "__main__":
    print(f"stet {stet.__version__}")
    asyncio.run(main(sys.argv[1:]))
