"""Reads the text form of scripts (docs/script.md). Knows nothing of playing them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.contract.errors import ModelErrorKind, StetError
from core.contract.model import FinishReason
from core.contract.usage import Usage
from core.model.script_steps import (
    Action,
    Branch,
    Call,
    Choose,
    Condition,
    Expect,
    Fail,
    Finish,
    Report,
    Say,
    Script,
    Step,
    Think,
    Wait,
)

_CONDITION = re.compile(
    r"(?P<negated>not\s+)?(?P<subject>prompt|result|system)(?:\s+of\s+(?P<tool>\S+))?\s+"
    r"(?:(?P<fails>fails)|(?P<verb>contains|matches)\s+(?P<value>\S.*))"
)
_SEPARATOR = re.compile(r"---(?:\s+repeat\s+(\d+|forever))?")
_ARGUMENT = re.compile(r"([A-Za-z_]\w*):(?:\s+(.*))?")
_PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')
_USAGE = {"input": "input_tokens", "output": "output_tokens", "thought": "thought_tokens", "cached": "cached_tokens"}


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


class ScriptError(StetError):
    """A script that can't be read; the message begins with `FILE:LINE`."""


def parse_script(text: str, name: str) -> Script:
    """Return the script.

    Raises:
        ScriptError: naming file and line, what was found and what was expected.
    """
    return _Parser(text, name).script()


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._lines = [
            _Line(number, len(raw) - len(raw.lstrip(" ")), raw.strip())
            for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1)
        ]
        self._raw = [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]
        self._at = 0
        self._window = 0
        for line, raw in zip(self._lines, self._raw, strict=True):
            if "\t" in raw[: len(raw) - len(raw.lstrip())]:
                raise self._problem(line.number, "indented by a tab", "Indent with spaces.")
        self._verbs: dict[str, Callable[[_Line, str], Action]] = {
            "say": lambda line, rest: Say(self._prose(line, rest)),
            "think": lambda line, rest: Think(self._prose(line, rest)),
            "call": self._call,
            "wait": self._wait,
            "error": self._error,
            "finish": self._finish,
            "usage": self._usage,
            "expect": lambda line, rest: Expect(self._condition(line, rest), line.number),
            "when": self._choose,
        }

    def script(self) -> Script:
        steps: list[Step] = []
        repeat, start = 1, 1
        while True:
            actions = self._block(0)
            line = self._peek()
            if actions:
                steps.append(Step(actions, start, repeat))
            elif repeat != 1 or (line is not None and steps):
                raise self._problem(start, "this step is empty", "Say, call or fail something in it.")
            if line is None:
                break
            separator = _SEPARATOR.fullmatch(line.text)
            assert separator is not None
            repeat = 1 if separator[1] is None else 0 if separator[1] == "forever" else int(separator[1])
            start = line.number
            self._at += 1
        if not steps:
            raise self._problem(1, "the script has no step", "Begin with a line such as: say Hello")
        return Script(self._name, tuple(steps), self._window)

    # --- lines ------------------------------------------------------------------------------------

    def _problem(self, number: int, message: str, hint: str = "") -> ScriptError:
        return ScriptError(f"{self._name}:{number}: {message}.", hint or "docs/script.md has the form of scripts.")

    def _peek(self) -> _Line | None:
        """Return the next line that says something, without taking it."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text and not line.text.startswith("#"):
                return line
            self._at += 1
        return None

    def _block(self, indent: int) -> tuple[Action, ...]:
        """Read the actions that stand at one indent, up to the end of the step or a smaller indent."""
        actions: list[Action] = []
        while (line := self._peek()) is not None:
            if line.indent < indent or (line.indent == 0 and _SEPARATOR.fullmatch(line.text)):
                break
            if line.indent > indent:
                raise self._problem(line.number, f"indented by {line.indent} where {indent} was expected")
            self._at += 1
            action = self._action(line)
            if action is not None:
                actions.append(action)
        return tuple(actions)

    def _action(self, line: _Line) -> Action | None:
        verb, _, rest = line.text.partition(" ")
        rest = rest.strip()
        if verb == "window":
            self._window = int(self._number(line, rest))
            return None
        if verb == "else":
            raise self._problem(line.number, "'else' without a 'when' before it at the same indent")
        read = self._verbs.get(verb)
        if read is None:
            known = ", ".join([*self._verbs, "window"])
            raise self._problem(line.number, f"{line.text!r} is no action", f"Actions: {known}; --- ends a step.")
        return read(line, rest)

    # --- actions ----------------------------------------------------------------------------------

    def _prose(self, line: _Line, rest: str) -> str:
        if rest in ("|", "|-"):
            return self._literal(line).removesuffix("\n")
        if not rest:
            raise self._problem(line.number, "nothing is said", "Write the text after it, or | and an indented block.")
        return self._quoted(line, rest) if rest.startswith('"') and rest.endswith('"') and len(rest) > 1 else rest

    def _literal(self, line: _Line) -> str:
        """Read the deeper lines that follow, without their common indent, each ended by a line feed."""
        start = self._at
        while self._at < len(self._lines):
            follower = self._lines[self._at]
            if follower.text and follower.indent <= line.indent:
                break
            self._at += 1
        raw = self._raw[start : self._at]
        while raw and not raw[-1].strip():
            raw.pop()
        if not raw:
            raise self._problem(line.number, "no indented lines follow the |")
        margin = min(len(text) - len(text.lstrip(" ")) for text in raw if text.strip())
        return "".join(text[margin:] + "\n" for text in raw)

    def _call(self, line: _Line, rest: str) -> Call:
        name, _, rest = rest.partition(" ")
        rest = rest.strip()
        if not name or name.startswith("{"):
            raise self._problem(line.number, "a call without a tool's name", 'For example: call glob {"pattern": "*"}')
        if rest.startswith("broken"):
            return Call(name, {}, rest.removeprefix("broken").strip() or "the arguments are not valid JSON")
        if rest.startswith("{"):
            return Call(name, self._object(line, rest))
        if rest:
            raise self._problem(line.number, f"{rest!r} is not a JSON object", "Or write the arguments indented below.")
        return Call(name, self._arguments(line))

    def _object(self, line: _Line, text: str) -> dict[str, Any]:
        while True:
            try:
                value: dict[str, Any] = json.loads(text)
                return value
            except json.JSONDecodeError as error:
                more = self._lines[self._at] if self._at < len(self._lines) else None
                if more is None or (more.indent == 0 and _SEPARATOR.fullmatch(more.text)):
                    raise self._problem(line.number, f"the arguments are not a JSON object: {error.msg}") from None
                text += "\n" + self._raw[self._at]
                self._at += 1

    def _arguments(self, line: _Line) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        while (follower := self._peek()) is not None and follower.indent > line.indent:
            found = _ARGUMENT.fullmatch(follower.text)
            if found is None:
                raise self._problem(follower.number, f"{follower.text!r} is no argument", "Write NAME: VALUE.")
            self._at += 1
            key, value = found[1], (found[2] or "").strip()
            if value in ("|", "|-"):
                block = self._literal(follower)
                arguments[key] = block if value == "|" else block.removesuffix("\n")
            else:
                try:
                    arguments[key] = json.loads(value)
                except json.JSONDecodeError:
                    arguments[key] = value
        return arguments

    def _wait(self, line: _Line, rest: str) -> Wait:
        return Wait(math.inf if rest == "forever" else self._number(line, rest))

    def _error(self, line: _Line, rest: str) -> Fail:
        kind, _, rest = rest.partition(" ")
        if kind not in set(ModelErrorKind):
            raise self._problem(line.number, f"{kind!r} is no kind of error", f"Kinds: {', '.join(ModelErrorKind)}.")
        pairs = dict(_PAIR.findall(rest))
        message = _PAIR.sub("", rest).strip()
        after = pairs.pop("retry_after", None)
        if pairs:
            raise self._problem(line.number, f"{next(iter(pairs))!r} is unknown here", "Known: retry_after=SECONDS.")
        if message.startswith('"'):
            message = self._quoted(line, message)
        seconds = None if after is None else self._number(line, after)
        return Fail(ModelErrorKind(kind), message or f"scripted error ({kind})", seconds)

    def _finish(self, line: _Line, rest: str) -> Finish:
        reason, _, detail = rest.partition(" ")
        if reason not in set(FinishReason):
            raise self._problem(line.number, f"{reason!r} is no reason", f"Reasons: {', '.join(FinishReason)}.")
        detail = detail.strip()
        return Finish(FinishReason(reason), self._quoted(line, detail) if detail.startswith('"') else detail)

    def _usage(self, line: _Line, rest: str) -> Report:
        counts: dict[str, int] = {}
        for key, value in _PAIR.findall(rest):
            if key not in _USAGE:
                raise self._problem(line.number, f"{key!r} is no count", f"Counts: {', '.join(_USAGE)}.")
            counts[_USAGE[key]] = int(self._number(line, value))
        if _PAIR.sub("", rest).strip() or not counts:
            raise self._problem(line.number, f"{rest!r} is no usage", "For example: usage input=1200 output=80")
        context = counts.get("input_tokens", 0) + counts.get("output_tokens", 0)
        return Report(Usage(**counts, context_tokens=context))

    def _choose(self, line: _Line, rest: str) -> Choose:
        branches = [Branch(self._condition(line, rest), self._branch(line))]
        while (follower := self._peek()) is not None and follower.indent == line.indent:
            word, _, condition = follower.text.partition(" ")
            if word != "else":
                break
            self._at += 1
            condition = condition.strip()
            if not condition:
                branches.append(Branch(None, self._branch(follower)))
                break
            if not condition.startswith("when "):
                raise self._problem(
                    follower.number, f"{follower.text!r} is no branch", "Write 'else when …' or 'else'."
                )
            wanted = self._condition(follower, condition.removeprefix("when ").strip())
            branches.append(Branch(wanted, self._branch(follower)))
        return Choose(tuple(branches))

    def _branch(self, line: _Line) -> tuple[Action, ...]:
        follower = self._peek()
        if follower is None or follower.indent <= line.indent:
            raise self._problem(line.number, f"no indented actions follow {line.text!r}")
        return self._block(follower.indent)

    # --- values -----------------------------------------------------------------------------------

    def _condition(self, line: _Line, text: str) -> Condition:
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise self._problem(
                line.number,
                f"{text!r} is no condition",
                'Write [not] prompt|result|system contains|matches "TEXT", or result [of TOOL] fails.',
            )
        value = found["value"] or ""
        if value.startswith('"'):
            value = self._quoted(line, value)
        if found["verb"] == "matches":
            try:
                re.compile(value)
            except re.error as error:
                raise self._problem(line.number, f"{value!r} is no regular expression: {error}") from None
        return Condition(
            found["subject"], found["fails"] or found["verb"], value, found["tool"] or "", bool(found["negated"])
        )

    def _quoted(self, line: _Line, text: str) -> str:
        try:
            value: str = json.loads(text)
        except json.JSONDecodeError as error:
            raise self._problem(line.number, f"{text} is no JSON string: {error.msg}") from None
        return value

    def _number(self, line: _Line, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value < 1e9:
            raise self._problem(line.number, f"{text!r} is no number that makes sense here")
        return value
