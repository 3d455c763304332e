"""Logging in: by the browser, by a pasted address; tokens kept privately, refreshed, and nobody asked without need."""

from __future__ import annotations

import asyncio
import json
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.contract.events import McpState
from core.settings.models import McpOAuthSettings, McpServerSettings
from core.tools.mcp.failure import McpFailure
from core.tools.mcp.login import log_in, read_answer
from core.tools.mcp.tokens import forget_login, token_file
from tests.core.tools.mcp.session import McpSession, running
from tests.fakes.oauth_server import OAuthServer, oauth_server


@pytest.fixture
def remote() -> Iterator[OAuthServer]:
    with oauth_server() as server:
        yield server


def settings_of(remote: OAuthServer, **more: Any) -> McpServerSettings:
    return McpServerSettings(url=f"{remote.url}/mcp", **more)


class Browser:
    """Opens the address, and is sent back to us: at once, or by a user who copies the address."""

    def __init__(self, remote: OAuthServer, *, by_hand: bool = False, change: str = "") -> None:
        self.remote = remote
        self.by_hand = by_hand
        self.change = change
        self.shown: list[str] = []
        self.address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.page = b""

    async def show(self, url: str) -> None:
        self.shown.append(url)
        address = self.remote.authorize(url) + self.change
        if self.by_hand:
            self.address.set_result(address)
        else:
            self.page = await asyncio.to_thread(lambda: urllib.request.urlopen(address).read())

    async def ask(self) -> str:
        return await self.address


async def enter(session: McpSession, remote: OAuthServer, **browser: Any) -> Browser:
    person = Browser(remote, **browser)
    assert await log_in("o", session.server.settings, session.surroundings, person.show, person.ask)
    return person


@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_login_from_beginning_to_end(tmp_path: Path, remote: OAuthServer, by_hand: bool) -> None:
    async with running(tmp_path, o=settings_of(remote)) as session:
        event = await session.until(McpState.NEEDS_LOGIN)
        assert event.message == "it asks for a login" and session.tools == [] and remote.registered == 0
        person = await enter(session, remote, by_hand=by_hand)
        assert len(person.shown) == 1 and remote.registered == 1
        assert by_hand or b"You can close this window" in person.page
        kept = token_file(tmp_path / "mcp", "o")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert (await session.servers.restart("o")).state is McpState.READY
        assert (await session.call("o__whoami")).llm_content == "Bearer access-1"
        assert forget_login(tmp_path / "mcp", "o") and not forget_login(tmp_path / "mcp", "o")
        assert (await session.servers.restart("o")).state is McpState.NEEDS_LOGIN


async def test_tokens_that_have_ended_are_refreshed_without_asking(tmp_path: Path, remote: OAuthServer) -> None:
    async with running(tmp_path, o=settings_of(remote)) as session:
        await session.until(McpState.NEEDS_LOGIN)
        await enter(session, remote)
        kept = token_file(tmp_path / "mcp", "o")
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "expires_at": 1.0}))
        remote.valid = "something else"
        assert (await session.servers.restart("o")).state is McpState.READY
        assert remote.grants == ["authorization_code", "refresh_token"]
        assert (await session.call("o__whoami")).llm_content == "Bearer access-2"
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "expires_at": 1.0}))
        remote.valid, remote.refreshable = "", False
        assert (await session.servers.restart("o")).state is McpState.NEEDS_LOGIN


async def test_tokens_are_for_one_address_alone(tmp_path: Path, remote: OAuthServer) -> None:
    async with running(tmp_path, o=settings_of(remote)) as session:
        await session.until(McpState.NEEDS_LOGIN)
        await enter(session, remote)
    with oauth_server() as other:
        other.valid = remote.valid
        async with running(tmp_path, o=settings_of(other)) as session:
            await session.until(McpState.NEEDS_LOGIN)  # the token of the former address was not shown to it


async def test_a_client_that_is_registered_already(tmp_path: Path, remote: OAuthServer) -> None:
    oauth = McpOAuthSettings(client_id="mine", scope="read")
    async with running(tmp_path, o=settings_of(remote, oauth=oauth)) as session:
        await session.until(McpState.NEEDS_LOGIN)
        person = await enter(session, remote)
        assert remote.registered == 0 and "client_id=mine" in person.shown[0]


async def test_a_forged_answer_is_refused(tmp_path: Path, remote: OAuthServer) -> None:
    async with running(tmp_path, o=settings_of(remote)) as session:
        await session.until(McpState.NEEDS_LOGIN)
        with pytest.raises(McpFailure, match="State parameter mismatch"):
            await enter(session, remote, by_hand=True, change="x")
        assert remote.grants == []


async def test_without_oauth_it_is_a_plain_failure(tmp_path: Path, remote: OAuthServer) -> None:
    async with running(tmp_path, o=settings_of(remote, oauth=False)) as session:
        assert "it answered 401" in (await session.until(McpState.FAILED)).message
        with pytest.raises(McpFailure, match="has no login"):
            await enter(session, remote)


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("http://127.0.0.1/callback?error=access_denied&error_description=no+way", "refused: no way"),
        ("http://127.0.0.1/callback", "holds no code"),
        ("", "holds no code"),
    ],
)
def test_answers_that_are_none(address: str, what: str) -> None:
    with pytest.raises(McpFailure, match=what):
        read_answer(address)


def test_an_answer() -> None:
    answer = read_answer(" http://127.0.0.1:1/callback?code=a%2Fb&state=s&iss=http://x \n")
    assert (answer.code, answer.state, answer.iss) == ("a/b", "s", "http://x")
