"""The ledger: what the model last saw is compared with what is there, and what it read is not held for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.workspace import ledger
from core.workspace.workspace import Workspace


def test_the_ledger_knows_what_is_stale(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one")
    workspace = Workspace([tmp_path])
    path = workspace.resolve("file").path
    assert not workspace.ledger.is_stale(path)
    workspace.ledger.note_read(path, workspace.read("file"))
    assert not workspace.ledger.is_stale(path)
    workspace.write("file", b"two")
    assert not workspace.ledger.is_stale(path)
    (tmp_path / "file").write_bytes(b"six")
    assert workspace.ledger.is_stale(path)
    (tmp_path / "file").unlink()
    assert workspace.ledger.is_stale(path)
    workspace.ledger.forget(path)
    assert not workspace.ledger.is_stale(path)


@pytest.mark.parametrize("room", [0, 250, 10_000])
def test_the_ledger_holds_few_contents_and_knows_all_files_that_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(ledger, "HELD_BYTES", room)
    workspace = Workspace([tmp_path])
    paths = [tmp_path.resolve() / str(number) for number in range(9)]
    for path in [*paths, *paths]:
        path.write_text(path.name * 100)
        workspace.ledger.note_read(str(path), workspace.read(path.name))
        assert workspace.ledger.held <= room
    assert workspace.ledger.held == min(room, len(paths) * 100) // 100 * 100
    expected = [workspace.fingerprint(path.name) for path in paths]
    paths[3].write_text("new" * 100)
    paths[8].write_text("new" * 100)
    assert [workspace.ledger.is_stale(str(path)) for path in paths] == [number in (3, 8) for number in range(9)]
    assert [workspace.ledger.seen(str(path)) for path in paths] == expected
    workspace.ledger.note_read(str(paths[8]), workspace.read("8"))
    workspace.ledger.forget(str(paths[8]))
    assert workspace.ledger.seen(str(paths[8])) is None and workspace.ledger.held == 0
