"""Slash commands."""

from __future__ import annotations

import asyncio
import logging

import pytest

from app.commands.registry import Command, CommandRegistry, command, first_words
from core.contract.errors import StetError
from widgets.prompt.candidates import Candidate

Log = list[str]


@command("help", aliases=("h",), arguments="[topic]")
async def show_help(context: Log, arguments: str) -> None:
    """Show the help.

    All of it, or of one topic.
    """
    context.append(f"help:{arguments}")


@command("clear", unavailable=lambda context: "the agent works" if context else "")
async def clear(context: Log, arguments: str) -> None:
    """Start anew."""
    context.append("clear")


@command("crash")
async def crash(context: Log, arguments: str) -> None:
    """Fail."""
    raise ValueError("boom [/b]")


@command("refuse")
async def refuse(context: Log, arguments: str) -> None:
    """Refuse."""
    raise StetError("no", "try later")


@pytest.fixture
def registry() -> CommandRegistry[Log]:
    return CommandRegistry([show_help, clear, crash, refuse])


def test_the_docstring_is_the_help(registry: CommandRegistry[Log]) -> None:
    found = registry.find("h")
    assert (found.name, found.summary, found.arguments) == ("help", "Show the help.", "[topic]")
    assert found.help.endswith("one topic.")
    with pytest.raises(StetError, match="no docstring"):

        @command("bare")
        async def bare(context: Log, arguments: str) -> None:
            pass


@pytest.mark.anyio
async def test_run_passes_what_follows(registry: CommandRegistry[Log]) -> None:
    log: Log = []
    await registry.run(log, " help   a  topic ")
    assert log == ["help:a  topic"]


@pytest.mark.anyio
async def test_refusals_say_why_and_what_next(registry: CommandRegistry[Log], caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StetError, match="no command /hlep") as unknown:
        await registry.run([], "hlep me")
    assert unknown.value.hint == "Did you mean /help?"
    with pytest.raises(StetError) as prefix:
        registry.find("cle")
    assert prefix.value.hint == "Did you mean /clear?"
    with pytest.raises(StetError, match="no command /zzz") as far:
        registry.find("zzz")
    assert far.value.hint == "/help lists all commands."
    with pytest.raises(StetError, match="the agent works"):
        await registry.run(["busy"], "clear")
    with pytest.raises(StetError, match="try later"):
        await registry.run([], "refuse")
    with caplog.at_level(logging.ERROR), pytest.raises(StetError, match="/crash failed: boom"):
        await registry.run([], "crash")
    assert "ValueError" in caplog.text


def test_names_are_taken_once(registry: CommandRegistry[Log]) -> None:
    @command("other", aliases=("h",))
    async def other(context: Log, arguments: str) -> None:
        """Take a name."""

    with pytest.raises(StetError, match="/h is taken by /help"):
        registry.add(other)


def test_matching_ranks_prefix_part_letters(registry: CommandRegistry[Log]) -> None:
    def names(query: str) -> list[str]:
        return [each.name for each in registry.matching(query)]

    assert names("") == ["clear", "crash", "help", "refuse"]
    assert names("C") == ["clear", "crash"]
    assert names("fus") == ["refuse"]
    assert names("cr") == ["crash", "clear"]
    assert names("h") == ["help", "crash"]
    assert names("xyz") == []


@pytest.mark.anyio
async def test_what_a_command_does_not_take_is_refused(registry: CommandRegistry[Log]) -> None:
    log: Log = []
    with pytest.raises(StetError, match="/clear takes nothing after its name; 'all' stands there"):
        await registry.run(log, "clear all")
    assert log == []


@pytest.mark.anyio
async def test_a_command_that_is_not_loaded_yet_is_waited_for(registry: CommandRegistry[Log]) -> None:
    loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    registry.wait_for(loaded)
    log: Log = []
    await registry.run(log, "help now")  # what is known need not wait
    running = asyncio.create_task(registry.run(log, "mine"))
    await asyncio.sleep(0)
    registry.add(Command("mine", show_help.run, "", ""))
    loaded.set_result(None)
    await running
    assert log == ["help:now", "help:"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", []),
        ("TITLE", []),
        ("[KEY [VALUE]]", []),
        ("[markdown|json] [PATH]", ["markdown", "json"]),
        ("[edit [user|project] | forget NUMBER]", ["edit", "forget"]),
        ("[check COMMAND | check TOOL | auto_edit]", ["check", "auto_edit"]),
        ("name=… [size=…]", []),
    ],
)
def test_the_words_that_can_stand_first(arguments: str, words: list[str]) -> None:
    assert first_words(arguments) == words


def test_arguments_are_completed() -> None:
    def choices(context: Log, before: str) -> list[Candidate]:
        return [Candidate(f"{before}-on"), Candidate("blue")] if before else [Candidate("Colour"), Candidate("size")]

    @command("set", arguments="[KEY [VALUE]]", choices=choices)
    async def set_it(context: Log, arguments: str) -> None:
        """Set a value."""

    registry = CommandRegistry([set_it, show_help, clear])

    def texts(typed: str) -> list[str]:
        return [each.text for each in registry.complete([], typed)]

    assert texts("set ") == ["Colour", "size"]
    assert texts("set co") == ["Colour"]
    assert texts("set size ") == ["size-on", "blue"]
    assert texts("clear ") == texts("unknown ") == []
    (said,) = registry.complete([], "help me")
    assert (said.text, said.label, said.hint) == ("", "help [topic]", "Show the help.")
