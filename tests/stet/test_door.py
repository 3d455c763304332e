"""The door: light, ours first, clear when a stranger was faster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stet

ROOT = Path(__file__).resolve().parents[2]


def run_python(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter in `folder`."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that has its own `app`, `core` and `widgets`."""
    for name in ("app", "core", "widgets"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("whose = 'theirs'\n")
    return tmp_path


@pytest.mark.parametrize("name", stet.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(stet, name).__name__ == name
    assert name in dir(stet)


def test_an_unknown_name_is_an_attribute_error_that_lists_the_names() -> None:
    with pytest.raises(AttributeError, match="'Toolbx'; it offers: .*Toolbox"):
        _ = stet.Toolbx


def test_ours_wins_over_a_projects_own_folders(project: Path) -> None:
    code = "import stet, core.contract.errors as ours; print(stet.StetError is ours.StetError, ours.__file__)"
    done = run_python(code, project, PYTHONPATH=f".:{ROOT}")
    assert done.stdout.split() == ["True", str(ROOT / "core" / "contract" / "errors.py")], done.stderr


def test_a_stranger_that_came_first_is_named(project: Path) -> None:
    done = run_python("import core, stet; stet.StetError", project, PYTHONPATH=f".:{ROOT}")
    assert f"the module 'core' was already imported from {project / 'core'}" in done.stderr
    assert "import stet first" in done.stderr


def test_the_version_is_answered_without_the_application() -> None:
    code = (
        "import sys; sys.argv = ['stet', '--version']\n"
        "import stet.__main__ as door\n"
        "print(door.main(), 'app' in sys.modules)"
    )
    done = run_python(code, ROOT)
    assert done.stdout.splitlines() == [f"stet {stet.__version__}", "0 False"], done.stderr
