"""Proposals that stand or fall together: dropping one drops what goes with it, taking one takes what it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from widgets.diff.proposal import Proposal


class Bonds:
    """Keeps marks as they can be carried out.

    Args:
        dropped_with: by path the others of which nothing can be taken where nothing of that one is.
    """

    def __init__(self, dropped_with: Mapping[str, Sequence[str]]) -> None:
        self._dropped_with = dropped_with
        self._followers: dict[str, set[str]] = {}
        """By path what was dropped along with it."""

    def follow(self, marked: Proposal, proposals: Sequence[Proposal]) -> list[str]:
        """Let the others follow what was done to one; return the paths of those whose marks changed."""
        bound = self._dropped_with.get(marked.path, ())
        if not marked.accepted:
            changed = [each for each in proposals if each.path in bound and each.accepted]
            self._followers.setdefault(marked.path, set()).update(each.path for each in changed)
        else:
            back = self._followers.pop(marked.path, set())
            needed = {path for path, others in self._dropped_with.items() if marked.path in others}
            changed = [each for each in proposals if each.path in back | needed and not each.accepted]
        for each in changed:
            each.mark_all(bool(marked.accepted))
        return [each.path for each in changed]
