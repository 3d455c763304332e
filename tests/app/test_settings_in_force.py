"""Settings that the screen obeys: each does what its help says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from core.settings.models import Settings
from tests.app.running import running
from widgets.diff.view import DiffView

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
EDIT = 'call replace {"file_path": "a.py", "old_string": "red", "new_string": "blue"}\n---\nsay end'


def configure(project: Path, text: str) -> None:
    folder = project.parent / "config"
    folder.mkdir()
    (folder / "settings.toml").write_text(text)


@pytest.mark.parametrize(
    ("choice", "size", "is_split"),
    [("split", (80, 24), True), ("unified", (200, 60), False), ("auto", (200, 60), True), ("auto", (80, 24), False)],
)
async def test_changes_are_shown_as_chosen(project: Path, choice: str, size: tuple[int, int], is_split: bool) -> None:
    configure(project, f'[ui]\ndiff_view = "{choice}"\n')
    (project / "a.py").write_text("red\n")
    async with running(project, EDIT, size=size) as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("blue")
        assert run.dialog.query_one(DiffView).is_split is is_split
        await run.press("t", "n")
        await run.idle()


async def test_nothing_moves_with_reduced_motion(project: Path) -> None:
    configure(project, "[ui]\nreduced_motion = true\n")
    async with running(project, "say begun\nwait forever") as run:
        await run.prompt("go")
        await run.shows("begun")
        assert run.app.animation_level == "none"
        await run.press("escape")
        await run.idle()


async def test_the_users_shell_is_the_one_that_was_chosen(project: Path) -> None:
    program = project.parent / "own-shell"
    program.write_text("#!/bin/sh\necho this is mine\nexec /bin/sh\n")
    program.chmod(0o755)
    configure(project, f'[shell]\nprogram = "{program}"\n')
    async with running(project) as run:
        await run.press(*"!echo hello", "enter")
        await run.shows("this is mine", "own-shell")


def fields(model: type[BaseModel], prefix: str = "") -> list[str]:
    found = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found += fields(inner, f"{prefix}{name}.")
        else:
            found.append(f"{prefix}{name}")
    return found


@pytest.mark.parametrize("key", fields(Settings))
def test_every_setting_is_read_somewhere(key: str) -> None:
    name = key.rpartition(".")[2]
    places = [
        path
        for folder in ("app", "core", "widgets", "stet")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "models.py" and re.search(rf"\.{name}\b|\"{key}\"", path.read_text(encoding="utf-8"))
    ]
    assert places, f"nothing obeys {key}"
