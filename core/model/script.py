"""The `script` provider: plays a written model, step by step. It needs no key and no network."""

from __future__ import annotations

import asyncio
import itertools
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from core.contract.conversation import CallPart, Part, TextPart, ThoughtPart
from core.contract.errors import ModelError, ModelErrorKind, StetError
from core.contract.ids import CallId
from core.contract.model import (
    CallChunk,
    FinishChunk,
    FinishReason,
    ModelRequest,
    StreamItem,
    TextChunk,
    ThoughtChunk,
)
from core.contract.tool import ToolCall
from core.contract.usage import Usage
from core.model.estimate import estimate_parts, estimate_request
from core.model.script_parser import parse_script
from core.model.script_steps import Call, Expect, Fail, Finish, Moment, Report, Say, Script, Step, Think, Wait

Sleep = Callable[[float], Awaitable[object]]

PACE = 0.02
"""Seconds between two words at speed 1."""
_WORDS = re.compile(r"\s*\S+\s?|\s+")
_RETRYABLE = {ModelErrorKind.RATE_LIMITED, ModelErrorKind.SERVER, ModelErrorKind.CONNECTION, ModelErrorKind.EMPTY}


def load_script(path: Path) -> Script:
    """Read a script.

    Raises:
        StetError: it can't be read, or (naming file and line) it is not valid.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise StetError(f"Can't read the script {path}: {error.strerror}.", "Give it as script/FILE.") from error
    except UnicodeDecodeError as error:
        raise StetError(f"The script {path} is not UTF-8 text (byte {error.start}).") from error
    return parse_script(text, path.name)


def words_of(text: str) -> list[str]:
    """Cut a text into the pieces in which it streams; joined they are the text."""
    return _WORDS.findall(text)


class ScriptProvider:
    """Plays a script; each request takes the next step.

    Args:
        speed: factor for every delay; 0 leaves them out (but not `wait forever`).
        sleep: waits that many seconds.
    """

    name = "script"

    def __init__(self, script: Script, *, speed: float = 1.0, sleep: Sleep = asyncio.sleep) -> None:
        self._script = script
        self._speed = speed
        self._sleep = sleep
        self._requests = 0
        self._call_numbers = itertools.count(1)

    @property
    def model(self) -> str:
        return Path(self._script.name).stem

    @property
    def context_window(self) -> int:
        return self._script.window

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        """Play the next step. Expectations of the script that don't hold are a `ModelError`, too."""
        step = self._script.step(self._requests)
        self._requests += 1
        if step is None:
            raise ModelError(
                ModelErrorKind.UNAVAILABLE,
                f"The script {self._script.name} is over after {self._requests - 1} steps.",
                "Add a step to it, or end it with a step under '--- repeat forever'.",
            )
        async with aclosing(self._play(step, request)) as items:
            yield items

    async def close(self) -> None:
        """Do nothing: nothing is open."""

    async def _play(self, step: Step, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        moment = Moment.of(request.messages, request.system)
        parts: list[Part] = []
        usage: Usage | None = None
        finish = Finish(FinishReason.STOP)
        for action in step.chosen(moment):
            match action:
                case Say() | Think():
                    is_text = isinstance(action, Say)
                    kind = TextPart if is_text else ThoughtPart
                    glue = "\n" if parts and isinstance(parts[-1], kind) else ""
                    for word in words_of(glue + action.text):
                        await self._pause(PACE)
                        yield TextChunk(word) if is_text else ThoughtChunk(word)
                    _extend(parts, glue + action.text, kind)
                case Call():
                    id = CallId(f"call-{next(self._call_numbers)}")
                    parts.append(CallPart(id, action.name, action.args, invalid=action.invalid))
                case Wait():
                    await self._pause(action.seconds)
                case Report():
                    usage = action.usage
                case Finish():
                    finish = action
                case Expect() if not action.condition.holds(moment):
                    raise _disappointed(self._script.name, action, moment)
                case Fail():
                    retryable = action.kind in _RETRYABLE
                    raise ModelError(action.kind, action.message, retryable=retryable, retry_after=action.retry_after)
        if finish.reason is FinishReason.STOP:
            for part in parts:
                if isinstance(part, CallPart):
                    yield CallChunk(ToolCall(part.id, part.name, part.args, part.invalid))
        else:
            parts = [part for part in parts if not isinstance(part, CallPart)]
        yield FinishChunk(finish.reason, tuple(parts), usage or _estimated(request, parts), finish.detail)

    async def _pause(self, seconds: float) -> None:
        if math.isinf(seconds):
            await asyncio.Event().wait()
        await self._sleep(seconds * self._speed)


def _extend(parts: list[Part], text: str, kind: type[TextPart] | type[ThoughtPart]) -> None:
    last = parts[-1] if parts else None
    if isinstance(last, kind):
        parts[-1] = kind(last.text + text)
    else:
        parts.append(kind(text))


def _estimated(request: ModelRequest, parts: list[Part]) -> Usage:
    sent, said = estimate_request(request), estimate_parts(parts)
    return Usage(input_tokens=sent, output_tokens=said, context_tokens=sent + said)


def _disappointed(script: str, expectation: Expect, moment: Moment) -> ModelError:
    if expectation.condition.subject == "result":
        found = "; ".join(f"{result.name}: {result.text[:200]!r}" for result in moment.results) or "no result"
    else:
        found = repr((moment.prompt if expectation.condition.subject == "prompt" else moment.system)[:200])
    return ModelError(
        ModelErrorKind.BAD_REQUEST,
        f"{script}:{expectation.line}: expected {expectation.condition}, but there is {found}.",
    )
