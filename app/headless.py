"""One prompt without a screen: `stet -p`. Standard output holds the answer and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Any, TextIO

from app.bootstrap import Engine, open_engine
from app.exit_codes import ExitCode, exit_code_of_start
from app.log_file import keep_log
from app.options import SessionOptions
from core.bus.codec import encode, header
from core.contract.conversation import Role
from core.contract.envelope import EPHEMERAL, SCHEMA_VERSION, Envelope
from core.contract.errors import ModelErrorKind, StetError
from core.contract.events import (
    CallRejected,
    LoopNoted,
    MessageAdded,
    Notice,
    RetryWaiting,
    ToolCallFinished,
    TurnEnd,
    TurnFailed,
    TurnFinished,
)
from core.contract.tool import CallState
from core.contract.visible import make_visible, make_visible_line
from widgets.prompt.trigger import find_mentions

FIRST_BYTE = 3.0
"""Seconds that piped input may take to begin; a pipe that nobody writes to must not hang a script."""
MAX_INPUT = 8_000_000
"""Bytes of piped input."""


def run_headless(options: SessionOptions, prompt: str, output_format: str) -> int:
    """Run one prompt and return the exit code."""
    output = Output(output_format, sys.stdout, sys.stderr)
    mentions = find_mentions(prompt)  # not in what is piped in: that is data
    try:
        prompt = with_piped_input(prompt, sys.stdin)
        if not prompt.strip():
            raise StetError("The prompt is empty.", "Give it after -p, or pipe it in.")
    except StetError as error:
        return output.fail(error, ExitCode.USAGE)
    try:
        with keep_log(debug=options.debug):
            return asyncio.run(_run(options, prompt, mentions, output))
    except StetError as error:
        return output.fail(error, exit_code_of_start(error))
    finally:
        if output.is_gone:
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # the interpreter flushes it at exit


async def _run(options: SessionOptions, prompt: str, mentions: tuple[str, ...], output: Output) -> int:
    async with open_engine(options) as engine:
        for problem in engine.problems:
            output.say(problem)
        engine.bus.attach("output", output)
        output.on_gone = engine.agent.interrupt
        output.begin(engine)
        if not output.is_gone:
            with _interruptible(engine):
                await engine.run_prompt(prompt, mentions)
        return output.end()


@contextlib.contextmanager
def _interruptible(engine: Engine) -> Any:
    """Stop the turn on SIGINT and SIGTERM; a second signal kills."""
    loop = asyncio.get_running_loop()
    pressed = [0]

    def stop() -> None:
        pressed[0] += 1
        engine.agent.interrupt(hard=pressed[0] > 1)

    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


class Output:
    """Turns the session's messages into one of the three formats; a sink of the bus."""

    def __init__(self, output_format: str, out: TextIO, err: TextIO) -> None:
        self._format = output_format
        self._out = out
        self._err = err
        self._session = ""
        self._model = ""
        self._answer = ""
        self._calls: list[dict[str, Any]] = []
        self._denied = False
        self._failure: TurnFailed | None = None
        self._finished: TurnFinished | None = None
        self.is_gone = False
        """Standard output can't be written any more: its reader went away, or the disk is full."""
        self.on_gone: Callable[[], object] = lambda: None
        """Called when that happens."""

    def begin(self, engine: Engine) -> None:
        """Note whose output it is."""
        self._session = engine.bus.session
        self._model = f"{engine.agent.provider.name}/{engine.agent.provider.model}"
        if self._format == "stream-json":
            self._write(header(session=self._session, model=self._model).decode())

    def __call__(self, envelope: Envelope) -> None:
        """Take a message of the session."""
        if self._format == "stream-json" and not isinstance(envelope.payload, EPHEMERAL):
            self._write(encode(envelope).decode())
        match envelope.payload:
            case MessageAdded(message) if message.role is Role.MODEL and message.text:
                self._answer = message.text
            case ToolCallFinished() as done:
                self._denied = self._denied or done.state is CallState.DENIED
                self._calls.append(
                    {"name": done.name, "state": done.state, "summary": done.summary, "error": done.error or None}
                )
                if done.error:
                    self.say(f"{done.name}: {done.error}")
            case CallRejected(_, name, reason, asker) if asker:
                self._denied = True
                self.say(f'{name} of the sub-agent "{asker}" was denied by policy: {reason}')
            case TurnFailed() as failure:
                self._failure = failure
            case TurnFinished() as finished:
                self._finished = finished
            case RetryWaiting(_, seconds, message):
                self.say(f"{message} Trying again in {seconds:.0f} s.")
            case Notice(message, hint):
                self.say(f"{message} {hint}".strip())
            case LoopNoted(name, count, True):
                self.say(f"Stopped: the same call of {name} was made {count} times with the same result.")

    def end(self) -> int:
        """Write what is left to write, and return the exit code."""
        finished = self._finished or TurnFinished(TurnEnd.FAILED)
        if self.is_gone:
            return ExitCode.FAILED
        code = exit_code_of(finished.reason, failure=self._failure.kind if self._failure else None, denied=self._denied)
        if self._format == "json":
            self._write(json.dumps(self._document(finished, code), ensure_ascii=True))
        elif self._format == "text" and self._answer:
            # a terminal gets no foreign control characters; a file or a pipe gets the text as it is
            self._write(make_visible(self._answer) if self._out.isatty() else self._answer)
        if self._failure is not None:
            self.say(f"error: {self._failure.message}" + (f"\n{self._failure.hint}" if self._failure.hint else ""))
        elif finished.reason not in (TurnEnd.DONE, TurnEnd.FAILED):
            self.say(f"stopped: {finished.reason.replace('_', ' ')}")
        return code

    def _document(self, finished: TurnFinished, code: int) -> dict[str, Any]:
        usage = finished.usage
        return {
            "schema_version": SCHEMA_VERSION,
            "session": self._session,
            "model": self._model,
            "response": self._answer,
            "reason": finished.reason,
            "exit_code": code,
            "tool_calls": self._calls,
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "thought_tokens": usage.thought_tokens,
                "cached_tokens": usage.cached_tokens,
            },
            "cost": finished.cost,
            "duration": round(finished.duration, 3),
            "error": None
            if self._failure is None
            else {"message": self._failure.message, "hint": self._failure.hint, "kind": self._failure.kind},
        }

    def fail(self, error: StetError, code: ExitCode) -> int:
        """Report an error from before the session, in the format asked for, and return the code."""
        if self._format != "text":
            document = {
                "schema_version": SCHEMA_VERSION,
                "exit_code": code,
                "error": {"message": error.message, "hint": error.hint, "kind": ""},
            }
            self._write(json.dumps(document))
        self.say(f"error: {error}")
        return code

    def say(self, text: str) -> None:
        """Write a line to standard error."""
        self._err.write("\n".join(f"stet: {make_visible_line(line)}" for line in text.split("\n")) + "\n")
        self._err.flush()

    def _write(self, line: str) -> None:
        if self.is_gone:
            return
        try:
            self._out.write(line.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
            self._out.flush()
        except OSError as error:
            self.is_gone = True
            if not isinstance(error, BrokenPipeError):
                self.say(f"standard output can't be written: {error.strerror}")
            self.on_gone()


def with_piped_input(prompt: str, stdin: TextIO | None) -> str:
    """Return the prompt with what was piped in before it.

    Raises:
        StetError: more than `MAX_INPUT` bytes came, or it can't be read.
    """
    if stdin is None or stdin.closed or stdin.isatty():
        return prompt
    try:
        descriptor = stdin.fileno()
        if not select.select([descriptor], [], [], FIRST_BYTE)[0]:
            sys.stderr.write("stet: nothing came on standard input; going on without it\n")
            return prompt
        data = stdin.buffer.read(MAX_INPUT + 1)
    except (OSError, ValueError) as error:
        raise StetError(f"Standard input can't be read: {error}") from error
    if len(data) > MAX_INPUT:
        raise StetError(f"More than {MAX_INPUT // 1_000_000} MB came on standard input.", "Name a file in the prompt.")
    text = data.decode("utf-8", "replace").strip("\n")
    return f"{text}\n\n{prompt}" if text.strip() else prompt


def exit_code_of(end: TurnEnd, *, failure: str | None = None, denied: bool = False) -> ExitCode:
    """Return the code for a turn.

    Args:
        failure: the kind of the `TurnFailed`, if there was one; empty for an internal error.
        denied: a call was denied, and the turn ended without it.
    """
    if end is TurnEnd.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if end in (TurnEnd.TURN_LIMIT, TurnEnd.COST_LIMIT, TurnEnd.LOOP):
        return ExitCode.LIMIT
    if end is TurnEnd.FAILED:
        if failure == "":
            return ExitCode.INTERNAL
        if failure in (ModelErrorKind.AUTH, ModelErrorKind.NOT_FOUND):
            return ExitCode.NO_MODEL
        if failure in (ModelErrorKind.QUOTA, ModelErrorKind.RATE_LIMITED):
            return ExitCode.QUOTA
        return ExitCode.FAILED
    return ExitCode.DENIED if denied else ExitCode.DONE
