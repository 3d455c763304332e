"""Compressed bodies, unpacked in pieces and up to a limit, so that a small body can't become a huge one in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

BODY_LIMIT = 64 * 1024 * 1024
"""Bytes of one unpacked body: many times the longest answer that models give."""
_PIECE = 64 * 1024


class BodyTooLarge(Exception):
    """The body is larger than the limit."""


class Inflater:
    """Unpacks a body of one content coding.

    Args:
        coding: the `Content-Encoding` header: `gzip`, `deflate`, or nothing.

    Raises:
        ValueError: another coding, or broken data.
    """

    def __init__(self, coding: str = "", limit: int = BODY_LIMIT) -> None:
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ValueError(f"unknown content coding {coding!r}")
        # 32 + 15: zlib and gzip headers are told apart by zlib itself
        self._packer = None if coding in ("", "identity") else zlib.decompressobj(32 + 15)
        self._left = limit

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the unpacked bytes in small pieces.

        Raises:
            BodyTooLarge: at the limit.
        """
        if self._packer is None:
            yield self._counted(chunk)
            return
        piece = b""
        while (chunk or len(piece) == _PIECE) and not self._packer.eof:
            try:
                piece = self._packer.decompress(chunk, _PIECE)
            except zlib.error as error:
                raise ValueError(f"the compressed body is broken: {error}") from error
            chunk = self._packer.unconsumed_tail
            if piece:
                yield self._counted(piece)

    def _counted(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise BodyTooLarge
        return piece
