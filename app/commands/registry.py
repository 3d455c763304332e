"""Slash commands: a decorated coroutine each, whose docstring is its help. It knows no single command."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Generic, TypeVar

from core.contract.errors import StetError
from widgets.prompt.candidates import Candidate

C = TypeVar("C")
"""What commands are run on: the application's side of the session."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Command(Generic[C]):
    """A slash command.

    `run(context, arguments)` gets what follows the name, stripped. `unavailable(context)` says why the command can't
    be used now; empty if it can.
    """

    name: str
    run: Callable[[C, str], Awaitable[None]]
    summary: str
    """First line of the docstring."""
    help: str
    """The docstring."""
    arguments: str = ""
    """As in `[name]`; shown after the command's name. Empty: it takes none."""
    aliases: tuple[str, ...] = ()
    unavailable: Callable[[C], str] | None = None
    choices: Callable[[C, str], Sequence[Candidate]] | None = None
    """`choices(context, before)` gives what can stand next where `before` was typed after the name."""

    def candidates(self, context: C, before: str) -> Sequence[Candidate]:
        """Return what can stand next: its own choices, else the words that its arguments begin with."""
        if self.choices is not None:
            return self.choices(context, before)
        return () if before else [Candidate(word) for word in first_words(self.arguments)]

    def reason(self, context: C) -> str:
        """Return why the command can't be used now, or an empty string."""
        return self.unavailable(context) if self.unavailable is not None else ""


def command(
    name: str,
    *,
    aliases: Iterable[str] = (),
    arguments: str = "",
    unavailable: Callable[[C], str] | None = None,
    choices: Callable[[C, str], Sequence[Candidate]] | None = None,
) -> Callable[[Callable[[C, str], Awaitable[None]]], Command[C]]:
    """Make a command of a coroutine function with a docstring.

    Args:
        name: what is typed after the slash.
        aliases: other names for it.
        arguments: a hint such as `[provider/name]`.
        unavailable: says why it can't be used now.
        choices: gives what can stand next among the arguments.
    """

    def make(run: Callable[[C, str], Awaitable[None]]) -> Command[C]:
        text = inspect.getdoc(run)
        if not text:
            raise StetError(f"The command /{name} has no docstring.", "The docstring is its help.")
        return Command(name, run, text.partition("\n")[0], text, arguments, tuple(aliases), unavailable, choices)

    return make


class CommandRegistry(Generic[C]):
    """The commands by name and alias."""

    def __init__(self, commands: Iterable[Command[C]] = ()) -> None:
        self._commands: dict[str, Command[C]] = {}
        self._names: dict[str, str] = {}
        self._loading: list[asyncio.Future[object]] = []
        self._seekers: list[Callable[[str], Awaitable[object]]] = []
        for each in commands:
            self.add(each)

    def __iter__(self) -> Iterator[Command[C]]:
        return iter(sorted(self._commands.values(), key=lambda each: each.name))

    def add(self, added: Command[C]) -> None:
        """Add a command; `StetError` if a name of it is taken."""
        for name in (added.name, *added.aliases):
            if name in self._names:
                raise StetError(f"/{name} is taken by /{self._names[name]}.", "Give the command another name.")
        self._commands[added.name] = added
        for name in (added.name, *added.aliases):
            self._names[name] = added.name

    def remove(self, name: str) -> None:
        """Take a command away; unknown names are ignored."""
        removed = self._commands.pop(name, None)
        if removed is not None:
            for each in (removed.name, *removed.aliases):
                del self._names[each]

    def wait_for(self, loading: Awaitable[object]) -> None:
        """Have a command that is not known yet wait until more of them are loaded."""
        self._loading.append(asyncio.ensure_future(loading))

    def seek_with(self, seek: Callable[[str], Awaitable[object]]) -> None:
        """Have `seek(name)` add a command that is not known, if it can; it may wait, and say what is wrong."""
        self._seekers.append(seek)

    async def _load(self) -> None:
        while self._loading:
            await asyncio.wait({self._loading[0]})
            self._loading = [each for each in self._loading if not each.done()]

    def complete(self, context: C, typed: str) -> Sequence[Candidate]:
        """Return what can stand next in `name arguments`, for a last word that may be begun; else what it takes."""
        name, _, arguments = typed.partition(" ")
        if name not in self._names:
            return ()
        found = self._commands[self._names[name]]
        before, _, begun = arguments.rpartition(" ")
        fitting = [each for each in found.candidates(context, before.strip()) if begun.lower() in each.text.lower()]
        fitting.sort(key=lambda each: not each.text.lower().startswith(begun.lower()))
        if len(fitting) > 1 or (fitting and fitting[0].text != begun):
            return fitting
        return [Candidate("", found.summary, label=f"{found.name} {found.arguments}")] if found.arguments else ()

    def find(self, name: str) -> Command[C]:
        """Return a command by name or alias; `StetError` with the nearest name if there is none."""
        if name in self._names:
            return self._commands[self._names[name]]
        near = (
            get_close_matches(name, self._names, 1, 0.5) or [n for n in self._names if name and n.startswith(name)][:1]
        )
        hint = f"Did you mean /{near[0]}?" if near else "/help lists all commands."
        raise StetError(f"There is no command /{name}.", hint)

    def matching(self, query: str) -> list[Command[C]]:
        """Return the commands for what was typed so far, the best first: by prefix, by part, by letters in order."""
        wanted = query.lower()
        ranked = [(rank, each.name) for each in self for rank in [_best_rank(wanted, each)] if rank is not None]
        return [self._commands[name] for _, name in sorted(ranked)]

    async def run(self, context: C, line: str) -> None:
        """Run `name arguments`; `StetError` if there is no such command, it can't be used now, or it failed."""
        name, _, arguments = line.strip().partition(" ")
        if name not in self._names:
            await self._load()
            for seek in self._seekers:
                await seek(name)
        found, arguments = self.find(name), arguments.strip()
        if reason := found.reason(context):
            raise StetError(f"/{found.name} can't be used now: {reason}")
        if arguments and not found.arguments:
            raise StetError(f"/{found.name} takes nothing after its name; {arguments!r} stands there.")
        try:
            await found.run(context, arguments)
        except StetError:
            raise
        except Exception as error:  # the boundary of commands: one that fails must not take the session with it
            _log.exception("the command /%s failed", found.name)
            raise StetError(f"/{found.name} failed: {error}", "The log has the details.") from error


def first_words(arguments: str) -> list[str]:
    """Return the words, as they are typed, that can stand first: `list` and `drop` of `[list | drop N]`."""
    group, depth = "", 0
    for character in arguments:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if not depth:
            break
        group += character if depth == 1 else ""
    words = (each.strip("[ ").partition(" ")[0] for each in group.split("|"))
    return list(dict.fromkeys(each for each in words if re.fullmatch("[a-z_]+", each)))


def _best_rank(wanted: str, each: Command[C]) -> int | None:
    ranks = [rank for name in (each.name, *each.aliases) if (rank := _rank(wanted, name.lower())) is not None]
    return min(ranks, default=None)


def _rank(wanted: str, name: str) -> int | None:
    if name.startswith(wanted):
        return 0
    if wanted in name:
        return 1
    letters = iter(name)
    return 2 if all(letter in letters for letter in wanted) else None
