"""What a scripted model does, as data: steps of actions. Knows neither the text form nor a provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.contract.conversation import Message, ResultPart, Role, TextPart
from core.contract.errors import ModelErrorKind
from core.contract.model import FinishReason
from core.contract.usage import Usage


@dataclass(frozen=True, slots=True)
class Moment:
    """What conditions look at: the latest prompt, and the results that came in with the latest message."""

    prompt: str = ""
    results: tuple[ResultPart, ...] = ()
    system: str = ""

    @classmethod
    def of(cls, messages: tuple[Message, ...], system: str = "") -> Moment:
        """Return the moment at which a conversation stands."""
        prompt = next((message.text for message in reversed(messages) if is_prompt(message)), "")
        latest = messages[-1].parts if messages and messages[-1].role is Role.USER else ()
        return cls(prompt, tuple(part for part in latest if isinstance(part, ResultPart)), system)


def is_prompt(message: Message) -> bool:
    """Return whether a message is what the user asked: text, and no results."""
    return (
        message.role is Role.USER
        and any(isinstance(part, TextPart) for part in message.parts)
        and not any(isinstance(part, ResultPart) for part in message.parts)
    )


@dataclass(frozen=True, slots=True)
class Condition:
    """`[not] SUBJECT [of TOOL] contains|matches VALUE`, or `result [of TOOL] fails`."""

    subject: str
    """`prompt`, `result` or `system`."""
    verb: str
    """`contains`, `matches` or `fails`."""
    value: str = ""
    tool: str = ""
    negated: bool = False

    def holds(self, moment: Moment) -> bool:
        """Return whether it is so; of several results, one is enough."""
        return self._found(moment) is not self.negated

    def _found(self, moment: Moment) -> bool:
        results = [result for result in moment.results if self.tool in ("", result.name)]
        if self.verb == "fails":
            return any(result.is_error for result in results)
        texts = {"prompt": [moment.prompt], "system": [moment.system]}.get(self.subject, [r.text for r in results])
        if self.verb == "contains":
            return any(self.value in text for text in texts)
        return any(re.search(self.value, text, re.MULTILINE) for text in texts)

    def __str__(self) -> str:
        words = ["not"] if self.negated else []
        words.append(self.subject)
        if self.tool:
            words += ["of", self.tool]
        words.append(self.verb)
        if self.verb != "fails":
            words.append(f'"{self.value}"')
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Think:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    args: Mapping[str, Any]
    invalid: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float
    """Infinity: until it is cancelled."""


@dataclass(frozen=True, slots=True)
class Fail:
    kind: ModelErrorKind
    message: str
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    reason: FinishReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    usage: Usage


@dataclass(frozen=True, slots=True)
class Expect:
    condition: Condition
    line: int


@dataclass(frozen=True, slots=True)
class Branch:
    condition: Condition | None
    """None for `else`."""
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """The first branch whose condition holds."""

    branches: tuple[Branch, ...]


Action = Say | Think | Call | Wait | Fail | Finish | Report | Expect | Choose


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model."""

    actions: tuple[Action, ...]
    line: int
    repeat: int = 1
    """How often it is played; 0 for ever."""

    def chosen(self, moment: Moment) -> list[Action]:
        """Return the actions to do, with every choice made."""
        return list(_choose(self.actions, moment))


def _choose(actions: tuple[Action, ...], moment: Moment) -> list[Action]:
    chosen: list[Action] = []
    for action in actions:
        if isinstance(action, Choose):
            for branch in action.branches:
                if branch.condition is None or branch.condition.holds(moment):
                    chosen += _choose(branch.actions, moment)
                    break
        else:
            chosen.append(action)
    return chosen


@dataclass(frozen=True, slots=True)
class Script:
    name: str
    """For messages: the file."""
    steps: tuple[Step, ...]
    window: int = 0
    """Context window in tokens; 0 for none."""

    def step(self, number: int) -> Step | None:
        """Return the step that answers the request of that number (from 0), or none when the script is over."""
        for step in self.steps:
            if step.repeat == 0 or number < step.repeat:
                return step
            number -= step.repeat
        return None
