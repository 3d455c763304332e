"""Everything that a child wrote, as bytes: its head and its tail, in memory while little, then in a file."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from typing import BinaryIO

LIMIT = 16 * 1024 * 1024
"""Bytes that are kept: one half the head, one half the tail."""
IN_MEMORY = 512 * 1024
_SNIFFED = 4096
_NO_TEXT = bytes((*range(7), *range(14, 27), *range(28, 32)))
"""Control characters that no text in any encoding holds often."""


class OutputLog:
    """The head (`limit / 2`) and the tail of all output. `append` never touches the disk; `spill` does, in a thread."""

    def __init__(self, limit: int = LIMIT, in_memory: int = IN_MEMORY) -> None:
        self._half = limit // 2
        self._in_memory = in_memory
        self._chunks: deque[bytes] = deque()
        """What is not in the file yet."""
        self._waiting = 0
        self._file: BinaryIO | None = None
        self._spilled = 0
        self.total = 0
        """Bytes that have ever come in."""
        self._beginning = b""

    def append(self, data: bytes) -> None:
        """Add output."""
        if len(self._beginning) < _SNIFFED:
            self._beginning += data[: _SNIFFED - len(self._beginning)]
        self._chunks.append(data)
        self._waiting += len(data)
        self.total += len(data)

    @property
    def must_spill(self) -> bool:
        """There is more in memory than should be: call `spill` before the next `append`."""
        return self._waiting > self._in_memory

    @property
    def dropped(self) -> int:
        """Bytes between head and tail that are not kept."""
        return max(0, self.total - 2 * self._half)

    @property
    def is_binary(self) -> bool:
        """The output begins like no text: many NULs, or much that is no UTF-8 among control characters."""
        head = self._beginning
        if len(head) < 64:
            return b"\0\0\0\0" in head
        bad = head.decode("utf-8", "replace").count("\ufffd")
        controls = len(head) - len(head.translate(None, _NO_TEXT))
        return head.count(0) > len(head) // 10 or (bad > len(head) // 4 and controls > len(head) // 50)

    async def spill(self) -> None:
        """Move what is in memory to the file."""
        await asyncio.to_thread(self._spill)

    async def read(self) -> tuple[bytes, bytes]:
        """Return the head and the tail; the tail is empty where nothing was dropped between them."""
        return await asyncio.to_thread(self._read)

    def close(self) -> None:
        """Give the file back; the log is empty then."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._chunks.clear()
        self._waiting = self._spilled = self.total = 0

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="stet-output-", buffering=0)  # noqa: SIM115  closed by `close`
        while self._chunks:
            chunk = self._chunks.popleft()
            self._waiting -= len(chunk)
            self._store(self._file, chunk)

    def _store(self, file: BinaryIO, chunk: bytes) -> None:
        """Write at the place of the running offset: the head as it is, then a ring of the same size."""
        view = memoryview(chunk)
        while view:
            at, half = self._spilled, self._half
            place = at if at < half else half + (at - half) % half
            room = half - place % half
            piece = view[:room]
            file.seek(place)
            file.write(piece)
            view = view[len(piece) :]
            self._spilled += len(piece)

    def _read(self) -> tuple[bytes, bytes]:
        if self._file is None:
            return b"".join(self._chunks), b""
        self._spill()
        half = self._half
        if self.total <= 2 * half:
            return self._part(0, self.total), b""
        turn = half + (self.total - half) % half
        return self._part(0, half), self._part(turn, 2 * half) + self._part(half, turn)

    def _part(self, start: int, stop: int) -> bytes:
        assert self._file is not None
        self._file.seek(start)
        return self._file.read(stop - start)
