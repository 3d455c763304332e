"""MCP servers on the screen: trouble is told, prompts become slash commands, resources complete behind `@`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.bridge import Routes
from app.commands.registry import Command
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import McpServerChanged, McpState, NoticeLevel
from core.contract.tool import llm_text
from core.contract.visible import make_visible, make_visible_line
from core.tools.mcp.offer import OfferedPrompt
from widgets.prompt.candidates import Candidate
from widgets.transcript.view import TranscriptView

if TYPE_CHECKING:
    from app.commands.registry import CommandRegistry

MAX_RESOURCES = 20
"""That are offered at once."""


_ABSENT = {McpState.FAILED: ("has failed", "restart"), McpState.NEEDS_LOGIN: ("needs a login", "login")}
"""Why a server is not there, and what `/mcp` can do about it."""


class McpPresenter(Presenter):
    """Follows the servers.

    Args:
        submit: sends a prompt.
    """

    def __init__(self, stage: Stage, commands: CommandRegistry[Stage], submit: Callable[[str], None]) -> None:
        super().__init__(stage)
        self._commands = commands
        self._submit = submit
        self._prompts: dict[str, list[str]] = {}
        self._told: dict[str, tuple[McpState, str]] = {}
        self._states: dict[str, McpState] = {}
        self.on_states: Callable[[Iterable[McpState]], object] = lambda states: None
        """Told the state of each server whenever one changes."""
        stage.app.completions.resources = self._complete_resource

    def routes(self) -> Routes:
        return {McpServerChanged: self._note_change}

    def register(self) -> None:
        """Catch up with the servers that were quicker than the screen."""
        self._commands.seek_with(self._seek_prompt)
        outside = self.stage.engine.outside
        for server in outside.servers if outside is not None else ():
            self._show(McpServerChanged(server.name, server.state, message=server.message, stderr=server.stderr))

    def _note_change(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, McpServerChanged)
        self._show(envelope.payload)

    def show_all(self) -> None:
        """Tell of all servers, as `/mcp` does."""
        self.stage.spawn(self._commands.run(self.stage, "mcp"))

    def _show(self, event: McpServerChanged) -> None:
        self._states[event.name] = event.state
        self.on_states(self._states.values())
        self._offer_prompts(event.name)
        if self._told.get(event.name) == (event.state, event.message):
            return
        self._told[event.name] = event.state, event.message
        name = make_visible_line(event.name)
        if event.state is McpState.FAILED:
            stderr = f"\n{event.stderr}" if event.stderr else ""
            self._tell(
                f"The MCP server {name} failed: {event.message}{stderr}", f"/mcp restart {name} starts it again."
            )
        elif event.state is McpState.NEEDS_LOGIN:
            self._tell(f"The MCP server {name} needs a login: {event.message}.", f"/mcp login {name} begins it.")
        elif event.state is McpState.READY and event.message:
            self._tell(f"The MCP server {name} is there, but not whole.\n{event.message}")

    def _tell(self, message: str, hint: str = "") -> None:
        chat = self.stage.workspace.query_one("#chat", TranscriptView)
        chat.add_notice(make_visible(message), hint, level=NoticeLevel.WARNING)

    # --- prompts ----------------------------------------------------------------------------------

    def _offer_prompts(self, name: str) -> None:
        for former in self._prompts.pop(name, ()):
            self._commands.remove(former)
        outside = self.stage.engine.outside
        if outside is None:
            return
        for prompt in outside.servers.find(name).offer.prompts:
            command = self._command(name, prompt)
            try:
                self._commands.add(command)
            except StetError:
                continue  # two prompts whose names differ only in what can't be typed
            self._prompts.setdefault(name, []).append(command.name)

    async def _seek_prompt(self, name: str) -> None:
        """Wait for the server whose prompt this would be, if it still starts; `StetError` where it is not there."""
        outside = self.stage.engine.outside
        for server in outside.servers if outside is not None else ():
            if not name.startswith(command_name(server.name, "")):
                continue
            shown = make_visible_line(server.name)
            if not server.settled.is_set():
                self.stage.app.notify(f"/{name} waits for the MCP server {shown}.", markup=False)
                await server.settled.wait()
            if server.state is not McpState.READY:
                why, verb = _ABSENT.get(server.state, ("does not run", "restart"))
                raise StetError(f"/{name} is not known: the MCP server {shown} {why}.", f"Try /mcp {verb} {shown}.")
            self._offer_prompts(server.name)

    def _command(self, server: str, prompt: OfferedPrompt) -> Command[Stage]:
        arguments = " ".join(f"{a.name}=…" if a.required else f"[{a.name}=…]" for a in prompt.arguments)
        summary = make_visible_line(prompt.description.partition("\n")[0]) or f"A prompt of the MCP server {server}."
        name = command_name(server, prompt.name)
        run = partial(self._run_prompt, server, prompt)
        return Command(name, run, summary, make_visible(prompt.description) or summary, make_visible_line(arguments))

    async def _run_prompt(self, server: str, prompt: OfferedPrompt, stage: Stage, typed: str) -> None:
        assert stage.engine.outside is not None
        arguments = read_arguments(prompt, typed)
        parts = await stage.engine.outside.servers.find(server).get_prompt(prompt.name, arguments)
        self._submit(llm_text(parts))

    # --- resources --------------------------------------------------------------------------------

    def _complete_resource(self, query: str) -> Sequence[Candidate]:
        outside = self.stage.engine.outside
        if outside is None or not query:
            return ()
        wanted = query.lower()
        named = (
            (f"{server.name}:{resource.uri}", resource.description or resource.name)
            for server in outside.servers
            for resource in server.offer.resources
        )
        found = [Candidate(name, make_visible_line(about)) for name, about in named if wanted in name.lower()]
        return found[:MAX_RESOURCES]


def command_name(server: str, prompt: str) -> str:
    """Return what is typed after the slash for a prompt of a server."""
    return "_".join(make_visible_line(f"{server}:{prompt}").split())


def read_arguments(prompt: OfferedPrompt, typed: str) -> dict[str, str]:
    """Return a prompt's arguments as they were typed: `name=value`, or values in the prompt's order.

    Raises:
        StetError: one that the prompt does not have, or one that it needs is missing.
    """
    names = [argument.name for argument in prompt.arguments]
    try:
        words = shlex.split(typed) if len(names) != 1 or typed.startswith(f"{names[0]}=") else [typed] if typed else []
    except ValueError as error:
        raise StetError(f"The arguments can't be read: {error}.", 'Quote as in a shell: name="two words".') from None
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in names:
            given[name] = value
            continue
        left = [other for other in names if other not in given]
        if not left:
            raise StetError(f"{word!r} is one argument too many.", f"The prompt takes: {', '.join(names) or 'none'}.")
        given[left[0]] = word
    missing = [argument.name for argument in prompt.arguments if argument.required and argument.name not in given]
    if missing:
        raise StetError(f"The prompt needs {', '.join(missing)}.", "Write name=value behind the command.")
    return given
