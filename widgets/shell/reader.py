"""Reading back in a terminal with keys: moving, searching, selecting lines. It knows lines and keys, no widget."""

from __future__ import annotations

from enum import Enum, auto

from widgets.shell.lines import Selection, TerminalLines

_MOST_QUERY = 200
_STEPS = {"up": -1, "k": -1, "down": 1, "j": 1}
_PAGES = {"pageup": -1, "shift+pageup": -1, "b": -1, "pagedown": 1, "shift+pagedown": 1, "space": 1}


class Outcome(Enum):
    """What is to be done after a key."""

    STAY = auto()
    LEAVE = auto()
    COPY = auto()
    """Copy what is selected, and leave."""
    COPY_LINKS = auto()
    """Copy the addresses that it leads to, and leave."""


class Reader:
    """Stands on a line of a terminal.

    Args:
        lines: the lines as they are now; whoever makes it keeps them up to date.
        height: lines that the view shows.
    """

    def __init__(self, lines: TerminalLines, height: int) -> None:
        self.lines = lines
        self.height = max(1, height)
        self.line = lines.stop - 1
        """Where it stands."""
        self.top = max(lines.first, lines.stop - self.height)
        """The first line that is shown."""
        self.query = ""
        self.typing = False
        """The query is being typed."""
        self._missed = False
        self._anchor: int | None = None

    @property
    def selection(self) -> Selection | None:
        """The whole lines from where a selection was begun to where it stands."""
        return None if self._anchor is None else Selection((self._anchor, 0), (self.line, 0), whole_lines=True)

    @property
    def note(self) -> str:
        """Where it stands and what can be done, or the query."""
        if self.typing:
            return f"search: {self.query}▏"
        place = f"line {self.line - self.lines.first + 1:,} of {self.lines.stop - self.lines.first:,}"
        if self._missed:
            place = f"no {self.query}"
        if self._anchor is not None:
            return f"{len(self.lines_selected):,} lines · y copy{self._link_note()} · esc no selection"
        return f"{place}{self._link_note()} · / search{' · n N next' if self.query else ''} · v select · q back"

    def _link_note(self) -> str:
        links = self.links
        return f" · u copy {links[0] if len(links) == 1 else f'{len(links)} addresses'}" if links else ""

    @property
    def lines_selected(self) -> range:
        """The numbers of the lines that `y` copies: those selected, else the one where it stands."""
        selection = self.selection
        return selection.lines if selection is not None else range(self.line, self.line + 1)

    @property
    def links(self) -> list[str]:
        """The addresses that `u` copies."""
        return self.lines.links(self.lines_selected)

    def selected_text(self) -> str:
        """Return what `y` copies."""
        return self.lines.text(self.selection or Selection((self.line, 0), (self.line, 0), whole_lines=True))

    def follow(self, lines: TerminalLines, moved: int = 0) -> None:
        """Take the lines as they are now; it stays where it stands unless that is forgotten.

        Args:
            moved: by how much the numbers of the lines have changed, as they were wrapped anew.
        """
        self.lines = lines
        self.top += moved
        self._anchor = None if self._anchor is None else self._anchor + moved
        self._show(self.line + moved)

    def press(self, key: str, character: str | None) -> Outcome:
        """Act on a key."""
        if self.typing:
            return self._type(key, character)
        self._missed = False
        name = character if character in ("G", "N", "/", "?") else key
        if name in _STEPS:
            self._show(self.line + _STEPS[name])
        elif name in _PAGES:
            step = _PAGES[name] * max(1, self.height - 1)
            self.top += step
            self._show(self.line + step)
        elif name in ("home", "g"):
            self._show(self.lines.first)
        elif name in ("end", "G"):
            self._show(self.lines.stop)
        elif name in ("/", "?", "slash", "question_mark"):
            self.typing, self.query = True, ""
        elif name in ("n", "N"):
            self._find(older=name == "n")
        elif name == "v":
            self._anchor = self.line if self._anchor is None else None
        elif name in ("y", "enter"):
            return Outcome.COPY
        elif name == "u" and self.links:
            return Outcome.COPY_LINKS
        elif name == "escape" and self._anchor is not None:
            self._anchor = None
        elif name in ("q", "escape", "ctrl+c"):
            return Outcome.LEAVE
        return Outcome.STAY

    def _type(self, key: str, character: str | None) -> Outcome:
        if key == "enter":
            self.typing = False
            self._find(older=True)
        elif key in ("escape", "ctrl+c"):
            self.typing, self.query = False, ""
        elif key == "backspace":
            self.query = self.query[:-1]
        elif character and character.isprintable() and len(self.query) < _MOST_QUERY:
            self.query += character
        return Outcome.STAY

    def _find(self, *, older: bool) -> None:
        found = self.lines.find(self.query, self.line, older=older) if self.query else None
        self._missed = found is None
        if found is not None:
            self._show(found)

    def _show(self, line: int) -> None:
        """Stand on a line, and scroll no further than needed."""
        lines = self.lines
        self.line = max(lines.first, min(line, lines.stop - 1))
        self.top = min(max(self.top, self.line - self.height + 1), self.line)
        self.top = max(lines.first, min(self.top, lines.stop - self.height))
