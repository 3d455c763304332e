"""A review whose proposals are made again at an unlucky moment."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

import app.services.edit_review as edit_review
from app.services.edit_review import EditReview
from core.contract.confirmation import EditConfirmation, FileOperationsConfirmation
from core.contract.ids import CallId
from core.contract.requests import ApprovalRequest
from core.contract.tool import Kind, ToolCall
from tests.widgets.diff.host import Host, settle

pytestmark = pytest.mark.anyio

OLD = "one\ntwo\nthree\n"


def request(call: str, *names: str, old: str = OLD) -> ApprovalRequest:
    files = tuple(EditConfirmation("", name, name, "", old, old.replace("two", "TWO")) for name in names)
    details = FileOperationsConfirmation("many files", files)
    return ApprovalRequest(ToolCall(CallId(call), "file_operations", {}), "Files", Kind.EDIT, details)


def stage(app: Host) -> Any:
    settings = SimpleNamespace(ui=SimpleNamespace(diff_view="auto"))
    return SimpleNamespace(app=app, engine=SimpleNamespace(workspace=SimpleNamespace(shown=str), settings=settings))


async def test_a_proposal_that_is_made_again_while_the_review_opens_is_shown_as_it_is_now() -> None:
    async with Host().run_test(size=(100, 24)) as pilot:
        review = EditReview(stage(pilot.app), [request("1", "a.txt", "b.txt"), request("2", "c.txt")])
        shown = asyncio.Event()
        decision = asyncio.ensure_future(review.decide(lambda dialog: shown.set()))
        while review.screen is None:
            await asyncio.sleep(0)
        review.hold(CallId("1"))
        await review.renew(request("1", "a.txt", "d.txt", old="zero\n" + OLD))
        review.take_out(CallId("2"))
        await shown.wait()
        await settle(pilot)
        assert [(each.path, each.is_held) for each in review.screen.proposals] == [("a.txt", False), ("d.txt", False)]
        assert all(each.patch.new_text == "zero\none\nTWO\nthree\n" for each in review.screen.proposals)
        decision.cancel()


async def test_a_call_that_asks_no_longer_while_its_edits_are_kept_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Host().run_test(size=(100, 24)) as pilot:
        review = EditReview(stage(pilot.app), [request("1", "a.txt", "b.txt"), request("2", "c.txt")])
        shown = asyncio.Event()
        decision = asyncio.ensure_future(review.decide(lambda dialog: shown.set()))
        await shown.wait()
        assert review.screen is not None
        edited = edit_review.make_patch("a.txt", OLD, OLD.replace("three", "3"))
        review.screen.find_proposal("a.txt").replace(edited)
        loop = asyncio.get_running_loop()

        def merge(*texts: str) -> None:
            taken_out = asyncio.run_coroutine_threadsafe(take_out(), loop)
            taken_out.result()

        async def take_out() -> None:
            review.take_out(CallId("1"))

        monkeypatch.setattr(edit_review, "merge_texts", merge)
        await review.renew(request("1", "a.txt", "b.txt", old="zero\n" + OLD))
        assert [each.path for each in review.screen.proposals] == ["c.txt"]
        decision.cancel()
