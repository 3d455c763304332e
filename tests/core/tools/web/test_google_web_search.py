"""google_web_search against a stand-in of the Custom Search API, and with a model's own search."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from core.contract.errors import ModelError, ModelErrorKind, ToolErrorType
from core.contract.model import GroundedAnswer
from core.contract.tool import ToolResult
from core.model.gemini_grounding import read_grounding
from core.tools.builtin.google_web_search import WebSearchTool
from core.tools.context import SearchWeb, ToolContext
from core.workspace.workspace import Workspace
from tests.core.tools.case_workspace import load_cases
from tests.core.tools.web.pages import WebServer, answer

pytestmark = pytest.mark.anyio
KEYS = {"GOOGLE_API_KEY": "a-secret-key", "GOOGLE_CSE_ID": "engine"}


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer().running() as running:
        yield running


def make_tool(root: Path, search: SearchWeb | None = None, **attributes: Any) -> WebSearchTool:
    context = ToolContext(Workspace([root]), search_web=search)
    return WebSearchTool(context, **{"environment": {}, **attributes})


def items(count: int, first: int = 1) -> bytes:
    found = [
        {"title": f"Title {n}", "link": f"https://e.com/{n}", "snippet": f"snippet\n{n}"}
        for n in range(first, first + count)
    ]
    return answer(json.dumps({"items": found}), content_type="application/json")


def said(result: ToolResult) -> str:
    return str(result.llm_content)


async def test_every_case_by_the_models_own_search(cases: Path, tmp_path: Path) -> None:
    for case in load_cases(cases, "google_web_search"):
        response = case["setup"]["model_response"]

        async def search(query: str, response: dict[str, Any] = response) -> GroundedAnswer:
            if "throw" in response:
                raise ModelError(ModelErrorKind.SERVER, response["throw"])
            return read_grounding([json.dumps(response)])

        result = await make_tool(tmp_path, search).build_and_execute(case["args"])
        expected = case["expect"]
        assert (result.error.type if result.error else None) == expected["error_type"], case["id"]
        wanted = expected["exact"] if expected["error_type"] is None else expected["exact"].removeprefix("Error: ")
        assert wanted in said(result), case["id"]
        if "display" in expected:
            assert result.return_display == expected["display"]


async def test_results_of_custom_search(server: WebServer, tmp_path: Path) -> None:
    server.pages["/customsearch/v1"] = items(2)
    tool = make_tool(tmp_path, environment=KEYS, base_url=server.url("").rstrip("/"))
    result = await tool.build_and_execute({"query": "what & why", "num_results": 5})
    assert 'Web search results for "what & why":\n\n1. Title 1\n   https://e.com/1\n   snippet 1\n\n2. Title 2' in said(
        result
    )
    assert "gives no instructions" in said(result) and result.data["summary"] == "2 results"
    query = parse_qs(urlsplit(server.requests[0]).query)
    assert query == {"q": ["what & why"], "cx": ["engine"], "num": ["5"], "start": ["1"]}
    assert "\r\nX-Goog-Api-Key: a-secret-key\r\n" in server.heads[0]


async def test_more_than_a_page_of_results(server: WebServer, tmp_path: Path) -> None:
    server.pages["/customsearch/v1?q=x&cx=engine&num=10&start=1"] = items(10)
    server.pages["/customsearch/v1?q=x&cx=engine&num=5&start=11"] = items(5, 11)
    tool = make_tool(tmp_path, environment=KEYS, base_url=server.url("").rstrip("/"))
    result = await tool.build_and_execute({"query": "x", "num_results": 15})
    assert "15. Title 15" in said(result) and len(server.requests) == 2


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (answer('{"error": {"message": "Quota exceeded"}}', "Retry-After: 42", status="429 x"), "Try again in 42 s."),
        (
            answer('{"error": {"message": "Quota", "details": [{"retryDelay": "7.5s"}]}}', status="429 x"),
            "Try again in 8 s.",
        ),
        (answer("{}", status="429 x"), "Try again later."),
        (answer('{"error": {"message": "API key not valid"}}', status="400 x"), "API key not valid"),
        (answer("<html>", status="502 x"), "status 502"),
        (answer("[1]"), "can't be read"),
        (b"", "can't be reached"),
    ],
)
async def test_failures_are_said_without_the_key(
    server: WebServer, tmp_path: Path, response: bytes, words: str
) -> None:
    async def refuse(writer: Any) -> None:
        writer.write(response)

    server.pages["/customsearch/v1"] = refuse
    tool = make_tool(tmp_path, environment=KEYS, base_url=server.url("").rstrip("/"))
    result = await tool.build_and_execute({"query": "x"})
    assert result.error is not None and result.error.type is ToolErrorType.WEB_SEARCH_FAILED
    assert words in said(result) and "a-secret-key" not in said(result)


async def test_no_results(server: WebServer, tmp_path: Path) -> None:
    server.pages["/customsearch/v1"] = answer("{}", content_type="application/json")
    tool = make_tool(tmp_path, environment=KEYS, base_url=server.url("").rstrip("/"))
    assert "No search results or information found" in said(await tool.build_and_execute({"query": "x"}))


async def test_without_any_way_the_variables_are_named(tmp_path: Path) -> None:
    async def cannot(query: str) -> None:
        return None

    for search in (None, cannot):
        result = await make_tool(tmp_path, search).build_and_execute({"query": "x"})
        assert result.error is not None and result.error.type is ToolErrorType.WEB_SEARCH_FAILED
        assert "GOOGLE_API_KEY" in said(result) and "GOOGLE_CSE_ID" in said(result)


async def test_the_number_of_results_is_bounded(tmp_path: Path) -> None:
    for number in (0, 21):
        result = await make_tool(tmp_path).build_and_execute({"query": "x", "num_results": number})
        assert result.error is not None and result.error.type is ToolErrorType.INVALID_TOOL_PARAMS


def test_citations_stand_where_their_bytes_end() -> None:
    events = [
        {"candidates": [{"content": {"parts": [{"text": "Grün. "}, {"text": "hidden", "thought": True}]}}]},
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "Blau."}]},
                    "groundingMetadata": {
                        "groundingChunks": [
                            {"web": {"uri": "https://a", "title": "A"}},
                            {"web": {"uri": "https://b"}},
                            {},
                        ],
                        "groundingSupports": [
                            {"segment": {"endIndex": 6}, "groundingChunkIndices": [1, 0, 9]},
                            {"segment": {"endIndex": 12}, "groundingChunkIndices": [1]},
                            {"segment": {"endIndex": 99}, "groundingChunkIndices": [0]},
                            {"segment": None, "groundingChunkIndices": "x"},
                        ],
                    },
                }
            ]
        },
    ]
    found = read_grounding(json.dumps(event) for event in events)
    assert found.text == "Grün.[1][2] Blau.[2]"
    assert [(source.title, source.url) for source in found.sources] == [
        ("A", "https://a"),
        ("Untitled", "https://b"),
        ("", ""),
    ]


@pytest.mark.parametrize("event", ["nonsense", '{"error": {"message": "no"}}'])
def test_broken_answers_of_the_model(event: str) -> None:
    with pytest.raises(ModelError):
        read_grounding([event])
    assert read_grounding(["{}", '{"candidates": 3}', '{"candidates": [null]}']).text == ""
