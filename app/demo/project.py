"""The scratch project of the guided session: its files, and a git repository where there is git."""

from __future__ import annotations

import contextlib
from pathlib import Path

from core.contract.errors import StetError
from core.workspace.git import GitFailed, ask_git, has_git

SOURCE = Path(__file__).parent / "project"
"""The files, each with `.txt` after its name: they are data here, no modules of ours."""

_IDENTITY = ("-c", "user.name=stet demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgSign=false")


def make_project(folder: Path) -> None:
    """Write the project into a folder, which is made if need be.

    Raises:
        StetError: the folder holds something already, or can't be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise StetError(f"{folder} is not empty.", "Name a new or an empty folder: stet demo --keep DIR")
        for source in sorted(SOURCE.rglob("*.txt")):
            target = folder / source.relative_to(SOURCE).with_suffix("")
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(source.read_bytes())
    except OSError as error:
        raise StetError(f"The demo's project can't be made in {folder}: {error.strerror}.") from error
    if has_git():
        with contextlib.suppress(GitFailed):  # the session works without a repository
            _commit_all(str(folder))


def _commit_all(folder: str) -> None:
    ask_git(folder, ["init", "--quiet", "--initial-branch=main", "--template="])
    ask_git(folder, ["add", "--all"])
    ask_git(folder, [*_IDENTITY, "commit", "--quiet", "--message=A corner shop"])
