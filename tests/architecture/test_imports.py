"""Who may import whom. The layers of the core are contracts of import-linter, in pyproject.toml."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.sources import PRODUCT, ROOT, imported_names, modules_loaded_by, parse, python_files

LATE = ("google.genai", "mcp", "tree_sitter")
"""Heavy libraries: each is imported in one module, and never before the first paint."""


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def importers(package: str) -> set[Path]:
    return {
        path for path in python_files(*PRODUCT) if any(is_within(name, package) for name in imported_names(parse(path)))
    }


@pytest.mark.parametrize("library", LATE)
def test_a_heavy_library_is_imported_in_one_module(library: str) -> None:
    assert len(importers(library)) <= 1


@pytest.mark.parametrize("path", python_files("widgets"), ids=str)
def test_widgets_know_the_contract_alone(path: Path) -> None:
    for name in imported_names(parse(path)):
        assert not is_within(name, "core") or is_within(name, "core.contract"), name
        assert name.split(".")[0] not in {"app", "stet", "google", "mcp", "httpx", "pydantic", "asyncio.subprocess"}, (
            name
        )


@pytest.mark.parametrize("path", python_files("core"), ids=str)
def test_the_core_knows_no_screen(path: Path) -> None:
    for name in imported_names(parse(path)):
        assert name.split(".")[0] not in {"app", "widgets", "stet", "textual", "rich"}, name


@pytest.mark.parametrize("path", python_files("core/contract"), ids=str)
def test_the_contract_knows_only_itself_and_the_standard_library(path: Path) -> None:
    for name in imported_names(parse(path)):
        assert is_within(name, "core.contract") or name.split(".")[0] in sys.stdlib_module_names, name


HEAVY = {"textual", "rich", "pydantic", "httpx", "google", "mcp", "tree_sitter", "asyncio"}


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import stet", HEAVY),
        ("import stet.__main__", HEAVY),
        ("import stet.guardian", HEAVY),
        ("import app.cli", HEAVY - {"asyncio"}),
        ("import core.agent.agent", {"textual", "rich", "google", "mcp", "tree_sitter", "httpx"}),
        # Textual's own TextArea imports the bare tree_sitter binding (under 1 ms) where it is installed; no grammar.
        ("import app.application", {"google", "mcp", "tree_sitter_bash", "httpx"}),
    ],
)
def test_what_an_import_brings_along(statement: str, unwanted: set[str]) -> None:
    loaded = {name.split(".")[0] for name in modules_loaded_by(statement)}
    assert loaded & unwanted == set()


def test_every_library_that_is_imported_is_declared() -> None:
    owners = importlib.metadata.packages_distributions()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=~\[ ]", dependency)[0] for dependency in project["dependencies"]}
    roots = {name.split(".")[0] for path in python_files(*PRODUCT) for name in imported_names(parse(path))}
    foreign = roots - sys.stdlib_module_names - set(PRODUCT) - {"google", "pydantic_core"}
    undeclared = {
        name for name in foreign if not {owner.lower().replace("_", "-") for owner in owners.get(name, ())} & declared
    }
    assert undeclared == set()
