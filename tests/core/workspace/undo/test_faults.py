"""Faults while changes are kept: what can't be kept is said, is never taken for nothing, and ends no session."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.workspace.undo import image, tree
from core.workspace.undo.blobs import BlobStore
from core.workspace.undo.image import Image, ImageKind, take_image
from core.workspace.undo.plan import Readiness
from tests.core.workspace.undo.test_store import Place, git

pytestmark = pytest.mark.anyio


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """A repository with a file as git has it, and one that git does not have."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "tracked.txt").write_text("old\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    (root / "other.txt").write_text("old\n")
    made = Place(root, tmp_path / "state")
    async with made.store:
        await made.store.settled()
        yield made


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.ENOENT, errno.EACCES, errno.EROFS])
async def test_what_can_not_be_kept_is_said_and_the_session_goes_on(
    place: Place, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(blobs: BlobStore, data: bytes) -> str:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(BlobStore, "put", refuse)
        await place.command("echo new > tracked.txt; echo new > other.txt")
        await place.edit("tracked.txt", "edited\n")
    plan = await place.store.plan_turn(1)
    assert {item.shown: item.readiness for item in plan.items}["tracked.txt"] is Readiness.LOST
    assert not any(item.target.kind is ImageKind.ABSENT for item in plan.items), "it would be deleted"
    assert any(f"it could not be kept: {os.strerror(code)}" in note for _, notes in place.told for note in notes)
    await place.command("echo newer > tracked.txt", turn=2)
    await place.command("echo newest > tracked.txt", turn=3)
    await place.undo(3)
    assert (place.root / "tracked.txt").read_text() == "newer\n"


async def test_a_workspace_that_goes_away_ends_nothing(place: Place) -> None:
    before = place.picture()
    away = place.root.with_name("away")
    await place.command(f"mv {place.root} {away}")
    shutil.move(away, place.root)
    await place.command("echo new > tracked.txt", turn=3)
    await place.undo(3)
    assert place.picture() == before


async def test_a_file_that_grows_while_it_is_read_is_not_kept_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"x" * 90)
    monkeypatch.setattr(image, "MAX_KEPT_BYTES", 100)
    opened = os.open

    def grow(name: str, flags: int, *rest: int, dir_fd: int | None = None) -> int:
        if name == "log.txt":
            path.write_bytes(b"x" * 200)
        return opened(name, flags, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(image.os, "open", grow)
    taken = take_image(str(tmp_path), "log.txt", BlobStore(tmp_path / "objects"))
    assert not taken.digest and "larger" in taken.omitted


async def test_a_pipe_that_takes_the_place_of_a_file_is_not_taken_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    opened = os.open

    def swap(name: str, flags: int, *rest: int, dir_fd: int | None = None) -> int:
        if name == "a":
            path.unlink()
            os.mkfifo(path)
        return opened(name, flags, *rest, dir_fd=dir_fd)

    monkeypatch.setattr(image.os, "open", swap)
    assert take_image(str(tmp_path), "a", BlobStore(tmp_path / "objects")) == Image(ImageKind.OTHER)


async def test_a_file_that_someone_changes_often_does_not_use_up_the_room(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MAX_COPIED", 1_000)
    for number in range(30):
        (place.root / "other.txt").write_text(f"{number} {'x' * 100}\n")
        await place.command("true", turn=1)
    before = place.picture()
    await place.command("echo new > other.txt", turn=2)
    await place.undo(2)
    assert place.picture() == before
