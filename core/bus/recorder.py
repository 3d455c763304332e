"""The recorder: a sink that appends every message to a file of JSON lines before anyone else sees it.

One write a line, append only: SIGKILL at any moment loses at most the line being written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.bus.codec import encode, header
from core.contract.envelope import EPHEMERAL, Envelope

Redact = Callable[[str], str]

VERBATIM = "opaque"
"""Fields of this name are the provider's own bytes (thought signatures): never altered."""


class Recorder:
    """Writes one session's record.

    Args:
        path: the file; made with mode 0600 if it is not there, else continued after its last whole line.
        redact: takes secrets out of text.
        facts: go into the first line of a new file.
    """

    def __init__(self, path: Path, redact: Redact, **facts: Any) -> None:
        self.path = path
        self._redact = redact
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        size = cut_torn_line(self._file)
        if size == 0:
            self._append(header(**facts))

    def __call__(self, envelope: Envelope) -> None:
        """Write the message; pictures of a moment are left out."""
        if not isinstance(envelope.payload, EPHEMERAL):
            self._append(self.redacted(encode(envelope)))

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
        while written < len(data):  # a short write: a full disk raises on the next one
            written += os.write(self._file, data[written:])

    def close(self) -> None:
        os.close(self._file)


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
