"""Taking up a session again: its record becomes a valid history and the todo list; nothing of it is run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.agent.alignment import rebuild
from core.agent.history import MAX_REPLACEMENTS, TAKEN_BACK, Replacement
from core.bus.replay import read_record
from core.contract.conversation import Message
from core.contract.envelope import Envelope
from core.contract.events import HistoryReplaced, MessageAdded, TodosChanged
from core.contract.ids import SessionId
from core.contract.todo import TodoList


@dataclass(frozen=True, slots=True)
class ResumedSession:
    id: SessionId
    envelopes: Sequence[Envelope]
    """Everything recorded, for the screen."""
    messages: tuple[Message, ...]
    pinned: tuple[Message, ...]
    replacements: tuple[Replacement, ...]
    """What was made of the history and can be taken back."""
    prompts: tuple[tuple[int, Message], ...]
    """The message that began each turn, with its number."""
    todos: TodoList
    last_seq: int
    last_turn: int
    unreadable: int
    """Lines that could not be read."""


def resume_session(path: Path) -> ResumedSession:
    """Read a session's record.

    Raises:
        RecordError: it is none.
        OSError: it can't be read.
    """
    record = read_record(path)
    payloads = [envelope.payload for envelope in record.envelopes]
    todos = next((p.todos for p in reversed(payloads) if isinstance(p, TodosChanged)), TodoList())
    return ResumedSession(
        SessionId(path.stem),
        record.envelopes,
        *_fold(record.envelopes),
        _prompts(record.envelopes),
        todos,
        max((envelope.seq for envelope in record.envelopes), default=0),
        max((envelope.turn for envelope in record.envelopes), default=0),
        record.unreadable,
    )


def _fold(
    envelopes: Sequence[Envelope],
) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[Replacement, ...]]:
    """Return the history as it stood at the end, what of it is pinned, and what was made of it."""
    messages: list[Message] = []
    pinned: tuple[Message, ...] = ()
    replaced: list[Replacement] = []
    for envelope in envelopes:
        payload = envelope.payload
        if isinstance(payload, MessageAdded):
            messages.append(payload.message)
        elif isinstance(payload, HistoryReplaced):
            former, kept = messages, pinned
            is_back = payload.reason == TAKEN_BACK and bool(replaced)
            known = [*replaced[-1].former, *former[replaced[-1].kept :]] if is_back else former
            messages = list(payload.messages)
            if payload.kept is not None:
                messages = rebuild(known, payload.kept, payload.messages)
            pinned = tuple(messages[place] for place in payload.pinned if place < len(messages))
            if payload.reason == TAKEN_BACK:
                del replaced[-1:]
            else:
                replaced.append(Replacement(payload.reason, tuple(former), kept, len(messages)))
                del replaced[:-MAX_REPLACEMENTS]
    return tuple(messages), pinned, tuple(replaced)


def _prompts(envelopes: Sequence[Envelope]) -> tuple[tuple[int, Message], ...]:
    first: dict[int, Message] = {}
    for envelope in envelopes:
        if isinstance(envelope.payload, MessageAdded) and envelope.turn:
            first.setdefault(envelope.turn, envelope.payload.message)
    return tuple(first.items())
