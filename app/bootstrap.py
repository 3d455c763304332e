"""The composition root: settings, bus, workspace, tools, policy, scheduler and agent, put together for one session.

It knows no screen. Everything heavy is imported here, so this module is loaded after the first paint.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from app.attachments import Attachments, read_attachments
from app.options import SessionOptions
from app.outside_tools import OutsideTools, open_outside_tools
from app.policy_setup import find_trust, rule_files, untrusted_notice
from app.services.malloc import bound_malloc
from app.session_services import connect_services
from app.shell_mention import read_shell
from app.undo_setup import make_undo_store
from core.agent.agent import Agent
from core.agent.compactor import Compactor, describe_todos
from core.agent.context import ContextEditor
from core.agent.history import History, restored_history
from core.agent.instructions import Instructions
from core.agent.limits import TurnLimits
from core.agent.system_prompt import system_prompt
from core.bus.bus import Bus
from core.bus.recorder import Recorder
from core.contract.errors import NoUsableModel, StetError
from core.contract.events import (
    ApprovalMode,
    Event,
    ModeChanged,
    ModelChanged,
    Notice,
    NoticeLevel,
    SessionEnded,
    SessionStarted,
    TurnFinished,
)
from core.contract.ids import SessionId, new_id
from core.contract.model import Provider
from core.contract.requests import QuestionReply, QuestionRequest
from core.model.catalogue import choose_provider, preload
from core.model.retry import RetryPolicy
from core.policy.engine import PolicyEngine
from core.policy.rule_files import RuleFiles
from core.policy.trust import ProjectTrust, TrustState
from core.redaction import Redactor
from core.scheduler.gate import Gate
from core.scheduler.scheduler import Scheduler
from core.scheduler.watch import undo_watch
from core.session.resume import ResumedSession, resume_session
from core.session.statistics import SessionStatistics
from core.session.store import SessionStore, lock_record
from core.settings.load import LoadedSettings, load_settings
from core.settings.models import Settings
from core.settings.paths import Folders, find_folders, make_private
from core.terminal.jobs import JobTable
from core.tools.context import TodoBoard, ToolContext
from core.tools.declarative import ShellConfig
from core.tools.registry import ToolRegistry, builtin_registry
from core.tools.truncate import OutputTruncator
from core.workspace.undo.store import UndoStore
from core.workspace.workspace import Workspace
from stet import __version__

_NOTHING = Attachments()


@dataclass(slots=True)
class Engine:
    """One running session without its screen."""

    options: SessionOptions
    folders: Folders
    loaded: LoadedSettings
    bus: Bus
    workspace: Workspace
    context: ToolContext
    registry: ToolRegistry
    policy: PolicyEngine
    files: RuleFiles
    trust: ProjectTrust
    jobs: JobTable
    agent: Agent
    store: SessionStore
    undo: UndoStore
    resumed: ResumedSession | None = None
    problems: list[str] = field(default_factory=list)
    """What is wrong in settings, rules and tools; the session runs with the rest."""
    outside: OutsideTools | None = None
    """Tools from outside, MCP servers among them."""
    memory: str = ""
    """What the model is told of earlier sessions."""
    context_editor: ContextEditor = field(default_factory=ContextEditor)
    """Remembers what the user took out of the context."""
    instructions: Instructions = field(default_factory=Instructions)
    """What the user and the project keep in files for the model."""
    shell_config: ShellConfig = ShellConfig(columns=100, lines=24)
    """The terminal that commands get; the screen sets it to its shell pane's size."""
    statistics: SessionStatistics = field(default_factory=SessionStatistics)
    """What the session used and did, the part that was resumed included."""
    commands: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Ends the commands that still run; closed at the end of the session."""
    _notes: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def is_recorded(self) -> bool:
        return self.options.record and self.settings.session.record

    async def set_mode(self, mode: ApprovalMode) -> None:
        """Change what runs without asking."""
        self.policy.mode = mode
        await self.bus.publish(ModeChanged(mode))

    async def use_provider(self, provider: Provider) -> None:
        """Let another model go on with the session."""
        former, self.agent.provider = self.agent.provider, provider
        await former.close()
        await self.bus.publish(ModelChanged(provider.name, provider.model))

    def system_prompt(self) -> str:
        """Return what the model is told first, as things stand now."""
        roots = [Path(root) for root in self.workspace.roots]
        outside = self.outside.instructions() if self.outside is not None else ""
        return system_prompt(roots, self.policy.mode, self.memory, instructions=self.instructions.for_model) + outside

    def note_for_model(self, text: str) -> None:
        """Tell the model something with the next prompt."""
        self._notes.append(text)

    async def run_prompt(
        self, text: str, mentions: tuple[str, ...] = (), beside: Attachments = _NOTHING
    ) -> TurnFinished:
        """Run one turn; files, resources and the shell's output named with `@` are read and sent along.

        Args:
            beside: what is sent along anyway.
        """
        resources = Attachments()
        if self.outside is not None:
            if not self.options.interactive:
                for name in await self.outside.settle(self.settings.mcp.wait):
                    await self.bus.publish(Notice(f"The MCP server {name} is still starting; going on without it."))
            resources, mentions = await self.outside.read_mentions(mentions)
        if resources.text:
            self.agent.scheduler.gate.taint.came_from("MCP servers")
        shell, mentions = await read_shell(self.jobs, mentions)
        attached = await read_attachments(self.registry, mentions)
        for problem in (*resources.problems, *attached.problems):
            await self.bus.publish(Notice(problem, level=NoticeLevel.WARNING))
        notes = "".join(f"\n\n[{note}]" for note in self._notes)
        self._notes.clear()
        media = (*resources.media, *attached.media, *beside.media)
        return await self.agent.run_turn(
            text + resources.text + shell + attached.text + beside.text + notes, media, shown=text
        )


AskTrust = Callable[[QuestionRequest], Awaitable[QuestionReply]]


@asynccontextmanager
async def open_engine(options: SessionOptions, ask_trust: AskTrust | None = None) -> AsyncIterator[Engine]:
    """Put a session together, and take it apart at the end: commands ended, record closed.

    Args:
        ask_trust: asks the user whether to trust the project, before anything of it is used; without it, what nobody
            has decided on is not trusted.

    Raises:
        StetError: there is no usable model, directory or session.
    """
    bound_malloc()
    folders = find_folders(os.environ)
    trust = await _find_trust(options, folders, ask_trust)
    options = replace(options, trust=trust.is_trusted)
    loaded = await asyncio.to_thread(
        partial(
            load_settings,
            folders,
            os.environ,
            project=options.directory,
            trusted=options.trust,
            flags=options.flags(),
        )
    )
    async with AsyncExitStack() as stack:
        engine = await _compose(options, folders, loaded, trust, stack)
        await engine.bus.publish(
            SessionStarted(
                engine.workspace.root,
                f"{engine.agent.provider.name}/{engine.agent.provider.model}",
                __version__,
                str(engine.resumed.id) if engine.resumed else "",
            )
        )
        if trust.answer:
            await engine.bus.publish(Notice(f"Trust in what this project brings: {trust.answer.lower()}."))
        try:
            yield engine
        finally:
            try:
                await engine.commands.aclose()
                await engine.undo.settled()
            finally:
                await engine.bus.publish(SessionEnded())


async def _compose(
    options: SessionOptions, folders: Folders, loaded: LoadedSettings, trust: ProjectTrust, stack: AsyncExitStack
) -> Engine:
    settings = loaded.settings
    provider = _choose_model(settings, options)
    stack.push_async_callback(provider.close)
    preload(provider)
    store = SessionStore(folders.state / "sessions", options.directory)
    resumed = await asyncio.to_thread(_resume, store, options)
    session = resumed.id if resumed else SessionId(new_id("s"))
    bus = Bus(session, last_seq=resumed.last_seq if resumed else 0)
    stack.callback(bus.close)
    problems = [*untrusted_notice(trust), *(str(problem) for problem in loaded.problems)]
    _attach_recorder(bus, store, options, settings, stack)
    problems += await asyncio.to_thread(_tidy_sessions, store, session, settings)
    workspace = await _open_workspace(options, settings, problems, stack)
    files = rule_files(folders, options.directory, trust)
    policy = await asyncio.to_thread(_load_policy, options, files, settings, workspace, problems)
    publisher = _Publisher(bus)
    shell = settings.shell
    commands = await stack.enter_async_context(AsyncExitStack())
    jobs = await commands.enter_async_context(
        JobTable(publisher.publish, session, scrollback=shell.scrollback, shell_program=shell.program)
    )
    todos = TodoBoard(publisher.publish, resumed.todos if resumed else None)
    context = ToolContext(workspace, settings, publisher.publish, todos, jobs, options.interactive, options.can_type)
    registry = await asyncio.to_thread(builtin_registry, context)  # it imports every tool
    outside = await stack.enter_async_context(
        open_outside_tools(context, registry, policy, folders, options.directory, trusted=options.trust)
    )
    problems += outside.problems
    undo = await _open_undo(workspace, folders, store, session, options, publisher, stack)
    truncate = OutputTruncator(workspace.scratch, settings.tools.truncate_chars)
    scheduler = Scheduler(
        registry,
        Gate(policy, bus, files if options.record else None),
        bus,
        parallel=settings.agent.parallel_calls,
        finish=lambda result: asyncio.to_thread(truncate, result),
        shell_config=lambda: engine.shell_config,
        wait_for_tool=outside.wait_for_tool,
        watch=undo_watch(undo),
    )
    agent = Agent(
        provider,
        scheduler,
        bus,
        system=lambda: engine.system_prompt(),
        history=_restored(resumed) if resumed else None,
        compactor=Compactor(lambda: describe_todos(todos.todos)),
        limits=TurnLimits(settings.agent.max_turns, settings.agent.max_cost),
        retry=RetryPolicy(retries=settings.model.retries),
        first_turn=resumed.last_turn + 1 if resumed else 1,
    )
    agent.prompts += resumed.prompts if resumed else ()
    publisher.agent = agent
    parts = (workspace, context, registry, policy, files, trust, jobs, agent, store, undo, resumed, problems, outside)
    engine = Engine(options, folders, loaded, bus, *parts, commands=commands)
    await connect_services(engine, scheduler)
    return engine


async def _open_workspace(
    options: SessionOptions, settings: Settings, problems: list[str], stack: AsyncExitStack
) -> Workspace:
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stet-", ignore_cleanup_errors=True)))
    workspace = await asyncio.to_thread(
        partial(
            Workspace,
            [options.directory, *options.include_directories],
            scratch=scratch,
            allowed_sensitive=settings.tools.ignore_path_filter,
        )
    )
    removed = await asyncio.to_thread(workspace.recover, [workspace.root])
    problems += [f"Removed what an interrupted write had left: {name}" for name in removed]
    return workspace


async def _open_undo(
    workspace: Workspace,
    folders: Folders,
    store: SessionStore,
    session: SessionId,
    options: SessionOptions,
    publisher: _Publisher,
    stack: AsyncExitStack,
) -> UndoStore:
    if options.record:
        folder = folders.state / "undo" / store.folder.name
    else:  # a session that leaves nothing behind can undo until its end
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stet-undo-", ignore_cleanup_errors=True)))
    undo = await make_undo_store(workspace, folder, session, publisher.publish, folders.state)
    return await stack.enter_async_context(undo)


def _choose_model(settings: Settings, options: SessionOptions) -> Provider:
    try:
        return choose_provider(None, settings, os.environ, script_speed=options.script_speed)
    except StetError as error:
        raise NoUsableModel(error.message, error.hint) from error


class _Publisher:
    """Publishes what tools and jobs say, stamped with the turn that runs."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.agent: Agent | None = None

    async def publish(self, event: Event) -> None:
        turn = self.agent.turn if self.agent is not None and self.agent.is_busy else 0
        await self._bus.publish(event, turn=turn)


def _restored(resumed: ResumedSession) -> History:
    messages = restored_history(resumed.messages).messages
    pinned = tuple(message for message in resumed.pinned if message in messages)
    return History(messages, pinned, resumed.replacements, is_recorded=messages == resumed.messages)


def _resume(store: SessionStore, options: SessionOptions) -> ResumedSession | None:
    return None if options.resume is None else resume_session(store.find(options.resume).path)


def _tidy_sessions(store: SessionStore, session: SessionId, settings: Settings) -> list[str]:
    """Delete sessions that are past their time; return what people should know of the others."""
    if settings.session.keep_days:
        store.sweep(settings.session.keep_days, time.time())
    if not store.open_elsewhere(session):
        return []
    return ["Another stet is open in this directory: both change the same files, and neither knows of the other."]


def _attach_recorder(
    bus: Bus, store: SessionStore, options: SessionOptions, settings: Settings, stack: AsyncExitStack
) -> None:
    if not (options.record and settings.session.record):
        return
    path = store.path_of(bus.session)
    make_private(store.folder)
    stack.callback(os.close, lock_record(path))
    redactor = Redactor.from_environment(os.environ)
    recorder = Recorder(
        path,
        redactor,
        redactor.settled,
        session=bus.session,
        directory=str(options.directory),
        version=__version__,
    )
    stack.callback(recorder.close)
    bus.attach("recorder", recorder)


def _load_policy(
    options: SessionOptions, files: RuleFiles, settings: Settings, workspace: Workspace, problems: list[str]
) -> PolicyEngine:
    rules, wrong = files.load()
    problems += [str(problem) for problem in wrong]
    return PolicyEngine(
        rules,
        root=options.directory,
        mode=settings.policy.approval_mode,
        include_directories=options.include_directories,
        allowed_sensitive=settings.tools.ignore_path_filter,
        scratch=workspace.scratch,
        looking_allowed=True,
    )


async def _find_trust(options: SessionOptions, folders: Folders, ask_trust: AskTrust | None) -> ProjectTrust:
    """Return the trust in the project, after the user was asked if nobody has decided yet."""
    trust = await asyncio.to_thread(partial(find_trust, folders, options.directory, granted=options.trust))
    if trust.state is TrustState.UNKNOWN and ask_trust is not None:
        reply = await ask_trust(trust.question())
        await asyncio.to_thread(trust.take, reply)
    return trust
