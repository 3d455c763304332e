"""Every outcome of a confirmation for every sort of call, answered over the bus: what runs, and what is asked later."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.confirmation import ToolConfirmationOutcome as Outcome
from core.contract.events import ApprovalMode
from core.contract.requests import ApprovalReply
from core.contract.tool import CallState, ToolCall
from core.policy.rules import SHELL_TOOL
from core.tools.abort import AbortSignal
from tests.core.scheduler.test_gate import Session
from tests.fakes.harness import call

pytestmark = pytest.mark.anyio

ONCE, ALWAYS, TOOL, SERVER = (
    Outcome.PROCEED_ONCE,
    Outcome.PROCEED_ALWAYS,
    Outcome.PROCEED_ALWAYS_TOOL,
    Outcome.PROCEED_ALWAYS_SERVER,
)
SAVE, MODIFY, CANCEL = Outcome.PROCEED_ALWAYS_AND_SAVE, Outcome.MODIFY_WITH_EDITOR, Outcome.CANCEL
CALLS = {
    # a call, one of its sort, and one that only a wider answer covers
    "edit": (("edit", {"path": "a"}), ("edit", {"path": "a"}), ("edit", {"path": "b"})),
    "exec": (
        (SHELL_TOOL, {"command": "git commit -m x"}),
        (SHELL_TOOL, {"command": "git commit -m y"}),
        (SHELL_TOOL, {"command": "git push"}),
    ),
    "mcp": (("srv__a", {"name": "x"}), ("srv__a", {"name": "y"}), ("srv__b", {"name": "x"})),
    "info": (("run", {"name": "x"}), ("run", {"name": "y"}), ("other__a", {"name": "x"})),
}


def a_call(sort: str, number: int) -> ToolCall:
    name, args = CALLS[sort][number]
    return call(name, f"c{number}", **args)


@pytest.mark.parametrize(
    ("sort", "outcome", "runs", "asked_later"),
    [
        *((sort, ONCE, True, [1, 2]) for sort in CALLS),
        *((sort, CANCEL, False, [1, 2]) for sort in CALLS),
        ("edit", ALWAYS, True, []),  # auto-edit mode
        ("exec", ALWAYS, True, [2]),
        ("mcp", ALWAYS, True, [2]),
        ("info", ALWAYS, True, [2]),
        ("edit", TOOL, True, []),
        ("exec", TOOL, True, [2]),  # never all commands at once
        ("mcp", TOOL, True, [2]),
        ("info", TOOL, True, [2]),
        ("exec", SERVER, True, [2]),
        ("mcp", SERVER, True, []),
        ("edit", SAVE, True, [2]),  # the path that was shown
        ("exec", SAVE, True, [2]),
        ("mcp", SAVE, True, [2]),
        ("info", SAVE, True, [2]),
        *((sort, MODIFY, False, [1, 2]) for sort in CALLS),  # nothing edited came back
    ],
)
async def test_an_outcome_covers_what_it_says(
    tmp_path: Path, sort: str, outcome: Outcome, runs: bool, asked_later: list[int]
) -> None:
    session = Session(tmp_path)
    (done,) = await session.run(a_call(sort, 0), reply=ApprovalReply(outcome))
    assert (done.state is CallState.SUCCEEDED) is runs and len(session.asked) == 1
    assert (session.policy.mode is ApprovalMode.AUTO_EDIT) is (sort == "edit" and outcome is ALWAYS)
    asked = []
    for number in (1, 2):
        before = len(session.asked)
        await session.run(a_call(sort, number))
        asked += [number] * (len(session.asked) - before)
    assert asked == asked_later
    saved = [path.read_text() for path in (tmp_path / "user").glob("*.toml")]
    assert bool(saved) is (outcome is SAVE)
    assert not saved or session.asked[0].rule.strip() in saved[0], "the rule that was shown is the one that is saved"


@pytest.mark.parametrize(
    ("sort", "changed", "written"),
    [("edit", {"new_content": "mine"}, "mine"), ("exec", {"command": "git status"}, "git status")],
)
async def test_an_edited_proposal_is_what_is_done(
    tmp_path: Path, sort: str, changed: dict[str, str], written: str
) -> None:
    for outcome in (MODIFY, ONCE):
        session = Session(tmp_path)
        (done,) = await session.run(a_call(sort, 0), reply=ApprovalReply(outcome, **changed))  # type: ignore[arg-type]  # by name
        assert done.state is CallState.SUCCEEDED and written in str(done.result.llm_content)


@pytest.mark.parametrize("sort", list(CALLS))
async def test_where_nobody_is_there_nothing_runs_and_the_way_out_is_named(tmp_path: Path, sort: str) -> None:
    session = Session(tmp_path)
    (done,) = await session.scheduler.run([a_call(sort, 0)], 1, AbortSignal())
    assert done.state is CallState.DENIED and session.log == []
    assert "nobody is here" in str(done.result.llm_content) and "policies folder" in str(done.result.llm_content)


@pytest.mark.parametrize("sort", list(CALLS))
async def test_a_reason_and_a_note_reach_the_model(tmp_path: Path, sort: str) -> None:
    session = Session(tmp_path)
    (done,) = await session.run(a_call(sort, 0), reply=ApprovalReply(CANCEL, "not now"))
    assert "not now" in str(done.result.llm_content)
    (done,) = await session.run(a_call(sort, 0), reply=ApprovalReply(ONCE, "only this time"))
    assert "only this time" in str(done.result.llm_content)
