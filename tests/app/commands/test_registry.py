"""Slash commands."""

from __future__ import annotations

import logging

import pytest

from app.commands.registry import CommandRegistry, command
from core.contract.errors import StetError

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
