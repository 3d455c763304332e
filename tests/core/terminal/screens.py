"""What the tests of the screen share: one that was fed, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.frame import Row
from core.terminal.screen import TerminalScreen


def make(data: bytes | str, columns: int = 20, lines: int = 5, scrollback: int = 100) -> TerminalScreen:
    screen = TerminalScreen(columns, lines, scrollback)
    screen.feed(data)
    return screen


def texts(rows: Sequence[Row]) -> list[str]:
    return ["".join(span.text for span in row) for row in rows]


def shown(screen: TerminalScreen) -> list[str]:
    return [line.rstrip() for line in screen.display]
