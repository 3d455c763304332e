"""What a lenient reading of one shell text finds, whoever read it: the commands, and the places where more may hide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.policy.shell_quotes import expand_word


@dataclass(frozen=True, slots=True)
class FoundCommand:
    """The words of a command that a text may run, quotes removed."""

    words: tuple[str, ...]
    open: tuple[bool, ...]
    """For each word, whether it is only known at run time."""
    derived: bool = False
    """Its words are words of another command that was found, too."""

    @property
    def program(self) -> str:
        """The program's name without its directory."""
        return self.words[0].rsplit("/", 1)[-1]

    def starting_at(self, start: int, count: int | None = None) -> FoundCommand:
        """Return the command that begins with another of the words."""
        stop = None if count is None else start + count
        return FoundCommand(self.words[start:stop], self.open[start:stop], derived=True)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def command_of(raw_words: Iterable[str]) -> FoundCommand | None:
    """Return the command that written words make; none where nothing is left of them."""
    expanded = [word for raw in raw_words for word in expand_word(raw)]
    if not expanded or not any(text for text, _ in expanded):
        return None
    return FoundCommand(tuple(text for text, _ in expanded), tuple(is_open for _, is_open in expanded))


@dataclass(slots=True)
class ShellSyntax:
    """One text's commands and what else it holds."""

    commands: list[FoundCommand] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    """Files that input and output are redirected to."""
    assignments: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    """Here-documents and here-strings: shell text if a shell reads them."""
    inner: list[str] = field(default_factory=list)
    """Texts that are read as commands in any case (nested backquotes)."""
