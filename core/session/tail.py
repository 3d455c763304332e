"""The end of a record, read without the rest: what a screen shows of a long session before all of it is read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.bus.codec import RecordError, decode, type_name
from core.contract.envelope import Envelope
from core.contract.events import PromptSubmitted

ENOUGH = 128 * 1024
"""Bytes that fill a screen, but for a turn that is longer."""
_MOST = 16 * ENOUGH
_PROMPT = f'"type":"{type_name(PromptSubmitted)}"'.encode()


def read_tail(path: Path) -> tuple[Envelope, ...]:
    """Return the last turns of a record, of a very long one its end alone; lines that can't be read are left out.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        length = ENOUGH
        while True:
            start = max(0, size - length)
            file.seek(start)
            lines = file.read(size - start).split(b"\n")[1:-1]  # the first is the header, or cut; the last is torn
            begin = next((place for place, line in enumerate(lines) if _PROMPT in line), None)
            if begin is not None or start == 0 or length >= _MOST:
                return tuple(_decoded(lines[begin or 0 :]))
            length *= 4


def _decoded(lines: Iterable[bytes]) -> Iterator[Envelope]:
    for line in lines:
        with contextlib.suppress(RecordError):
            yield decode(line)
