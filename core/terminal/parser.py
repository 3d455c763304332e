"""The parser of terminal output: characters to drawn text, controls and strings.

The states are those of the VT500 (Paul Flo Williams, "A parser for DEC's ANSI-compatible video terminals"), with UTF-8
and colon parameters; the usual sequences are taken whole by one regular expression. No input raises, and the screen is
the same however the input is cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from core.terminal.pen import MAX_PARAMETERS

MAX_STRING = 64 * 1024
"""Characters that are kept of an OSC, DCS, APC, PM or SOS string; the rest is swallowed."""
_MOST_KNOWN = 4096
_MAX_SEQUENCE = 256
"""Characters that are kept of the parameters of one sequence."""

_TOKEN = re.compile(
    r"(?:\x1b\[([0-9;:]{0,64})m)?([^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[([0-9;:]{0,64})m"
    r"|\x1b\[([<-?]?)([0-9;:]{0,64})([ -/]{0,2})([@-~])"
    r"|([\x00-\x1a\x1c-\x1f\x7f-\x9f])"
    r"|(\x1b)"
)
_TEXT, _SGR, _CSI, _CONTROL = 2, 3, 7, 8
_STRING_END = re.compile("[\x07\x18\x1a\x1b]")
_STRINGS = {"]": "osc", "P": "dcs", "_": "apc", "^": "pm", "X": "sos", "k": "title"}


Action = tuple[Callable[[list[int]], None], list[int]]


class Terminal(Protocol):
    """What the parser drives."""

    last_character: str
    """What REP repeats: cleared by everything but text."""

    def draw(self, data: str) -> None: ...
    def set_pen(self, parameters: str) -> None:
        """Act on `CSI parameters m`."""
        ...

    def execute(self, code: str) -> None:
        """Act on a C0 control."""
        ...

    def escape(self, intermediates: str, final: str) -> None: ...
    def find_control(self, name: str) -> Callable[[list[int]], None]:
        """Return what a CSI sequence of that prefix, intermediates and final byte does with its parameters."""
        ...

    def string(self, kind: str, text: str) -> None:
        """Act on a control string: osc, dcs, apc, pm, sos or title."""
        ...


def read_parameters(text: str) -> list[int]:
    """Return the numbers of a sequence; sub-parameters are left out, numbers and their count are bounded."""
    if not text:
        return []
    numbers = []
    for field in text.split(";")[:MAX_PARAMETERS]:
        digits = field.partition(":")[0]
        numbers.append((int(digits) if len(digits) < 6 else min(int(digits[:20]), 99999)) if digits else 0)
    return numbers


class Parser:
    """Feeds a terminal; keeps what a piece of input leaves unfinished."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._state = ""
        """Empty (ground), `escape`, `csi`, `ignore` (a malformed CSI), `string` or `end` (ESC within a string)."""
        self._prefix = ""
        self._parameters = ""
        self._intermediates = ""
        self._kind = ""
        self._string: list[str] = []
        self._length = 0
        self._known: dict[str, Action] = {}
        """What whole sequences do: programs repeat themselves."""
        self._controls: dict[str, Callable[[list[int]], None]] = {}

    @property
    def is_ground(self) -> bool:
        """Nothing is unfinished."""
        return not self._state

    def reset(self) -> None:
        """Forget what is unfinished."""
        self._state = ""
        self._string.clear()

    def feed(self, data: str) -> None:
        """Act on text; it may end anywhere."""
        at, end = 0, len(data)
        while at < end:
            at = self._feed_ground(data, at) if not self._state else self._feed_sequence(data, at)

    def _feed_ground(self, data: str, at: int) -> int:
        terminal = self._terminal
        draw, set_pen, execute, known = terminal.draw, terminal.set_pen, terminal.execute, self._known
        for token in _TOKEN.finditer(data, at):
            kind = token.lastindex
            if kind == _TEXT:
                if token[1] is not None:
                    set_pen(token[1])
                draw(token[2])
            elif kind == _SGR:
                set_pen(token[3])
                terminal.last_character = ""
            elif kind == _CONTROL:
                execute(token[8])
            elif kind == _CSI:
                action = known.get(token[0])
                if action is None:
                    prefix, parameters, intermediates, final = token.group(4, 5, 6, 7)
                    action = self._learn(token[0], prefix + intermediates + final, parameters)
                control, numbers = action
                control(numbers)
                terminal.last_character = ""
            else:
                self._state = "escape"
                self._intermediates = ""
                return token.end()
        return len(data)

    def _feed_sequence(self, data: str, at: int) -> int:
        """Act on one character (or the rest of a string) within a sequence; return where to go on."""
        if self._state == "string":
            return self._feed_string(data, at)
        character = data[at]
        if self._state == "end":
            self._state = ""
            self._finish_string()
            if character == "\\":
                return at + 1
            self._state, self._intermediates = "escape", ""
        if character == "\x1b":
            self._state, self._intermediates = "escape", ""
        elif character in "\x18\x1a":
            self._state = ""
        elif character < " ":
            self._terminal.execute(character)
        elif character == "\x7f":
            pass
        elif self._state == "escape":
            self._take_escape(character)
        else:
            self._take_csi(character)
        return at + 1

    def _learn(self, sequence: str, name: str, parameters: str) -> Action:
        """Return what a sequence does; remember it if it is named in full."""
        if name not in self._controls:
            if len(self._controls) >= _MOST_KNOWN:
                self._controls.clear()
            self._controls[name] = self._terminal.find_control(name)
        action = self._controls[name], read_parameters(parameters)
        if sequence:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[sequence] = action
        return action

    def _take_escape(self, character: str) -> None:
        if character <= "/":
            self._intermediates = (self._intermediates + character)[:4]
            return
        self._state = ""
        if character > "~":
            return
        if not self._intermediates:
            if character == "[":
                self._state, self._prefix, self._parameters = "csi", "", ""
                return
            if character in _STRINGS:
                self._state, self._kind, self._length = "string", _STRINGS[character], 0
                return
        self._terminal.escape(self._intermediates, character)

    def _take_csi(self, character: str) -> None:
        if "@" <= character <= "~":
            ignored = self._state == "ignore"
            self._state = ""
            if ignored:
                return
            if character == "m" and not self._prefix and not self._intermediates:
                self._terminal.set_pen(self._parameters)
            else:
                name = self._prefix + self._intermediates + character
                control, numbers = self._learn("", name, self._parameters)
                control(numbers)
            self._terminal.last_character = ""
        elif self._state == "ignore":
            return
        elif character > "~":
            return
        elif character <= "/":
            self._intermediates = (self._intermediates + character)[:4]
        elif self._intermediates:
            self._state = "ignore"
        elif character <= ";":
            if len(self._parameters) < _MAX_SEQUENCE:
                self._parameters += character
        elif self._prefix or self._parameters:
            self._state = "ignore"
        else:
            self._prefix = character

    def _feed_string(self, data: str, at: int) -> int:
        found = _STRING_END.search(data, at)
        stop = found.start() if found else len(data)
        if self._length < MAX_STRING:
            piece = data[at : min(stop, at + MAX_STRING - self._length)]
            self._string.append(piece)
            self._length += len(piece)
        if not found:
            return stop
        if found[0] == "\x1b":
            self._state = "end"
            return stop + 1
        if found[0] == "\x07":
            if self._kind != "osc":
                return stop + 1
            self._state = ""
            self._finish_string()
        else:
            self.reset()
        return stop + 1

    def _finish_string(self) -> None:
        text = "".join(self._string)
        self._string.clear()
        self._terminal.string(self._kind, text)
