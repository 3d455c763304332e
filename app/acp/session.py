"""One session that an editor drives: an engine, held open by a task of its own, and what goes to and fro."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

from acp.interfaces import Client
from acp.schema import PromptResponse, Usage

from app.acp.kinds import stop_reason
from app.acp.permissions import ask
from app.acp.prompt import EditorPrompt, read_prompt
from app.acp.updates import Updates
from app.bootstrap import Engine, open_engine
from app.options import SessionOptions
from app.plain_commands import run_command
from core.bus.subscription import Overflow, Subscription
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import JobStarted, McpServerChanged, RequestWithdrawn, TurnFailed, TurnFinished
from core.contract.ids import RequestId, new_id
from core.contract.requests import ApprovalRequest, QuestionReply, QuestionRequest

FRAME = 1 / 20
"""Seconds between two batches of updates: what comes faster is merged."""
COMMANDS = {
    "undo": "Take back what the last turn changed; with a number, that turn.",
    "redo": "Do again what was taken back.",
    "compact": "Make room in the context.",
    "context": "What fills the model's window; drop, restore or pin N, back.",
    "stats": "What the session used and did.",
}


class EditorSession:
    """A session between `open` and `close`; one prompt at a time."""

    def __init__(self, client: Client, engine: Engine) -> None:
        self.engine = engine
        self._client = client
        self._updates = Updates()
        self._questions: dict[RequestId, asyncio.Task[None]] = {}
        self._closing = asyncio.Event()
        self._shown = asyncio.Event()
        self._failure: TurnFailed | None = None
        self._is_busy = False
        self._task: asyncio.Task[None] | None = None
        self._turn: asyncio.Future[TurnFinished] | None = None

    @staticmethod
    async def open(group: asyncio.TaskGroup, client: Client, options: SessionOptions) -> EditorSession:
        """Start a session; it runs in the group until it is closed.

        Raises:
            StetError: there is no usable model, directory or session.
        """
        opened: asyncio.Future[EditorSession] = asyncio.get_running_loop().create_future()

        async def run() -> None:
            try:
                async with open_engine(options) as engine:
                    session = EditorSession(client, engine)
                    await session._run(opened)
            except StetError as error:
                if opened.done():
                    raise
                opened.set_exception(error)

        task = group.create_task(run())
        try:
            session = await asyncio.shield(opened)
        except asyncio.CancelledError:
            task.cancel()
            raise
        session._task = task
        return session

    @property
    def id(self) -> str:
        return self.engine.bus.session

    async def _run(self, opened: asyncio.Future[EditorSession]) -> None:
        subscription = self.engine.bus.subscribe("editor", overflow=Overflow.COALESCE, answers=True)
        async with asyncio.TaskGroup() as group:
            self._group = group
            group.create_task(self._forward(subscription))
            if not opened.done():
                opened.set_result(self)
            await self._closing.wait()
            self.engine.agent.interrupt(hard=True)
            subscription.close()
            for task in tuple(self._questions.values()):
                task.cancel()

    async def close(self) -> None:
        """End the session and everything that runs in it."""
        self._closing.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    # --- what the editor asks for -----------------------------------------------------------------

    async def prompt(self, blocks: list[Any]) -> PromptResponse:
        """Run a turn, or a command of ours; every update is sent before this returns.

        Raises:
            StetError: a turn runs already, the prompt can't be used, or the model failed.
        """
        if self._is_busy:
            raise StetError("A prompt is still running in this session.", "Wait for it, or cancel it.")
        prompt = read_prompt(blocks, self.engine.workspace.roots)
        self._is_busy = True
        try:
            word, _, rest = prompt.text.strip().partition(" ")
            if word.removeprefix("/") in COMMANDS and word.startswith("/"):
                await self._run_command(word, rest.strip())
                return PromptResponse(stop_reason="end_turn")
            return await self._run_turn(prompt)
        finally:
            self._is_busy = False

    async def _run_turn(self, prompt: EditorPrompt) -> PromptResponse:
        self._failure = None
        self._shown.clear()
        self._turn = asyncio.ensure_future(self._start_turn(prompt))
        try:
            await asyncio.wait({self._turn})
        finally:
            self._turn.cancel()
        if self._turn.cancelled():  # before it began: nothing was sent
            return PromptResponse(stop_reason="cancelled")
        finished = self._turn.result()
        await self._shown.wait()
        if self._failure is not None:
            raise StetError(self._failure.message, self._failure.hint)
        used = finished.usage
        usage = Usage(
            total_tokens=used.input_tokens + used.output_tokens,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            thought_tokens=used.thought_tokens,
            cached_read_tokens=used.cached_tokens,
        )
        return PromptResponse(stop_reason=stop_reason(finished.reason), usage=usage)

    async def _start_turn(self, prompt: EditorPrompt) -> TurnFinished:
        """Run a turn as soon as the servers are there."""
        if self.engine.outside is not None:
            await self.engine.outside.settle(self.engine.settings.mcp.wait)
        return await self.engine.run_prompt(prompt.text, prompt.mentions, prompt.beside)

    async def _run_command(self, word: str, rest: str) -> None:
        said: list[str] = []

        async def ask_user(request: QuestionRequest) -> QuestionReply:
            await self.say("\n".join(said))
            said.clear()
            reply = await ask(self._client, self.id, new_id("q"), request)
            assert isinstance(reply, QuestionReply)
            return reply

        await run_command(self.engine, word, rest, said.append, ask_user)
        await self.say("\n".join(said))

    def cancel(self) -> None:
        """Stop the turn; a second time kills what does not end."""
        if not self.engine.agent.interrupt(hard=self.engine.agent.is_stopping) and self._turn is not None:
            self._turn.cancel()

    # --- what the editor is told --------------------------------------------------------------------

    async def say(self, text: str) -> None:
        """Say something of our own."""
        if text.strip():
            await self.show(self._updates.note(text))

    async def show_servers(self) -> None:
        """Tell of servers that failed before anyone listened."""
        for server in self.engine.outside.servers if self.engine.outside is not None else ():
            event = McpServerChanged(server.name, server.state, message=server.message, stderr=server.stderr)
            await self.show(self._updates.live(event))

    async def show_again(self) -> None:
        """Send what the record of a resumed session holds."""
        resumed = self.engine.resumed
        for envelope in resumed.envelopes if resumed is not None else ():
            await self.show(self._updates.again(envelope.payload))
        await self.show(self._updates.end_calls())

    async def _forward(self, subscription: Subscription) -> None:
        try:
            while await subscription.wait():
                for envelope in subscription.drain():
                    await self._take(envelope)
                await asyncio.sleep(FRAME)
        finally:
            self._shown.set()  # no more will be: a prompt of the session must not wait for it

    async def _take(self, envelope: Envelope) -> None:
        payload = envelope.payload
        match payload:
            case ApprovalRequest() | QuestionRequest():
                self._ask(RequestId(envelope.id), payload)
            case RequestWithdrawn():
                if (task := self._questions.get(payload.request_id)) is not None:
                    task.cancel()
            case TurnFailed():
                self._failure = payload
            case TurnFinished():
                self._shown.set()
            case _:
                if isinstance(payload, JobStarted) and (job := self.engine.jobs.find(payload.id)) is not None:
                    job.watch()
                await self.show(self._updates.live(payload))

    async def show(self, updates: Iterable[Any]) -> None:
        """Send updates."""
        with contextlib.suppress(ConnectionError):  # the editor is gone; the session is about to be closed
            for update in updates:
                await self._client.session_update(session_id=self.id, update=update)

    def _ask(self, id: RequestId, request: ApprovalRequest | QuestionRequest) -> None:
        async def reply() -> None:
            try:
                self.engine.bus.reply(id, await ask(self._client, self.id, id, request))
            finally:
                del self._questions[id]

        self._questions[id] = self._group.create_task(reply())
