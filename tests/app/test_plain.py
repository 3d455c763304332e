"""The session in lines: driven through pipes, as a screen reader's terminal would."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import stet
from app.plain_questions import answer, choices_for
from core.contract.confirmation import (
    AskUserConfirmation,
    Choice,
    EditConfirmation,
    ExecConfirmation,
    FileOperationsConfirmation,
    McpConfirmation,
    Question,
    ToolConfirmationOutcome,
)
from core.contract.ids import CallId
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.tool import Kind, ToolCall

pytestmark = pytest.mark.anyio

LIMIT = 30


class Talk:
    """A running `stet --plain`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard = ""

    async def hears(self, text: str) -> str:
        """Wait until something is said, and return all that was said since the last time."""
        assert self.process.stdout is not None
        since = len(self.heard)
        async with asyncio.timeout(LIMIT):
            while text not in self.heard[since:]:
                line = await self.process.stdout.readline()
                assert line, f"it never said {text!r}:\n{self.heard}"
                self.heard += line.decode()
        return self.heard[since:]

    def say(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    async def ends(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(LIMIT):
            assert self.process.stdout is not None
            self.heard += (await self.process.stdout.read()).decode()
            return await self.process.wait()


@asynccontextmanager
async def talking(folder: Path) -> AsyncIterator[Talk]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "stet", "--plain", "--offline", str(folder),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(stet.HOME)},
    )  # fmt: skip
    try:
        yield Talk(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_an_edit_is_read_out_approved_by_number_and_written(project: Path) -> None:
    async with talking(project) as talk:
        await talk.hears("Ready.")
        talk.say("create a.txt with hello")
        said = await talk.hears("Type a number")
        assert "Approval needed" in said and "Line 1 added: hello" in said and "1. Allow once" in said
        talk.say("9")
        await talk.hears("none of the choices")
        talk.say("1")
        await talk.hears("Ready (done).")
        assert (project / "a.txt").read_text().startswith("hello")
        talk.say("/quit")
        assert await talk.ends() == 0
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", talk.heard), "lines and nothing else"


async def test_a_turn_is_taken_back_after_it_was_read_out_and_figures_are_said(project: Path) -> None:
    async with talking(project) as talk:
        await talk.hears("Ready.")
        talk.say("create a.txt with hello")
        await talk.hears("Type a number")
        talk.say("1")
        await talk.hears("Ready (done).")
        talk.say("/stats")
        assert "Files changed" in await talk.hears("write_file")
        talk.say("/context")
        await talk.hears("create a.txt with hello")
        talk.say("/context drop 1")
        await talk.hears("can't be dropped")
        talk.say("/undo")
        assert "Line 1 removed: hello" in await talk.hears("Undo turn 1, 1 file?")
        await talk.hears("2. no")
        talk.say("2")
        await talk.hears("Nothing was changed.")
        assert (project / "a.txt").exists()
        talk.say("/undo")
        await talk.hears("2. no")
        talk.say("1")
        await talk.hears("Changed: a.txt.")
        assert not (project / "a.txt").exists()
        talk.say("/undo 7", "/nonsense")
        await talk.hears("Turn 7 changed no file")
        await talk.hears("no command /nonsense")
        assert await talk.ends() == 0
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", talk.heard), "lines and nothing else"


async def test_what_was_typed_before_the_question_never_answers_it(project: Path) -> None:
    async with talking(project) as talk:
        await talk.hears("Ready.")
        talk.say("create a.txt with hello", "1")
        await talk.hears("Type a number")
        assert await talk.ends() == 0, "no line comes any more: the question counts as refused"
        assert "Tool denied" in talk.heard
        assert not (project / "a.txt").exists()


async def test_the_interrupt_key_leaves_when_nothing_runs(project: Path) -> None:
    async with talking(project) as talk:
        await talk.hears("Ready.")
        talk.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(LIMIT):
            assert await talk.process.wait() == 0


def command(grant: str = "", rule: str = "", asker: str = "") -> ApprovalRequest:
    details = ExecConfirmation("Run it", "rm -r x", "rm", ("rm",), "/somewhere")
    return ApprovalRequest(
        ToolCall(CallId("1"), "run", {}), "Shell", Kind.EXECUTE, details, "it asks", grant, rule, asker=asker
    )


async def asked(request: ApprovalRequest, *typed: str) -> tuple[ApprovalReply, list[str]]:
    said: list[str] = []
    lines = iter([*typed, None])

    async def hear() -> str | None:
        return next(lines)

    reply = await answer(request, said.append, hear)
    assert isinstance(reply, ApprovalReply)
    return reply, said


async def test_it_says_which_sub_agent_asks() -> None:
    assert 'Asked by: sub-agent "tidy up"' in (await asked(command(asker="tidy up"), "3"))[1]
    assert not any("Asked by" in line for line in (await asked(command(), "3"))[1])


async def test_a_refusal_takes_its_reason_along() -> None:
    reply, said = await asked(command(), numbered(command(), "Refuse, with"), "not this folder")
    assert (reply.outcome, reply.feedback) == (ToolConfirmationOutcome.CANCEL, "not this folder")
    assert "Command: rm -r x" in said


@pytest.mark.parametrize("typed", ["", "0", "y", "1 2", "-1", "②"])
async def test_what_is_no_number_of_a_choice_approves_nothing(typed: str) -> None:
    reply, _ = await asked(command(), typed)
    assert not reply.approved


async def test_wider_grants_are_offered_only_where_there_are_any() -> None:
    assert len(choices_for(command())) == 5
    assert len(choices_for(command("all", "[[rule]]"))) == 7


def numbered(request: ApprovalRequest, label: str) -> str:
    """Return the number of the choice that begins so."""
    (number,) = (n for n, choice in enumerate(choices_for(request), 1) if choice.label.startswith(label))
    return str(number)


async def test_a_rule_is_saved_where_the_user_says() -> None:
    request = replace(command("all", "[[rule]]"), scopes=("user", "project"))
    for label, scope in (("Allow always, by a saved", "user"), ("Allow always, by a rule saved for this", "project")):
        reply, _ = await asked(request, numbered(request, label))
        assert (reply.outcome, reply.scope) == (ToolConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE, scope)


async def test_a_command_is_changed_before_it_runs() -> None:
    request = command()
    reply, _ = await asked(request, numbered(request, "Change the command"), "rm x")
    assert (reply.outcome, reply.command) == (ToolConfirmationOutcome.MODIFY_WITH_EDITOR, "rm x")
    assert not (await asked(request, numbered(request, "Change the command"), " "))[0].approved


async def test_only_some_places_are_taken() -> None:
    old = "a\n" + "\n" * 20 + "z\n"
    details = EditConfirmation("Edit", "f", "/f", "", old, old.replace("a", "A").replace("z", "Z"))
    request = ApprovalRequest(ToolCall(CallId("1"), "replace", {}), "Edit", Kind.EDIT, details)
    reply, said = await asked(request, numbered(request, "Allow only some"), "2")
    assert reply.new_content == old.replace("z", "Z") and [drop.path for drop in reply.dropped] == ["/f"]
    assert any("@@ -1," in line for line in said)
    both = FileOperationsConfirmation("Both", (details, replace(details, file_path="/g")))
    request = replace(request, details=both)
    assert (await asked(request, numbered(request, "Allow only some"), "1"))[0].declined == ("/g",)


async def test_every_tool_of_a_server_is_allowed_at_once() -> None:
    details = McpConfirmation("Run", "notes", "add", "Add")
    request = ApprovalRequest(ToolCall(CallId("1"), "notes__add", {}), "Add", Kind.OTHER, details, grant="it")
    reply, _ = await asked(request, numbered(request, "Allow every tool of notes"))
    assert reply.outcome is ToolConfirmationOutcome.PROCEED_ALWAYS_SERVER


async def test_several_choices_are_taken_by_their_numbers() -> None:
    question = Question("Which?", choices=(Choice("red"), Choice("green"), Choice("blue")), multiple=True)
    request = ApprovalRequest(
        ToolCall(CallId("1"), "ask", {}), "Ask", Kind.COMMUNICATE, AskUserConfirmation("Colours", (question,))
    )
    reply, _ = await asked(request, "1 3")
    assert reply.answers == {"Which?": "red, blue"}
