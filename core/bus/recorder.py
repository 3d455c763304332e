"""The recorder: a sink that appends every message to a file of JSON lines before anyone else sees it.

One write a line, append only: SIGKILL at any moment loses at most the line being written, and of an answer that
still comes in the words that might be the beginning of a secret.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.bus.codec import encode, header
from core.contract.envelope import EPHEMERAL, Envelope
from core.contract.events import TextDelta, ThoughtDelta

Redact = Callable[[str], str]
Settle = Callable[[str], int]
"""Returns how many characters of a growing text no longer depend on what follows."""

VERBATIM = "opaque"
"""Fields of this name are the provider's own bytes (thought signatures): never altered."""


class Recorder:
    """Writes one session's record.

    Args:
        path: the file; made with mode 0600 if it is not there, else continued after its last whole line.
        redact: takes secrets out of text.
        settle: says how much of an answer that still comes in can be redacted by itself: a secret may be split.
        facts: go into the first line of a new file.
    """

    def __init__(self, path: Path, redact: Redact, settle: Settle = len, **facts: Any) -> None:
        self.path = path
        self._redact = redact
        self._settle = settle
        self._held: Envelope | None = None
        """The latest piece of an answer, with what was not written of those before."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        size = cut_torn_line(self._file)
        if size == 0:
            self._append(header(**facts))

    def __call__(self, envelope: Envelope) -> None:
        """Write the message; pictures of a moment are left out."""
        if isinstance(envelope.payload, EPHEMERAL):
            return
        if isinstance(envelope.payload, (TextDelta, ThoughtDelta)):
            self._take_piece(envelope)
            return
        self._write_held()
        self._append(self.redacted(encode(envelope)))

    def _take_piece(self, envelope: Envelope) -> None:
        """Write of an answer what is settled, under the number of the piece before; hold back the rest."""
        if self._held is not None and not _continues(self._held, envelope):
            self._write_held()
        held, self._held = self._held, None
        text = (_text_of(held) if held is not None else "") + _text_of(envelope)
        settled = self._settle(text)
        if settled >= len(text):
            self._append(self.redacted(encode(_with_text(envelope, text))))
            return
        if held is not None and settled > 0:
            self._append(self.redacted(encode(_with_text(held, text[:settled]))))
            text = text[settled:]
        self._held = _with_text(envelope, text)

    def _write_held(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._append(self.redacted(encode(held)))

    def redacted(self, line: bytes) -> bytes:
        """Return a JSON line without secrets; verbatim fields stay as they are."""
        text = line.decode("utf-8")
        if self._redact(text) == text:
            return line
        return json.dumps(self._clean(json.loads(text)), ensure_ascii=False, separators=(",", ":")).encode("utf-8")

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, dict):
            return {key: item if key == VERBATIM else self._clean(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        return value

    def _append(self, line: bytes) -> None:
        data = line + b"\n"
        written = os.write(self._file, data)
        try:
            while written < len(data):  # a short write: a full disk raises on the next one
                written += os.write(self._file, data[written:])
        except OSError:
            cut_torn_line(self._file)  # what is written once there is room again must not follow on half a line
            raise

    def close(self) -> None:
        try:
            self._write_held()
        finally:
            os.close(self._file)


def _continues(earlier: Envelope, later: Envelope) -> bool:
    same = type(earlier.payload) is type(later.payload)
    return same and (earlier.turn, earlier.call) == (later.turn, later.call)


def _text_of(envelope: Envelope) -> str:
    assert isinstance(envelope.payload, (TextDelta, ThoughtDelta))
    return envelope.payload.text


def _with_text(envelope: Envelope, text: str) -> Envelope:
    assert isinstance(envelope.payload, (TextDelta, ThoughtDelta))
    return replace(envelope, payload=replace(envelope.payload, text=text))


def cut_torn_line(file: int) -> int:
    """Cut what follows the last line feed (a write that was interrupted) and return the size in bytes."""
    size = os.fstat(file).st_size
    end = size
    while end > 0:
        start = max(0, end - 65536)
        cut = os.pread(file, end - start, start).rfind(b"\n")
        if cut >= 0:
            end = start + cut + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)
    return end
