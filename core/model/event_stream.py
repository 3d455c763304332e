"""Server-sent events out of bytes, as the WHATWG HTML standard (section 9.2.6) reads them. Knows no connection."""

from __future__ import annotations

import re

EVENT_LIMIT = 8 * 1024 * 1024
"""Bytes from one event to the next, comments and all."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_HEARD = (b"", b"message", b"error")
"""Types of events that say something; others are for listeners that we don't have."""


class EventTooLarge(Exception):
    """An event, or a line without an end, that is larger than the limit."""


class EventDecoder:
    """Turns bytes, cut anywhere, into the data of events."""

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._searched = 0
        self._begun = False
        self._data: list[bytes] = []
        self._size = 0
        self._type = b""

    def feed(self, chunk: bytes) -> list[str]:
        """Return the data of the events that the chunk completes.

        Raises:
            EventTooLarge: nothing of what came before is kept.
        """
        self._rest += chunk
        if not self._begun:
            if len(self._rest) < 3 and b"\xef\xbb\xbf".startswith(self._rest):
                return []
            self._begun = True
            if self._rest.startswith(b"\xef\xbb\xbf"):
                del self._rest[:3]
        return self._events(final=False)

    def close(self) -> str:
        """Return the data of an event that the end of the stream cut off; empty where there is none."""
        self._begun = True
        events = self._events(final=True)
        if self._rest:
            self._field(bytes(self._rest))
            self._rest.clear()
        return events[0] if events else self._dispatch() or ""

    def _events(self, final: bool) -> list[str]:
        events: list[str] = []
        start = 0
        for end in _LINE_END.finditer(self._rest, self._searched):
            if end.end() == len(self._rest) and end[0] == b"\r" and not final:
                break  # a line feed may follow
            line = bytes(self._rest[start : end.start()])
            self._size += end.end() - start
            start = end.end()
            if line:
                self._field(line)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        del self._rest[:start]
        self._searched = max(0, len(self._rest) - 1)
        if len(self._rest) + self._size > self._limit:
            self._rest.clear()
            self._data.clear()
            raise EventTooLarge
        return events

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value

    def _dispatch(self) -> str | None:
        data, kind = b"\n".join(self._data), self._type
        heard = bool(self._data) and kind in _HEARD
        self._data.clear()
        self._type = b""
        if not heard:
            return None
        self._size = 0
        return data.decode("utf-8", "replace")
