"""Where vi's motions lead, with what they remember: the column to keep to, and what was looked for in the line."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.prompt.vim.command import FINDS, Command
from widgets.prompt.vim.motions import MOTIONS, Reach, find_in_line, last_column, line_start, lines_off

_TO_LINE_END = 1 << 30
"""The column that `$` wants in every line."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a motion has led."""

    place: int
    beyond: str = ""
    """`up` or `down` where it would leave the text; else empty."""


class Mover:
    """The motions of one text after another."""

    def __init__(self) -> None:
        self._find: tuple[str, str] | None = None
        self._column = 0
        """What going up and down keeps to."""

    def keep_column(self, text: str, cursor: int, *, at_end: bool = False) -> None:
        """Keep to the cursor's column from now on, or to the end of each line."""
        self._column = _TO_LINE_END if at_end else cursor - line_start(text, cursor)

    def lead(self, command: Command, text: str, cursor: int) -> Moved | None:
        """Return where a motion leads (the cursor stays where it leads nowhere); none for what is no motion."""
        if command.verb in ("j", "k"):
            step = command.times if command.verb == "j" else -command.times
            start = lines_off(text, cursor, step)
            if start is None:
                return Moved(cursor, ("down" if step > 0 else "up") if command.count is None else "")
            return Moved(min(start + self._column, last_column(text, start)))
        if command.verb in FINDS or command.verb in (";", ","):
            found = self.find(command, text, cursor)
            return Moved(cursor if found is None else found[0])
        if command.verb not in MOTIONS:
            return None
        target = MOTIONS[command.verb][0](text, cursor, command.count, command.argument)
        return Moved(cursor if target is None else target)

    def find(self, command: Command, text: str, cursor: int) -> tuple[int, Reach] | None:
        """Return where `f F t T ; ,` lead, and what an operator takes until there."""
        again = command.verb in (";", ",")
        if not again:
            self._find = command.verb, command.argument
        if self._find is None:
            return None
        verb, wanted = self._find
        if command.verb == ",":
            verb = verb.swapcase()
        step = 1 if verb.islower() else -1
        target = find_in_line(step, int(verb in "tT"), text, cursor, command.times, wanted, again)
        return None if target is None else (target, Reach.INCLUSIVE if step > 0 else Reach.EXCLUSIVE)
