"""Messages that ask and the messages that answer them; the bus pairs them by id.

Every request class has `unanswered()`: the reply that stands where nobody is there to answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.contract.confirmation import ConfirmationDetails, Question, ToolConfirmationOutcome
from core.contract.tool import Kind, ToolCall


@dataclass(frozen=True, slots=True)
class LineComment:
    """A remark of the reviewer's on one line of a proposal."""

    path: str
    line: int
    """1-based, in the new text (in the old one for a removed line)."""
    text: str


@dataclass(frozen=True, slots=True)
class DroppedHunk:
    """A hunk that the reviewer did not accept."""

    path: str
    header: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    """The user's decision. What it holds as content is exactly what is then done, byte for byte."""

    outcome: ToolConfirmationOutcome
    feedback: str = ""
    """Why it was rejected, or a note to an acceptance: goes to the model."""
    new_content: str | None = None
    """For edits: the whole text to write where it differs from the proposal (edited, or some hunks dropped)."""
    new_contents: Mapping[str, str] = field(default_factory=dict)
    """The same for changes of several files, by absolute path."""
    declined: tuple[str, ...] = ()
    """Absolute paths of a change of several files that shall stay as they are."""
    dropped: tuple[DroppedHunk, ...] = ()
    comments: tuple[LineComment, ...] = ()
    command: str | None = None
    """For commands: the command as the user edited it."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """For questions: question text to answer."""
    scope: str = ""
    """Where `proceed_always_and_save` saves: one of the request's `scopes`; empty for the first of them."""

    @property
    def approved(self) -> bool:
        return self.outcome is not ToolConfirmationOutcome.CANCEL


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """May this call run?"""

    call: ToolCall
    display_name: str
    kind: Kind
    details: ConfirmationDetails
    reason: str = ""
    """Why it asks: the deciding rule or default, in words."""
    grant: str = ""
    """What `proceed_always` would allow, in words; empty where "always" is not offered."""
    rule: str = ""
    """The TOML rule that `proceed_always_and_save` would write; empty where saving is not offered."""
    scopes: tuple[str, ...] = ()
    """Where it can be saved: for the `user`, for the `project`; the first is the usual one."""
    would_have_allowed: tuple[str, ...] = ()
    """Earlier calls of this session that were asked about and that the rule would have let through, in words."""
    asker: str = ""
    """The sub-agent that asks, by what it is at; empty for the session's agent. The model wrote it."""

    @property
    def asker_in_words(self) -> str:
        return f'sub-agent "{self.asker}"' if self.asker else ""

    @staticmethod
    def unanswered() -> ApprovalReply:
        return ApprovalReply(ToolConfirmationOutcome.CANCEL, "nobody is here to approve it")


@dataclass(frozen=True, slots=True)
class QuestionReply:
    answers: Mapping[str, str] = field(default_factory=dict)
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """Questions of the application's own (continue after a limit? wait for the quota?)."""

    title: str
    questions: tuple[Question, ...]

    @staticmethod
    def unanswered() -> QuestionReply:
        return QuestionReply(cancelled=True)


Request = ApprovalRequest | QuestionRequest
Reply = ApprovalReply | QuestionReply
