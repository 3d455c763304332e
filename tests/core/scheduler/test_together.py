"""Edits of one step ask together, each with an answer of its own; a question that is void is taken back."""

from __future__ import annotations

import asyncio

import pytest

import core.scheduler.gate as gate
from core.contract.confirmation import ConfirmationDetails, ToolConfirmationOutcome
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.events import ApprovalMode, Notice, RequestWithdrawn, ToolCallFinished
from core.contract.ids import RequestId
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionRequest, Reply
from core.contract.tool import CallState, Kind
from core.policy.engine import PolicyEngine
from core.policy.rules import Rule
from core.tools.abort import AbortSignal
from core.tools.declarative import ToolInvocation
from tests.fakes.harness import NO, YES, Harness, call, go_on
from tests.fakes.tools import Probe, ProbeInvocation, ProbeParams


def edit(id_: str, path: str, **more: str) -> object:
    return call("edit", id_, name=id_, path=path, **more)


async def asked_at_first(harness: Harness, *calls: object) -> list[str]:
    """Return the ids of the calls that ask before anyone has answered anything, and answer all in order."""
    running = asyncio.create_task(harness.scheduler.run(list(calls), 1, AbortSignal()))  # type: ignore[arg-type]
    await harness.until(ApprovalRequest)
    for _ in range(20):
        await asyncio.sleep(0.005)
    first = [envelope.call or "" for envelope in harness.bus.pending()]
    while not running.done():
        for envelope in harness.bus.pending():
            harness.bus.reply(RequestId(envelope.id), YES)
        await asyncio.sleep(0.005)
    assert all(done.state is CallState.SUCCEEDED for done in running.result())
    return [str(id_) for id_ in first]


@pytest.mark.parametrize(
    ("kinds", "together"),
    [
        (["edit a", "edit b", "edit c"], ["0", "1", "2"]),
        (["edit a", "edit b", "edit a"], ["0", "1"]),
        (["edit a", "edit a", "edit b", "edit b"], ["0"]),
        (["edit a", "run", "edit b"], ["0"]),
        (["edit a", "look a", "edit b"], ["0"]),
        (["edit a", "look x", "edit b"], ["0", "2"]),
        (["edit", "edit b"], ["0"]),
    ],
)
async def test_neighbouring_edits_of_different_files_ask_together(kinds: list[str], together: list[str]) -> None:
    harness = Harness(policy=PolicyEngine())
    calls = []
    for number, kind in enumerate(kinds):
        name, _, path = kind.partition(" ")
        calls.append(call(name, str(number), name=str(number), path=path))
    async with harness.answering(lambda request: None):
        assert await asked_at_first(harness, *calls) == together
    changes = [entry for entry in harness.log if not kinds[int(entry[1:])].startswith("look")]
    order = [str(number) for number, kind in enumerate(kinds) if not kind.startswith("look")]
    assert changes == [f"{sign}{number}" for number in order for sign in "+-"]  # one by one, in call order


async def test_each_of_them_gets_an_answer_of_its_own() -> None:
    harness = Harness()

    def answer(request: ApprovalRequest | QuestionRequest) -> Reply:
        assert isinstance(request, ApprovalRequest)
        if request.call.id == "1":
            return NO
        return ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, new_content=f"taken of {request.call.id}")

    async with harness.answering(answer):
        done = await harness.scheduler.run([edit(str(n), f"/{n}") for n in range(3)], 1, AbortSignal())  # type: ignore[misc]
    assert [one.state for one in done] == [CallState.SUCCEEDED, CallState.DENIED, CallState.SUCCEEDED]
    assert [str(one.result.llm_content) for one in done][::2] == ["result of 0: taken of 0", "result of 2: taken of 2"]


async def test_rules_hold_for_each_call_by_itself() -> None:
    harness = Harness(policy=PolicyEngine([Rule("edit", "deny", path="/1*"), Rule("edit", "allow", path="/2*")]))
    async with harness.answering(go_on) as asked:
        done = await harness.scheduler.run([edit(str(n), f"/{n}") for n in range(4)], 1, AbortSignal())  # type: ignore[misc]
    assert [request.call.id for request in asked if isinstance(request, ApprovalRequest)] == ["0", "3"]
    assert [one.state is CallState.SUCCEEDED for one in done] == [True, False, True, True]


async def test_a_grant_answers_the_questions_that_wait() -> None:
    harness = Harness()
    always = ApprovalReply(ToolConfirmationOutcome.PROCEED_ALWAYS)

    def answer(request: ApprovalRequest | QuestionRequest) -> Reply | None:
        return always if isinstance(request, ApprovalRequest) and request.call.id == "1" else None

    async with harness.answering(answer):
        done = await harness.scheduler.run([edit(str(n), f"/{n}") for n in range(3)], 1, AbortSignal())  # type: ignore[misc]
    assert [one.state for one in done] == [CallState.SUCCEEDED] * 3
    assert harness.policy.mode is ApprovalMode.AUTO_EDIT
    assert [event.renewed for event in harness.of(RequestWithdrawn)] == [False, False]
    assert harness.log == ["+0", "-0", "+1", "-1", "+2", "-2"]


async def test_stopping_ends_them_all() -> None:
    harness = Harness()
    abort = AbortSignal()
    async with harness.answering(lambda request: None):
        running = asyncio.create_task(harness.scheduler.run([edit(str(n), f"/{n}") for n in range(3)], 1, abort))  # type: ignore[misc]
        await harness.until(ApprovalRequest, 3)
        abort.abort("enough")
        done = await running
    assert [one.state for one in done] == [CallState.CANCELLED] * 3
    assert harness.bus.pending() == [] and len(harness.of(ToolCallFinished)) == 3


class Disk(Probe):
    """An edit of a file that others change, too: `versions` is what the proposals are made of, one after the other."""

    def __init__(self, *versions: str) -> None:
        super().__init__("disk", Kind.EDIT)
        self.versions = list(versions)

    def create_invocation(self, params: ProbeParams) -> ToolInvocation:
        return DiskInvocation(params, self, self.versions[0])


class DiskInvocation(ProbeInvocation):
    def is_outdated(self) -> bool:
        assert isinstance(self.probe, Disk)
        if self.content == self.probe.versions[0] and len(self.probe.versions) > 1:
            self.probe.versions.pop(0)
        return self.content != self.probe.versions[0]

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        if self.content == "gone":
            raise ToolFailure(ToolErrorType.EDIT_NO_OCCURRENCE_FOUND, "it does not stand there any more")
        return await super().get_confirmation_details(abort)


async def test_a_proposal_that_no_longer_fits_is_made_again_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_LOOK", 0.01)
    harness = Harness()
    harness.registry.register(Disk("one", "two", "three"))
    async with harness.answering(lambda request: None):
        running = asyncio.create_task(harness.scheduler.run([call("disk", name="d", path="/d")], 1, AbortSignal()))
        request = await harness.until(ApprovalRequest, 3)
        assert request.details.new_content == "three" and "changed since" in request.reason
        (open_,) = harness.bus.pending()
        harness.bus.reply(RequestId(open_.id), YES)
        (done,) = await running
    assert [event.renewed for event in harness.of(RequestWithdrawn)] == [True, True]
    assert done.result.llm_content == "result of d: three"


async def test_one_that_cannot_be_made_again_fails_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_LOOK", 0.01)
    harness = Harness()
    harness.registry.register(Disk("one", "gone"))
    async with harness.answering(lambda request: None):
        (done,) = await harness.scheduler.run([call("disk", name="d", path="/d")], 1, AbortSignal())
    assert done.state is CallState.FAILED and done.result.error is not None
    assert "Read the file again" in str(done.result.llm_content)
    (notice,) = harness.of(Notice)
    assert "no longer fits" in notice.message and "does not stand there" in notice.hint
