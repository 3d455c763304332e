"""`/sessions`, `/fork`, `/rename` and `/export`: other sessions of this directory, and what becomes of this one."""

from __future__ import annotations

import asyncio
import os
import re
import time
from pathlib import Path

from app.commands.registry import Command, command
from app.services.leaving import settle_commands
from app.stage import Stage
from core.bus.replay import read_record
from core.contract.errors import StetError
from core.contract.events import Notice, SessionRenamed
from core.contract.ids import SessionId
from core.contract.visible import make_visible_line
from core.session.export import ExportFormat, entries_of, export_session
from core.session.search import SessionIndex
from core.session.store import MAX_TITLE, SessionSummary
from core.session.tail import read_tail
from widgets.sessions.screen import SessionRow, SessionsScreen


def _busy(stage: Stage) -> str:
    return "the agent is at work" if stage.engine.agent.is_busy else ""


def _unrecorded(stage: Stage) -> str:
    return _busy(stage) or ("" if stage.engine.is_recorded else "this session is not recorded")


@command("sessions", aliases=("resume",), arguments="[ID]", unavailable=_busy)
async def browse_sessions(stage: Stage, arguments: str) -> None:
    """The sessions of this directory: search them, and take one up again here.

    This session is kept and closed then; of commands that still run it asks first.
    """
    store = stage.engine.store
    if arguments:
        chosen = str((await asyncio.to_thread(store.find, arguments)).id)
    else:
        chosen = await _choose(stage)
    if not chosen:
        return
    if chosen == stage.engine.bus.session:
        raise StetError("That is this session.", "Choose another one.")
    await asyncio.to_thread(store.check_free, SessionId(chosen))  # else this one would be left for nothing
    if await settle_commands(stage):
        stage.app.switch_session(chosen)


async def _choose(stage: Stage) -> str:
    store, current = stage.engine.store, stage.engine.bus.session
    index = SessionIndex(stage.engine.folders.cache / "sessions" / f"{store.folder.name}.db")

    def row(session: SessionSummary, snippet: str = "") -> SessionRow:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.changed))
        return SessionRow(session.id, when, session.title, snippet, session.id == current)

    def find(words: str) -> list[SessionRow]:
        sessions = store.list()
        if not words.strip():
            return [row(session) for session in sessions]
        return [row(match.session, match.snippet) for match in index.search(sessions, words)]

    async def search(words: str) -> list[SessionRow]:
        return await asyncio.to_thread(find, words)

    decided: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def decide(chosen: str | None) -> None:
        if not decided.done():
            decided.set_result(chosen or "")

    async def delete(id: str) -> str:
        if id == current:
            raise StetError("That is this session.", "/quit first; `stet session delete` deletes it then.")
        await asyncio.to_thread(lambda: store.delete(store.find(id)))
        return f"The session {id} is deleted."

    async def preview(id: str) -> str:
        return await asyncio.to_thread(lambda: _end_of(store.find(id).path))

    stage.app.push_screen(SessionsScreen(search, preview, delete), decide)
    return await decided


def _end_of(path: Path) -> str:
    """Return the last that was said in a session, as text; why it can't be read where that is so. Blocks."""
    try:
        entries = [entry for entry in entries_of(read_tail(path)) if entry.kind in ("user", "assistant")]
    except OSError as error:
        return f"It can't be read: {error}"
    return "\n\n".join(
        f"❯ {entry.text[:_LONGEST]}" if entry.kind == "user" else entry.text[:_LONGEST] for entry in entries[-_ENTRIES:]
    )


@command("fork", arguments="[TURN]", unavailable=_unrecorded)
async def fork_session(stage: Stage, arguments: str) -> None:
    """Go on in a new session that begins like this one; with a number, like this one was before that turn.

    This session is kept as it is, and so are the files.
    """
    if arguments and not arguments.isdecimal():
        raise StetError(f"{arguments!r} is no turn.", "/fork 3 goes on from before turn 3.")
    store, last = stage.engine.store, stage.engine.agent.turn
    before = int(arguments) if arguments else None
    if before is not None and not 1 <= before <= last:
        raise StetError(f"There is no turn {before}.", f"The last one is {last}." if last else "Ask something first.")

    def fork() -> str:
        return store.fork(store.find(stage.engine.bus.session), before_turn=before)

    if await settle_commands(stage):
        stage.app.switch_session(await asyncio.to_thread(fork))


@command("rename", arguments="TITLE", unavailable=_unrecorded)
async def rename_session(stage: Stage, arguments: str) -> None:
    """Give this session a title, by which it is listed."""
    title = make_visible_line(arguments.strip())[:MAX_TITLE]
    if not title:
        raise StetError("The title is empty.", "For instance: /rename the parser's errors")
    await stage.engine.bus.publish(SessionRenamed(title))
    await stage.engine.bus.publish(Notice(f"This session is called: {title}"))


_ENTRIES, _LONGEST = 6, 2_000
"""What a preview holds: so many of the last things that were said, and of each so many characters."""
_ENDINGS = {"markdown": ".md", "json": ".json", "html": ".html"}


def _plainly_unrecorded(stage: Stage) -> str:
    return "" if stage.engine.is_recorded else "this session is not recorded"


def _path_of(stage: Stage, name: str) -> Path:
    return Path(stage.engine.workspace.root, os.path.expanduser(name))


@command("export", arguments="[markdown|json|html] [PATH]", unavailable=_plainly_unrecorded)
async def export_this(stage: Stage, arguments: str) -> None:
    """Write this session to a file: as Markdown, as JSON with every message, or as a page for the browser.

    Without a path it is written to this directory, named by the session; the ending of a path says the form, too. A
    file that is there is never overwritten.
    """
    first, _, rest = arguments.partition(" ")
    format = ExportFormat(first) if first in _ENDINGS else None
    given = rest.strip() if format is not None else arguments
    if format is None and re.fullmatch(r"\w+", given):  # a form that we don't know, rather than the name of a file
        raise StetError(f"{given!r} is no form of export.", "Use markdown, json or html, or a path with an ending.")
    by_ending = next((form for form, ending in _ENDINGS.items() if given.lower().endswith(ending)), "markdown")
    format = format or ExportFormat(by_ending)
    session = stage.engine.bus.session
    path = _path_of(stage, given or f"{session}{_ENDINGS[format]}")

    def write() -> int:
        summary = stage.engine.store.find(session)
        text = export_session(read_record(summary.path).envelopes, format, summary.title)
        with open(path, "x", encoding="utf-8", errors="backslashreplace") as file:
            return file.write(text)

    try:
        size = await asyncio.to_thread(write)
    except OSError as error:
        raise StetError(f"{path} could not be written: {error.strerror}.", "Name another file.") from error
    await stage.engine.bus.publish(Notice(f"This session is written to {path} as {format.value}, {size:,} characters."))


COMMANDS: tuple[Command[Stage], ...] = (browse_sessions, fork_session, rename_session, export_this)
