"""Which tool calls open by themselves: as the settings say, for all and for single tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.running import running

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("settings", "is_open"),
    [
        ("", False),
        ('tool_output = "always"', True),
        ('tool_output_of = { run_shell_command = "always" }', True),
        ('tool_output = "always"\ntool_output_of = { run_shell_command = "never" }', False),
    ],
)
async def test_output_opens_as_set(project: Path, settings: str, is_open: bool) -> None:
    folder = project.parent / "config"
    folder.mkdir()
    (folder / "settings.toml").write_text(f"[ui]\n{settings}\n")
    async with running(project, approval_mode="yolo") as stet:
        assert not stet.engine.problems
        await stet.prompt("run echo o''pened")
        await stet.idle()
        await stet.pilot.pause()
        assert ("│ opened" in stet.text) is is_open
