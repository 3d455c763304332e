"""The slash commands: a decorated coroutine each; its docstring is its help."""

from __future__ import annotations

import asyncio
import os

from app.commands.memory import show_memory
from app.commands.permissions import list_rules
from app.commands.registry import Command, command
from app.stage import Stage
from core.contract.errors import StetError
from core.contract.events import ApprovalMode, Notice
from core.contract.todo import TodoList
from core.model.catalogue import choose_provider


async def _tell(stage: Stage, text: str) -> None:
    await stage.engine.bus.publish(Notice(text))


@command("help", aliases=("?",))
async def show_help(stage: Stage, arguments: str) -> None:
    """All keys and commands, searchable."""
    await stage.app.dispatch.perform("app.help")


@command("quit", aliases=("exit", "q"))
async def leave(stage: Stage, arguments: str) -> None:
    """Leave; running commands are ended, the session can be taken up again with --resume."""
    stage.app.on_exit_requested()


@command("mode", arguments="[default|auto_edit|plan|yolo]")
async def set_mode(stage: Stage, arguments: str) -> None:
    """Show or set what runs without asking."""
    if not arguments:
        await _tell(stage, f"The approval mode is {stage.engine.policy.mode}.")
        return
    try:
        mode = ApprovalMode(arguments)
    except ValueError:
        raise StetError(f"There is no mode {arguments!r}.", f"Modes: {', '.join(ApprovalMode)}.") from None
    await stage.engine.set_mode(mode)
    if mode is ApprovalMode.YOLO:
        await _tell(stage, "Edits and commands now run without asking, but for those that a rule denies.")


def _busy(stage: Stage) -> str:
    return "the agent is at work" if stage.engine.agent.is_busy else ""


@command("model", arguments="[PROVIDER/NAME]", unavailable=_busy)
async def set_model(stage: Stage, arguments: str) -> None:
    """Show the model, or let another one go on with the session."""
    provider = stage.engine.agent.provider
    if not arguments:
        await _tell(stage, f"The model is {provider.name}/{provider.model}. Another one: /model PROVIDER/NAME")
        return
    await stage.engine.use_provider(
        await asyncio.to_thread(choose_provider, arguments, stage.engine.settings, os.environ)
    )


@command("theme", arguments="[NAME]")
async def set_theme(stage: Stage, arguments: str) -> None:
    """Show the themes, or use another one until the end of the session."""
    known = sorted(stage.app.available_themes)
    if not arguments:
        await _tell(stage, f"The theme is {stage.app.theme}. Others: {', '.join(known)}.")
    elif arguments in known:
        stage.app.theme = arguments
    else:
        raise StetError(f"There is no theme {arguments!r}.", f"Themes: {', '.join(known)}.")


@command("tools")
async def list_tools(stage: Stage, arguments: str) -> None:
    """The tools that the model may call."""
    lines = [f"{tool.name} ({tool.kind}) {tool.description.splitlines()[0]}" for tool in stage.engine.registry]
    await _tell(stage, "\n".join(lines))


@command("todo", arguments="[clear]")
async def show_todo(stage: Stage, arguments: str) -> None:
    """Show the todo list, or empty it."""
    if arguments == "clear":
        await stage.engine.context.todos.replace(TodoList())
    else:
        await stage.app.dispatch.perform("pane.todo")


@command("shell")
async def open_shell(stage: Stage, arguments: str) -> None:
    """Type into your own shell; ctrl+] leaves it."""
    await stage.app.dispatch.perform("shell.focus")


@command("copy")
async def copy_last(stage: Stage, arguments: str) -> None:
    """Copy the block under the cursor, else the last one."""
    await stage.app.dispatch.perform("chat.copy")


@command("stats", aliases=("session",))
async def show_stats(stage: Stage, arguments: str) -> None:
    """The session: its id, its record, tokens and cost."""
    engine = stage.engine
    cost = "unknown" if engine.agent.spent is None else f"${engine.agent.spent:.4f}"
    lines = [
        f"Session {engine.bus.session}, {engine.agent.turn} turns",
        f"Record: {engine.store.path_of(engine.bus.session) if engine.is_recorded else 'not written'}",
        f"Cost: {cost}",
        f"Running commands: {sum(job.running for job in engine.jobs)}",
    ]
    await _tell(stage, "\n".join(lines))


COMMANDS: tuple[Command[Stage], ...] = (
    show_help,
    leave,
    set_mode,
    set_model,
    set_theme,
    list_tools,
    list_rules,
    show_todo,
    show_memory,
    open_shell,
    copy_last,
    show_stats,
)
