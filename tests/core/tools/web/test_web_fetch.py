"""web_fetch against a server on loopback that the test allows: limits, redirects, names that lead elsewhere, lies."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.contract.confirmation import InfoConfirmation
from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType
from core.contract.tool import ToolResult
from core.settings.models import Settings, ToolSettings, WebFetchSettings
from core.tools.abort import AbortSignal
from core.tools.builtin.web_fetch import WebFetchTool
from core.tools.context import ToolContext
from core.tools.parameters import InvalidToolParams
from core.workspace.workspace import Workspace
from tests.core.tools.case_workspace import load_cases
from tests.core.tools.deviations import WEB
from tests.core.tools.web.pages import WebServer, answer

pytestmark = pytest.mark.anyio
PROCESSING = ToolErrorType.WEB_FETCH_PROCESSING_ERROR
PRIVATE = ToolErrorType.WEB_FETCH_PRIVATE_ADDRESS


async def nowhere(host: str, port: int) -> list[str]:
    raise OSError("no such host")


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer().running() as running:
        yield running


def make_tool(root: Path, *allowed: str, **attributes: object) -> WebFetchTool:
    settings = Settings(tools=ToolSettings(web_fetch=WebFetchSettings(allowed_hosts=allowed)))
    return WebFetchTool(ToolContext(Workspace([root]), settings), **{"resolve": nowhere, **attributes})


@pytest.fixture
def tool(server: WebServer, tmp_path: Path) -> WebFetchTool:
    return make_tool(tmp_path, server.place)


def text_of(result: ToolResult) -> str:
    assert result.error is None, result.error
    assert isinstance(result.llm_content, str)
    return result.llm_content


def type_of(result: ToolResult) -> ToolErrorType | None:
    return result.error.type if result.error else None


async def test_every_case_is_refused_as_the_reference_does(cases: Path, tmp_path: Path) -> None:
    for case in load_cases(cases, "web_fetch"):
        result = await make_tool(tmp_path).build_and_execute(case["args"])
        deviation = WEB.get(case["id"])
        wanted = deviation.error if deviation else ToolErrorType(case["expect"]["error_type"])
        assert type_of(result) is wanted, case["id"]
        if deviation is None:
            assert case["expect"]["exact"] in str(result.llm_content), case["id"]


async def test_a_page_comes_as_markdown_in_a_fence_of_its_own(server: WebServer, tool: WebFetchTool) -> None:
    server.pages["/a"] = answer("<html><body><h1>Title</h1><p>Some <b>text</b>.</p></body></html>")
    texts = [text_of(await tool.build_and_execute({"url": server.url("/a")})) for _ in range(2)]
    for text in texts:
        head, notice, mark, *body, end = text.split("\n")
        assert head == f"Fetched: {server.url('/a')}"
        assert mark.strip("<>") in notice and "gives no instructions" in notice and end == f"</{mark.strip('<>')}>"
        assert "\n".join(body) == "# Title\n\nSome **text**."
    assert texts[0].split("\n")[2] != texts[1].split("\n")[2]


@pytest.mark.parametrize(("start", "is_html"), [("<html>", True), ("<p>", False)])
async def test_comments_before_the_first_tag_cost_no_time(
    server: WebServer, tool: WebFetchTool, start: str, is_html: bool
) -> None:
    """Tried in every way, these would take for ever to divide into comments."""
    server.pages["/a"] = answer("<!-- a -->" * 300 + start + "<b>text</b>", content_type="text/plain")
    text = text_of(await tool.build_and_execute({"url": server.url("/a")}))
    assert ("**text**" in text, "<b>text</b>" in text) == (is_html, not is_html)


async def test_main_content_or_the_full_page(server: WebServer, tool: WebFetchTool) -> None:
    story = "".join(f"<p>Sentence {n} of the story, with commas, and enough words to be a text.</p>" for n in range(20))
    menu = "<nav><ul><li><a href='/x'>Menu entry</a></li></ul></nav>"
    server.pages["/a"] = answer(
        f"<html><head><title>T</title></head><body>{menu}<article>{story}</article></body></html>"
    )
    assert "Menu entry" not in text_of(await tool.build_and_execute({"url": server.url("/a")}))
    assert "Menu entry" in text_of(await tool.build_and_execute({"url": server.url("/a"), "full_page": True}))
    raw = text_of(await tool.build_and_execute({"url": server.url("/a"), "html_to_markdown": False}))
    assert "<article><p>Sentence 0" in raw


async def test_a_prompt_with_several_urls(server: WebServer, tool: WebFetchTool) -> None:
    server.pages["/a"] = answer("alpha", content_type="text/plain")
    server.pages["/b"] = answer('{"b": 1}', content_type="application/json")
    prompt = f"Compare {server.url('/a')}, ({server.url('/b')}) and {server.url('/none')}."
    text = text_of(await tool.build_and_execute({"prompt": prompt}))
    assert (
        "alpha" in text and '{"b": 1}' in text and "/none was not fetched: the server answered with status 404" in text
    )
    details = await tool.build({"prompt": prompt}).should_confirm_execute(AbortSignal())
    assert isinstance(details, InfoConfirmation)
    assert details.urls == tuple(server.url(path) for path in ("/a", "/b", "/none"))


async def test_without_leave_nothing_of_this_machine_is_asked(server: WebServer, tmp_path: Path) -> None:
    result = await make_tool(tmp_path).build_and_execute({"url": server.url()})
    assert type_of(result) is PRIVATE and server.requests == []
    with pytest.raises(InvalidToolParams):
        make_tool(tmp_path).build({"prompt": f"see {server.url()}"})


async def test_a_name_that_leads_inside_is_refused(server: WebServer, tmp_path: Path) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    result = await make_tool(tmp_path, resolve=resolve).build_and_execute({"url": "http://a.127.0.0.1.example.com/"})
    assert type_of(result) is PRIVATE and server.requests == []


async def test_the_checked_address_is_the_one_that_is_connected_to(server: WebServer, tmp_path: Path) -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    server.pages["/"] = answer("pinned", content_type="text/plain")
    tool = make_tool(tmp_path, f"dev.example.com:{server.port}", resolve=resolve)
    result = await tool.build_and_execute({"url": f"http://dev.example.com:{server.port}/"})
    assert "pinned" in text_of(result)
    assert asked == ["dev.example.com"] * 2  # robots.txt and the page; httpx itself asks nobody
    assert all(f"\r\nHost: dev.example.com:{server.port}\r\n" in head for head in server.heads)


async def test_a_second_answer_of_the_resolver_is_checked_again(server: WebServer, tmp_path: Path) -> None:
    """DNS rebinding: public for robots.txt, this machine for the page."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])

    async def resolve(host: str, port: int) -> list[str]:
        return next(answers)

    tool = make_tool(tmp_path, resolve=resolve)
    downloader, _ = await tool.services()
    from core.tools.web.targets import checked_addresses, parse_url

    target = parse_url(f"http://example.com:{server.port}/")
    assert await checked_addresses(target, resolve) == ["93.184.216.34"]
    result = await tool.build_and_execute({"url": target.url})
    assert type_of(result) is PRIVATE and server.requests == []


async def test_redirects(server: WebServer, tool: WebFetchTool, tmp_path: Path) -> None:
    server.pages["/end"] = answer("the end", content_type="text/plain")
    for number in range(7):
        location = server.url("/end") if number == 0 else f"/r{number - 1}"
        server.pages[f"/r{number}"] = answer("", f"Location: {location}", status="302 Found")
    text = text_of(await tool.build_and_execute({"url": server.url("/r4")}))
    assert "the end" in text and f"(found at {server.url('/end')})" in text
    result = await tool.build_and_execute({"url": server.url("/r5")})
    assert type_of(result) is PROCESSING and "more than 5 times" in str(result.llm_content)


@pytest.mark.parametrize(
    ("location", "wanted"),
    [
        ("http://127.0.0.1:1/", PRIVATE),
        ("http://169.254.169.254/latest/meta-data/", PRIVATE),
        ("http://[::1]/", PRIVATE),
        ("file:///etc/passwd", PROCESSING),
        ("http://user:pass@127.0.0.1/", PROCESSING),
        ("http://[::1", PROCESSING),
    ],
)
async def test_a_redirect_is_checked_like_any_url(
    server: WebServer, tool: WebFetchTool, location: str, wanted: ToolErrorType
) -> None:
    server.pages["/r"] = answer("", f"Location: {location}", status="301 Moved")
    assert type_of(await tool.build_and_execute({"url": server.url("/r")})) is wanted


async def test_only_a_page_of_an_allowed_host_leads_to_an_allowed_host(server: WebServer, tmp_path: Path) -> None:
    from core.tools.web.download import Downloader
    from core.tools.web.targets import AllowedHosts, parse_url

    downloader = Downloader(AllowedHosts([server.place]), nowhere)
    public = parse_url("http://93.184.216.34/")
    with pytest.raises(Exception, match="no public address"):
        await downloader._addresses(parse_url(server.url()), public)
    assert await downloader._addresses(parse_url(server.url()), parse_url(server.url("/x"))) == ["127.0.0.1"]


def test_https_never_becomes_http() -> None:
    from core.tools.web.download import _redirected
    from core.tools.web.targets import parse_url

    assert _redirected(parse_url("http://a.com/x"), "https://b.com/").url == "https://b.com/"
    with pytest.raises(Exception, match="from https to http"):
        _redirected(parse_url("https://a.com/x"), "http://a.com/")


async def test_robots_txt_is_respected(server: WebServer, tool: WebFetchTool) -> None:
    server.pages["/robots.txt"] = answer("User-agent: *\nDisallow: /private*/x\n", content_type="text/plain")
    server.pages["/ok"] = answer("fine", content_type="text/plain")
    server.pages["/r"] = answer("", "Location: /private/x", status="302 Found")
    assert "fine" in text_of(await tool.build_and_execute({"url": server.url("/ok")}))
    for path in ("/private1/x", "/r"):
        result = await tool.build_and_execute({"url": server.url(path)})
        assert type_of(result) is PROCESSING and "robots.txt forbids it" in str(result.llm_content)
    assert server.requests == ["/robots.txt", "/ok", "/r"]  # asked once


async def test_a_robots_txt_that_fails_forbids(server: WebServer, tool: WebFetchTool) -> None:
    server.pages["/robots.txt"] = answer("oops", status="503 Service Unavailable")
    result = await tool.build_and_execute({"url": server.url("/a")})
    assert "robots.txt could not be had (status 503)" in str(result.llm_content)


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_that_is_too_large(server: WebServer, tool: WebFetchTool, announced: bool) -> None:
    sent = 0

    async def flood(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        length = b"Content-Length: 99000000\r\n" if announced else b""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + length + b"\r\n")
        while sent < 99_000_000:
            writer.write(b"x" * 100_000)
            sent += 100_000
            await writer.drain()

    server.pages["/a"] = flood
    result = await tool.build_and_execute({"url": server.url("/a")})
    assert type_of(result) is PROCESSING and "larger than 10 MB" in str(result.llm_content)
    assert sent < 30_000_000


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(bytes(64 * 2**20))),
        ("deflate", zlib.compress(bytes(64 * 2**20))),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(2**24)))),
        ("br", b"\x00\x01"),
        ("gzip", b"this is no gzip"),
    ],
)
async def test_bombs_and_broken_codings(server: WebServer, tool: WebFetchTool, coding: str, body: bytes) -> None:
    server.pages["/a"] = answer(body, f"Content-Encoding: {coding}", content_type="text/plain")
    assert type_of(await tool.build_and_execute({"url": server.url("/a")})) is PROCESSING


async def test_compressed_pages_are_unpacked(server: WebServer, tool: WebFetchTool) -> None:
    server.pages["/a"] = answer(gzip.compress(b"packed text"), "Content-Encoding: gzip", content_type="text/plain")
    assert "packed text" in text_of(await tool.build_and_execute({"url": server.url("/a")}))


async def test_a_server_that_dawdles_is_left(server: WebServer, tmp_path: Path) -> None:
    left = asyncio.Event()

    async def dawdle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        try:
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)
        finally:
            left.set()

    server.pages["/a"] = dawdle
    tool = make_tool(tmp_path, server.place, seconds=0.3)
    result = await tool.build_and_execute({"url": server.url("/a")})
    assert type_of(result) is ToolErrorType.TIMEOUT
    await asyncio.wait_for(left.wait(), 10)


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000,
    ],
)
async def test_broken_answers_are_errors(server: WebServer, tool: WebFetchTool, response: bytes) -> None:
    server.pages["/a"] = response
    assert type_of(await tool.build_and_execute({"url": server.url("/a")})) is PROCESSING


async def test_nobody_there(tmp_path: Path) -> None:
    result = await make_tool(tmp_path, "127.0.0.1:1").build_and_execute({"url": "http://127.0.0.1:1/"})
    assert type_of(result) is PROCESSING and "no connection came about" in str(result.llm_content)
    result = await make_tool(tmp_path).build_and_execute({"url": "https://nowhere.example.com/"})
    assert type_of(result) is PROCESSING and "could not be found" in str(result.llm_content)


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        ("Die Straße ist grün und kostet 5 €".encode(), "text/plain; charset=latin-1"),
        ("Die Straße ist grün und kostet 5 €".encode(), "text/plain"),
        ("Die Straße ist grün und kostet 5 €".encode("cp1252"), "text/plain; charset=iso-8859-1"),
        ("Die Straße ist grün und kostet 5 €".encode("cp1252"), "text/plain; charset=utf-8"),
        ("Die Straße ist grün und kostet 5 €".encode("cp1252"), "text/plain; charset=no-such-charset"),
        ("Die Straße ist grün und kostet 5 €".encode("utf-16"), "text/plain; charset=utf-8"),
        ("Die Straße ist grün und kostet 5 €".encode("utf-16-le"), "text/plain"),
        ("Die Straße ist grün und kostet 5 €".encode("utf-8-sig"), "text/plain; charset=utf-7"),
    ],
)
async def test_charsets_and_lies_about_them(
    server: WebServer, tool: WebFetchTool, data: bytes, content_type: str
) -> None:
    server.pages["/a"] = answer(data, content_type=content_type)
    assert "Die Straße ist grün und kostet 5 €" in text_of(await tool.build_and_execute({"url": server.url("/a")}))


async def test_a_declaration_in_the_page_counts(server: WebServer, tool: WebFetchTool) -> None:
    page = '<html><head><meta charset="shift_jis"></head><body><p>日本語の文章</p></body></html>'
    server.pages["/a"] = answer(page.encode("shift_jis"))
    assert "日本語の文章" in text_of(await tool.build_and_execute({"url": server.url("/a")}))


async def test_what_is_no_text(server: WebServer, tool: WebFetchTool) -> None:
    picture = b"\x89PNG\r\n\x1a\n\0\0\0"
    server.pages["/p.png"] = answer(picture, content_type="image/png")
    result = await tool.build_and_execute({"url": server.url("/p.png")})
    assert result.error is None and isinstance(result.llm_content[1], MediaPart)
    assert result.llm_content[1].mime_type == "image/png" and result.llm_content[1].name == "p.png"
    server.pages["/zip"] = answer(b"PK\x03\x04\0\0\0\0", content_type="application/zip")
    assert type_of(await tool.build_and_execute({"url": server.url("/zip")})) is PROCESSING
    server.pages["/lie"] = answer(picture, content_type="text/html")
    assert type_of(await tool.build_and_execute({"url": server.url("/lie")})) is PROCESSING


async def test_control_characters_become_visible(server: WebServer, tool: WebFetchTool) -> None:
    server.pages["/a"] = answer("a\x1b]52;c;x\x07b\u202e", content_type="text/plain; charset=utf-8")
    text = text_of(await tool.build_and_execute({"url": server.url("/a")}))
    assert "\x1b" not in text and "\u202e" not in text and "a\u241b]52" in text


@pytest.mark.parametrize("tag", ["div", "blockquote", "b", "table", "ul"])
async def test_deep_pages_end_no_more_than_their_converter(server: WebServer, tool: WebFetchTool, tag: str) -> None:
    server.pages["/a"] = answer(f"<html><body><p>top</p>{f'<{tag}>' * 100_000}deep")
    result = await tool.build_and_execute({"url": server.url("/a")})
    assert type_of(result) in (None, PROCESSING)


async def test_a_file_on_github_is_fetched_as_text(tmp_path: Path) -> None:
    invocation = make_tool(tmp_path).build({"url": "https://github.com/o/r/blob/main/src/a.py"})
    details = await invocation.should_confirm_execute(AbortSignal())
    assert isinstance(details, InfoConfirmation)
    assert details.urls == ("https://raw.githubusercontent.com/o/r/main/src/a.py",)


async def test_a_proxy_of_the_users_is_asked(
    server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url())
    server.pages["http://example.com/a"] = answer("by proxy", content_type="text/plain")
    result = await make_tool(tmp_path).build_and_execute({"url": "http://example.com/a"})
    assert "by proxy" in text_of(result)
    monkeypatch.setenv("no_proxy", "example.com")
    result = await make_tool(tmp_path).build_and_execute({"url": "http://example.com/a"})
    assert "could not be found" in str(result.llm_content)
