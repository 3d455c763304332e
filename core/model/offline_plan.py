"""What a command of the offline assistant is: a plan that asks for tool calls and takes their results."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.contract.conversation import CallPart, Message, ResultPart, Role
from core.model.script_steps import is_prompt


@dataclass(frozen=True, slots=True)
class Wish:
    """One call that a plan wants."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """A step of a plan: something said, and calls whose results it waits for."""

    calls: tuple[Wish, ...]
    text: str = ""


Plan = Generator[Ask, tuple[ResultPart, ...], str]
"""Yields steps, is sent the results of each in call order, and returns the answer as Markdown."""


def answer(text: str) -> Plan:
    """Return a plan that only says something."""
    return text
    yield  # makes this a generator


@dataclass(frozen=True, slots=True)
class Scene:
    """What a command sees of the conversation."""

    prompt: str
    before: tuple[Message, ...] = ()
    """The messages before the prompt."""
    steps: tuple[tuple[ResultPart, ...], ...] = ()
    """The results since the prompt, step by step."""

    @classmethod
    def of(cls, messages: tuple[Message, ...]) -> Scene:
        """Return the scene of a conversation: its latest prompt and what came since."""
        start = max((number for number, message in enumerate(messages) if is_prompt(message)), default=None)
        if start is None:
            return cls("", messages)
        since = [message for message in messages[start + 1 :] if message.role is Role.USER]
        steps = tuple(tuple(part for part in m.parts if isinstance(part, ResultPart)) for m in since)
        return cls(messages[start].text.strip(), messages[:start], steps)

    def calls_before(self, name: str) -> list[CallPart]:
        """Return the earlier calls of one tool that did not fail, oldest first."""
        failed = {part.id for m in self.before for part in m.parts if isinstance(part, ResultPart) and part.is_error}
        return [call for m in self.before for call in m.calls if call.name == name and call.id not in failed]


@dataclass(frozen=True, slots=True)
class Verb:
    """A command: how it is said, and what it does."""

    name: str
    usage: tuple[str, ...]
    help: str
    pattern: re.Pattern[str]
    """Matched on the whole prompt, polite words taken off."""
    plan: Callable[[re.Match[str], Scene], Plan]
    also: tuple[str, ...] = field(default=())
    """Other first words that people use for it; only for guessing what was meant."""


def play(plan: Plan, steps: tuple[tuple[ResultPart, ...], ...]) -> Ask | str:
    """Run a plan over the results that are there; return its next step, or its answer."""
    try:
        ask = next(plan)
        for results in steps:
            ask = plan.send(results)
    except StopIteration as end:
        return str(end.value)
    finally:
        plan.close()
    return ask
