"""The approval of edits: what is written is what was shown or what the user made of it, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import ToolConfirmationOutcome as Outcome
from core.contract.display import FileDiff
from core.contract.errors import ToolErrorType
from core.contract.requests import ApprovalReply, DroppedHunk, LineComment
from core.contract.tool import llm_text
from core.diff.hunks import apply_hunks, make_patch
from tests.core.tools.edit_place import APPROVED, Place, decided, error_type, shown

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {n}\n" for n in range(1, 61))
"""Far changes in it are hunks of their own."""
TWO_EDITS = LINES.replace("line 5\n", "LINE 5\n").replace("line 50\n", "LINE 50\n")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_what_is_shown_is_what_is_written(place: Place) -> None:
    path = place.file("a.txt", "one\r\ntwo\r\n")
    invocation = place.invocation(place.replace, file_path="a.txt", old_string="two", new_string="2")
    details = await shown(invocation)
    assert details.title == "Confirm Edit: a.txt"
    assert (details.file_name, details.file_path) == ("a.txt", str(path))
    assert (details.original_content, details.new_content) == ("one\r\ntwo\r\n", "one\r\n2\r\n")
    assert path.read_bytes() == b"one\r\ntwo\r\n"
    await decided(invocation, APPROVED)
    assert path.read_bytes() == details.new_content.encode()


async def test_some_hunks_are_written_and_the_rest_is_told(place: Place) -> None:
    path = place.file("a.txt", LINES)
    invocation = place.invocation(place.write, file_path="a.txt", content=TWO_EDITS)
    details = await shown(invocation)
    patch = make_patch("a.txt", details.original_content, details.new_content)
    assert len(patch.hunks) == 2
    reply = ApprovalReply(
        Outcome.PROCEED_ONCE,
        new_content=apply_hunks(patch, {1}),
        dropped=(DroppedHunk("a.txt", patch.hunks[0].header, "keep five"),),
        comments=(LineComment("a.txt", 50, "loud"),),
    )
    result = await decided(invocation, reply)
    assert path.read_text() == LINES.replace("line 50\n", "LINE 50\n")
    text = llm_text(result.llm_content)
    assert f'applied 1 of 2 hunks; user declined hunk {patch.hunks[0].header}: "keep five"' in text
    assert 'The user commented on line 50: "loud"' in text
    assert "edited the proposal" not in text
    display = result.return_display
    assert isinstance(display, FileDiff)
    assert (display.diff_stat.model_added_lines, display.diff_stat.user_added_lines) == (2, 1)
    assert result.data["summary"] == "+1 −1"


async def test_the_users_own_edit_is_written_and_shown_to_the_model(place: Place) -> None:
    path = place.file("a.txt", LINES)
    invocation = place.invocation(place.write, file_path="a.txt", content=TWO_EDITS)
    await shown(invocation)
    mine = TWO_EDITS.replace("LINE 50", "my line")
    result = await decided(invocation, ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content=mine))
    assert path.read_text() == mine
    text = llm_text(result.llm_content)
    assert "The user edited the proposal before approving it" in text
    assert "-LINE 50\n+my line" in text


@pytest.mark.parametrize("exists", [True, False])
async def test_taking_nothing_writes_nothing(place: Place, exists: bool) -> None:
    if exists:
        place.file("a.txt", LINES)
    invocation = place.invocation(place.write, file_path="a.txt", content=TWO_EDITS)
    details = await shown(invocation)
    patch = make_patch("a.txt", details.original_content, details.new_content)
    dropped = tuple(DroppedHunk("a.txt", hunk.header, "no") for hunk in patch.hunks)
    result = await decided(
        invocation, ApprovalReply(Outcome.PROCEED_ONCE, new_content=apply_hunks(patch, ()), dropped=dropped)
    )
    assert error_type(result) is ToolErrorType.DENIED_BY_USER
    assert f"applied 0 of {len(patch.hunks)} hunks" in llm_text(result.llm_content)
    assert (place.root / "a.txt").exists() is exists
    assert not place.events


def _touch_content(path: Path) -> None:
    path.write_text("ONE\ntwo\n")


def _touch_same_size_and_time(path: Path) -> None:
    status = path.stat()
    path.write_text("eno\ntwo\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _touch_mode(path: Path) -> None:
    path.chmod(0o600)


def _touch_away(path: Path) -> None:
    path.unlink()


def _touch_link(path: Path) -> None:
    (path.parent / "other.txt").write_text(path.read_text())
    path.unlink()
    path.symlink_to("other.txt")


@pytest.mark.parametrize("touch", [_touch_content, _touch_same_size_and_time, _touch_mode, _touch_away, _touch_link])
async def test_a_file_that_changed_under_its_diff_is_not_written(place: Place, touch: Any) -> None:
    path = place.file("a.txt", "one\ntwo\n")
    path.chmod(0o644)
    invocation = place.invocation(place.replace, file_path="a.txt", old_string="two", new_string="2")
    await shown(invocation)
    touch(path)
    before = path.read_bytes() if path.exists() else None
    result = await decided(invocation, APPROVED)
    assert error_type(result) is ToolErrorType.FILE_CHANGED
    assert (path.read_bytes() if path.exists() else None) == before
    assert not place.events


async def test_a_file_that_appeared_under_its_diff_is_not_written(place: Place) -> None:
    invocation = place.invocation(place.write, file_path="a.txt", content="mine\n")
    assert (await shown(invocation)).original_content is None
    path = place.file("a.txt", "theirs\n")
    assert error_type(await decided(invocation, APPROVED)) is ToolErrorType.FILE_CHANGED
    assert path.read_text() == "theirs\n"


async def test_a_file_that_the_model_knows_otherwise_is_asked_about(place: Place) -> None:
    path = place.file("a.txt", "one\ntwo\n")
    content = place.workspace.read("a.txt")
    place.workspace.ledger.note(str(path), content.fingerprint)
    fresh = place.invocation(place.replace, file_path="a.txt", old_string="two", new_string="2")
    assert await fresh.reason_to_ask() == ""
    path.write_text("one more\ntwo\n")
    invocation = place.invocation(place.replace, file_path="a.txt", old_string="two", new_string="2")
    assert "changed on disk" in await invocation.reason_to_ask()
    unasked = await place.run(place.write, file_path="a.txt", content="all mine\n")
    assert error_type(unasked) is ToolErrorType.FILE_CHANGED
    assert "changed on disk" in (await shown(invocation)).notes[0]
    assert (await decided(invocation, APPROVED)).error is None
    assert path.read_text() == "one more\n2\n"
    again = place.invocation(place.replace, file_path="a.txt", old_string="2", new_string="two")
    assert await again.reason_to_ask() == ""


async def test_the_reviewer_hears_of_encodings_and_hidden_characters(place: Place) -> None:
    place.file("a.txt", "x = 'Köln, Straße, façade'\n".encode("latin-1"))
    encoded = await shown(place.invocation(place.replace, file_path="a.txt", old_string="x", new_string="y"))
    assert any("Written as CP1252" in note for note in encoded.notes)
    hidden = await shown(place.invocation(place.write, file_path="b.txt", content="a\u202eb\x1b[31m\n"))
    assert any("invisible" in note for note in hidden.notes)


async def test_an_at_sign_marks_a_path_unless_it_is_its_name(place: Place) -> None:
    await place.run(place.write, file_path="@docs/x.txt", content="x")
    assert (place.root / "docs/x.txt").read_text() == "x"
    (place.root / "@types").mkdir()
    await place.run(place.write, file_path="@types/x.txt", content="x")
    assert (place.root / "@types/x.txt").read_text() == "x"
