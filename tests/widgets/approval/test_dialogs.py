"""The dialogs for commands, calls, plans and questions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot

from core.contract.confirmation import (
    AskUserConfirmation,
    Choice,
    CommandPart,
    ConfirmationDetails,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    PlanConfirmation,
    Question,
    ToolConfirmationOutcome,
)
from core.contract.ids import CallId
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionReply, QuestionRequest
from core.contract.tool import Kind, ToolCall
from tests.widgets.diff.host import Clock, Host, answer, drawn, press, segments, settle
from tests.widgets.hostile import HOSTILE, is_safe
from widgets.approval.ask import ask, make_dialog, reply_of
from widgets.approval.dialog import DecisionScreen
from widgets.approval.exec_dialog import ExecDialog
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.keys_screen import KeysScreen

pytestmark = pytest.mark.anyio

OPEN = TypeAheadGuard(0)


def request(details: ConfirmationDetails, **options: Any) -> ApprovalRequest:
    return ApprovalRequest(ToolCall(CallId("c"), "tool", {}), "Shell", Kind.EXECUTE, details, **options)


def command(text: str, *parts: CommandPart) -> ExecConfirmation:
    return ExecConfirmation("run", text, text.split()[0], (text.split()[0],), "~/project", parts)


async def show(pilot: Pilot[None], what: ApprovalRequest | QuestionRequest, **options: Any) -> DecisionScreen[Any]:
    dialog = make_dialog(what, **{"guard": TypeAheadGuard(0), **options})
    await pilot.app.push_screen(dialog)
    await settle(pilot)
    return dialog


async def test_a_command_is_shown_whole_with_place_reason_parts_and_grants() -> None:
    app = Host()
    details = command(
        "git status && rm -rf build",
        CommandPart("git status", "allow"),
        CommandPart("rm -rf build", "ask", "not read-only"),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await show(
            pilot,
            request(details, reason="rm needs a yes", grant="`rm build`", rule='[[rule]]\ntool = "x"', asker="tidy"),
            place=(1, 3),
        )
        lines = "\n".join(drawn(app))
        for text in (
            *("$ git status && rm -rf build", "~/project", "rm needs a yes", "\u2714 allow git status", "1 of 3"),
            *("? ask   rm -rf build", "not read-only", "s allows `rm build`", 'tool = "x"', "y once", "p save rule"),
            'from    sub-agent "tidy"',
        ):
            assert text in lines


@pytest.mark.parametrize(
    ("key", "outcome"),
    [
        ("y", ToolConfirmationOutcome.PROCEED_ONCE),
        ("1", ToolConfirmationOutcome.PROCEED_ONCE),
        ("s", ToolConfirmationOutcome.PROCEED_ALWAYS),
        ("p", ToolConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE),
        ("n", ToolConfirmationOutcome.CANCEL),
        ("escape", ToolConfirmationOutcome.CANCEL),
    ],
)
async def test_one_key_decides(key: str, outcome: ToolConfirmationOutcome) -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("ls"), grant="g", rule="r"))
        await press(pilot, key)
        assert dialog.outcome == ApprovalReply(outcome)


async def test_a_text_that_is_typed_into_an_open_dialog_decides_nothing_after_its_first_letter() -> None:
    clock = Clock()
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("ls")), guard=TypeAheadGuard(0.4, clock))
        clock.now += 1.0
        for key in "x, only 1 y":
            clock.now += 0.2
            await press(pilot, "space" if key == " " else key)
        assert dialog.outcome is None
        clock.now += 1.0
        await press(pilot, "y")
        assert dialog.outcome == ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE)


async def test_wider_answers_that_are_not_offered_do_nothing() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("ls")))
        await press(pilot, "s", "p", "2", "3")
        assert dialog.outcome is None


async def test_rejecting_with_a_reason_and_accepting_with_a_note() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("ls")))
        await press(pilot, "r")
        await answer(pilot, dialog, "use rg instead")
        assert dialog.outcome == ApprovalReply(ToolConfirmationOutcome.CANCEL, "use rg instead")
        dialog = await show(pilot, request(command("ls")))
        await press(pilot, "c")
        await answer(pilot, dialog, "only once")
        assert dialog.outcome == ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, "only once")


async def test_a_long_command_is_accepted_only_after_its_end_was_on_screen() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("\n".join(f"echo {n}" for n in range(80))), grant="g", rule="r"))
        await press(pilot, "y", "s", "p", "c")
        assert dialog.outcome is None
        assert not dialog.is_typing
        assert any("Not seen to the end yet" in line for line in drawn(app))
        await press(pilot, "v", "y")
        assert dialog.outcome == ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE)


async def test_a_long_line_wraps_and_its_tail_counts() -> None:
    app = Host()
    async with app.run_test(size=(60, 18)) as pilot:
        dialog = await show(pilot, request(command("echo " + "x" * 2_000 + "; rm -rf tail")))
        await press(pilot, "y")
        assert dialog.outcome is None
        await press(pilot, "v")
        assert "rm -rf tail" in "\n".join(drawn(app))


async def test_an_edited_command_is_what_runs_and_is_granted_only_once() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("rm -rf /"), grant="g", rule="r"))
        assert isinstance(dialog, ExecDialog)
        await press(pilot, "e", *"yn", "escape")
        assert dialog.outcome is None
        assert dialog.command == "rm -rf /"
        await press(pilot, "e")
        dialog.editor.text = "rm -rf build"
        await press(pilot, "ctrl+s")
        assert any("edited by you" in line for line in drawn(app))
        await press(pilot, "s", "p")
        assert dialog.outcome is None
        await press(pilot, "y")
        assert dialog.outcome == ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, command="rm -rf build")


async def test_hidden_characters_are_shown_warned_of_and_not_edited() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("echo a\u202eb")))
        assert isinstance(dialog, ExecDialog)
        lines = "\n".join(drawn(app))
        assert "echo a\\u202eb" in lines
        assert "holds hidden characters" in lines
        await press(pilot, "e")
        assert not dialog.editor.display


async def test_calls_of_mcp_tools_and_fetches_show_what_they_would_do() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(McpConfirmation("t", "server", "tool", "The Tool", {"path": ["a", 1]})))
        lines = "\n".join(drawn(app))
        assert "server" in lines
        assert '"path": [' in lines
        await press(pilot, "y")
        assert dialog.outcome is not None
        await show(pilot, request(InfoConfirmation("Fetch?", "read the page", ("https://example.org/x",))))
        assert "https://example.org/x" in "\n".join(drawn(app))


@pytest.mark.parametrize("grant", ["`server__tool` in this session", ""])
async def test_a_whole_mcp_server_can_be_allowed_where_always_is_offered(grant: str) -> None:
    async with (app := Host()).run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(McpConfirmation("t", "server", "tool", "The Tool", {}), grant=grant))
        assert ("every tool of server in this session" in "\n".join(drawn(app))) is bool(grant)
        await press(pilot, "S")
        assert dialog.outcome == (ApprovalReply(ToolConfirmationOutcome.PROCEED_ALWAYS_SERVER) if grant else None)


async def test_a_plan_is_read_and_approved() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(PlanConfirmation("Plan?", "plan.md", "# Plan\n" + "step\n" * 60)))
        await press(pilot, "y")
        assert dialog.outcome is None
        await press(pilot, "G", "y")
        assert dialog.outcome == ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE)


async def test_typing_ahead_runs_no_command() -> None:
    clock = Clock()
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        guard = TypeAheadGuard(0.4, clock)
        dialog = await show(pilot, request(command("rm x"), grant="g", rule="r"), guard=guard)
        for key in [*"yes", "space", *"please", "enter", "1"]:
            clock.now += 0.2
            await press(pilot, key)
        await settle(pilot)
        assert dialog.outcome is None
        assert any("short pause in typing" in line for line in drawn(app))
        await pilot.click("KeyLine", offset=(1, 0))
        await settle(pilot)
        assert dialog.outcome is None, "a click on a key waits as the key does"
        clock.now += 1.0
        await pilot.click("KeyLine", offset=(1, 0))
        await settle(pilot)
        assert dialog.outcome is not None


@pytest.mark.parametrize("text", [" ".join(HOSTILE[start::5]) for start in range(5)])
async def test_hostile_text_is_drawn_as_text(text: str) -> None:
    app = Host()
    kinds: tuple[ApprovalRequest | QuestionRequest, ...] = (
        request(
            ExecConfirmation(text, text, text, (text,), text, (CommandPart(text, "ask", text),)),
            reason=text, grant=text, rule=text,
        ),
        request(McpConfirmation(text, text, text, text, {text: text}), reason=text),
        request(InfoConfirmation(text, text, (text,))),
        request(PlanConfirmation(text, text, text)),
        QuestionRequest(text, (Question(text, text, (Choice(text, text),)),)),
    )  # fmt: skip
    async with app.run_test(size=(80, 24)) as pilot:
        for kind in kinds:
            dialog = await show(pilot, kind)
            assert all(is_safe(line) for line in drawn(app))
            for segment in segments(app):
                assert segment.style is None or segment.style.link is None
                assert segment.style is None or "@click" not in segment.style.meta
            await press(pilot, "escape")
            assert dialog.outcome is not None


@pytest.mark.parametrize("size", [(60, 18), (40, 10), (80, 24), (200, 60)])
async def test_the_keys_are_on_screen_at_every_size(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        await show(pilot, request(command("echo " * 300), grant="g " * 60, rule="r\n" * 20, reason="because " * 20))
        lines = drawn(app)
        assert any("? all keys" in line for line in lines)
        assert any("$ echo" in line for line in lines)


async def test_ask_gives_the_reply_that_the_request_expects() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        asked = request(AskUserConfirmation("t", (Question("Go on?", choices=(Choice("yes"), Choice("no"))),)))
        task = asyncio.ensure_future(ask(app, asked, guard=OPEN))
        await settle(pilot)
        app.screen.guard = TypeAheadGuard(0)  # type: ignore[attr-defined] # it is the dialog
        await press(pilot, "1")
        reply = await asyncio.wait_for(task, 5)
        assert reply == ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, answers={"Go on?": "yes"})
        assert len(app.screen_stack) == 1
    cancelled = reply_of(asked, QuestionReply(cancelled=True))
    assert isinstance(cancelled, ApprovalReply)
    assert not cancelled.approved
    with pytest.raises(ValueError, match="edit"):
        make_dialog(request(EditConfirmation("t", "f", "f", "", None, "")))


async def test_a_withdrawn_question_closes_with_what_stands_over_it() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        task = asyncio.ensure_future(ask(app, request(command("ls")), guard=TypeAheadGuard(0)))
        await settle(pilot)
        await press(pilot, "question_mark")
        assert isinstance(app.screen, KeysScreen)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await settle(pilot)
        assert len(app.screen_stack) == 1


async def test_a_minimised_dialog_keeps_its_state_and_comes_back() -> None:
    minimised: list[DecisionScreen[Any]] = []

    class Watching(Host):
        def on_decision_screen_minimised(self, event: DecisionScreen.Minimised) -> None:
            minimised.append(event.dialog)

    app = Watching()
    async with app.run_test(size=(80, 24)) as pilot:
        task = asyncio.ensure_future(ask(app, request(command("ls")), guard=TypeAheadGuard(0), place=(1, 2)))
        await settle(pilot)
        dialog = app.screen
        assert isinstance(dialog, ExecDialog)
        dialog.command = "ls -l"
        await press(pilot, "m")
        assert minimised == [dialog]
        assert len(app.screen_stack) == 1
        assert not task.done()
        dialog.restore()
        await settle(pilot)
        assert app.screen is dialog
        await press(pilot, "y")
        assert await asyncio.wait_for(task, 5) == ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, command="ls -l")
        assert len(app.screen_stack) == 1


async def test_a_minimised_dialog_can_be_withdrawn() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        task = asyncio.ensure_future(ask(app, request(command("ls")), guard=TypeAheadGuard(0)))
        await settle(pilot)
        await press(pilot, "m")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await settle(pilot)
        assert len(app.screen_stack) == 1


async def test_a_dialog_that_can_not_come_back_can_not_be_minimised() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("ls")))
        await press(pilot, "m")
        assert app.screen is dialog


async def test_the_place_in_the_queue_follows() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = await show(pilot, request(command("ls")))
        assert not any("1 of" in line for line in drawn(app))
        dialog.set_place((1, 4))
        await settle(pilot)
        assert any("1 of 4" in line for line in drawn(app))
