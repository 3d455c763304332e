"""Pasting images: dropped files become mentions, and so does an image in the clipboard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.events import Paste

from app.services.pasted_images import find_dropped, mention_images, paste_image
from core.contract.conversation import MediaPart
from core.contract.events import MessageAdded
from tests.app.running import running

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 20


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder"
    folder.mkdir()
    for name in ("one.png", "two.JPG", "no.txt"):
        (folder / name).write_bytes(PNG)
    return folder


def test_dropped_images_are_found_however_the_terminal_writes_them(images: Path) -> None:
    one, two = images / "one.png", images / "two.JPG"
    escaped = str(one).replace(" ", "\\ ")
    for text in (str(one), f"'{one}'", f'"{one}" ', escaped, f"file://{str(one).replace(' ', '%20')}", f"{one}\n"):
        assert find_dropped(text) == [one], text
    assert find_dropped(f"{escaped} '{two}'") == [one, two]
    for text in (
        f"see {one}",
        f"{escaped} and",
        str(images / "no.txt"),
        str(images / "gone.png"),
        "one.png",
        "'/",
        "/\0",
    ):
        assert find_dropped(text) == [], text


def test_an_image_outside_is_copied_to_where_it_may_be_read(images: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert mention_images(str(images / "one.png"), images, scratch) == "@one.png "
    for name in ("one.png", "one-2.png"):
        assert mention_images(str(images / "one.png"), tmp_path / "else", scratch) == f"@{scratch / name} "
        assert (scratch / name).read_bytes() == PNG
    assert mention_images("just text", images, scratch) == "just text"


@pytest.mark.anyio
async def test_the_clipboards_image_is_saved_and_mentioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "bin" / "xclip"
    tool.parent.mkdir()
    (tmp_path / "image").write_bytes(PNG)
    tool.write_text(f'#!/bin/sh\ncase "$*" in *TARGETS*) echo image/png;; *) cat {tmp_path}/image;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    assert await paste_image(tmp_path, {"DISPLAY": ":0"}) == f"@{tmp_path / 'pasted.png'} "
    assert (tmp_path / "pasted.png").read_bytes() == PNG
    assert await paste_image(tmp_path, {"DISPLAY": ":0", "SSH_CONNECTION": "x"}) == ""
    tool.write_text("#!/bin/sh\necho UTF8_STRING\n")
    assert await paste_image(tmp_path, {"DISPLAY": ":0"}) == ""


@pytest.mark.anyio
async def test_a_dropped_image_is_sent_along(project: Path, images: Path) -> None:
    async with running(project, "say seen") as run:
        editor = run.app.workspace.prompt.editor
        editor.post_message(Paste(f"'{images / 'one.png'}'"))
        await run.until(lambda: editor.text.startswith("@"), "the mention")
        await run.press("enter")
        await run.shows("seen")
        parts = run.of(MessageAdded)[0].message.parts
        assert [part.mime_type for part in parts if isinstance(part, MediaPart)] == ["image/png"]
        await run.press("!")
        editor.post_message(Paste(f"'{images / 'one.png'}'"))
        await run.until(lambda: editor.text.startswith("'"), "the path itself")
