"""The lenient reader: every command that a text may run, nested and wrapped ones too, and the files that it names.

Denying, showing and the look for sensitive names rest on it; allowing never does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from core.policy.shell_nested import SHELLS, nested, sets_program
from core.policy.shell_scan import scan
from core.policy.shell_syntax import FoundCommand, ShellSyntax
from core.policy.shell_tree import is_parsable, read_tree

MAX_COMMANDS = 3_000
MAX_CHARACTERS = 300_000
"""In all nested texts together."""
_MAX_NESTING = 12


@dataclass(slots=True)
class Reading:
    """What was found in a text."""

    commands: list[FoundCommand] = field(default_factory=list)
    """Outer ones first."""
    targets: list[str] = field(default_factory=list)
    """Files of redirections."""
    is_complete: bool = True
    """False where the text is so large or deep that something may have been left out."""


def find_commands(text: str, known: Iterable[FoundCommand] | None = None) -> Reading:
    """Read a text.

    Args:
        known: its commands, where the strict reader has found them; then only what they run is looked for.
    """
    return _Reader().read(text, known)


class _Reader:
    def __init__(self) -> None:
        self._reading = Reading()
        self._pending: deque[tuple[str, int]] = deque()
        self._seen: set[str | tuple[str, ...]] = set()
        self._left = MAX_CHARACTERS
        self._held: list[tuple[str, int]] = []
        """Texts that are data, unless a shell is among the commands."""
        self._has_shell = False

    def read(self, text: str, known: Iterable[FoundCommand] | None) -> Reading:
        if known is None:
            self._pending.append((text, 0))
        else:
            for command in known:
                self._add(command, 0)
        while self._pending:
            self._read_text(*self._pending.popleft())
            if not self._pending and self._has_shell and self._held:
                self._pending.extend(self._held)
                self._held.clear()
        if self._has_shell and self._held:
            self._pending.extend(self._held)
            self._held.clear()
            while self._pending:
                self._read_text(*self._pending.popleft())
        return self._reading

    def _read_text(self, text: str, depth: int) -> None:
        if text in self._seen:
            return
        self._seen.add(text)
        self._left -= len(text)
        if depth > _MAX_NESTING or self._left < 0:
            self._reading.is_complete = False
            return
        syntax = ShellSyntax()
        if not is_parsable(text) or not read_tree(text, syntax):
            scan(text, syntax)
        self._reading.targets += syntax.targets
        self._held += [(body, depth + 1) for body in syntax.bodies]
        for name, value in syntax.assignments:
            (self._pending if sets_program(name) else self._held).append((value, depth + 1))
        self._pending.extend((inner, depth + 1) for inner in syntax.inner)
        for command in syntax.commands:
            self._add(command, depth)

    def _add(self, command: FoundCommand, depth: int) -> None:
        pending = deque([command])
        while pending:
            command = pending.popleft()
            if not command.words or command.words in self._seen:
                continue
            if len(self._reading.commands) >= MAX_COMMANDS:
                self._reading.is_complete = False
                return
            self._seen.add(command.words)
            self._reading.commands.append(command)
            program = command.program
            # a program that is computed may be a shell
            self._has_shell = self._has_shell or program in SHELLS or command.open[0]
            self._held += [(word, depth + 1) for word in command.words[1:] if " " in word or "\n" in word]
            if program in ("echo", "printf"):
                written = " ".join(command.words[1:]).replace("\\n", "\n").replace("\\t", "\t")
                self._held.append((written, depth + 1))
            for found in nested(command):
                if isinstance(found, str):
                    self._pending.append((found, depth + 1))
                elif depth < _MAX_NESTING:
                    pending.append(found)
