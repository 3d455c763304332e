"""The reviewer's state of one proposed file: what is accepted, seen, remarked on and opened. Knows no screen."""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum

from core.contract.diff import FilePatch, Hunk
from core.contract.requests import DroppedHunk, LineComment
from widgets.diff.layout import Outline
from widgets.diff.outcome import FileReview
from widgets.diff.rows import LineKey, line_key, split_lines

CONTEXT_STEP = 10
"""Lines that are opened at a time on each side of a hunk."""


class Mark(StrEnum):
    ALL = "[x]"
    SOME = "[~]"
    NONE = "[ ]"


class Proposal:
    """One file under review. Everything is accepted to begin with.

    Args:
        patch: what is proposed.
        notes: what the reviewer should know about it.
    """

    def __init__(self, patch: FilePatch, notes: tuple[str, ...] = ()) -> None:
        self.patch = patch
        self.proposed = patch.new_text
        """The new text as it was proposed, before any edit of the reviewer's."""
        self.original = patch
        self.notes = notes
        self.comments: dict[LineKey, str] = {}
        self.remarks: dict[int, str] = {}
        """Remarks on whole hunks; the reason where the hunk is dropped."""
        self.reason = ""
        """Why nothing of the file is accepted."""
        self.is_held = False
        """It is being made again, as its file changed on disk."""
        self.whole_asked = False
        self._dropped: set[int] = set()
        self._seen: set[int] = set()
        self._opened: dict[int, tuple[int, int]] = {}
        self._old_lines: list[str] | None = None
        self._counts: tuple[FilePatch, int, int] | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """Lines added and removed."""
        if self._counts is None or self._counts[0] is not self.patch:
            self._counts = (self.patch, self.patch.added, self.patch.removed)
        return self._counts[1:]

    @property
    def path(self) -> str:
        return self.patch.path

    @property
    def is_edited(self) -> bool:
        return self.patch.new_text != self.proposed

    @property
    def accepted(self) -> tuple[int, ...]:
        return tuple(hunk.index for hunk in self.patch.hunks if hunk.index not in self._dropped)

    @property
    def mark(self) -> Mark:
        if not self._dropped:
            return Mark.ALL
        return Mark.SOME if self.accepted else Mark.NONE

    @property
    def unseen(self) -> tuple[int, ...]:
        """The accepted hunks whose end was not on screen yet; none once the whole was asked for."""
        if self.whole_asked:
            return ()
        return tuple(index for index in self.accepted if index not in self._seen)

    def is_accepted(self, hunk: int) -> bool:
        return hunk not in self._dropped

    def toggle(self, hunk: int) -> None:
        """Accept a dropped hunk, drop an accepted one."""
        self._dropped ^= {hunk}
        if self.accepted:
            self.reason = ""

    def toggle_all(self) -> None:
        """Accept everything; where everything is accepted, drop it."""
        self.mark_all(bool(self._dropped))

    def mark_all(self, accepted: bool) -> None:
        """Accept or drop every hunk."""
        self._dropped = set() if accepted else {hunk.index for hunk in self.patch.hunks}
        if accepted:
            self.reason = ""

    def decline(self, reason: str) -> None:
        """Drop every hunk, for a reason."""
        self.mark_all(False)
        self.reason = reason

    def note_seen(self, hunk: int) -> bool:
        """Note that the end of `hunk` was on screen; return whether that is new."""
        if hunk in self._seen:
            return False
        self._seen.add(hunk)
        return True

    def open_context(self, hunk: int) -> None:
        """Show more unchanged lines above and below a hunk."""
        for gap, at in ((hunk, 1), (hunk + 1, 0)):
            opened = list(self._opened.get(gap, (0, 0)))
            opened[at] += CONTEXT_STEP
            self._opened[gap] = (opened[0], opened[1])

    def toggle_whole(self) -> None:
        """Show every unchanged line; where they are shown, only those near the hunks."""
        whole = len(self.patch.old_text) + 1
        is_open = self._opened.get(0, (0, 0))[0] == whole
        self._opened = {} if is_open else dict.fromkeys(range(len(self.patch.hunks) + 1), (whole, 0))

    def replace(self, patch: FilePatch) -> None:
        """Take another patch of the same file; decisions and remarks stay with the hunks that are unchanged."""
        pairs = _pair_hunks(self.patch, patch)
        self.comments = _anchor(self.comments, self.patch, patch)
        self.patch = patch
        self._dropped = {new for new, before in pairs.items() if before in self._dropped}
        self._seen = {new for new, before in pairs.items() if before in self._seen}
        self.remarks = {new: self.remarks[before] for new, before in pairs.items() if before in self.remarks}
        self.whole_asked = False
        self._opened = {}
        self._old_lines = None

    def renew(self, original: FilePatch, edited: FilePatch | None = None) -> None:
        """Take a proposal that was made again.

        Args:
            edited: it with the reviewer's edits, where they could be kept.
        """
        is_declined = self.mark is Mark.NONE
        self.replace(edited or original)
        self.original = original
        self.proposed = original.new_text
        self.is_held = False
        if is_declined:
            self.mark_all(False)

    def outline(self) -> Outline:
        """Return what is to be laid out, as it is now."""
        if self._old_lines is None:
            self._old_lines = split_lines(self.patch.old_text)
        return Outline(self.patch, self._old_lines, dict(self._opened), dict(self.comments), dict(self.remarks))

    def review(self) -> FileReview:
        """Return the decision as it stands."""
        dropped = tuple(
            DroppedHunk(self.path, hunk.header, self.remarks.get(hunk.index, "") or self.reason)
            for hunk in self.patch.hunks
            if hunk.index in self._dropped
        )
        edited = self.patch.new_text if self.is_edited else None
        return FileReview(self.path, self.patch, self.accepted, dropped, edited, self.reason)

    def line_comments(self) -> tuple[LineComment, ...]:
        """Return the remarks on lines, and those on accepted hunks at their first changed line."""
        found = [LineComment(self.path, number, text) for (_, number), text in sorted(self.comments.items())]
        for index, text in self.remarks.items():
            if self.is_accepted(index):
                found.append(LineComment(self.path, _first_change(self.patch.hunks[index]), text))
        return tuple(found)


def _content(hunk: Hunk) -> Hashable:
    return tuple((line.tag, line.text, line.ending) for line in hunk.lines)


def _pair_hunks(before: FilePatch, after: FilePatch) -> dict[int, int]:
    """Return for each hunk of `after` that stood in `before`, wherever it moved to, its index there."""
    known: dict[Hashable, list[int]] = {}
    for hunk in reversed(before.hunks):
        known.setdefault(_content(hunk), []).append(hunk.index)
    return {hunk.index: found.pop() for hunk in after.hunks if (found := known.get(_content(hunk)))}


def _anchor(comments: dict[LineKey, str], before: FilePatch, after: FilePatch) -> dict[LineKey, str]:
    """Return the comments at the lines' numbers in `after`: the nearest equal line; else the number stays."""
    if not comments:
        return comments
    texts = {line_key(line): line.text for hunk in before.hunks for line in hunk.lines}
    places: dict[tuple[bool, str], list[int]] = {}
    for hunk in after.hunks:
        for line in hunk.lines:
            is_old, number = line_key(line)
            places.setdefault((is_old, line.text), []).append(number)
    anchored: dict[LineKey, str] = {}
    for (is_old, number), comment in comments.items():
        found = places.get((is_old, texts.get((is_old, number), "")), [number])
        key = (is_old, min(found, key=lambda place: abs(place - number)))
        anchored[key] = f"{anchored[key]}\n{comment}" if key in anchored else comment
    return anchored


def _first_change(hunk: Hunk) -> int:
    """Return the new number of the hunk's first changed line (for a removal: of where it was)."""
    number = hunk.new_start
    for line in hunk.lines:
        if line.tag == "+":
            return line.new_number or number
        if line.tag == "-":
            return number
        number = (line.new_number or number) + 1
    return number
