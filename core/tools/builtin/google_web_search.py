"""google_web_search: Google's Custom Search where there is a key for it, else the model's own search."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from core.contract.errors import ModelError, ModelErrorKind, ToolErrorType, ToolFailure
from core.contract.model import GroundedAnswer
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible, make_visible_line
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams
from core.tools.path_invocation import as_code
from core.tools.untrusted import fence

if TYPE_CHECKING:
    import httpx

KEY, ENGINE = "GOOGLE_API_KEY", "GOOGLE_CSE_ID"
BASE_URL = "https://www.googleapis.com"
MAX_RESULTS = 20
PAGE = 10
"""Results of one request (Custom Search JSON API, `num`)."""
SECONDS = 20.0
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


class WebSearchParams(ToolParams):
    query: str = Field(description="What to search for.")
    num_results: int = Field(10, ge=1, le=MAX_RESULTS, description="How many results are wanted.")


class WebSearchInvocation(BaseToolInvocation[WebSearchParams]):
    def __init__(self, params: WebSearchParams, tool: WebSearchTool) -> None:
        super().__init__(params, tool.context)
        self._tool = tool

    def get_description(self) -> str:
        return as_code(self.params.query)

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        key, engine = (self._tool.environment.get(name, "").strip() for name in (KEY, ENGINE))
        if key and engine:
            return self._listed(await self._ask_google(key, engine))
        if self.context.search_web is not None:
            try:
                answer = await self.context.search_web(self.params.query)
            except ModelError as error:
                raise self._failed(str(error), error.retry_after, error.kind is ModelErrorKind.RATE_LIMITED) from error
            if answer is not None:
                return self._grounded(answer)
        raise self._failed(f"there is no way to search: set {KEY} and {ENGINE}, or use a Gemini model")

    async def _ask_google(self, key: str, engine: str) -> list[Mapping[str, Any]]:
        http = await asyncio.to_thread(importlib.import_module, "httpx")
        items: list[Mapping[str, Any]] = []
        try:
            async with asyncio.timeout(SECONDS), http.AsyncClient(timeout=SECONDS) as client:
                while len(items) < self.params.num_results:
                    count = min(PAGE, self.params.num_results - len(items))
                    query = {"q": self.params.query, "cx": engine, "num": count, "start": len(items) + 1}
                    response: httpx.Response = await client.get(
                        f"{self._tool.base_url}/customsearch/v1", params=query, headers={"X-Goog-Api-Key": key}
                    )
                    found = self._items_of(response)
                    items += found
                    if len(found) < count:
                        break
        except TimeoutError:
            raise self._failed(f"Google did not answer within {SECONDS:g} seconds") from None
        except http.HTTPError as error:
            words = make_visible_line(str(error))[:200] or type(error).__name__
            raise self._failed(f"Google can't be reached ({words})") from error
        return items[: self.params.num_results]

    def _items_of(self, response: httpx.Response) -> list[Mapping[str, Any]]:
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self._failed(f"Google's answer (status {response.status_code}) can't be read")
        if response.status_code != 200:
            problem = body.get("error")
            problem = problem if isinstance(problem, dict) else {}
            words = make_visible_line(str(problem.get("message", "")))[:300] or f"status {response.status_code}"
            wait = _wait_of(response.headers.get("retry-after", ""), problem.get("details"))
            raise self._failed(words, wait, response.status_code == 429)
        items = body.get("items")
        return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []

    def _failed(self, why: str, wait: float | None = None, is_busy: bool = False) -> ToolFailure:
        query = make_visible_line(self.params.query)
        after = f" Try again in {wait:.0f} s." if wait is not None else " Try again later." if is_busy else ""
        busy = "too many requests, or the quota is used up: " if is_busy else ""
        return ToolFailure(
            ToolErrorType.WEB_SEARCH_FAILED,
            f'Error during web search for query "{query}": {busy}{why}{after}',
            display="Error performing web search.",
        )

    def _listed(self, items: list[Mapping[str, Any]]) -> ToolResult:
        if not items:
            return self._nothing()
        lines = []
        for number, item in enumerate(items, 1):
            title, url, snippet = (_line(item.get(name)) for name in ("title", "link", "snippet"))
            lines.append(f"{number}. {title}\n   {url}" + (f"\n   {snippet}" if snippet else ""))
        return self._result("\n\n".join(lines), len(items), "result")

    def _grounded(self, answer: GroundedAnswer) -> ToolResult:
        if not answer.text.strip():
            return self._nothing()
        numbered = [
            f"[{number}] {_line(source.title)} ({_line(source.url)})"
            for number, source in enumerate(answer.sources, 1)
            if source.url
        ]
        sources = "\n\nSources:\n" + "\n".join(numbered) if numbered else ""
        return self._result(make_visible(answer.text) + sources, len(numbered), "source")

    def _result(self, found: str, count: int, noun: str) -> ToolResult:
        query = make_visible_line(self.params.query)
        text = fence(f'Web search results for "{query}":\n\n{found}', "the web")
        summary = f"{count} {noun}{'' if count == 1 else 's'}"
        data = {"summary": summary, "untrusted": "the web", "fenced": True}
        return ToolResult(text, f'Search results for "{query}" returned.', data=data)

    def _nothing(self) -> ToolResult:
        query = make_visible_line(self.params.query)
        text = f'No search results or information found for query: "{query}"'
        return ToolResult(text, "No information found.", data={"summary": "nothing"})


def _line(value: object) -> str:
    return make_visible_line(" ".join(value.split())) if isinstance(value, str) else ""


def _wait_of(header: str, details: object) -> float | None:
    """Return the seconds that Google asks to wait: the header, else `RetryInfo` (google.rpc)."""
    if header.strip().isdecimal():
        return float(header)
    for detail in details if isinstance(details, list) else ():
        match = _DELAY.fullmatch(str(detail.get("retryDelay", ""))) if isinstance(detail, dict) else None
        if match:
            return float(match[1])
    return None


class WebSearchTool(BaseDeclarativeTool):
    name = "google_web_search"
    display_name = "GoogleSearch"
    kind = Kind.SEARCH
    Params = WebSearchParams
    environment: Mapping[str, str] = os.environ
    """Holds the keys."""
    base_url: str = BASE_URL

    def validate_tool_param_values(self, params: WebSearchParams) -> str | None:
        return None if params.query.strip() else "The 'query' parameter cannot be empty."

    def create_invocation(self, params: WebSearchParams) -> WebSearchInvocation:
        return WebSearchInvocation(params, self)
