"""What an entry is seen as: its kind, its mode and the digest of all of its content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.fileops.entries import look
from core.fileops.steps import Seen

READ_AT_ONCE = 1024 * 1024


@pytest.mark.parametrize("size", [0, 1, *range(READ_AT_ONCE - 1, READ_AT_ONCE + 3), 2 * READ_AT_ONCE + 1])
def test_all_of_a_file_counts(tmp_path: Path, size: int) -> None:
    data = b"x" * size
    (tmp_path / "file").write_bytes(data)
    (tmp_path / "file").chmod(0o640)
    assert looked_at(tmp_path / "file") == Seen.file(data, 0o640)


def test_a_file_may_have_more_than_its_size_says() -> None:
    version = Path("/proc/version")
    if not version.exists() or version.stat().st_size:
        pytest.skip("no such file here")
    assert looked_at(version) == Seen.file(version.read_bytes(), 0o444)


def looked_at(path: Path) -> Seen | None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        return look(folder, path.name)
    finally:
        os.close(folder)
