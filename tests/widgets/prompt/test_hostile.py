"""Foreign text in the prompt and its lists."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.widgets.hostile import HOSTILE, is_safe
from tests.widgets.prompt.host import PromptHost, until
from widgets.prompt.candidates import Candidate
from widgets.prompt.completion import CompletionPopup
from widgets.prompt.draft import Draft

pytestmark = pytest.mark.anyio


def drawn(app: PromptHost) -> list[str]:
    """Return the lines of the screen."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
async def test_nothing_hostile_is_drawn(number: int) -> None:
    text = HOSTILE[number]

    async def complete(kind: str, query: str) -> Sequence[Candidate]:
        return [Candidate(text, text, label=text), Candidate(text, disabled_reason=text)]

    app = PromptHost(complete=complete)
    async with app.run_test(size=(80, 24)) as pilot:
        app.pane.set_queue([text])
        app.pane.insert_text(text)
        app.pane.set_draft(Draft(app.pane.draft.text + text + "\n@"))
        popup = app.query_one(CompletionPopup)
        await until(pilot, lambda: popup.is_open)
        await pilot.press("down", "down", "enter")
        lines = drawn(app)
        assert all(is_safe(line) for line in lines)
        assert not any(
            segment.style is not None and (segment.style.link or segment.style.meta.get("@click"))
            for strip in app.screen._compositor.render_strips()
            for segment in strip
        )
        await pilot.press("enter")
        assert is_safe(app.sent[0].replace("\n", "").replace("\t", ""))
