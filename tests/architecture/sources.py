"""The repository's own files, as the architecture tests look at them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("stet", "app", "core", "widgets")


def python_files(*folders: str) -> list[Path]:
    """Return the Python files of the folders, relative to the root."""
    return sorted(path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of every module that is imported anywhere in a tree, also late and for types only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used here"
            yield f"{node.module}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def repository_files() -> list[Path]:
    """Return every file that git tracks, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=60)
    return [Path(name) for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def modules_loaded_by(statement: str) -> set[str]:
    """Return the names of all modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())
