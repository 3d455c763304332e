"""What the prompt completes: it asks here from the first paint on, and the session fills it in when it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from widgets.prompt.candidates import Candidate
from widgets.prompt.trigger import CompletionKind

if TYPE_CHECKING:
    from core.workspace.index import FileIndex


class Completions:
    """Gives the prompt its candidates; empty until the session is there."""

    def __init__(self) -> None:
        self.index: FileIndex | None = None
        self.commands: Callable[[str], Sequence[Candidate]] = lambda query: ()
        self.shell: Callable[[], str] = lambda: ""
        """What `@shell` would send along, in a few words; empty if nothing."""
        self.resources: Callable[[str], Sequence[Candidate]] = lambda query: ()

    async def complete(self, kind: CompletionKind, query: str) -> Sequence[Candidate]:
        """Return the candidates for what was typed, the best first."""
        if kind == "command":
            return self.commands(query)
        paths = [Candidate(entry.path) for entry in await self.index.find(query)] if self.index is not None else []
        shell = self.shell() if query and "shell".startswith(query.lower()) else ""
        return [*([Candidate("shell", shell)] if shell else ()), *self.resources(query), *paths]
