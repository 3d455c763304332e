"""What tools can do beyond files and commands: remember, search with the model, switch the mode, start sub-agents."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.file_work import file_work
from app.telemetry import exported_telemetry
from app.undo_setup import follow_jobs
from core.agent.instructions import load_instructions
from core.agent.subagent import SubagentRunner
from core.agent.system_prompt import session_facts
from core.contract.errors import StetError
from core.contract.model import GroundedAnswer, SearchingProvider
from core.fileops.transaction import recover
from core.policy.mode_switch import PolicyModeSwitch
from core.policy.trust import TrustState
from core.scheduler.scheduler import Scheduler
from core.tools.memory import MemoryStore

if TYPE_CHECKING:
    from app.bootstrap import Engine


async def connect_services(engine: Engine, scheduler: Scheduler) -> None:
    """Give the session's tools their services, count what happens, and load what is remembered."""
    context, policy, agent = engine.context, engine.policy, engine.agent

    async def search_web(query: str) -> GroundedAnswer | None:
        provider = agent.provider
        return await provider.search_web(query) if isinstance(provider, SearchingProvider) else None

    def facts() -> str:
        return session_facts([Path(root) for root in engine.workspace.roots], policy.mode)

    past = engine.resumed.envelopes if engine.resumed else ()
    for envelope in past:
        engine.statistics(envelope)
    engine.bus.attach("statistics", engine.statistics)
    engine.bus.attach("undo", follow_jobs(engine.undo))
    if engine.resumed:
        engine.context_editor.learn(engine.resumed.replacements, agent.history.messages)
    context.transactions = engine.folders.state / "transactions"
    engine.problems += await asyncio.to_thread(recover, context.transactions)
    context.mode = PolicyModeSwitch(policy, context.publish)
    context.path_refusal = policy.path_refusal
    engine.commands.enter_context(file_work(context, policy, engine.bus, past))
    endpoint = engine.settings.telemetry.otlp_endpoint
    await engine.commands.enter_async_context(exported_telemetry(engine.bus, endpoint, engine.problems))
    context.search_web = search_web
    context.subagents = SubagentRunner(
        agent, engine.bus, engine.registry, scheduler.beside, facts, max_cost=engine.settings.agent.max_cost
    )
    await load_project_instructions(engine)
    engine.problems += [f"Instructions: {problem}" for problem in engine.instructions.problems]
    if engine.options.record:  # a session that leaves nothing behind remembers nothing, either
        context.memory = MemoryStore(engine.folders.config, engine.options.directory)
        try:
            await load_memory(engine)
        except StetError as error:
            engine.problems.append(str(error))


async def load_project_instructions(engine: Engine) -> None:
    """Read the files with instructions; the project's only where nothing of it waits for trust."""
    usable = engine.trust.state in (TrustState.TRUSTED, TrustState.NOTHING)
    load = partial(load_instructions, engine.folders.config, engine.workspace.roots, project=usable)
    engine.instructions = await asyncio.to_thread(load)


async def load_memory(engine: Engine) -> None:
    """Read what the model is told of earlier sessions.

    Raises:
        StetError: a file can't be read.
    """
    store = engine.context.memory
    engine.memory = await asyncio.to_thread(store.for_model) if store is not None else ""
