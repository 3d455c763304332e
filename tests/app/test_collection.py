"""Garbage is collected in a moment of rest after a turn, and at no other."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from app.presenters import collection
from tests.app.running import running

pytestmark = pytest.mark.anyio


async def test_after_a_turn_it_waits_for_rest(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[str] = []
    monkeypatch.setattr(collection, "REST", 0.02)
    monkeypatch.setattr(collection, "settle", lambda: settled.append("now"))
    async with running(project, "say begun\nwait forever\n---\nsay end") as run:
        await run.prompt("go")
        await run.shows("begun")
        assert settled == []
        await run.press("escape")
        await run.idle()
        await run.press("f1")  # the help lies over the chat
        await run.until(lambda: run.app.screen is not run.app.workspace, "the help")
        count = len(settled)
        await run.press("escape")
        await run.until(lambda: len(settled) > count or count, "rest")
        assert len(settled) == 1


def test_collecting_leaves_what_lives_long_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.services.collection import THRESHOLDS, settle, start_collecting

    called: list[Any] = []
    for name in ("collect", "freeze", "enable", "set_threshold"):
        monkeypatch.setattr(gc, name, lambda *given, name=name: called.append((name, *given)))
    start_collecting()
    settle()
    assert called == [("freeze",), ("set_threshold", *THRESHOLDS), ("enable",), ("collect",), ("freeze",)]
