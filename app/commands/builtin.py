"""The slash commands: a decorated coroutine each; its docstring is its help."""

from __future__ import annotations

import asyncio
import os
import re

from app.commands.memory import show_memory
from app.commands.permissions import list_rules
from app.commands.registry import Command, command
from app.commands.settings import COMMANDS as SETTINGS
from app.doctor import examine
from app.services.figures import describe_figures
from app.stage import Stage
from core.contract.errors import StetError
from core.contract.events import Notice
from core.contract.todo import TodoList


async def _tell(stage: Stage, text: str) -> None:
    await stage.engine.bus.publish(Notice(text))


@command("help", aliases=("?",))
async def show_help(stage: Stage, arguments: str) -> None:
    """All keys and commands, searchable."""
    await stage.app.dispatch.perform("app.help")


@command("quit", aliases=("exit", "q"))
async def quit_session(stage: Stage, arguments: str) -> None:
    """Leave; it asks what becomes of running commands. The session can be taken up again with --resume."""
    from app.services.leaving import leave

    await leave(stage)


@command("tools")
async def list_tools(stage: Stage, arguments: str) -> None:
    """The tools that the model may call; what one of them says of itself stands in the context view (f7)."""
    rows = tuple((tool.name, tool.kind.value, _first_sentence(tool.description)) for tool in stage.engine.registry)
    width = max(len(name) for name, *_ in rows)
    lines = [f"{name:<{width}}  {kind:<11}  {says}" for name, kind, says in rows]
    await _tell(stage, "\n".join([f"{len(rows)} tools", *lines]))


def _first_sentence(text: str) -> str:
    """Return the beginning of a description, up to its first full stop or colon."""
    first = re.split(r"(?<=\w)[.:;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0]
    return first if len(first) <= 90 else f"{first[:89]}…"


@command("todo", arguments="[clear]")
async def show_todo(stage: Stage, arguments: str) -> None:
    """Show the todo list, or empty it."""
    if arguments == "clear":
        await stage.engine.context.todos.replace(TodoList())
    elif arguments:
        raise StetError(f"/todo knows no {arguments!r}.", "Use /todo or /todo clear; in the list, `a` adds an item.")
    else:
        await stage.app.dispatch.perform("pane.todo")


@command("shell")
async def open_shell(stage: Stage, arguments: str) -> None:
    """Type into your own shell; ctrl+] leaves it."""
    await stage.app.dispatch.perform("shell.focus")


_COPIES = {"": "chat.copy", "code": "chat.copy_code", "turn": "chat.copy_turn"}


@command("copy", arguments="[code|turn]")
async def copy_last(stage: Stage, arguments: str) -> None:
    """Copy the block under the cursor, else the last one; or the code in it, or the whole turn."""
    if (action := _COPIES.get(arguments)) is None:
        raise StetError(f"{arguments!r} can't be copied.", "Try /copy, /copy code or /copy turn.")
    await stage.app.dispatch.perform(action)


@command("stats", aliases=("session", "cost"))
async def show_stats(stage: Stage, arguments: str) -> None:
    """What the session used and did: turns, tokens, cost, tool calls with their times, files changed."""
    await _tell(stage, describe_figures(stage.engine))


@command("doctor")
async def show_findings(stage: Stage, arguments: str) -> None:
    """What works here and what does not: terminal, clipboard, programs, folders, settings, model."""
    engine = stage.engine
    found = await asyncio.to_thread(lambda: list(examine(os.environ, engine.folders, engine.options.directory)))
    await _tell(stage, "\n".join(each.line for each in found))


COMMANDS: tuple[Command[Stage], ...] = (
    show_help,
    quit_session,
    list_tools,
    list_rules,
    show_todo,
    show_memory,
    open_shell,
    copy_last,
    show_stats,
    show_findings,
) + SETTINGS
