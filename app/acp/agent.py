"""The agent as an editor sees it: requests of the Agent Client Protocol, one session each per `session/new`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import acp
from acp import RequestError
from acp.helpers import update_available_commands
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    AvailableCommand,
    AvailableCommandInput,
    ClientCapabilities,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    SessionCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionMode,
    SessionModeState,
    SetSessionModeResponse,
    UnstructuredCommandInput,
)

from app.acp.session import COMMANDS, EditorSession
from app.acp.updates import MODES
from app.options import SessionOptions
from core.contract.errors import NoUsableModel, StetError
from core.contract.state import ApprovalMode
from core.session.store import SessionStore
from core.settings.paths import find_folders
from stet import __version__

_T = TypeVar("_T")
_NO_MODEL = -32000
"""The protocol's code where an account or a key is missing."""
_FAILED = -32603
_WRONG = -32602


class EditorAgent:
    """Answers an editor's requests.

    Args:
        group: sessions run in it.
        options: what every session starts with; the directory is the editor's.
    """

    def __init__(self, group: asyncio.TaskGroup, options: SessionOptions, environment: dict[str, str]) -> None:
        self._group = group
        self._options = options
        self._folders = find_folders(environment)
        self._sessions: dict[str, EditorSession] = {}
        self._client: Client | None = None

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def close(self) -> None:
        """End every session."""
        for session in tuple(self._sessions.values()):
            await session.close()
        self._sessions.clear()

    # --- the protocol -----------------------------------------------------------------------------

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **kwargs: Any,
    ) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, audio=True, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=False),
                session_capabilities=SessionCapabilities(list=SessionListCapabilities()),
            ),
            auth_methods=[],
            agent_info=Implementation(name="stet", title="stet", version=__version__),
        )

    async def authenticate(self, method_id: str, **kwargs: Any) -> AuthenticateResponse:
        raise RequestError(_WRONG, f"There is no way to log in called {method_id!r}: keys are environment variables.")

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> NewSessionResponse:
        session = await self._open(cwd, additional_directories, mcp_servers, None)
        return NewSessionResponse(session_id=session.id, modes=_modes(session))

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: Sequence[Any] | None = None,
        additional_directories: list[str] | None = None,
        **kwargs: Any,
    ) -> LoadSessionResponse:
        if not session_id:
            raise RequestError(_WRONG, "The session's id is empty.")
        session = await self._open(cwd, additional_directories, mcp_servers, session_id)
        await session.show_again()
        return LoadSessionResponse(modes=_modes(session))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **kwargs: Any
    ) -> ListSessionsResponse:
        directory = _directory(cwd) if cwd is not None else self._options.directory
        store = SessionStore(self._folders.state / "sessions", directory)
        found = await asyncio.to_thread(store.list)
        rows = [
            SessionInfo(
                session_id=each.id,
                cwd=str(directory),
                title=each.title or None,
                updated_at=datetime.fromtimestamp(each.changed, UTC).isoformat(),
            )
            for each in found
        ]
        return ListSessionsResponse(sessions=rows)

    async def set_session_mode(self, session_id: str, mode_id: str, **kwargs: Any) -> SetSessionModeResponse:
        session = self._find(session_id)
        if mode_id not in MODES:
            raise RequestError(_WRONG, f"There is no mode {mode_id!r}; there are: {', '.join(MODES)}.")
        await session.engine.set_mode(ApprovalMode(mode_id))
        return SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> PromptResponse:
        return await _or_error(self._find(session_id).prompt(prompt))

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self._find(session_id).cancel()

    # --- sessions -----------------------------------------------------------------------------------

    def _find(self, session_id: str) -> EditorSession:
        if session_id not in self._sessions:
            raise RequestError(_WRONG, f"No session {session_id!r} is open here: start or load it first.")
        return self._sessions[session_id]

    async def _open(
        self, cwd: str, more: list[str] | None, servers: Sequence[Any] | None, resume: str | None
    ) -> EditorSession:
        if resume in self._sessions:
            await self._sessions.pop(resume).close()
        options = replace(
            self._options,
            directory=_directory(cwd),
            include_directories=tuple(_directory(folder) for folder in more or ()),
            mcp_servers=dict(map(_server, servers or ())),
            resume=resume,
        )
        assert self._client is not None
        session = await _or_error(EditorSession.open(self._group, self._client, options))
        self._sessions[session.id] = session
        self._group.create_task(self._introduce(session))
        return session

    async def _introduce(self, session: EditorSession) -> None:
        """Tell what is wrong and what can be typed, after the editor has learnt the session's id."""
        commands = [
            AvailableCommand(
                name=name,
                description=text,
                input=AvailableCommandInput(UnstructuredCommandInput(hint="a turn's number"))
                if name == "undo"
                else None,
            )
            for name, text in COMMANDS.items()
        ]
        await session.show([update_available_commands(commands)])
        await session.say("\n".join(session.engine.problems))
        await session.show_servers()


async def serve(
    options: SessionOptions, environment: dict[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Serve until the editor goes.

    Args:
        reader: what the editor sends, an asyncio stream; `writer` takes what it gets.
    """
    async with asyncio.TaskGroup() as group:
        agent = EditorAgent(group, options, environment)
        try:
            await acp.run_agent(agent, writer, reader)  # type: ignore[arg-type]  # it names more than we offer
        finally:
            await agent.close()


async def _or_error(doing: Awaitable[_T]) -> _T:
    """Give what comes of it, or the protocol's error."""
    try:
        return await doing
    except StetError as error:
        code = _NO_MODEL if isinstance(error, NoUsableModel) else _FAILED
        raise RequestError(code, str(error)) from error


def _directory(path: str) -> Path:
    if not Path(path).is_absolute() or not Path(path).is_dir():
        raise RequestError(_WRONG, f"{path!r} is no absolute path of a directory.")
    return Path(path)


def _server(server: Any) -> tuple[str, dict[str, Any]]:
    """Return an editor's MCP server as our settings have it."""
    match server:
        case McpServerStdio():
            env = {variable.name: variable.value for variable in server.env}
            return server.name, {"command": server.command, "args": list(server.args), "env": env}
        case HttpMcpServer():
            headers = {header.name: header.value for header in server.headers}
            return server.name, {"url": server.url, "headers": headers}
        case _:
            raise RequestError(_WRONG, f"The MCP server {server.name!r} is of a type that is not offered here.")


def _modes(session: EditorSession) -> SessionModeState:
    modes = [SessionMode(id=mode, name=mode.replace("_", " "), description=text) for mode, text in MODES.items()]
    return SessionModeState(current_mode_id=session.engine.policy.mode, available_modes=modes)
