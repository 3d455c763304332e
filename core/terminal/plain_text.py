"""Output as plain text for a model: what a reader of the terminal has seen, without styles and cursor play."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterable

from core.contract.visible import make_visible
from core.terminal.output_log import OutputLog
from core.terminal.screen import TerminalScreen
from core.terminal.width import clean

_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^Xk][^\x07\x1b]{0,65536}(?:\x07|\x1b\\)?|[ -/]*[0-~])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_PLAYS = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\r(?!\r*\n)|\xc2[\x80-\x9f]"
    rb"|\x1b(?!\[(?:[0-9;:]*m|0?K))"
)
"""What does more than write lines, one below the other, in some colours."""
_PIECE = 32768
"""Bytes that are looked at in one go, if possible: nobody else has a turn meanwhile."""
_LONGEST = 4 * 65536 + 16
"""No sequence has as many bytes."""
_QUESTION = re.compile(r"(?:[?:]|[\[(](?:y|yes)/[^\])]*[\])])$", re.IGNORECASE)


def is_question(line: str) -> bool:
    """Return whether a line looks like one after which something is to be typed, such as `Continue? [Y/n]`."""
    return bool(_QUESTION.search(line.rstrip()))


def joined_lines(lines: Iterable[tuple[str, bool]]) -> str:
    """Return lines as text: those that were wrapped are joined, blanks at line ends and empty lines at the end go."""
    whole: list[str] = []
    part = ""
    for text, wrapped in lines:
        part += text
        if not wrapped:
            whole.append(part.rstrip())
            part = ""
    whole.append(part.rstrip())
    return "\n".join(whole).rstrip("\n")


def screen_lines(screen: TerminalScreen) -> Iterable[tuple[str, bool]]:
    """Return the lines of the scrollback and the screen as they are now, then those of a full-screen program.

    Each with whether it goes on in the next one; to be read once, in any thread.
    """
    lines = (*screen.main_lines, *(screen.grid if screen.alternate else ()))
    shown = [(clean("".join(line.text[: line.length])), line.wrapped) for line in lines]
    return itertools.chain(screen.history.texts(), shown)


def screen_text(lines: Iterable[tuple[str, bool]]) -> str:
    """Return `screen_lines` as text."""
    return make_visible(joined_lines(lines))


async def output_text(log: OutputLog, screen: TerminalScreen | None) -> str:
    """Return all that is kept of the output as text, its head and its tail where very much was written.

    Args:
        screen: shows the same, and stands for it where lines were drawn over: the output itself still has its tabs.
    """
    head, tail = await log.read()
    if screen is not None and await asyncio.to_thread(_plays, head):
        return await asyncio.to_thread(screen_text, screen_lines(screen))
    text = await asyncio.to_thread(log_text, head)
    if not tail:
        return text
    return f"{text}\n\n[... {log.dropped:,} bytes left out ...]\n\n{await asyncio.to_thread(log_text, tail)}"


def _plays(data: bytes) -> bool:
    at = 0
    while at < len(data):
        stop = at + _LONGEST
        found = _PLAYS.search(data, at, stop)
        if found is None:
            at = stop - 1
        elif found.start() == at or stop >= len(data):
            return True
        else:
            at = found.start()  # once more, with room: at the end of a piece nothing tells how it goes on
    return False


def log_text(data: bytes) -> str:
    """Return raw output as text: escape sequences go, of a line that was overwritten after CR the last state stays."""
    lines: list[str] = []
    open_line: list[str] = []
    at = 0
    while at < len(data):
        stop = _cut(data, at)
        whole, end, rest = _SEQUENCE.sub("", data[at:stop].decode("utf-8", "replace")).rpartition("\n")
        if end:
            lines.append(_last_states("".join((*open_line, whole))))
            open_line.clear()
        open_line.append(rest)
        at = stop
    lines.append(_last_states("".join(open_line)))
    return "\n".join(lines).rstrip("\n")


def _cut(data: bytes, at: int) -> int:
    """Return the end of the piece that begins at `at`: before a sequence, or where none can go on."""
    stop = at + _PIECE
    escape = data.rfind(b"\x1b", at + 1, stop)
    if escape < 0 and data[at] == 0x1B:
        stop = at + _LONGEST
        escape = data.find(b"\x1b", at + 1, stop)
    if escape >= 0:
        return escape
    if stop < len(data) and data[stop] & 0xC0 == 0x80:  # perhaps within a character
        stop = next((lead for lead in range(stop - 1, stop - 4, -1) if data[lead] >= 0xC0), stop)
    return min(stop, len(data))


def _last_states(text: str) -> str:
    lines = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    return make_visible("\n".join(lines))
