"""What is loaded when the screen is first painted: no more than the prompt and the status line need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import PRODUCT, ROOT

_CODE = """
import sys
import app.launch, app.keymap, app.terminal_input, core.log, core.redaction, core.settings.layers, core.settings.paths
from app.application import StetApp
from app.options import SessionOptions

def report(app):
    app.exit()
    print(*sys.modules, file=sys.__stdout__)

StetApp._start_session = report
StetApp(SessionOptions()).run(headless=True)
"""

HEAVY = ("google", "mcp", "httpx", "pydantic", "tree_sitter_bash", "pathspec", "pyte", "markdown_it", "pygments")
LATE = (
    "app.bootstrap",
    "app.bridge",
    "app.host",
    "app.presenters.all",
    "core.agent",
    "core.bus",
    "core.contract.envelope",
    "core.contract.events",
    "core.contract.requests",
    "core.contract.tool",
    "core.model",
    "core.policy",
    "core.terminal",
    "core.tools",
    "core.workspace",
    "widgets.approval",
    "widgets.diff",
    "widgets.shell.pane",
    "widgets.todo.pane",
    "widgets.transcript.view",
)
"""Ours that come with the session: making the classes of the events alone takes a tenth of the start."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("stet")
    environment = os.environ | {f"STET_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "STATE", "CACHE")}
    done = subprocess.run(
        [sys.executable, "-c", _CODE], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("library", HEAVY)
def test_no_heavy_library_delays_the_first_paint(loaded: set[str], library: str) -> None:
    assert "textual.app" in loaded
    assert library not in loaded


@pytest.mark.parametrize("module", LATE)
def test_the_session_comes_after_the_first_paint(loaded: set[str], module: str) -> None:
    assert {name for name in loaded if name == module or name.startswith(f"{module}.")} == set()


def test_few_modules_of_ours_are_needed_to_paint(loaded: set[str]) -> None:
    ours = {name for name in loaded if name.split(".")[0] in PRODUCT}
    assert 20 < len(ours) <= 70, sorted(ours)


def test_what_comes_later_exists() -> None:
    """A name in the list above that nothing bears any more would prove nothing."""
    for name in LATE:
        place = ROOT / Path(*name.split("."))
        assert place.with_suffix(".py").is_file() or place.is_dir(), name
