"""Hostile texts through every kind of block: no control character, no link, no markup, no crash."""

from __future__ import annotations

import pytest

from core.contract.display import AnsiOutput, FileDiff, SubagentProgress
from core.contract.frame import CellStyle, Span
from core.contract.state import NoticeLevel
from core.contract.todo import Todo, TodoList
from core.contract.tool import CallState, Kind
from tests.widgets.hostile import HOSTILE, is_safe
from tests.widgets.transcript.host import Host, add_answer, lines, segments, settle
from widgets.transcript.block import BlockId
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio


def show_everywhere(view: TranscriptView, text: str) -> None:
    """Put `text` into every place of the transcript that shows foreign text."""
    view.add_user(text)
    view.add_user(text, steering=True)
    thought = view.start_thought()
    view.append_thought(thought, text)
    add_answer(view, text)
    add_answer(
        view, f"# {text}\n\n- {text}\n\n> {text}\n\n`{text}` [a {text}](http://x/{text} '{text}') ![{text}]({text})"
    )
    add_answer(view, f"```{text}\n{text}\n```\n\n| {text} | b |\n|---|---|\n| c | {text} |\n")
    open_fence = view.start_answer()
    view.append_answer(open_fence, f"```python\n{text}\n{text}")
    view.add_notice(text, text, NoticeLevel.ERROR)
    waiting = view.add_tool(text, Kind.OTHER, text)
    view.update_tool(waiting, CallState.AWAITING_APPROVAL, description=f"`{text}` {text}")
    failed = view.add_tool(text, Kind.EXECUTE, text)
    view.update_tool(failed, CallState.FAILED, summary=text, error=text, display=text + text)
    for display in (
        text,
        FileDiff(text, text, f"@@ -1 +1 @@ {text}\n-{text}\n+{text}\n {text}\n\\{text}\n", text, text),
        AnsiOutput(((Span(text, CellStyle(fg="1", blink=True, conceal=True)),),)),
        TodoList((Todo("1", text),)),
        SubagentProgress(text, (text,), text),
    ):
        tool = view.add_tool("t", Kind.OTHER, "x")
        view.update_tool(tool, CallState.SUCCEEDED, display=display)
        view.toggle(tool)
    view.toggle(thought)


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_block_lets_a_hostile_text_through(text: str) -> None:
    app = Host()
    async with app.run_test(size=(100, 160)) as pilot:
        show_everywhere(app.view, text)
        await settle(pilot)
        assert app.view.window.heights.total < 160
        for segment in segments(app.view):
            assert segment.control is None
            assert is_safe(segment.text), segment
            assert segment.style is not None
            assert segment.style.link is None
            assert set(segment.style.meta) <= {"offset"}
            assert not segment.style.conceal and not segment.style.blink
        assert all(app.view.render_line(y).cell_length == 100 for y in range(160 - 3))


async def test_markup_is_shown_as_it_is_written() -> None:
    app = Host()
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.add_user("[@click=app.exit]x[/] [/y]")
        app.view.add_notice("[b]z[/b]")
        await settle(pilot)
        assert lines(app.view)[0].strip() == "❯ [@click=app.exit]x[/] [/y]"
        assert lines(app.view)[2].strip() == "• [b]z[/b]"


@pytest.mark.parametrize("text", HOSTILE)
async def test_copying_gives_the_text_itself(text: str) -> None:
    app = Host()
    async with app.run_test(size=(80, 10)):
        assert app.view.text_of(app.view.add_user(text)) == text
        assert app.view.text_of(BlockId(99)) == ""
