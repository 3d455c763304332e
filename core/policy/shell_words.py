"""The strict reader of command lines: what it returns is exactly what bash would run, or it says that it is not sure.

It knows words, quotes, `&&`, `||`, `;`, `|`, line feeds, comments, `>/dev/null` and `2>&1` (POSIX.1-2017 Shell Command
Language, 2.2 to 2.9) and nothing else. Allowing rests on this reader alone.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from core.contract.visible import has_hidden

RESERVED = frozenset(
    "if then else elif fi for while until do done case esac select function time coproc in { } ! [[ ]]".split()
)
"""Words that are no program in command position (bash manual, 3.2.1)."""

_SAFE_REDIRECTION = re.compile(r"(?:[12]?>[ \t]*/dev/null|[12]?>&[12])(?=[ \t\n;|&]|$)")
_PLAIN_RUN = re.compile(r"""[^\s'"\\$`(){}<>|&;*?\[\]~#!\x00-\x20]+""")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[.*\])?\+?=")


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its arguments."""

    words: tuple[str, ...]
    """After quote removal."""
    literal: tuple[bool, ...]
    """For each word, whether bash passes it on as it stands (no glob, no tilde)."""
    text: str
    """As written."""

    def starts_with(self, prefix: tuple[str, ...]) -> bool:
        """Return whether the first words are these, each literally."""
        count = len(prefix)
        return 0 < count <= len(self.words) and self.words[:count] == prefix and all(self.literal[:count])


class UnclearCommand(ValueError):
    """The reader is not sure what bash would make of the text; the message says why."""


def read_plain(command: str) -> list[SimpleCommand]:
    """Return the simple commands of a command line, in order.

    Raises:
        UnclearCommand: the text holds anything beyond the plain forms, or nothing to run.
    """
    if has_hidden(command) or "\r" in command:
        raise UnclearCommand("it holds control or invisible characters")
    if not command.isascii() and any(char.isspace() for char in command if not char.isascii()):
        raise UnclearCommand("it holds blanks that are not blanks to the shell")
    return _Reader(command).read()


class _Reader:
    """One pass over the text; linear in its length."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._commands: list[SimpleCommand] = []
        self._words: list[str] = []
        self._literal: list[bool] = []
        self._start = 0
        self._open = ""
        """The operator that still wants a command after it."""

    def read(self) -> list[SimpleCommand]:
        text, end = self._text, len(self._text)
        while self._at < end:
            char = text[self._at]
            if char in " \t":
                self._at += 1
            elif char == "\n":
                self._end_line()
            elif char == "#":
                stop = text.find("\n", self._at)
                self._at = end if stop < 0 else stop
            elif char in "&|;":
                self._end_with_operator()
            elif match := _SAFE_REDIRECTION.match(text, self._at):
                if not self._words:
                    raise UnclearCommand("a redirection stands before its command")
                self._at = match.end()
            else:
                self._read_word()
        self._finish()
        if self._open:
            raise UnclearCommand(f"nothing follows {self._open!r}")
        if not self._commands:
            raise UnclearCommand("there is nothing to run")
        return self._commands

    def _end_line(self) -> None:
        self._finish()
        self._at += 1

    def _end_with_operator(self) -> None:
        operator = next((op for op in ("&&", "||", ";;", "|&") if self._text.startswith(op, self._at)), None)
        operator = operator or self._text[self._at]
        if operator not in ("&&", "||", ";", "|"):
            raise UnclearCommand(f"it uses {operator!r}")
        if not self._words:
            raise UnclearCommand(f"nothing stands before {operator!r}")
        self._finish()
        self._at += len(operator)
        self._open = "" if operator == ";" else operator

    def _finish(self) -> None:
        if not self._words:
            return
        first = self._words[0]
        if first in RESERVED:
            raise UnclearCommand(f"it uses the reserved word {first!r}")
        if _ASSIGNMENT.match(first):
            raise UnclearCommand("it sets a variable")
        if not first or not self._literal[0]:
            raise UnclearCommand("the program's name is not written out")
        written = self._text[self._start : self._at].strip()
        self._commands.append(SimpleCommand(tuple(self._words), tuple(self._literal), written))
        self._words, self._literal = [], []
        self._open = ""

    def _read_word(self) -> None:
        text, end = self._text, len(self._text)
        if not self._words:
            self._start = self._at
        pieces: list[str] = []
        literal = True
        while self._at < end and text[self._at] not in " \t\n&|;":
            char = text[self._at]
            if match := _PLAIN_RUN.match(text, self._at):
                pieces.append(match[0])
                self._at = match.end()
            elif char in "'\"":
                pieces.append(self._read_quoted(char))
            elif char in "*?[]~":
                # a tilde expands at the start of a word, and after `=` or `:` where the word looks like an assignment
                literal = literal and char == "~" and bool(pieces) and pieces[-1][-1:] not in ("=", ":", "")
                pieces.append(char)
                self._at += 1
            elif (char == "#" and pieces) or char == "!":
                pieces.append(char)
                self._at += 1
            else:
                raise UnclearCommand(f"it holds {char!r} outside of quotes")
        word = "".join(pieces)
        if not word.isascii() and any(unicodedata.combining(char) for char in word[:64]) and not self._words:
            raise UnclearCommand("the program's name holds combining marks")
        self._words.append(word)
        self._literal.append(literal)

    def _read_quoted(self, quote: str) -> str:
        stop = self._text.find(quote, self._at + 1)
        if stop < 0:
            raise UnclearCommand("a quote is not closed")
        inner = self._text[self._at + 1 : stop]
        if quote == '"' and any(char in inner for char in "$`\\"):
            raise UnclearCommand("a double-quoted text holds '$', '`' or a backslash")
        self._at = stop + 1
        return inner
