"""The session's host: opens the engine after the first paint, connects presenters to it, and closes it at the end."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Coroutine, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from app.exit_codes import exit_code_of_start
from app.stage import Presenter, Stage
from core.contract.errors import StetError
from core.contract.state import NoticeLevel
from widgets.prompt.draft import PromptMode
from widgets.prompt.messages import PromptSubmitted

if TYPE_CHECKING:
    from app.application import StetApp
    from app.bootstrap import Engine
    from app.commands.registry import CommandRegistry
    from app.palette import PaletteEntry
    from core.contract.requests import QuestionReply, QuestionRequest
    from widgets.transcript.view import TranscriptView

log = logging.getLogger(__name__)

_LAST_WORDS = 1.0
"""Seconds that a turn has for its end when the session ends."""
_LATE = ("app.bootstrap", "app.bridge", "app.presenters.all")


class SessionHost:
    """Runs one session under the application's screen."""

    def __init__(self, app: StetApp) -> None:
        self._app = app
        self._stop = asyncio.Event()
        self.ready = asyncio.Event()
        """Set when the session takes prompts."""
        self.closed = asyncio.Event()
        self.engine: Engine | None = None
        self.stage: Stage | None = None
        self.presenters: tuple[Presenter, ...] = ()
        self.commands: CommandRegistry[Stage] | None = None
        self._following = ""
        """Id of the session that is to be taken up after this one."""
        app.on_exit_requested = self.close
        app.dispatch.register("app.interrupt", self._leave)  # until the session has its own

    async def run(self) -> None:
        """Open the session, serve it until `close`, and close it."""
        try:
            if self._app.options.resume is not None:
                await self._show_end()
            bootstrap, bridge, presenters = await asyncio.to_thread(self._load)
            await self._app.workspace.pane("chat")
            async with bootstrap.open_engine(self._app.options, self._ask_trust) as engine:
                await self._serve(engine, bridge, presenters)
        except StetError as error:
            self._show_failure(error)
            await self._release_keys()
            await self._stop.wait()
        finally:
            self.closed.set()
            if self._following:
                await self._app.open_session(self._following)
            else:
                self._app.exit(self._app.exit_code)

    async def _show_end(self) -> None:
        """Show how the session ended that is taken up, before all that takes longer."""
        module = await asyncio.to_thread(importlib.import_module, "app.services.session_end")
        await module.show_end(self._app.workspace, self._app.options)

    async def _ask_trust(self, request: QuestionRequest) -> QuestionReply:
        """Ask before anything that the project brings is used; leaving the application leaves it open."""
        from core.contract.requests import QuestionReply
        from widgets.approval.ask import make_dialog
        from widgets.approval.dialog import present

        dialog = make_dialog(request)
        self._app.dispatch.register("approval.show", dialog.restore)  # until the presenter of approvals is there
        asking = asyncio.ensure_future(present(self._app, dialog))
        leaving = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            reply = asking.result() if asking.done() else request.unanswered()
            return reply if isinstance(reply, QuestionReply) else request.unanswered()
        finally:
            asking.cancel()
            leaving.cancel()

    @staticmethod
    def _load() -> list[ModuleType]:
        return [importlib.import_module(name) for name in _LATE]

    async def _serve(self, engine: Engine, bridge_module: Any, presenters_module: Any) -> None:
        self.engine = engine
        async with asyncio.TaskGroup() as group:
            tasks: set[asyncio.Task[None]] = set()
            is_over = False

            def spawn(work: Coroutine[Any, Any, None]) -> None:
                if is_over:
                    work.close()
                    return
                task = group.create_task(_guarded(work))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

            self.stage = stage = Stage(self._app, self._app.workspace, engine, spawn)
            self.commands = presenters_module.all_commands()
            self.presenters = presenters_module.all_presenters(stage, self.commands)
            bridge = bridge_module.Bridge(engine.bus, [presenter.routes() for presenter in self.presenters])
            subscription = bridge.subscribe()
            for presenter in self.presenters:
                await presenter.take_up()
            self._connect()
            group.create_task(bridge.run(subscription))
            for problem in (*self._app.warnings, *engine.problems):
                self._chat.add_notice(problem, level=NoticeLevel.WARNING)
            self._app.on_session(engine.bus.session)
            self.ready.set()
            await self._release_keys()
            await self._stop.wait()
            engine.agent.interrupt(hard=True)
            with contextlib.suppress(TimeoutError):  # so that the record says how the turn and its calls ended
                async with asyncio.timeout(_LAST_WORDS), engine.agent.turns:
                    pass
            is_over = True
            subscription.close()
            for task in tuple(tasks):
                task.cancel()

    def _connect(self) -> None:
        routes: dict[type, Any] = {}
        for presenter in self.presenters:
            routes.update(presenter.message_routes())
            presenter.register()
        self._app.workspace.router.connect(routes)

    async def _release_keys(self) -> None:
        await self._app.early.release(self._app.action_perform, self._app.post_message)

    @property
    def _chat(self) -> TranscriptView:
        from widgets.transcript.view import TranscriptView

        return self._app.workspace.query_one("#chat", TranscriptView)

    def _show_failure(self, error: StetError) -> None:
        log.warning("the session could not start: %s", error)
        self._app.exit_code = exit_code_of_start(error)
        self._app.workspace.router.connect({PromptSubmitted: self._refuse_prompt})
        self._chat.add_notice(error.message, f"{error.hint} Quit with ctrl+c.".strip(), NoticeLevel.ERROR)

    def _refuse_prompt(self, message: PromptSubmitted) -> None:
        if message.mode is PromptMode.COMMAND and message.text in ("quit", "exit", "q"):
            self.close()
            return
        self._app.workspace.prompt.set_draft(message.draft)
        self._app.notify("There is no session that could take it. Quit with ctrl+c.", severity="error", markup=False)

    def _leave(self) -> None:
        """Clear the prompt, else leave: there is nothing to lose yet."""
        if not self._app.workspace.prompt.clear():
            self.close()

    def close(self) -> None:
        """Ask the session to end; the application ends after it."""
        self._stop.set()

    def switch(self, session: str) -> None:
        """Ask the session to end, and another one to be taken up in its place."""
        self._following = session
        self._stop.set()

    def palette_entries(self) -> Iterable[PaletteEntry]:
        """Return what the command palette offers: actions, then commands."""
        from app.palette import action_entries, command_entries

        entries = action_entries(self._app.dispatch)
        if self.stage is not None and self.commands is not None:
            stage, commands = self.stage, self.commands

            async def run(name: str) -> None:
                # beside the application's own messages: a command may ask, and the keys come by those
                stage.spawn(_run_reported(stage, commands, name))

            entries += command_entries(commands, stage, run)
        return entries


async def _run_reported(stage: Stage, commands: CommandRegistry[Stage], name: str) -> None:
    try:
        await commands.run(stage, name)
    except StetError as error:
        stage.report(error)


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    """Run work of a presenter; its failure is logged and must not end the session."""
    try:
        await work
    except Exception:  # boundary: a subscriber
        log.exception("work of a presenter failed")
