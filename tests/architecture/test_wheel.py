"""The installed copy owns one name, and can't be confused by a project's own `app`, `core` and `widgets`."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import stet
from tests.architecture.sources import ROOT, repository_files

LIMIT = 120


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("stet-*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it; its dependencies are those of the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    install = [sys.executable, "-m", "pip", "--python", str(folder), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run(
        [*install, "--disable-pip-version-check", str(wheel)], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose own folders have the names of ours."""
    for name in ("app", "core", "widgets", "styles"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("WHOSE = 'the project'\n")
    (tmp_path / "app" / "cli.py").write_text("raise SystemExit('the project was started')\n")
    return tmp_path


def run(installed: Path, project: Path, *arguments: str) -> str:
    """Run a program of the environment in the project, which is also on PYTHONPATH; return its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STET_"))}
    done = subprocess.run(
        [str(installed / "bin" / arguments[0]), *arguments[1:]],
        cwd=project,
        env={**environment, "PYTHONPATH": ".", "HOME": str(project)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_one_name_and_everything_of_it(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {"stet", f"stet-{stet.__version__}.dist-info"}
    for path in repository_files():
        if path.parts[0] in ("app", "core", "widgets", "styles"):
            assert f"stet/{path.as_posix()}" in names
        elif path.parts[0] == "stet":
            assert path.as_posix() in names
    assert not [name for name in names if name.endswith(".pyc")]


def test_the_command_is_ours_inside_a_project_with_our_names(installed: Path, project: Path) -> None:
    assert run(installed, project, "stet", "--version") == f"stet {stet.__version__}\n"
    assert "usage: stet" in run(installed, project, "stet", "--help")
    assert "usage: stet" in run(installed, project, "python", "-m", "stet", "--help")


def test_the_public_api_is_ours_there_too(installed: Path, project: Path) -> None:
    code = "import stet, app, core; print(stet.StetError.__module__, app.__file__, core.__file__)"
    module, app_file, core_file = run(installed, project, "python", "-c", code).split()
    assert module == "core.contract.errors"
    for file in (app_file, core_file):
        assert Path(file).is_relative_to(installed)
        assert Path(file).parts[-3] == "stet"


def test_the_projects_own_folders_stay_the_projects(installed: Path, project: Path) -> None:
    code = "import app, core, widgets; print(app.WHOSE, core.WHOSE, widgets.WHOSE, sep=', ')"
    assert run(installed, project, "python", "-c", code) == "the project, the project, the project\n"


def test_no_folder_of_ours_is_a_name_of_its_own(installed: Path, tmp_path: Path) -> None:
    code = "import importlib.util as u; print([n for n in ('app', 'core', 'widgets', 'styles') if u.find_spec(n)])"
    assert run(installed, tmp_path, "python", "-c", code) == "[]\n"
