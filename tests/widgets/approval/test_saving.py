"""Saving a rule: what it would have let through is shown, and it goes where it can go."""

from __future__ import annotations

import pytest

from core.contract.confirmation import ToolConfirmationOutcome
from core.contract.requests import ApprovalReply
from tests.widgets.approval.test_dialogs import command, request, show
from tests.widgets.diff.host import Host, drawn, press

pytestmark = pytest.mark.anyio


async def test_a_rule_is_shown_with_what_it_would_have_allowed_and_saved_where_it_can_be() -> None:
    app = Host()
    earlier = ("git commit -m a (2 times)", "git commit -m \x1b[31mb")
    async with app.run_test(size=(80, 24)) as pilot:
        for scopes, key, outcome in (
            (("user",), "P", None),
            (("user", "project"), "P", ApprovalReply(ToolConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE, scope="project")),
            (("user", "project"), "p", ApprovalReply(ToolConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE)),
        ):
            what = request(command("ls"), rule="r", scopes=scopes, would_have_allowed=earlier)
            dialog = await show(pilot, what)
            lines = "\n".join(drawn(app))
            assert "so far it would have let through:" in lines
            assert "git commit -m a (2 times)" in lines and "\u241b[31mb" in lines
            assert ("P save for the project" in lines) == ("project" in scopes)
            await press(pilot, key)
            assert dialog.outcome == outcome
            if outcome is None:
                await press(pilot, "n")
