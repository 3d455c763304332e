"""Facts that have happened, as they go over the bus: everything that people see or decide is one of these.

Order within a turn: `TurnStarted`, then per model step deltas, `ToolCallRequested` (all), `MessageAdded` (the model's),
per call its state changes up to one `ToolCallFinished`, `MessageAdded` (the results), and at the end `TurnFinished`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.contract.change import KeptChange as KeptChange
from core.contract.conversation import Message
from core.contract.diff import DiffStat
from core.contract.display import Display
from core.contract.errors import ToolErrorType
from core.contract.file_work import FilesWorked as FilesWorked
from core.contract.ids import CallId
from core.contract.job import JobEnded as JobEnded
from core.contract.job import JobFrame as JobFrame
from core.contract.job import JobStarted as JobStarted
from core.contract.job import JobStateChanged as JobStateChanged
from core.contract.job import JobWrote as JobWrote
from core.contract.mcp import McpServerChanged as McpServerChanged
from core.contract.permission import CallRejected as CallRejected
from core.contract.permission import RequestWithdrawn as RequestWithdrawn
from core.contract.permission import RuleAdded as RuleAdded
from core.contract.state import ApprovalMode as ApprovalMode
from core.contract.state import JobState as JobState
from core.contract.state import McpState as McpState
from core.contract.state import NoticeLevel as NoticeLevel
from core.contract.subagent import SubagentMessageAdded as SubagentMessageAdded
from core.contract.todo import TodoList
from core.contract.tool import CallState, Kind, ToolCall, ToolLocation
from core.contract.usage import Usage

# --- user -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptSubmitted:
    """The user sent a prompt; attachments are the paths named with `@`."""

    text: str
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SteerSubmitted:
    """The user wrote while the agent works; it is delivered with the next tool results."""

    text: str


@dataclass(frozen=True, slots=True)
class InterruptRequested:
    """The user pressed stop; `hard` is the second time: kill."""

    hard: bool = False


# --- turn -----------------------------------------------------------------------------------------


class TurnEnd(StrEnum):
    DONE = "done"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    TURN_LIMIT = "turn_limit"
    COST_LIMIT = "cost_limit"
    LOOP = "loop"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    prompt: str


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """A model or internal failure; a `TurnFinished` follows."""

    message: str
    hint: str = ""
    kind: str = ""
    """A `ModelErrorKind` value, or empty for an internal error."""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    reason: TurnEnd
    usage: Usage = Usage()
    duration: float = 0.0
    """Seconds, by a monotonic clock."""
    cost: float | None = None
    """US dollars; none where the price is not known."""


@dataclass(frozen=True, slots=True)
class LoopNoted:
    """The model repeats itself: it was told so, or (`stopped`) the turn was stopped."""

    call_name: str
    count: int
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class RetryWaiting:
    """A model request failed and is sent again after a wait."""

    attempt: int
    """The failed attempt, from 1."""
    seconds: float
    message: str


@dataclass(frozen=True, slots=True)
class RetryStarted:
    attempt: int


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """Room was made in the context; the `HistoryReplaced` before it says what stands there. Tokens are estimates."""

    before_tokens: int
    after_tokens: int
    by_model: bool = True
    """The model wrote the summary; else it is made of beginnings, as the model could not be asked."""


@dataclass(frozen=True, slots=True)
class KeptMessages:
    """Messages of a former history in the one after it."""

    at: int
    """Position of the first in the new history."""
    start: int
    """Its position in the former one."""
    count: int


@dataclass(frozen=True, slots=True)
class HistoryReplaced:
    """The history is now another one: compacted, rewound, or changed by the user. Later messages are added to it."""

    messages: tuple[Message, ...]
    """Those that are new in it, in order; all of them where `kept` is none."""
    reason: str
    """In a few words."""
    pinned: tuple[int, ...] = ()
    """Positions of messages that no compaction touches."""
    kept: tuple[KeptMessages, ...] | None = None
    """What stands in it of the former history; where the one before is taken back, of what stood before that, followed
    by what came since. None in the records of earlier versions."""


# --- model ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A request goes to the model."""

    step: int
    model: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallRequested:
    """The model's message is complete and asks for this call."""

    call: ToolCall
    display_name: str = ""
    kind: Kind = Kind.OTHER
    verb: str = ""
    """A word for what the call does, where that of its kind does not fit."""


@dataclass(frozen=True, slots=True)
class UsageReported:
    usage: Usage
    """Of the turn so far."""
    context_window: int = 0


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """A message entered the history: the history is exactly the sequence of these."""

    message: Message


# --- tool -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolCallStateChanged:
    """A call entered a state that is not final (final ones are `ToolCallFinished`)."""

    id: CallId
    state: CallState
    description: str = ""
    """What the invocation says that it does, as Markdown of one line; from `scheduled` on."""
    locations: tuple[ToolLocation, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Live output of a running call: it replaces what was shown before."""

    id: CallId
    output: Display


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    id: CallId
    name: str
    state: CallState
    display: Display = ""
    error: str = ""
    error_type: ToolErrorType | None = None
    duration: float = 0.0
    """Seconds of execution, waiting for approval not counted."""
    summary: str = ""
    """A few words for the collapsed line: `120 lines`, `+3 −1`, `exit 1`."""
    llm_text: str = ""
    """What the model is told."""
    ended_badly: bool = False
    """The call did its work, but the command that it ran ended with a code other than 0, or by a signal."""


# --- state ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: ApprovalMode


@dataclass(frozen=True, slots=True)
class ModelChanged:
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class TodosChanged:
    todos: TodoList


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A tool of ours changed a file."""

    path: str
    """Absolute."""
    stat: DiffStat = DiffStat()
    created: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ChangesKept:
    """What a call or an undo changed on disk, kept so that it can be taken back."""

    id: str
    label: str
    """What did it, in a few words."""
    of_turn: int
    """The turn that is meant; for an undo the one that was taken back."""
    changes: tuple[KeptChange, ...]
    notes: tuple[str, ...] = ()
    """What could not be kept, and why."""
    undoes: tuple[str, ...] = ()
    """Ids of the sets that were taken back; empty for a call's own changes."""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    directory: str
    model: str
    version: str
    resumed: str = ""
    """Id of the session that this one continues."""


@dataclass(frozen=True, slots=True)
class SessionRenamed:
    title: str


@dataclass(frozen=True, slots=True)
class SessionEnded:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that people should know and that belongs to no other event."""

    message: str
    hint: str = ""
    level: NoticeLevel = NoticeLevel.INFO


@dataclass(frozen=True, slots=True)
class SubscriberFailed:
    """A subscriber of the bus raised and was cut off from this one event."""

    subscriber: str
    message: str


Event = (
    PromptSubmitted
    | SteerSubmitted
    | InterruptRequested
    | TurnStarted
    | TurnFailed
    | TurnFinished
    | LoopNoted
    | RetryWaiting
    | RetryStarted
    | ContextCompacted
    | HistoryReplaced
    | StepStarted
    | TextDelta
    | ThoughtDelta
    | ToolCallRequested
    | UsageReported
    | MessageAdded
    | ToolCallStateChanged
    | ToolOutput
    | ToolCallFinished
    | SubagentMessageAdded
    | CallRejected
    | RuleAdded
    | RequestWithdrawn
    | ModeChanged
    | ModelChanged
    | TodosChanged
    | FileChanged
    | FilesWorked
    | ChangesKept
    | JobStarted
    | JobWrote
    | JobFrame
    | JobStateChanged
    | JobEnded
    | SessionStarted
    | SessionRenamed
    | SessionEnded
    | McpServerChanged
    | Notice
    | SubscriberFailed
)
