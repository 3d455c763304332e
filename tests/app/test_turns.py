"""Turns in the composed application: what is said is shown, and keys steer, stop, queue and quit."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Key

from core.contract.conversation import TextPart
from core.contract.events import ApprovalMode, MessageAdded, PromptSubmitted, TurnEnd, TurnFinished
from tests.app.running import running
from widgets.prompt.draft import Draft, PromptMode
from widgets.prompt.queue import QueueScreen

pytestmark = pytest.mark.anyio

SIZES = [(80, 24), (120, 40), (200, 60)]
WAIT = "say begun\nwait forever\n"


@pytest.mark.parametrize("size", SIZES)
async def test_a_turn_with_tools(project: Path, size: tuple[int, int]) -> None:
    (project / "a.py").write_text("x = 1\n")
    script = (
        "think I look first.\nsay I **look**.\n"
        'call read_file {"file_path": "a.py"}\ncall list_directory {"dir_path": "."}\n'
        '---\nexpect result of read_file contains "x = 1"\nsay It says `x = 1`.\nusage input=1000 output=10'
    )
    async with running(project, script, size=size) as run:
        await run.prompt("what is in a.py?")
        await run.idle()
        await run.shows("❯ what is in a.py?", "I look.", "Read a.py", "Read .", "It says x = 1.")
        lines = run.text.split("\n")
        assert len(lines) == size[1]
        assert all(len(line) <= size[0] for line in lines)


@pytest.mark.parametrize("size", [(20, 5), (60, 18)])
async def test_a_tiny_terminal_shows_what_it_can(project: Path, size: tuple[int, int]) -> None:
    (project / "a.py").write_text("x = 1\n")
    script = (
        'say "a long line of words, longer than this terminal"\n'
        'call write_todos {"todos": [{"description": "one", "status": "pending"}]}\n'
        'call replace {"file_path": "a.py", "old_string": "1", "new_string": "2"}\n'
        'call run_shell_command {"command": "echo hi; touch done"}\n---\nsay done'
    )
    async with running(project, script, size=size) as run:
        await run.press("ctrl+t", "ctrl+right_square_bracket", "f1", "escape", "ctrl+p", "escape")
        await run.prompt("go")
        await run.answer("v", "y")
        await run.answer("v", "y")
        await run.idle()
        await run.press("f4", "f3", "f6", "f11")
        for columns, lines in ((1, 1), (40, 10), (120, 40)):
            await run.pilot.resize_terminal(columns, lines)
            await run.pilot.pause()
        assert (project / "a.py").read_text() == "x = 2\n"
        assert (project / "done").exists()


async def test_prompts_queue_while_the_agent_works_and_can_be_taken_back(project: Path) -> None:
    script = f'{WAIT}---\nexpect prompt contains "second"\nsay two'
    async with running(project, script) as run:
        await run.prompt("first")
        await run.shows("begun")
        await run.prompt("second")
        await run.prompt("third")
        await run.shows("second", "third")
        await run.press("up")
        await run.until(lambda: run.app.workspace.prompt.draft.text == "third", "the last one in the prompt")
        await run.press("ctrl+c")
        await run.press("escape")
        await run.shows("two")
        await run.idle()
        ends = [event.reason for event in run.of(TurnFinished)]
        assert ends == [TurnEnd.INTERRUPTED, TurnEnd.DONE]


async def test_what_waits_can_be_moved_edited_removed_and_sent_at_once(project: Path) -> None:
    script = (
        'call run_shell_command {"command": "until test -e go; do sleep 0.05; done"}\n---\nsay turned\n---\nsay end'
    )
    async with running(project, script, approval_mode="yolo") as run:
        await run.prompt("start")
        await run.shows("1 job")
        await run.press("alt+q")
        await run.shows("Nothing waits")
        for text in ("second", "third", "fourth", "fifth"):
            await run.prompt(text)
        await run.shows("queued 1  (alt+q changes it): second")
        await run.press("alt+q")
        await run.until(lambda: isinstance(run.app.screen, QueueScreen), "the queue")
        await run.press("down", "shift+up")
        await run.shows("▸ third")
        assert run.app.workspace.prompt.queue == ("third", "second", "fourth", "fifth")
        await run.press("s", "d", "enter")
        await run.until(lambda: run.app.workspace.prompt.draft.text == "fourth", "the third one in the prompt")
        assert run.app.workspace.prompt.queue == ("fifth",)
        await run.press("ctrl+c", "alt+q")
        await run.until(lambda: isinstance(run.app.screen, QueueScreen), "the queue")
        (project / "go").touch()
        await run.until(lambda: run.app.screen is run.app.workspace, "the queue gone with the last one in it")
        await run.shows("end")
        await run.idle()
        texts = [event.text for event in run.of(PromptSubmitted)]
        assert texts == ["start", "fifth"]
        results = run.of(MessageAdded)[2].message
        assert [part.text for part in results.parts if isinstance(part, TextPart)] == ["third"]


async def test_steering_reaches_the_model_with_the_next_results(project: Path) -> None:
    script = 'call run_shell_command {"command": "until test -e go; do sleep 0.05; done"}\n---\nsay turned'
    async with running(project, script, approval_mode="yolo") as run:
        await run.prompt("start")
        await run.shows("1 job")
        run.app.workspace.prompt.insert_text("the other way, please")
        await run.press("alt+s")
        await run.shows("the other way, please")
        (project / "go").touch()
        await run.shows("turned")
        results = run.of(MessageAdded)[2].message
        assert [part.text for part in results.parts if isinstance(part, TextPart)] == ["the other way, please"]


async def test_ctrl_c_clears_then_stops_then_asks_then_quits(project: Path) -> None:
    async with running(project, WAIT) as run:
        await run.prompt("first")
        await run.shows("begun")
        run.app.workspace.prompt.insert_text("half a thought")
        await run.press("ctrl+c")
        assert run.app.workspace.prompt.draft.is_empty
        assert run.engine.agent.is_busy
        await run.press("ctrl+c")
        await run.idle()
        await run.shows("Stopped.")
        await run.press("up")
        assert run.app.workspace.prompt.draft.text == "half a thought"
        await run.press("ctrl+c", "ctrl+c")
        await run.shows("Press ctrl+c again to quit")
        host = run.app.host
        assert host is not None and not host.closed.is_set()
        await run.press("ctrl+c")
        await run.until(host.closed.is_set, "the end")


async def test_the_modes_go_round_without_the_one_that_never_asks(project: Path) -> None:
    async with running(project) as run:
        modes = []
        for _ in range(4):
            await run.press("shift+tab")
            modes.append(run.engine.policy.mode)
        assert modes == [ApprovalMode.AUTO_EDIT, ApprovalMode.PLAN, ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT]
        await run.shows("accept edits")


async def test_commands_and_paths_are_completed(project: Path) -> None:
    (project / "inner").mkdir()
    (project / "inner" / "needle.py").write_text("x = 1\n")
    script = 'expect prompt contains "x = 1"\nsay seen'
    async with running(project, script) as run:
        run.app.workspace.prompt.insert_text("")
        await run.press(*"/mod")
        await run.shows("/mode", "/model")
        await run.press("tab")
        assert run.app.workspace.prompt.draft.text == "mode "
        await run.press("ctrl+c")
        await run.press(*"look @ndl")
        await run.shows("inner/needle.py")
        await run.press("tab")
        assert run.app.workspace.prompt.draft.text == "look @inner/needle.py "
        await run.press("enter")
        await run.shows("seen")


async def test_a_command_that_does_not_exist_is_named(project: Path) -> None:
    async with running(project) as run:
        await run.press(*"/thme")
        await run.press("escape", "enter")
        await run.shows("There is no command", "/theme")
        await run.press(*"/theme nope", "enter")
        await run.shows("There is no theme 'nope'")


async def test_a_failed_request_is_explained_and_the_session_goes_on(project: Path) -> None:
    script = "error auth The key was refused.\n---\nsay half\nerror bad_request It broke.\n---\nsay again"
    async with running(project, script) as run:
        await run.prompt("one")
        await run.shows("The key was refused.")
        await run.prompt("two")
        await run.shows("half", "It broke.")
        await run.prompt("three")
        await run.shows("again")


async def test_a_session_is_taken_up_again(project: Path) -> None:
    (project / "a.py").write_text("x = 1\n")
    script = (
        'call write_todos {"todos": [{"description": "the first thing", "status": "pending"}]}\n'
        'call read_file {"file_path": "a.py"}\n---\nsay That was **it**.'
    )
    async with running(project, script) as run:
        await run.prompt("begin")
        await run.idle()
        before = run.engine.agent.history.messages
        session = run.engine.bus.session
    async with running(project, 'expect prompt contains "go on"\nsay going on', resume="") as run:
        await run.shows("❯ begin", "Read a.py", "That was it.", "the first thing")
        assert run.engine.bus.session == session
        assert run.engine.agent.history.messages == before
        await run.prompt("go on")
        await run.shows("going on")
        assert run.of(TurnFinished)[-1].reason is TurnEnd.DONE


async def test_what_is_typed_right_after_ctrl_c_is_not_cleared_with_what_was_before_it(project: Path) -> None:
    async with running(project) as run:
        for key in [*"old", "ctrl+c", *"new"]:  # as they come in one read of the terminal
            run.app.post_message(Key(key, key if len(key) == 1 else None))
        await run.shows("❯ new")
        assert run.app.workspace.prompt.draft.text == "new"


async def test_wrong_arguments_say_what_was_expected(project: Path) -> None:
    async with running(project) as run:
        for line, said in (
            ("fork 9", "There is no turn 9"),
            ("export pdf", "Use markdown, json or html"),
            ("rewind x", "'x' is no turn"),
            ("todo x", "Use /todo or /todo clear"),
            ("vim x", "Use /vim on or /vim off"),
            ("stats x", "takes nothing after its name"),
            ("theme stet-lite", "Did you mean stet-light"),
        ):
            run.app.workspace.prompt.set_draft(Draft(line, PromptMode.COMMAND))
            await run.press("enter")
            await run.shows(said)
            run.app.clear_notifications()
        assert not (project / "pdf").exists()


async def test_the_keys_of_what_is_used_are_shown(project: Path) -> None:
    async with running(project, size=(80, 24)) as run:
        await run.press(*"/th")
        await run.shows("tab take", "esc close")
        await run.press("tab")
        await run.shows("stet-light", "theme")
        await run.press("ctrl+c")
        await run.shows("⏎ send")
        await run.press("f4")
        await run.shows("space tick", "esc prompt", "╮")
        await run.press("escape")
        await run.shows("⏎ send")
        assert run.app.workspace.focused is run.app.workspace.prompt.editor
