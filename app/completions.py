"""What the prompt completes: it asks here from the first paint on, and the session fills it in when it is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from widgets.prompt.candidates import Candidate
from widgets.prompt.trigger import LINE_RANGE, CompletionKind

if TYPE_CHECKING:
    from core.workspace.index import FileIndex


async def _no_preview(path: str, rows: int) -> str:
    return ""


class Completions:
    """Gives the prompt its candidates; empty until the session is there."""

    def __init__(self) -> None:
        self.index: FileIndex | None = None
        self.commands: Callable[[str], Sequence[Candidate]] = lambda query: ()
        self.shell: Callable[[], str] = lambda: ""
        """What `@shell` would send along, in a few words; empty if nothing."""
        self.preview: Callable[[str, int], Awaitable[str]] = _no_preview
        """`preview(path, rows)` gives the first lines of what a path names, or of the range that stands behind it."""
        self.resources: Callable[[str], Sequence[Candidate]] = lambda query: ()

    async def show_path(self, path: str, rows: int) -> str:
        """Return the first lines of what a path names."""
        return await self.preview(path, rows)

    async def complete(self, kind: CompletionKind, query: str) -> Sequence[Candidate]:
        """Return the candidates for what was typed, the best first."""
        if kind == "command":
            return self.commands(query)
        paths = await self._find_paths(query)
        shell = self.shell() if query and "shell".startswith(query.lower()) else ""
        return [*([Candidate("shell", shell)] if shell else ()), *self.resources(query), *paths]

    async def _find_paths(self, query: str) -> list[Candidate]:
        if self.index is None:
            return []
        match = LINE_RANGE.fullmatch(query)
        if match is not None and any(entry.path == match["path"] for entry in await self.index.find(match["path"])):
            lines = f"lines {match['first']} to {match['last']}" if match["last"] else f"line {match['first']}"
            return [Candidate(query, lines)]
        return [Candidate(entry.path) for entry in await self.index.find(query)]
