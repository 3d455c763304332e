"""web_fetch: pages of the web as Markdown, marked as what strangers wrote."""

from __future__ import annotations

import asyncio
import base64
import importlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import Field

from core.contract.confirmation import ConfirmationDetails, InfoConfirmation
from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import ContentPart, Kind, ToolResult
from core.contract.visible import make_visible, make_visible_line
from core.tools.abort import AbortSignal
from core.tools.builtin.read_file import MEDIA_TYPES
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.parameters import InvalidToolParams, ToolParams
from core.tools.path_invocation import as_code
from core.tools.untrusted import fence
from core.tools.web.charset import decode_page
from core.tools.web.page import PageUnreadable, page_to_markdown
from core.tools.web.targets import AllowedHosts, Resolve, Target, check_target, parse_url, resolve_by_system
from core.workspace.encoding import is_binary

if TYPE_CHECKING:
    from core.tools.web.download import Download, Downloader
    from core.tools.web.robots import RobotsRules

SECONDS = 30.0
MAX_URLS = 10
_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"'`]*")
_ENDS = ".,;:!?"
_HTML = re.compile(r"\s*+(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_RAW = re.compile(r"https://github\.com/([^/]+)/([^/]+)/blob/(.+)")
_MEDIA = frozenset(MEDIA_TYPES.values()) - {"image/svg+xml"}
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/x-", "image/svg")


class WebFetchParams(ToolParams):
    url: str | None = Field(None, description="The page to fetch.")
    prompt: str | None = Field(None, description="Instead of `url`: a text that holds the URLs to fetch.")
    html_to_markdown: bool = Field(True, description="Whether HTML is turned into Markdown.")
    full_page: bool = Field(False, description="The whole page, menus and all, instead of its main content.")


def urls_in(prompt: str) -> tuple[list[str], list[str]]:
    """Return the URLs in a text, each once, and what is wrong with those that can't be fetched."""
    found: list[str] = []
    problems: list[str] = []
    for match in dict.fromkeys(_IN_TEXT.findall(prompt)):
        text = match.rstrip(_ENDS) if not match.endswith("://") else match
        if text.endswith(")") and "(" not in text:
            text = text.rstrip(")").rstrip(_ENDS)
        try:
            found.append(parse_url(text).url)
        except ToolFailure as failure:
            problems.append(f"- {failure.message}")
    return list(dict.fromkeys(found)), problems


@dataclass(frozen=True, slots=True)
class Page:
    """What one URL gave."""

    target: Target
    final: str
    """Where it was found in the end."""
    text: str = ""
    media: MediaPart | None = None


class WebFetchInvocation(BaseToolInvocation[WebFetchParams]):
    def __init__(self, params: WebFetchParams, tool: WebFetchTool, targets: tuple[Target, ...]) -> None:
        super().__init__(params, tool.context)
        self._tool = tool
        self.targets = targets

    def get_description(self) -> str:
        return ", ".join(as_code(target.url) for target in self.targets)

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(target.host for target in self.targets)

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        urls = tuple(make_visible_line(target.url) for target in self.targets)
        prompt = make_visible(self.params.prompt or "Fetch this page and give its content to the model.")
        return InfoConfirmation("Fetch from the web?", prompt, urls)

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        downloader, robots = await self._tool.services()
        outcomes = await asyncio.gather(*(self._fetch(target, downloader, robots) for target in self.targets))
        pages = [outcome for outcome in outcomes if isinstance(outcome, Page)]
        failures = [outcome for outcome in outcomes if isinstance(outcome, ToolFailure)]
        if not pages:
            first = failures[0]
            message = "\n".join(str(failure) for failure in failures)
            return ToolResult.failure(first.type, message)
        return _result(pages, failures)

    async def _fetch(self, target: Target, downloader: Downloader, robots: RobotsRules) -> Page | ToolFailure:
        try:
            async with asyncio.timeout(self._tool.seconds):
                download = await downloader.get(target, robots.check)
                return await self._read(target, download)
        except TimeoutError:
            why = f"it took more than {self._tool.seconds:g} seconds"
            return ToolFailure(ToolErrorType.TIMEOUT, f"{target.url} was not fetched: {why}.", "Try another source.")
        except ToolFailure as failure:
            return failure

    async def _read(self, target: Target, download: Download) -> Page:
        final, data = download.target.url, download.data
        mime_type = download.content_type.partition(";")[0].strip().lower()
        if download.status >= 400:
            wait = (
                f", to be tried again after {make_visible_line(download.retry_after)}" if download.retry_after else ""
            )
            raise _failed(target, f"the server answered with status {download.status}{wait}")
        if mime_type in _MEDIA and is_binary(data) or data.startswith(b"%PDF-"):
            medium = MediaPart(
                "application/pdf" if data.startswith(b"%PDF-") else mime_type,
                base64.b64encode(data).decode("ascii"),
                urlsplit(final).path.rpartition("/")[2] or target.host,
            )
            return Page(target, final, media=medium)
        text = await asyncio.to_thread(decode_page, data, download.content_type)
        is_html = mime_type in ("text/html", "application/xhtml+xml") or bool(_HTML.match(text[:4096]))
        if "\0" in text or (not is_html and not mime_type.startswith(_TEXT_TYPES) and is_binary(data)):
            raise _failed(target, f"it is no text ({make_visible_line(mime_type)[:80] or 'unknown type'})")
        if is_html and self.params.html_to_markdown:
            try:
                text = await page_to_markdown(text, final, full_page=self.params.full_page)
            except PageUnreadable as error:
                why = f"its HTML can't be converted: {error}"
                raise _failed(target, why, "Set html_to_markdown to false to get it as it is.") from None
        return Page(target, final, make_visible(text.replace("\r\n", "\n").replace("\r", "\n")))


def _failed(target: Target, why: str, hint: str = "") -> ToolFailure:
    return ToolFailure(ToolErrorType.WEB_FETCH_PROCESSING_ERROR, f"{target.url} was not fetched: {why}.", hint)


def _result(pages: list[Page], failures: list[ToolFailure]) -> ToolResult:
    parts: list[ContentPart] = []
    shown: list[str] = []
    for page in pages:
        moved = f" (found at {page.final})" if page.final != page.target.url else ""
        head = f"Fetched: {page.target.url}{moved}"
        shown.append(f"Fetched {as_code(page.final)}")
        if page.media is not None:
            parts += [f"{head}\n[{page.media.mime_type}]", page.media]
        else:
            parts.append(f"{head}\n{fence(page.text or '[The page holds no text.]', 'the web')}")
    parts += [str(failure) for failure in failures]
    shown += [failure.message for failure in failures]
    texts = [part for part in parts if isinstance(part, str)]
    size = sum(len(page.text) for page in pages)
    data = {
        "summary": f"{size:,} characters" + (f", {len(failures)} failed" if failures else ""),
        "untrusted": "the web",
        "fenced": True,
        "urls": tuple(page.final for page in pages),
    }
    content = "\n\n".join(texts) if len(texts) == len(parts) else tuple(parts)
    return ToolResult(content, "\n\n".join(shown), data=data)


class WebFetchTool(BaseDeclarativeTool):
    name = "web_fetch"
    display_name = "WebFetch"
    kind = Kind.FETCH
    Params = WebFetchParams
    seconds: float = SECONDS
    """For one page, with its redirects and its robots.txt."""
    resolve: Resolve = staticmethod(resolve_by_system)

    def __init__(self, *args: Any, **declaration: Any) -> None:
        super().__init__(*args, **declaration)
        self._services: tuple[Downloader, RobotsRules] | None = None

    @property
    def allowed(self) -> AllowedHosts:
        """Hosts that need not be public."""
        return AllowedHosts(self.context.settings.tools.web_fetch.allowed_hosts if self.context else ())

    async def services(self) -> tuple[Downloader, RobotsRules]:
        """Return what downloads, made with the first call: it needs httpx, which takes its time."""
        if self._services is None:
            download = await asyncio.to_thread(importlib.import_module, "core.tools.web.download")
            robots = await asyncio.to_thread(importlib.import_module, "core.tools.web.robots")
            downloader: Downloader = download.Downloader(self.allowed, self.resolve)
            self._services = (downloader, robots.RobotsRules(downloader))
        return self._services

    def validate_tool_param_values(self, params: WebFetchParams) -> str | None:
        if params.url is None and params.prompt is None:
            return "missing required argument 'url' (or 'prompt', with URLs in it)"
        if params.url is not None:
            return None
        if not (params.prompt or "").strip():
            return "The 'prompt' parameter cannot be empty and must contain URL(s) and instructions."
        urls, problems = urls_in(params.prompt or "")
        if problems:
            return "Error(s) in prompt URLs:\n" + "\n".join(problems)
        if not urls:
            return "The 'prompt' must contain at least one valid URL (starting with http:// or https://)."
        return f"The 'prompt' holds more than {MAX_URLS} URLs." if len(urls) > MAX_URLS else None

    def create_invocation(self, params: WebFetchParams) -> WebFetchInvocation:
        texts = [params.url] if params.url is not None else urls_in(params.prompt or "")[0]
        allowed = self.allowed
        try:
            targets = tuple(parse_url(_raw_of(text)) for text in texts)
            for target in targets:
                if target not in allowed:
                    check_target(target)
        except ToolFailure as failure:
            raise InvalidToolParams(str(failure), failure.type) from None
        return WebFetchInvocation(params, self, targets)


def _raw_of(url: str) -> str:
    """Return where the text of a file on GitHub is, for the page that shows it."""
    match = _RAW.fullmatch(url)
    return f"https://raw.githubusercontent.com/{match[1]}/{match[2]}/{match[3]}" if match else url
