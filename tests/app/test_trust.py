"""A project that brings files of its own is asked about before anything of it is used; leaving answers nothing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from app.application import StetApp
from app.bootstrap import open_engine
from app.launch import trusts_theme
from app.options import SessionOptions
from core.contract.requests import QuestionReply
from core.policy.trust import TRUST, ProjectTrust, TrustStore
from core.settings.paths import find_folders
from widgets.approval.question_dialog import QuestionDialog

pytestmark = pytest.mark.anyio

RULE = '[[rule]]\ntool = "run_shell_command"\ncommand_prefix = "make_x"\ndecision = "allow"\n'


@pytest.fixture
def bringing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))
    policies = tmp_path / "project" / ".stet" / "policies"
    policies.mkdir(parents=True)
    (policies / "p.toml").write_text(RULE)
    (policies.parent / "settings.toml").write_text("[agent]\nmax_turns = 7\n")
    return tmp_path / "project"


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[tuple[StetApp, Pilot[int]]]:
    app = StetApp(SessionOptions(directory=folder, interactive=True, offline=True))
    async with app.run_test(size=(100, 30)) as pilot:
        yield app, pilot


async def until(pilot: Pilot[int], holds: Callable[[], Any]) -> None:
    started = time.monotonic()
    while not holds():
        assert time.monotonic() - started < 30
        await pilot.pause(0.01)


async def answer(app: StetApp, pilot: Pilot[int], number: int) -> None:
    await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
    await pilot.pause()
    assert isinstance(app.screen, QuestionDialog)
    app.screen.guard._opens_at = 0.0
    await pilot.press(str(number), "enter")


async def test_trusted_it_counts_and_is_not_asked_about_again_until_it_changes(bringing: Path) -> None:
    for asked in (True, False):
        async with started(bringing) as (app, pilot):
            if asked:
                await answer(app, pilot, 1)
            await until(pilot, lambda: app.host is not None and app.host.ready.is_set())
            assert app.host is not None and app.host.engine is not None
            assert app.host.engine.policy.check_command("make_x").verdict == "allow"
            assert app.host.engine.settings.agent.max_turns == 7
    (bringing / ".stet" / "policies" / "p.toml").write_text(RULE.replace("make_x", "make_y"))
    async with started(bringing) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, QuestionDialog))
        assert app.host is not None and app.host.engine is None


async def test_not_trusted_it_does_not_count(bringing: Path) -> None:
    async with started(bringing) as (app, pilot):
        await answer(app, pilot, 2)
        await until(pilot, lambda: app.host is not None and app.host.ready.is_set())
        assert app.host is not None and app.host.engine is not None
        assert app.host.engine.policy.check_command("make_x").verdict == "ask"
        assert app.host.engine.settings.agent.max_turns != 7


async def test_without_a_screen_it_is_not_trusted_and_that_is_said(bringing: Path) -> None:
    options = SessionOptions(directory=bringing, offline=True)
    async with asyncio.timeout(30), open_engine(options) as engine:
        assert not engine.options.trust and "make_x" not in str(engine.policy.rules)
        assert any(".stet/settings.toml" in problem and "--trust" in problem for problem in engine.problems)
    async with asyncio.timeout(30), open_engine(SessionOptions(directory=bringing, offline=True, trust=True)) as engine:
        assert engine.policy.check_command("make_x").verdict == "allow" and engine.settings.agent.max_turns == 7


def test_the_theme_of_a_project_counts_at_the_first_paint_only_where_it_is_trusted(project: Path) -> None:
    folders = find_folders(os.environ)
    options = SessionOptions(directory=project)
    assert not trusts_theme(options, folders)
    (project / ".stet").mkdir()
    (project / ".stet" / "settings.toml").write_text('[ui]\ntheme = "stet-light"\n')
    assert not trusts_theme(options, folders)
    ProjectTrust(project, TrustStore(folders.state / "trust.json")).take(QuestionReply({"trust": TRUST}))
    assert trusts_theme(options, folders)
    (project / ".stet" / "settings.toml").write_text('[ui]\ntheme = "stet-contrast"\n')
    assert not trusts_theme(options, folders), "what was trusted is another content"
