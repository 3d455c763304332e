"""Gemini's own search over the wire, against the stand-in endpoint."""

from __future__ import annotations

import json

import pytest

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import SearchingProvider
from core.model.offline import OfflineProvider
from tests.fakes.gemini_server import Connection, GeminiServer, Received, pieces, refusal
from tests.fakes.model_client import gemini

pytestmark = pytest.mark.anyio

FOUND = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "Big rodents."}]},
            "groundingMetadata": {
                "groundingChunks": [{"web": {"uri": "https://e.com", "title": "E"}}],
                "groundingSupports": [{"segment": {"endIndex": 12}, "groundingChunkIndices": [0]}],
            },
            "finishReason": "STOP",
        }
    ]
}


async def test_the_search_is_asked_for_and_its_sources_come_back() -> None:
    asked: list[Received] = []

    async def reply(connection: Connection, request: Received) -> None:
        asked.append(request)
        await pieces(b"data: " + json.dumps(FOUND).encode() + b"\n\n")(connection, request)

    async with GeminiServer(reply) as server:
        provider = gemini(server.url)
        try:
            found = await provider.search_web("capybara")
        finally:
            await provider.close()
    assert found.text == "Big rodents.[1]" and found.sources[0].url == "https://e.com"
    assert asked[0].body["contents"] == [{"role": "user", "parts": [{"text": "capybara"}]}]
    assert [list(tool) for tool in asked[0].body["tools"]] == [["googleSearch"]]


async def test_a_refusal_is_a_model_error() -> None:
    async with GeminiServer(
        refusal(429, b'{"error": {"code": 429, "message": "slow down"}}', retry_after="9")
    ) as server:
        provider = gemini(server.url)
        try:
            with pytest.raises(ModelError) as caught:
                await provider.search_web("x")
        finally:
            await provider.close()
    assert caught.value.kind in (ModelErrorKind.RATE_LIMITED, ModelErrorKind.QUOTA) and caught.value.retry_after == 9


def test_who_can_search() -> None:
    assert isinstance(gemini("http://127.0.0.1:1"), SearchingProvider)
    assert not isinstance(OfflineProvider(), SearchingProvider)
