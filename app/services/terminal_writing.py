"""Sequences that go past the screen to the terminal: through tmux and GNU screen where one of them stands between."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from textual.app import App

SCREEN_CHUNK = 700
"""Bytes that GNU screen lets through at once (its limit is 768)."""


def osc52(text: str) -> str:
    """Return the sequence that puts a text on the terminal's clipboard (xterm's OSC 52)."""
    return f"\x1b]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode('ascii')}\x07"


def passed_through(sequence: str, environment: Mapping[str, str]) -> str:
    """Return the sequence wrapped so that tmux or screen hands it on to the terminal around it."""
    if environment.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environment.get("STY"):
        pieces = [sequence[start : start + SCREEN_CHUNK] for start in range(0, len(sequence), SCREEN_CHUNK)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Write a sequence of ours to the terminal; nothing where the application has none."""
    driver = app._driver
    if driver is not None:
        driver.write(sequence)
        driver.flush()
