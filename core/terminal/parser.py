"""The parser of terminal output: characters to drawn text, controls and strings.

The states are those of the VT500 (Paul Flo Williams, "A parser for DEC's ANSI-compatible video terminals"), with UTF-8
and colon parameters; `act` takes the usual sequences whole. No input raises, and the screen is the same however the
input is cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from core.terminal.pen import MAX_PARAMETERS, Pen

MAX_STRING = 64 * 1024
"""Characters that are kept of an OSC, DCS, APC, PM or SOS string; the rest is swallowed."""
_MOST_KNOWN = 32_768
_MAX_SEQUENCE = 256
"""Characters that are kept of the parameters of one sequence."""

SEQUENCE = re.compile(r"([<-?]?)([0-9;:]{0,64})([ -/]{0,2})([@-~])")
"""A control sequence after its `ESC [`."""
_TOKEN = re.compile(r"([^\x00-\x1f\x7f-\x9f]+)|([\x00-\x1a\x1c-\x1f\x7f-\x9f])|\x1b")
_TEXT, _CONTROL = 1, 2
_STRING_END = re.compile("[\x07\x18\x1a\x1b]")
_C0 = dict.fromkeys(range(0x20))
"""What the VT500 ignores within an OSC string."""
_STRINGS = {"]": "osc", "P": "dcs", "_": "apc", "^": "pm", "X": "sos", "k": "title"}


Control = Callable[[list[int]], None]
Action = tuple[Control, list[int]]
"""A control function and its parameters."""


class Terminal(Protocol):
    """What the parser drives."""

    last_text: str
    """Of its end REP takes what it repeats: cleared by everything but text."""

    pen: Pen

    def draw(self, data: str) -> None: ...
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
        self.state = ""
        """Empty (ground), `escape`, `csi`, `ignore` (a malformed CSI), `string` or `end` (ESC within a string)."""
        self._prefix = ""
        self._parameters = ""
        self._intermediates = ""
        self._kind = ""
        self._string: list[str] = []
        self._length = 0
        self.known: dict[str, Action] = {}
        """What whole sequences do, by how they are written after `ESC [`: programs repeat themselves."""
        self._controls: dict[str, Control] = {}

    def reset(self) -> None:
        """Forget what is unfinished."""
        self.state = ""
        self._string.clear()

    def feed(self, text: str) -> None:
        """Act on text; it may end anywhere."""
        at = 0
        while at < len(text):
            if self.state:
                at = self._feed_sequence(text, at)
                continue
            for token in _TOKEN.finditer(text, at):
                kind = token.lastindex
                if kind == _TEXT:
                    self._terminal.draw(token[0])
                elif kind == _CONTROL:
                    self._terminal.execute(token[0])
                else:
                    self.state, self._intermediates = "escape", ""
                    at = token.end()
                    break
            else:
                return

    def _feed_sequence(self, data: str, at: int) -> int:
        """Act on one character (or the rest of a string) within a sequence; return where to go on."""
        if self.state == "string":
            return self._feed_string(data, at)
        character = data[at]
        if self.state == "end":
            self.state = ""
            self._finish_string()
            if character == "\\":
                return at + 1
            self.state, self._intermediates = "escape", ""
        if character == "\x1b":
            self.state, self._intermediates = "escape", ""
        elif character in "\x18\x1a":
            self.state = ""
        elif character < " ":
            self._terminal.execute(character)
        elif character == "\x7f":
            pass
        elif self.state == "escape":
            self._take_escape(character)
        else:
            self._take_csi(character)
        return at + 1

    def learn(self, sequence: str, prefix: str, parameters: str, intermediates: str, final: str) -> Action:
        """Return what a whole sequence (as it is written after `ESC [`) does, and remember it."""
        control = self._find_control(prefix + intermediates + final)
        numbers = read_parameters(parameters)
        if len(self.known) >= _MOST_KNOWN:
            self.known.clear()
        self.known[sequence] = control, numbers
        return control, numbers

    def _find_control(self, name: str) -> Control:
        control = self._controls.get(name)
        if control is None:
            if len(self._controls) >= _MOST_KNOWN:
                self._controls.clear()
            control = self._controls[name] = self._terminal.find_control(name)
        return control

    def _take_escape(self, character: str) -> None:
        if character <= "/":
            self._intermediates = (self._intermediates + character)[:4]
            return
        self.state = ""
        if character > "~":
            return
        if not self._intermediates:
            if character == "[":
                self.state, self._prefix, self._parameters = "csi", "", ""
                return
            if character in _STRINGS:
                self.state, self._kind, self._length = "string", _STRINGS[character], 0
                return
        self._terminal.escape(self._intermediates, character)

    def _take_csi(self, character: str) -> None:
        if "@" <= character <= "~":
            ignored = self.state == "ignore"
            self.state = ""
            if ignored:
                return
            if character == "m" and not self._prefix and not self._intermediates:
                self._terminal.pen = self._terminal.pen.after(self._parameters)
            else:
                control = self._find_control(self._prefix + self._intermediates + character)
                control(read_parameters(self._parameters))
            self._terminal.last_text = ""
        elif self.state == "ignore":
            return
        elif character > "~":
            return
        elif character <= "/":
            self._intermediates = (self._intermediates + character)[:4]
        elif self._intermediates:
            self.state = "ignore"
        elif character <= ";":
            if len(self._parameters) < _MAX_SEQUENCE:
                self._parameters += character
        elif self._prefix or self._parameters:
            self.state = "ignore"
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
            self.state = "end"
            return stop + 1
        if found[0] == "\x07":
            if self._kind != "osc":
                return stop + 1
            self.state = ""
            self._finish_string()
        else:
            self.reset()
        return stop + 1

    def _finish_string(self) -> None:
        text = "".join(self._string)
        self._string.clear()
        if self._kind == "osc":
            text = text.translate(_C0)
        self._terminal.string(self._kind, text)
