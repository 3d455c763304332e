"""Undo on the screen: the changes pane, the review of what comes back, and the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.presenters.prompt import PromptPresenter
from core.contract.events import ApprovalMode, ChangesKept, Notice
from tests.app.running import Running, running
from widgets.changes.pane import ChangesPane
from widgets.diff.review import ReviewScreen

pytestmark = pytest.mark.anyio

SCRIPT = """
call run_shell_command {"command": "sed -i s/one/1/ a.txt; echo new > b.txt; chmod 755 c.sh"}
---
say Done.
"""


@pytest.fixture
def project(project: Path) -> Path:
    (project / "a.txt").write_text("one\n" + "same\n" * 20 + "last\n")
    (project / "c.sh").write_text("echo\n")
    (project / "c.sh").chmod(0o644)
    return project


async def run_turn(run: Running) -> None:
    await run.engine.set_mode(ApprovalMode.YOLO)
    await run.prompt("change it")
    await run.until(lambda: run.of(ChangesKept), "what was kept")
    await run.idle()


async def command(run: Running, line: str) -> None:
    host = run.app.host
    assert host is not None and host.stage is not None
    (prompt,) = [each for each in host.presenters if isinstance(each, PromptPresenter)]
    host.stage.spawn(prompt.run_command(line))


async def review(run: Running) -> ReviewScreen:
    await run.asks()
    assert isinstance(run.dialog, ReviewScreen)
    return run.dialog


async def test_undo_shows_what_comes_back_and_redo_does_it_again(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await run_turn(run)
        assert (project / "a.txt").read_text().startswith("1\n")
        await command(run, "undo")
        dialog = await review(run)
        assert [proposal.path for proposal in dialog.proposals] == ["a.txt", "b.txt", "c.sh"]
        await run.press("v", "v", "v", "y")
        await run.until(lambda: (project / "a.txt").read_text().startswith("one\n"), "the undo")
        await run.until(lambda: len(run.of(ChangesKept)) == 2, "what the undo changed")
        assert not (project / "b.txt").exists()
        assert (project / "c.sh").stat().st_mode & 0o777 == 0o644

        await command(run, "redo")
        await review(run)
        await run.press("y")  # it was asked for: it need not be seen to its end
        await run.until(lambda: (project / "b.txt").exists(), "the redo")
        await run.until(lambda: len(run.of(ChangesKept)) == 3, "what the redo changed")
        assert (project / "a.txt").read_text().startswith("1\n")
        assert (project / "c.sh").stat().st_mode & 0o777 == 0o755


async def test_the_changes_pane_lists_turn_and_files_and_takes_one_back(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await run_turn(run)
        await run.press("f5")
        await run.shows("turn 1", "M a.txt +1", "A b.txt +1", "M c.sh")
        pane = run.app.workspace.find_pane("changes")
        assert isinstance(pane, ChangesPane)
        await run.press("down", "enter")
        dialog = await review(run)
        assert [proposal.path for proposal in dialog.proposals] == ["a.txt"]
        await run.press("y")
        await run.shows("(taken back)")
        assert (project / "a.txt").read_text().startswith("one\n")
        assert (project / "b.txt").exists()


async def test_the_review_says_what_is_not_watched(project: Path) -> None:
    (project / ".stetignore").write_text("build/\n")
    (project / "build").mkdir()
    (project / "build" / "x").write_text("x")
    async with running(project, SCRIPT) as run:
        await run_turn(run)
        await command(run, "undo")
        dialog = await review(run)
        assert "ignored paths is not kept: build/" in dialog.reason
        await run.press("n")


async def test_a_denied_undo_changes_nothing(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await run_turn(run)
        await command(run, "undo")
        await review(run)
        await run.press("n")
        await run.until(lambda: not isinstance(run.app.screen, ReviewScreen), "the end of the review")
        assert (project / "b.txt").exists()
        assert len(run.of(ChangesKept)) == 1


async def test_what_the_user_changed_since_is_named_and_stays(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await run_turn(run)
        (project / "a.txt").write_text("mine\n")
        await command(run, "undo 1 a.txt")
        await run.until(lambda: any("a.txt" in notice.hint for notice in run.of(Notice)), "the reason")
        assert (project / "a.txt").read_text() == "mine\n"


async def test_without_changes_undo_says_so(project: Path) -> None:
    async with running(project, "say hi") as run:
        await command(run, "undo")
        await run.shows("No turn changed a file")
