"""Our folders lie where the platform wants them, and only their owner may look in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.settings.paths import find_folders, make_private


def test_our_own_variables_win() -> None:
    environment = {"STET_CONFIG_DIR": "/a", "STET_STATE_DIR": "b", "STET_CACHE_DIR": "/c", "XDG_CONFIG_HOME": "/x"}
    folders = find_folders(environment)
    assert (folders.config, folders.state, folders.cache) == (Path("/a"), Path.cwd() / "b", Path("/c"))
    assert folders.settings_file == Path("/a/settings.toml")


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has its own places")
def test_xdg_folders() -> None:
    folders = find_folders({"HOME": "/h", "XDG_CONFIG_HOME": "/x", "XDG_STATE_HOME": "relative", "XDG_CACHE_HOME": ""})
    assert folders.config == Path("/x/stet")
    assert folders.state == Path("/h/.local/state/stet")
    assert folders.cache == Path("/h/.cache/stet")


def test_made_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    for mask in (0o000, 0o777):
        former = os.umask(mask)
        try:
            made = make_private(tmp_path / f"{mask}" / "deep")
        finally:
            os.umask(former)
        assert made.stat().st_mode & 0o777 == made.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o750)
    assert make_private(shared).stat().st_mode & 0o777 == 0o750


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "deep"):
        with pytest.raises(StetError, match=f"The folder {path} can't be made: Not a directory"):
            make_private(path)
