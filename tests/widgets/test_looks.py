"""How the review and the dialogs look at three sizes: their text as it is drawn, in files beside this one.

    STET_WRITE_LOOKS=1 python -m pytest tests/widgets/test_looks.py     writes them anew: read what changed

Colours are not in them; what they would say is said by signs and words.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import (
    AskUserConfirmation,
    Choice,
    CommandPart,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    PlanConfirmation,
    Question,
)
from core.contract.ids import CallId
from core.contract.requests import ApprovalRequest
from core.contract.tool import Kind, ToolCall
from core.diff.hunks import make_patch
from tests.widgets.diff.host import Host, drawn, review, settle, three_hunks
from widgets.approval.ask import make_dialog
from widgets.approval.dialog import DecisionScreen
from widgets.approval.guard import TypeAheadGuard

pytestmark = pytest.mark.anyio

SIZES = ((80, 24), (120, 40), (200, 60))
LOOKS = Path(__file__).parent / "looks"


def asked(details: Any, name: str, kind: Kind, **options: Any) -> DecisionScreen[Any]:
    request = ApprovalRequest(ToolCall(CallId("c"), "tool", {}), name, kind, details, **options)
    return make_dialog(request, guard=TypeAheadGuard(0))


def several_files() -> DecisionScreen[Any]:
    new = make_patch("docs/new.md", None, "# New\n\nA text with a tab\there and \u202ebidi.\n")
    screen = review(
        three_hunks("src/client.py"),
        make_patch("src/retry.py", "tries = 3\n", "tries = 5  # \u200bmore\n"),
        new,
        title="3 edits of one step",
        tool="Edit, WriteFile",
        reason="edit tools ask first",
        grant="all edits in this session (auto-edit mode)",
        notes={"src/client.py": ("The file changed on disk since the model last read it.",)},
    )
    screen.proposals[0].toggle(1)
    screen.proposals[0].remarks[1] = "keep the log line"
    return screen


def command() -> DecisionScreen[Any]:
    parts = (CommandPart("git status", "allow"), CommandPart("rm -rf build", "ask", "it is not known to be read-only"))
    details = ExecConfirmation("Run?", "git status && rm -rf build", "git", ("git", "rm"), "~/project", parts)
    rule = '[[rule]]\ntool = "run_shell_command"\ncommand_prefix = "rm"\ndecision = "allow"\n'
    return asked(details, "Shell", Kind.EXECUTE, reason="rm asks first", grant="`rm …` in this session", rule=rule)


def plan() -> DecisionScreen[Any]:
    text = "# Plan\n\n1. Read the client.\n2. Add a retry with a pause that grows.\n3. Test it.\n"
    return asked(PlanConfirmation("Carry out this plan?", "plan.md", text), "Plan", Kind.OTHER)


def questions() -> DecisionScreen[Any]:
    choices = (Choice("httpx", "it is there already"), Choice("requests"))
    first = Question("Which library shall the client use?", "Library", choices)
    return asked(AskUserConfirmation("Before I begin", (first, Question("How often?"))), "AskUser", Kind.COMMUNICATE)


def outside_tool() -> DecisionScreen[Any]:
    details = McpConfirmation("Call?", "tracker", "create_issue", "Create issue", {"title": "Retry", "labels": ["bug"]})
    return asked(details, "tracker", Kind.OTHER, reason="tools from outside ask", grant="tracker__create_issue")


def fetch() -> DecisionScreen[Any]:
    details = InfoConfirmation("Fetch this page?", "Sum the page up", ("https://example.org/\u200bpage",))
    return asked(details, "WebFetch", Kind.FETCH, reason="addresses ask once")


@pytest.mark.parametrize("make", [several_files, command, plan, questions, outside_tool, fetch])
async def test_it_looks_as_it_did(make: Callable[[], DecisionScreen[Any]]) -> None:
    found = ""
    app = Host()
    async with app.run_test(size=SIZES[0]) as pilot:
        await app.push_screen(make())
        for columns, rows in SIZES:
            await pilot.resize_terminal(columns, rows)
            await settle(pilot)
            lines = [line.rstrip() for line in drawn(app)]
            assert len(lines) == rows
            found += f"--- {columns}x{rows}\n" + "".join(f"{line}\n" for line in lines)
    path = LOOKS / f"{make.__name__}.txt"
    if os.environ.get("STET_WRITE_LOOKS"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
