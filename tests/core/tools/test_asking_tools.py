"""ask_user and the two plan tools, called through the gate as a model's calls are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import AskUserConfirmation, Choice, PlanConfirmation, ToolConfirmationOutcome
from core.contract.errors import ToolErrorType
from core.contract.events import ApprovalMode, ModeChanged
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionRequest, Reply
from core.contract.tool import CallState, llm_text
from core.policy.mode_switch import PolicyModeSwitch
from core.scheduler.scheduler import CompletedCall
from core.tools.abort import AbortSignal
from core.tools.builtin.ask_user import AskUserTool
from core.tools.builtin.enter_plan_mode import EnterPlanModeTool
from core.tools.builtin.exit_plan_mode import ExitPlanModeTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace
from tests.core.tools.case_workspace import load_cases
from tests.fakes.harness import YES, Harness, call

pytestmark = pytest.mark.anyio
PICK = {
    "question": "Which one?",
    "header": "Pick",
    "options": [{"label": "a", "description": "first"}, {"label": "b"}],
}


class Session(Harness):
    """The harness with the asking tools."""

    def __init__(self, root: Path, *, interactive: bool = True) -> None:
        super().__init__()
        (root / "ws").mkdir(exist_ok=True)
        (root / "scratch").mkdir(exist_ok=True)
        self.context = ToolContext(Workspace([root / "ws"], scratch=root / "scratch"), interactive=interactive)
        self.context.mode = PolicyModeSwitch(self.policy, self.bus.channel().publish)
        for kind in (AskUserTool, EnterPlanModeTool, ExitPlanModeTool):
            self.registry.register(kind(self.context))

    async def call(self, name: str, /, **args: Any) -> CompletedCall:
        (done,) = await self.scheduler.run([call(name, **args)], 1, AbortSignal())
        return done

    @property
    def offered(self) -> set[str]:
        return {declared.name for declared in self.registry.declarations()} - {"look", "edit", "run"}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def text_of(done: CompletedCall) -> str:
    return llm_text(done.result.llm_content)


async def test_every_case_of_ask_user_is_refused(cases: Path) -> None:
    for case in load_cases(cases, "ask_user"):
        result = await AskUserTool().build_and_execute(case["args"])
        assert result.error is not None and result.error.type.value == case["expect"]["error_type"], case["id"]


async def test_answers_come_back_by_number(session: Session) -> None:
    questions = [
        PICK,
        {"question": "Sure?", "type": "yesno"},
        {"question": "Name?", "type": "text", "placeholder": "Ada"},
        {"question": "Many?", "choices": [{"label": "x"}, {"label": "y"}], "multiple": True},
    ]

    def answer(request: ApprovalRequest | QuestionRequest) -> Reply:
        assert isinstance(request, ApprovalRequest) and isinstance(request.details, AskUserConfirmation)
        first, second, third, fourth = request.details.questions
        assert first.choices == (Choice("a", "first"), Choice("b")) and first.header == "Pick"
        assert [choice.label for choice in second.choices] == ["Yes", "No"] and third.choices == ()
        assert fourth.multiple and not first.multiple
        answers = {"Which one?": "b", "Sure?": "Yes", third.question: "Eve", "Many?": "x, y"}
        return ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, answers=answers)

    async with session.answering(answer) as asked:
        done = await session.call("ask_user", questions=questions)
    assert len(asked) == 1 and asked[0].grant == ""  # type: ignore[union-attr]  # checked above
    assert json.loads(text_of(done)) == {"answers": {"0": "b", "1": "Yes", "2": "Eve", "3": "x, y"}}


@pytest.mark.parametrize("mode", list(ApprovalMode))
async def test_questions_are_asked_in_every_mode(session: Session, mode: ApprovalMode) -> None:
    session.policy.mode = mode
    reply = ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, answers={"Which one?": "a"})
    async with session.answering(lambda request: reply) as asked:
        await session.call("ask_user", questions=[PICK])
    assert len(asked) == 1


async def test_no_answer_is_said(session: Session) -> None:
    cancelled = ApprovalReply(ToolConfirmationOutcome.CANCEL, "the user did not answer")
    for reply, state in ((cancelled, CallState.DENIED), (YES, CallState.FAILED)):
        async with session.answering(lambda request, reply=reply: reply):  # type: ignore[misc]  # bound here
            assert (await session.call("ask_user", questions=[PICK])).state is state


@pytest.mark.parametrize(
    "questions",
    [
        [PICK] * 5,
        [PICK, PICK],
        [{"question": ""}],
        [{"question": "x", "options": [{"label": "a"}, {"label": "a"}]}],
        [{"question": "x", "options": [{"label": "only"}]}],
        [{"question": "x", "type": "number"}],
        [{"question": "x", "colour": "red"}],
    ],
)
async def test_bad_questions_are_refused(session: Session, questions: list[object]) -> None:
    done = await session.call("ask_user", questions=questions)
    assert done.result.error is not None and done.result.error.type is ToolErrorType.INVALID_TOOL_PARAMS


async def test_what_is_offered_when(session: Session, tmp_path: Path) -> None:
    assert session.offered == {"ask_user", "enter_plan_mode"}
    session.policy.mode = ApprovalMode.PLAN
    assert session.offered == {"ask_user", "exit_plan_mode"}
    assert Session(tmp_path, interactive=False).offered == set()


async def test_headless_nobody_answers(tmp_path: Path) -> None:
    done = await Session(tmp_path, interactive=False).call("ask_user", questions=[PICK])
    assert done.state is CallState.DENIED and "nobody is here" in text_of(done)


async def test_a_plan_is_agreed_on(session: Session) -> None:
    session.policy.mode = ApprovalMode.AUTO_EDIT
    await session.call("enter_plan_mode", reason="large")
    assert session.policy.mode is ApprovalMode.PLAN
    assert (await session.call("edit", name="x")).state is CallState.DENIED
    async with session.answering(lambda request: YES) as asked:
        done = await session.call("exit_plan_mode", plan="# Plan\n\n1. do it")
    details = asked[0].details  # type: ignore[union-attr]  # an ApprovalRequest
    assert isinstance(details, PlanConfirmation) and details.plan == "# Plan\n\n1. do it"
    assert Path(details.plan_file).read_text() == "# Plan\n\n1. do it"
    assert session.policy.mode is ApprovalMode.AUTO_EDIT
    assert details.plan_file in text_of(done) and "the approval mode is now auto_edit" in text_of(done)
    assert [event.mode for event in session.of(ModeChanged)] == [ApprovalMode.PLAN, ApprovalMode.AUTO_EDIT]


async def test_a_rejected_plan_leaves_plan_mode_on(session: Session) -> None:
    session.policy.mode = ApprovalMode.PLAN
    no = ApprovalReply(ToolConfirmationOutcome.CANCEL, "too risky")
    async with session.answering(lambda request: no):
        done = await session.call("exit_plan_mode", plan="p")
    assert done.state is CallState.DENIED and "too risky" in text_of(done)
    assert session.policy.mode is ApprovalMode.PLAN
    assert list(Path(str(session.context.workspace.scratch)).rglob("*.md")) == []


async def test_edits_from_then_on_without_asking(session: Session) -> None:
    session.policy.mode = ApprovalMode.PLAN
    always = ApprovalReply(ToolConfirmationOutcome.PROCEED_ALWAYS)
    async with session.answering(lambda request: always):
        await session.call("exit_plan_mode", plan="p")
    assert session.policy.mode is ApprovalMode.AUTO_EDIT


async def test_a_plan_in_a_file(session: Session) -> None:
    session.policy.mode = ApprovalMode.PLAN
    path = Path(session.context.workspace.root) / "plan.md"
    path.write_text("from the file")
    async with session.answering(lambda request: YES) as asked:
        assert (await session.call("exit_plan_mode", plan_path="plan.md")).state is CallState.SUCCEEDED
    assert asked[0].details.plan == "from the file"  # type: ignore[union-attr]  # a PlanConfirmation


async def test_plan_mode_is_never_left_unasked(session: Session) -> None:
    session.policy.mode = ApprovalMode.PLAN
    result = await session.registry.find("exit_plan_mode").build_and_execute({"plan": "p"})  # type: ignore[union-attr]
    assert result.error is not None and session.policy.mode is ApprovalMode.PLAN
    done = await session.call("exit_plan_mode", plan="p")  # nobody answers
    assert done.state is CallState.DENIED and session.policy.mode is ApprovalMode.PLAN


async def test_what_makes_no_sense(session: Session) -> None:
    done = await session.call("exit_plan_mode", plan="p")
    assert done.state is CallState.FAILED and "Plan mode is not on" in text_of(done)
    session.policy.mode = ApprovalMode.PLAN
    assert "on already" in text_of(await session.call("enter_plan_mode"))
    for args in ({}, {"plan": " "}, {"plan": "a", "plan_filename": "b"}, {"plan_filename": "none.md"}):
        assert (await session.call("exit_plan_mode", **args)).state is CallState.FAILED
