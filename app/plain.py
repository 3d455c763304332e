"""The session in lines, for screen readers and terminals without a screen: `stet --plain`.

Whole lines only, in the order of events; no colour, no cursor movement, no animation. It runs on the same bus and
the same engine as the screen does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import termios
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TextIO

from app.bootstrap import Engine, open_engine
from app.bridge import Bridge, Routes
from app.exit_codes import ExitCode, exit_code_of_start
from app.options import SessionOptions
from app.plain_commands import HELP, run_command
from app.plain_questions import answer
from app.presenters.transcript import target_of
from core.contract.conversation import CallPart
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import (
    ApprovalMode,
    ModeChanged,
    Notice,
    RequestWithdrawn,
    RetryWaiting,
    SubagentMessageAdded,
    TextDelta,
    TodosChanged,
    ToolCallFinished,
    ToolCallRequested,
    TurnFailed,
    TurnFinished,
)
from core.contract.ids import RequestId
from core.contract.requests import ApprovalRequest, QuestionReply, QuestionRequest, Reply
from core.contract.tool import CallState, ToolCall
from core.contract.visible import make_visible, make_visible_line
from core.log import open_log
from core.redaction import Redactor
from core.settings.paths import find_folders, make_private
from widgets.prompt.trigger import find_mentions

_HELP = """Type a prompt and press Enter. A line that ends with a backslash goes on in the next one.
/mode default, auto_edit, plan or yolo: what runs without asking.
{more}
/quit: leave. Ctrl+C: stop the agent; when it is idle, leave."""


def run_plain(options: SessionOptions) -> int:
    """Run a session in lines and return the exit code."""
    folders = find_folders(os.environ)
    try:
        logs = make_private(folders.state / "logs")
        with open_log(logs, Redactor.from_environment(os.environ), debug=options.debug):
            return asyncio.run(_run(options))
    except StetError as error:
        sys.stderr.write(f"stet: {make_visible(str(error))}\n")
        return exit_code_of_start(error)


async def _run(options: SessionOptions) -> int:
    ears = Ears(sys.stdin)
    voice = Voice(sys.stdout)
    ears.listen()

    async def ask_trust(request: QuestionRequest) -> QuestionReply:
        reply = await ears.ask(request, voice.say)
        assert isinstance(reply, QuestionReply)
        return reply

    async with open_engine(options, ask_trust) as engine:
        session = PlainSession(engine, ears, voice)
        await session.run()
    return ExitCode.DONE


class Voice:
    """Says whole lines, with hidden characters made visible."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._begun = ""

    def say(self, text: str) -> None:
        """Say lines; what was begun ends first."""
        self.end()
        self._write(text)

    def append(self, text: str) -> None:
        """Say what goes on, as far as its lines are complete."""
        *lines, self._begun = (self._begun + text).split("\n")
        if lines:
            self._write("\n".join(lines))

    def end(self) -> None:
        """Say the line that was begun."""
        if self._begun:
            begun, self._begun = self._begun, ""
            self._write(begun)

    def _write(self, text: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._out.write(make_visible(text).encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
            self._out.flush()


class Ears:
    """Lines that are typed: answers while a question is open, prompts otherwise. What came before a question was asked
    never answers it."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._prompts: deque[str] = deque()
        self._answers: asyncio.Queue[str | None] = asyncio.Queue()
        self._is_asking = False
        self._asking = asyncio.Lock()
        self._came = asyncio.Event()
        self._begun = ""
        self.is_over = False
        """No more lines come."""

    def listen(self) -> None:
        """Read in a thread of its own, which ends with the program: a read of a terminal can't be called off."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            with contextlib.suppress(RuntimeError, OSError, ValueError):  # the loop or the source is closed
                for line in self._source:
                    loop.call_soon_threadsafe(self._take, line.rstrip("\n"))
                loop.call_soon_threadsafe(self.finish)

        threading.Thread(target=read, name="plain input", daemon=True).start()

    def _take(self, line: str) -> None:
        if self._is_asking:
            self._answers.put_nowait(line)
        elif line.endswith("\\"):
            self._begun += line[:-1] + "\n"
        else:
            self._prompts.append(self._begun + line)
            self._begun = ""
            self._came.set()

    def finish(self) -> None:
        """Take note that no more lines come."""
        self.is_over = True
        self._answers.put_nowait(None)
        self._came.set()

    async def next_prompt(self) -> str | None:
        """Return the next prompt, or none where no more come."""
        while not self._prompts:
            if self.is_over:
                return None
            self._came.clear()
            await self._came.wait()
        return self._prompts.popleft()

    async def ask(self, request: ApprovalRequest | QuestionRequest, say: Callable[[str], None]) -> Reply:
        """Ask one question after the other."""
        async with self._asking:
            if self.is_over:
                return request.unanswered()
            self._forget_what_is_half_typed()
            self._answers = asyncio.Queue()
            self._is_asking = True
            try:
                return await answer(request, say, self._answers.get)
            finally:
                self._is_asking = False

    def _forget_what_is_half_typed(self) -> None:
        if self._source.isatty():
            with contextlib.suppress(termios.error, OSError):
                termios.tcflush(self._source.fileno(), termios.TCIFLUSH)


class PlainSession:
    """Shows a session in lines, and takes prompts and answers."""

    def __init__(self, engine: Engine, ears: Ears, voice: Voice) -> None:
        self._engine = engine
        self._ears = ears
        self._voice = voice
        self._questions: dict[RequestId, asyncio.Task[None]] = {}
        self._names: dict[str, str] = {}
        self._stopped = asyncio.Event()
        self._shown = asyncio.Event()

    async def run(self) -> None:
        """Take prompts until there are no more."""
        bridge = Bridge(self._engine.bus, [self._routes()])
        subscription = bridge.subscribe()
        async with asyncio.TaskGroup() as group:
            self._group = group
            group.create_task(bridge.run(subscription))
            for problem in self._engine.problems:
                self._voice.say(f"Note: {problem}")
            provider = self._engine.agent.provider
            self._voice.say(f"stet, session {self._engine.bus.session}, model {provider.name}/{provider.model}.")
            with self._interruptible():
                self._voice.say("Ready. Type a prompt, or /help.")
                await self._take_prompts()
            subscription.close()
            for task in tuple(self._questions.values()):
                task.cancel()

    async def _take_prompts(self) -> None:
        leaving = asyncio.ensure_future(self._stopped.wait())
        try:
            while not self._stopped.is_set():
                coming = asyncio.ensure_future(self._ears.next_prompt())
                await asyncio.wait({coming, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    return
                text = coming.result()
                if text is None or not await self._do(text.strip()):
                    return
        finally:
            leaving.cancel()

    async def _do(self, text: str) -> bool:
        """Run a prompt or a command; false to leave."""
        word, _, rest = text.partition(" ")
        if word in ("/quit", "/exit", "/q"):
            return False
        if word == "/help":
            self._voice.say(_HELP.format(more=HELP))
        elif word == "/mode":
            await self._set_mode(rest.strip())
        elif word.startswith("/") and "/" not in word[1:]:
            await self._run_command(word, rest.strip())
        elif text:
            self._shown.clear()
            await self._engine.run_prompt(text, find_mentions(text))
            await self._shown.wait()
        return True

    async def _run_command(self, word: str, rest: str) -> None:
        async def ask(request: QuestionRequest) -> QuestionReply:
            reply = await self._ears.ask(request, self._voice.say)
            assert isinstance(reply, QuestionReply)
            return reply

        try:
            if not await run_command(self._engine, word, rest, self._voice.say, ask):
                self._voice.say(f"There is no command {word} here. /help lists those that there are.")
        except StetError as error:
            self._say_problem(error.message, error.hint)

    async def _set_mode(self, name: str) -> None:
        try:
            await self._engine.set_mode(ApprovalMode(name))
        except ValueError:
            known = ", ".join(ApprovalMode)
            self._voice.say(f"The mode is {self._engine.policy.mode}. There are: {known}.")

    @contextlib.contextmanager
    def _interruptible(self) -> Any:
        """Let ctrl+c stop the turn, and leave when there is none."""

        def stop() -> None:
            agent = self._engine.agent
            if agent.is_busy:
                agent.interrupt(hard=agent.is_stopping)
            else:
                self._stopped.set()

        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        try:
            for number in numbers:
                loop.add_signal_handler(number, stop if number == signal.SIGINT else self._leave)
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def _leave(self) -> None:
        self._engine.agent.interrupt(hard=True)
        self._ears.finish()
        self._stopped.set()

    # --- what is said -----------------------------------------------------------------------------

    def _routes(self) -> Routes:
        return {
            TextDelta: lambda envelope: self._voice.append(envelope.payload.text),
            ToolCallRequested: self._say_call,
            ToolCallFinished: self._say_result,
            SubagentMessageAdded: self._say_subagent,
            TodosChanged: self._say_todos,
            TurnFinished: self._say_end,
            TurnFailed: lambda envelope: self._say_problem(envelope.payload.message, envelope.payload.hint),
            Notice: lambda envelope: self._say_problem(envelope.payload.message, envelope.payload.hint, "Note"),
            RetryWaiting: self._say_retry,
            ModeChanged: lambda envelope: self._voice.say(f"Mode: {envelope.payload.mode}."),
            ApprovalRequest: self._ask,
            QuestionRequest: self._ask,
            RequestWithdrawn: self._withdraw,
        }

    def _say_call(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallRequested)
        event = envelope.payload
        name = event.display_name or event.call.name
        self._names[event.call.id] = f"{name} {target_of(event.call)}".rstrip()
        self._voice.say(f"Tool: {self._names[event.call.id]}")

    def _say_result(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallFinished)
        event = envelope.payload
        summary = make_visible_line(event.error or event.summary)
        name = self._names.pop(event.id, event.name)
        state = "ended" if event.ended_badly and event.state is CallState.SUCCEEDED else event.state
        self._voice.say(f"Tool {state}: {name}{f': {summary}' if summary else ''}")

    def _say_subagent(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, SubagentMessageAdded)
        for part in envelope.payload.message.parts:
            if isinstance(part, CallPart):
                call = f"{part.name} {target_of(ToolCall(part.id, part.name, part.args))}".rstrip()
                self._voice.say(f"Sub-agent {make_visible_line(envelope.payload.name)}: {call}")

    def _say_todos(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, TodosChanged)
        for number, item in enumerate(envelope.payload.todos.items, 1):
            self._voice.say(f"Todo {number}, {item.status.replace('_', ' ')}: {item.description}")

    def _say_end(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, TurnFinished)
        self._voice.say(f"Ready ({envelope.payload.reason.replace('_', ' ')}).")
        self._shown.set()

    def _say_problem(self, message: str, hint: str, word: str = "Error") -> None:
        self._voice.say(f"{word}: {message} {hint}".rstrip())

    def _say_retry(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, RetryWaiting)
        self._voice.say(f"{envelope.payload.message} Trying again in {envelope.payload.seconds:.0f} seconds.")

    # --- what is asked ----------------------------------------------------------------------------

    def _ask(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, (ApprovalRequest, QuestionRequest))
        id, request = RequestId(envelope.id), envelope.payload

        async def ask() -> None:
            try:
                self._engine.bus.reply(id, await self._ears.ask(request, self._voice.say))
            finally:
                del self._questions[id]

        self._questions[id] = self._group.create_task(ask())

    def _withdraw(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, RequestWithdrawn)
        task = self._questions.get(envelope.payload.request_id)
        if task is not None:
            task.cancel()
            self._voice.say("The question is not open any more.")
