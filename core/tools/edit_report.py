"""What the model is told after an edit: the lines as they are now, and what the reviewer did with its proposal."""

from __future__ import annotations

from core.contract.requests import ApprovalReply
from core.diff.compute import diff_sequences
from core.diff.hunks import apply_hunks, make_patch
from core.diff.stats import diff_stat
from core.diff.unified import unified_diff

CONTEXT = 5
"""Lines around each change."""
MAX_LINES = 200
MAX_DIFF = 8_000
"""Characters of the diff that shows what the user changed."""


def snippet(old: str, new: str) -> str:
    """Return the changed lines of `new` with some around, `...` where lines are left out."""
    before, after = (_lines(text) for text in (old, new))
    regions: list[tuple[int, int]] = []
    for change in diff_sequences(before, after):
        start, stop = max(0, change.new_start - CONTEXT), min(len(after), change.new_stop + CONTEXT)
        if regions and start <= regions[-1][1]:
            regions[-1] = (regions[-1][0], stop)
        else:
            regions.append((start, stop))
    shown: list[str] = []
    end = 0
    for start, stop in regions:
        if start > end:
            shown.append("...")
        room = MAX_LINES - len(shown)
        if room <= 0:
            break
        end = min(stop, start + room)
        shown += after[start:end]
    if end < len(after) and regions:
        left = sum(stop - max(start, end) for start, stop in regions if stop > end)
        shown.append(f"... ({left} more lines around changes)" if left else "...")
    return "\n".join(shown)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def describe_review(original: str | None, proposed: str, final: str, reply: ApprovalReply) -> str:
    """Return what the user did to the proposal, and said of it; empty if it was taken as it is.

    Args:
        original: none where the proposal makes a new file.
    """
    parts = []
    patch = make_patch("", original, proposed)
    dropped = {drop.header: drop for drop in reply.dropped}
    accepted = [hunk.index for hunk in patch.hunks if hunk.header not in dropped]
    if reply.dropped:
        total = len(patch.hunks)
        reasons = "; ".join(
            f"user declined hunk {drop.header}" + (f': "{drop.reason}"' if drop.reason else "")
            for drop in reply.dropped
        )
        parts.append(f"applied {total - len(reply.dropped)} of {total} hunks; {reasons}")
    taken = apply_hunks(patch, accepted)
    if final != taken:
        diff = unified_diff("edited by the user", taken, final, context=1)
        if len(diff) > MAX_DIFF:
            diff = diff[:MAX_DIFF] + "\n... (cut)\n"
        parts.append(f"The user edited the proposal before approving it:\n{diff.rstrip()}")
    for comment in reply.comments:
        parts.append(f'The user commented on line {comment.line}: "{comment.text}"')
    if final != proposed:
        stat = diff_stat(original or "", proposed, final)
        parts.append(
            f"Of your proposal (+{stat.model_added_lines} −{stat.model_removed_lines} lines) the user changed"
            f" +{stat.user_added_lines} −{stat.user_removed_lines} lines (user_added_lines, user_removed_lines)."
        )
    return "\n".join(parts)
