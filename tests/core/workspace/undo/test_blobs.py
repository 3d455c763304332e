"""The contents that undo keeps: within their cap, whole, and for nobody else's eyes."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from core.workspace.undo.blobs import BlobStore


def test_the_store_stays_under_its_cap(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path / "objects", cap=200_000)
    digests = [blobs.put(os.urandom(2_000)) for _ in range(1_000)]
    assert blobs.size <= 200_000
    on_disk = sum(path.stat().st_size for path in blobs.folder.glob("??/*"))
    assert on_disk == blobs.size
    assert blobs.get(digests[-1]) is not None
    assert blobs.get(digests[0]) is None
    assert {stat.S_IMODE(path.stat().st_mode) for path in blobs.folder.glob("??/*")} == {0o600}


def test_a_damaged_content_is_not_given_back(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    digest = blobs.put(b"content")
    (path,) = tmp_path.glob("??/*")
    path.write_bytes(path.read_bytes()[:-3])
    assert blobs.get(digest) is None


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    for name, age in (("new-x", 7_200), ("new-y", 0)):
        (tmp_path / "ab" / name).write_bytes(b"half")
        os.utime(tmp_path / "ab" / name, (time.time() - age, time.time() - age))
    blobs = BlobStore(tmp_path)
    blobs.put(b"content")
    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["new-y"], "another process may be writing it"
