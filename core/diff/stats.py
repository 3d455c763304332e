"""How much of a change is the model's and how much the user made of it."""

from __future__ import annotations

from core.contract.diff import DiffStat
from core.diff.compute import diff_sequences
from core.diff.lines import split_ending, split_lines


def diff_stat(original: str, proposed: str, final: str | None = None) -> DiffStat:
    """Return the counts of added and removed lines and of their characters (line breaks not counted).

    Args:
        original: the text before.
        proposed: the model's text.
        final: what the user made of the proposal; none if nothing was changed.
    """
    added, removed, added_chars, removed_chars = _counts(original, proposed)
    if final is None or final == proposed:
        return DiffStat(added, removed, added_chars, removed_chars)
    return DiffStat(added, removed, added_chars, removed_chars, *_counts(proposed, final))


def _counts(old: str, new: str) -> tuple[int, int, int, int]:
    before, after = split_lines(old), split_lines(new)
    added = removed = added_chars = removed_chars = 0
    for change in diff_sequences(before, after):
        removed += change.old_stop - change.old_start
        added += change.new_stop - change.new_start
        removed_chars += sum(len(split_ending(line)[0]) for line in before[change.old_start : change.old_stop])
        added_chars += sum(len(split_ending(line)[0]) for line in after[change.new_start : change.new_stop])
    return added, removed, added_chars, removed_chars
