"""Hostile text through every surface that shows foreign text: what reaches the terminal is captured and read.

Each test drives a group of surfaces in one run. Nothing of a payload may arrive as a control, nothing may crash, and
nothing may become a link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from tests.e2e.conftest import Place
from tests.e2e.terminal import Terminal
from tests.widgets.hostile import HOSTILE, is_safe

pytestmark = pytest.mark.anyio

SIZE = {"columns": 200, "lines": 60}

NO_PAIRS = [text for text in HOSTILE if "=" not in text and "\r" not in text]
"""Those that a script can hold outside of JSON."""

_CONTROLS = re.compile(
    r"\x1b\[(?P<csi>[0-?]*[ -/]*[@-~])"
    r"|\x1b(?P<string>[\]PX^_])(?P<body>[^\x07\x1b\x9c]*)(?:\x07|\x1b\\|\x9c)"
    r"|(?P<other>\x1b.?|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f])",
    re.DOTALL,
)
_DRAWN = re.compile(r"[\d;:]*m|\d+;\d+H|\?2026[hl]")
"""Colours, the cursor's place, and the brackets around an update."""
_POINTER = re.compile(r"22;[a-z-]+")
"""The shape of the mouse pointer over a widget (OSC 22), which Textual names itself."""
_AT_START = {
    "?1049h", "?1000h", "?1003h", "?1015h", "?1006h", "?25l", "?25h", "?1004h", "?2004h", ">25u", "?2026$p", "?2048$p",
    "?2048h", "?7l", "23;2t",
}  # fmt: skip
"""What Textual sends to set the terminal up."""


_CALLS = re.compile(
    r"\x07\x1b\]9;([^\x00-\x1f\x7f-\x9f]*)\x07(?:\x1b\[22;2t)?\x1b\]2;stet: ([^\x00-\x1f\x7f-\x9f]*)\x07"
)
"""Bell, notification and title of a terminal that the user does not look at."""


def strange_controls(data: bytes) -> list[str]:
    """Return what a terminal would act on and that neither drawing nor calling the user needs."""
    found = []
    for match in _CONTROLS.finditer(_CALLS.sub("", data.decode("utf-8"))):
        if match["string"] == "]" and _POINTER.fullmatch(match["body"]):
            continue
        if match["csi"] is None:
            found.append(match[0])
        elif not _DRAWN.fullmatch(match["csi"]) and match["csi"] not in _AT_START:
            found.append(match[0])
    return found


async def assert_harmless(terminal: Terminal) -> None:
    await terminal.settles()  # so that no sequence is cut
    assert strange_controls(bytes(terminal.written)) == []
    shown = _CONTROLS.sub("", terminal.written.decode("utf-8"))
    assert is_safe(shown.replace("\r", "").replace("\n", ""))
    assert terminal.process.poll() is None


def on_lines(mark: str, texts: Sequence[str] = HOSTILE) -> str:
    """Return every payload on a line of its own, between a mark and a number."""
    return "\n\n".join(f"{mark}{number} {text} ." for number, text in enumerate(texts))


def in_one_line(texts: Sequence[str] = HOSTILE) -> str:
    return " ".join(texts).replace("\n", " ")


def file_names() -> list[str]:
    return [f"n{number}{text}".replace("/", "|").replace("\0", "") for number, text in enumerate(HOSTILE)]


def call(name: str, **args: object) -> str:
    return f"call {name} {json.dumps(args)}"


async def look_through(terminal: Terminal, pages: int = 4) -> None:
    """Open all tool output, and show the whole chat."""
    terminal.press("ctrl+o", "f3")
    for key in ["home"] + ["pagedown"] * pages:
        terminal.press(key)
        await terminal.answers()


async def test_what_the_model_says(place: Place) -> None:
    words = on_lines("say")
    markdown = (
        "# " + in_one_line() + "\n\n- " + in_one_line() + "\n\n> " + in_one_line() + "\n\n| a | b |\n|---|---|\n| "
        + in_one_line().replace("|", "") + " |x|\n\n```python\ncode = " + in_one_line() + "\n```\n\n`" + in_one_line()
        + "` [label](https://evil.example/\x1b]8;;x) <https://evil.example> ![i](x\x07)\n\nthe end of the answer"
    )  # fmt: skip
    place.write({"a.py": "x = 1\n"})
    script = "\n".join(
        [
            "think " + json.dumps("think" + in_one_line()),
            "say " + json.dumps(words),
            "say " + json.dumps(markdown),
            call("write_todos", todos=[{"description": f"todo {t}", "status": "pending"} for t in HOSTILE]),
            call("read_file", file_path=in_one_line()),
            call("no_such_\x1b[31m[/x]".replace("\x1b", "\u202e"), text=in_one_line()),
            call("read_file", **{f"key {text}": text for text in HOSTILE}),
            "---",
            "say second answer",
            "error server " + in_one_line(NO_PAIRS),
            "---",
            "say third answer",
            "finish blocked " + in_one_line(NO_PAIRS),
        ]
    )
    async with place.open("--model", place.script(script), **SIZE) as terminal:
        await terminal.shows("script/model", "❯")
        await terminal.prompt("go")
        await terminal.shows("second answer")
        await terminal.hides("esc stop")
        await terminal.prompt("again")
        await terminal.shows("third answer", "blocked this answer")
        await terminal.hides("esc stop")
        await look_through(terminal, 4)
        terminal.press("f4")
        await terminal.answers()
        await assert_harmless(terminal)
        written = _CONTROLS.sub("", terminal.written.decode("utf-8"))
        for mark in ("say3", "todo ", "[@click=app.exit]", "think", "code"):
            assert mark in written
    async with place.open("--resume", "--offline", **SIZE) as terminal:
        await terminal.shows("third answer")
        await look_through(terminal, 4)
        await assert_harmless(terminal)


async def test_files_and_commands(place: Place) -> None:
    place.write({name: f"{name}\n" for name in file_names()})
    place.write({"hostile.txt": on_lines("line").replace("\r", "") + "\n", "lines.txt": on_lines("cat")})
    place.write({".git/HEAD": "ref: refs/heads/" + in_one_line()})
    new = on_lines("new").replace("\r", "").replace("\0", "")
    script = "\n".join(
        [
            call("list_directory", dir_path="."),
            call("glob", pattern="*"),
            call("search_file_content", pattern="line"),
            call("read_file", file_path="hostile.txt"),
            call("run_shell_command", command="cat lines.txt; sleep 0.1; cat lines.txt"),
            "---",
            call("write_file", file_path=file_names()[1], content=new),
            call("run_shell_command", command=": " + in_one_line(HOSTILE[:7]) + "'", description=in_one_line()),
            "---",
            "say all is done",
        ]
    )
    async with place.open("--model", place.script(script), **SIZE) as terminal:
        await terminal.shows("script/model", "❯")
        await terminal.prompt("go")
        await terminal.shows("$ cat lines.txt")
        await terminal.user_pause()
        terminal.press("y")
        terminal.send(b"\x1b[O")  # the user looks elsewhere
        await terminal.shows("hunk on")
        called = _CALLS.search(terminal.written.decode("utf-8"))
        assert called is not None and all("n1\u241b]52" in text and is_safe(text) for text in called.groups())
        terminal.send(b"\x1b[I")
        await terminal.user_pause()
        for key in ("j", "t", "w", "b", "X", "v"):
            terminal.press(key)
            await terminal.settles()
        await assert_harmless(terminal)
        await terminal.user_pause()
        terminal.press("n")
        await terminal.shows("Run a command?", "holds hidden characters")
        await terminal.user_pause()
        terminal.press("n")
        await terminal.shows("all is done")
        await terminal.hides("esc stop")
        await look_through(terminal)
        await assert_harmless(terminal)


async def test_the_prompt_the_shell_and_notices(place: Place) -> None:
    place.write(dict.fromkeys(file_names(), ""))
    place.write({"ask.sh": "cat lines.txt; printf '%s' \"$(cat line.txt)\"; read answer\n", "lines.txt": on_lines("x")})
    place.write({"line.txt": in_one_line(HOSTILE[:5])})
    config = place.home / "config"
    (config / "policies").mkdir(parents=True)
    toml = json.dumps(in_one_line(HOSTILE[:12])).replace("\\u0000", "")
    (config / "settings.toml").write_text(f"[ui]\ntheme = {toml}\nmouse = {toml}\n{toml} = 1\n", "utf-8")
    (config / "keys.toml").write_text(f"{toml} = {toml}\n", "utf-8")
    (config / "policies" / "a.toml").write_text(f"[[rule]]\ntool = {toml}\ndecision = {toml}\n{toml} = 1\n", "utf-8")
    async with place.open(**SIZE) as terminal:
        await terminal.shows("offline", "❯", "keys.toml")
        terminal.paste(in_one_line())
        await terminal.answers()
        terminal.press("ctrl+c")
        await terminal.shows("Ask, or")
        terminal.type("look @n")
        await terminal.answers()
        await terminal.shows("n1")
        terminal.press("down", "down", "tab")
        await terminal.answers()
        terminal.press("ctrl+c")
        await terminal.shows("Ask, or")
        terminal.paste(in_one_line())
        terminal.press("enter")
        await terminal.hides("esc stop")
        terminal.press("up")
        await terminal.answers()
        terminal.press("ctrl+c")
        await terminal.shows("Ask, or")
        terminal.press("ctrl+r")
        await terminal.shows("esc cancel")
        terminal.press("escape")
        await terminal.hides("esc cancel")
        await terminal.prompt("/theme " + "[red]no[/red] \u202e")
        await terminal.prompt("!sh ask.sh")
        await terminal.shows("x19")
        terminal.press("ctrl+p")
        await terminal.settles()
        terminal.type("[/x]")
        await terminal.settles()
        terminal.press("escape")
        await terminal.settles()
        await assert_harmless(terminal)
    await headless_in_a_terminal(place)


async def headless_in_a_terminal(place: Place) -> None:
    """`stet -p` on a terminal shows what it would write to a file as it is."""
    model = place.script("say " + json.dumps(on_lines("p")) + "\n" + "error server " + HOSTILE[0])
    async with place.open("-p", "go", "--model", model, **SIZE) as terminal:
        assert await terminal.ended() == 7
        assert strange_controls(bytes(terminal.written)) == []
        assert "error" in terminal.text
    async with place.open("session", "list", **SIZE) as terminal:
        assert await terminal.ended() == 0
        assert strange_controls(bytes(terminal.written)) == []
        assert "\u241b]52;" in terminal.text
