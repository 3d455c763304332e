"""Custom commands: taken apart before they are filled, run through the same gate, read from files as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.custom_commands import CustomCommand, Piece, load_commands, take_apart
from core.contract.errors import StetError
from core.contract.events import ApprovalMode, Notice, PromptSubmitted, ToolCallFinished
from core.contract.tool import CallState
from tests.app.running import Running, running

pytestmark = pytest.mark.anyio


def custom(template: str, file: str = "x.toml") -> CustomCommand:
    return CustomCommand("x", "", tuple(take_apart(template)), Path(file))


async def filled(template: str, arguments: str = "", file: str = "x.toml") -> str:
    async def run(line: str) -> str:
        return f"<ran {line}>"

    async def read(path: str) -> str:
        return f"<file {path}>"

    return await custom(template, file).expand(arguments, run, read)


@pytest.mark.parametrize(
    ("template", "arguments", "expected"),
    [
        ("Explain {{args}}.", "a b", "Explain a b."),
        ("Explain $ARGUMENTS.", "a", "Explain a."),
        ("Review.", "the parser", "Review.\n\nthe parser"),
        ("!{git log {{args}}} and @{docs/{{args}}.md}", "x", "<ran git log x> and <file docs/x.md>"),
        ("!{awk '{print $1}' f}", "", "<ran awk '{print $1}' f>"),
        ("!{grep {{args}} .}", "a; rm -r /", "<ran grep 'a; rm -r /' .>"),
        ("Say {{args}}", "!{rm x} @{/etc/passwd} {{args}}", "Say !{rm x} @{/etc/passwd} {{args}}"),
    ],
)
async def test_a_template_is_filled(template: str, arguments: str, expected: str) -> None:
    assert await filled(template, arguments) == expected


@pytest.mark.parametrize(
    ("template", "arguments", "expected"),
    [
        ("Compare $1 with $2$3.", "a 'b c'", "Compare a with b c."),
        ("Say $ARGUMENTS, $1!", "it's so", "Say it's so, it's!"),
        ("!{awk '{print $1}' $ARGUMENTS} costs $10", "f", "<ran awk '{print $1}' f> costs $10"),
    ],
)
async def test_a_markdown_template_takes_words(template: str, arguments: str, expected: str) -> None:
    assert await filled(template, arguments, "x.md") == expected


@given(st.text())
def test_arguments_make_no_further_piece(arguments: str) -> None:
    pieces = custom("a {{args}} !{b {{args}}} c").pieces
    assert [piece for piece, _ in pieces] == [Piece.TEXT, Piece.COMMAND, Piece.TEXT]


@given(st.text(alphabet="!@{}ab $"))
def test_a_template_in_pieces_is_the_template(template: str) -> None:
    try:
        pieces = list(take_apart(template))
    except StetError:
        return
    signs = {Piece.TEXT: "{}", Piece.COMMAND: "!{{{}}}", Piece.FILE: "@{{{}}}"}
    assert "".join(signs[piece].format(text) for piece, text in pieces) == template


def test_files_are_read_and_bad_ones_named(tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "commit.toml").write_text('description = "Commit it"\nprompt = "Commit {{args}}"')
    (tmp_path / "plain.md").write_text("Just this.")
    (tmp_path / "headed.md").write_text("---\ndescription: Its help\n---\nThe prompt.")
    for name, text in {"a b.md": "x", "empty.md": " \n", "bad.toml": "prompt = ", "odd.toml": "run = 'x'"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "open.md").write_text("!{never closed")
    found, problems = load_commands(tmp_path)
    assert {each.name: each.description for each in found} == {
        "git:commit": "Commit it",
        "plain": "A prompt of yours: plain.md",
        "headed": "Its help",
    }
    assert len(problems) == 5
    assert load_commands(tmp_path / "nowhere") == ([], [])


async def send(stet: Running, line: str) -> None:
    await stet.press("slash")
    await stet.prompt(line)


async def test_a_command_of_the_user_asks_before_it_runs_anything(project: Path) -> None:
    folder = project.parent / "config" / "commands"
    folder.mkdir(parents=True)
    (folder / "look.toml").write_text('prompt = "Look at {{args}}: !{touch made && echo seen} @/etc/hostname"')
    async with running(project) as stet:
        await stet.until(lambda: "look" in [each.name for each in stet.app.host.commands or ()], "the command")  # type: ignore[union-attr]  # it runs
        await send(stet, "look this")
        await stet.answer("n")
        await stet.until(lambda: stet.of(ToolCallFinished), "the denial")
        await stet.until(lambda: any("Nothing was sent" in n.message for n in stet.app._notifications), "the toast")
        assert not (project / "made").exists()
        assert stet.of(PromptSubmitted) == []
        await send(stet, "look this")
        await stet.answer("y")
        await stet.until(lambda: stet.of(PromptSubmitted), "the prompt")
        sent = stet.of(PromptSubmitted)[0]
        assert sent.text.startswith("Look at this: seen "), "what it printed, and nothing about how it ran"
        assert sent.attachments == (), "no @ of a template attaches anything by itself"
        await stet.idle()


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_what_a_command_of_the_user_runs_is_stopped_by_a_key(project: Path, key: str) -> None:
    folder = project.parent / "config" / "commands"
    folder.mkdir(parents=True)
    deaf = "trap '' INT TERM HUP; echo deaf; sleep 1000"
    (folder / "wait.md").write_text(f"Look at !{{{deaf}}} and !{{touch made}}")
    async with running(project) as stet:
        await stet.engine.set_mode(ApprovalMode.YOLO)
        await send(stet, "wait")
        await stet.shows("\ndeaf")
        await stet.press(key)
        await stet.until(lambda: stet.of(ToolCallFinished), "its end")
        (done,) = stet.of(ToolCallFinished)
        assert done.state is CallState.CANCELLED
        await stet.until(lambda: any("Nothing was sent" in n.message for n in stet.app._notifications), "the toast")
        assert not (project / "made").exists()
        assert not any(job.running and not job.is_shell for job in stet.engine.jobs)
        assert stet.of(PromptSubmitted) == []


async def test_commands_of_a_project_count_only_where_it_is_trusted(project: Path) -> None:
    for trust in (False, True):
        async with running(project, trust=trust) as stet:
            folder = project / ".stet" / "commands"
            folder.mkdir(parents=True, exist_ok=True)  # only now, as the start would ask whether to trust it
            (folder / "theirs.md").write_text("Do it.")
            await send(stet, "commands")
            await stet.until(lambda: stet.of(Notice), "the list")
            assert ("/theirs  " in stet.of(Notice)[-1].message) is trust
