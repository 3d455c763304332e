"""What a review ended with. It holds what the reviewer saw, so that exactly that is then written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.contract.diff import FilePatch
from core.contract.requests import DroppedHunk, LineComment


class ReviewDecision(StrEnum):
    ONCE = "once"
    SESSION = "session"
    """Accepted, and later changes of this sort need no question in this session."""
    SAVE = "save"
    """Accepted, and the rule that was shown is to be saved."""
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class FileReview:
    """The decision on one file."""

    path: str
    patch: FilePatch
    """The patch that was on screen at the moment of the decision (recomputed after an edit or a change on disk)."""
    accepted: tuple[int, ...]
    """Indexes into `patch.hunks`, ascending."""
    dropped: tuple[DroppedHunk, ...] = ()
    edited_text: str | None = None
    """The whole new text where the reviewer edited it: `patch.new_text`; none where it is as proposed."""
    reason: str = ""
    """Why nothing of the file is accepted."""

    @property
    def is_whole(self) -> bool:
        """Whether the proposal was taken as it was: every hunk, no edit."""
        return self.edited_text is None and not self.dropped


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    decision: ReviewDecision
    files: tuple[FileReview, ...] = ()
    """In the order in which they were proposed; empty where denied."""
    comments: tuple[LineComment, ...] = ()
    feedback: str = ""
    """The reason of a denial, or the note of an acceptance."""
    scope: str = ""
    """Where the rule is to be saved; empty for the usual place."""

    @property
    def is_accepted(self) -> bool:
        return self.decision is not ReviewDecision.DENY

    @property
    def is_modified(self) -> bool:
        """Whether anything is written other than what was proposed."""
        return any(not file.is_whole for file in self.files)
