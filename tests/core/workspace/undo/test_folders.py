"""Undo of directories: empty ones come and go like files, those that were made go with what was made in them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.workspace.undo.plan import Readiness
from tests.core.workspace.undo.test_store import Place, git

pytestmark = pytest.mark.anyio

COMMANDS: dict[str, str] = {
    "removed": "rmdir empty && rm -r hollow",
    "made": "mkdir -p hollow/more new/deep",
    "moved": "mv hollow elsewhere",
    "to a file": "rmdir empty && echo x > empty",
    "from a file": "rm run.sh && mkdir run.sh",
    "among files": "mkdir src/void && rm -r src hollow/inner && mkdir hollow/else",
    "emptied": "rm src/file",
}


@pytest.fixture(params=["plain", "git"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    root = tmp_path / "project"
    for name in ("empty", "hollow/inner", "src"):
        (root / name).mkdir(parents=True)
    (root / "src" / "file").write_text("x\n")
    (root / "run.sh").write_text("echo hi\n")
    if request.param == "git":
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "first")
    made = Place(root, tmp_path / "state")
    async with made.store:
        yield made


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
async def test_empty_directories_come_back_and_go_again(place: Place, line: str) -> None:
    before = place.picture()
    await place.command(line)
    after = place.picture()
    assert after != before
    await place.undo()
    assert place.picture() == before
    await place.redo()
    assert place.picture() == after
    await place.undo()
    assert place.picture() == before


async def test_they_are_named_as_directories(place: Place) -> None:
    await place.command("rmdir empty && mkdir new")
    assert [item.shown for item in (await place.store.plan_turn()).ready] == ["empty/", "new/"]


async def test_directories_that_an_edit_made_go_with_it_and_those_of_commands_with_what_lies_in_them(
    place: Place,
) -> None:
    start = place.picture()
    await place.edit("new/deep/a.txt", "1\n")
    after = place.picture()
    await place.undo()
    assert place.picture() == start
    await place.redo()
    assert place.picture() == after
    await place.undo()
    await place.command("mkdir other empty/below", turn=2)
    await place.edit("other/a.txt", "1\n", turn=3)
    await place.store.apply(await place.store.plan_since(2))
    assert place.picture() == start


async def test_a_directory_in_which_something_lies_meanwhile_stays(place: Place) -> None:
    await place.command("mkdir made && rmdir empty", turn=1)
    (place.root / "made" / "mine").write_text("x")
    (place.root / "empty").write_text("x")
    plan = await place.undo()
    assert [(item.shown, item.readiness) for item in plan.left] == [("empty", Readiness.CONFLICT)]
    assert (place.root / "made" / "mine").read_text() == "x"
    assert (place.root / "empty").read_text() == "x"
