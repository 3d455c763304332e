"""The guide to custom tools: its example is extracted, put in place, and run as the guide says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stet import Toolbox, ToolErrorType

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration folder with the example in it, and a project beside it."""
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))
    guide = (ROOT / "docs" / "custom-tools.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    (tmp_path / "config" / "tools").mkdir(parents=True)
    (tmp_path / "config" / "tools" / "word_count.py").write_text(example)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.md").write_text("one two two\n")
    return tmp_path


async def test_the_example_runs_through_the_public_api(place: Path) -> None:
    async with Toolbox(place / "project") as box:
        assert box.problems == []
        result = await box.call("word_count", {"file_path": "a.md", "most_common": 1})
        assert (result.error, result.llm_content) == (None, "3 words, most frequent: two (2)")
        wrong = await box.call("word_count", {"file_path": "a.py"})
        assert wrong.error is not None and "must name a .txt or .md file" in wrong.error.message
        outside = await box.call("word_count", {"file_path": "../config/tools/x.md"})
        assert outside.error is not None and outside.error.type is ToolErrorType.PATH_NOT_IN_WORKSPACE
        unknown = await box.call("word_count", {"file_path": "a.md", "most_comon": 1})
        assert unknown.error is not None and "did you mean 'most_common'?" in unknown.error.message


def test_the_example_runs_from_the_command_line(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stet", "tool", "run", "word_count", '{"file_path": "a.md"}'],
        cwd=place / "project",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.returncode) == ("3 words, most frequent: two (2), one (1)\n", 0), done.stderr


async def test_a_projects_tools_are_loaded_where_it_is_trusted(place: Path) -> None:
    tools = place / "project" / ".stet" / "tools"
    tools.mkdir(parents=True)
    (place / "config" / "tools" / "word_count.py").rename(tools / "word_count.py")
    async with Toolbox(place / "project") as box:
        assert box.registry.find("word_count") is None
    async with Toolbox(place / "project", trust=True) as box:
        assert box.registry.find("word_count") is not None
