"""The form of the source: sizes, names, docstrings. There is no list of exceptions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.sources import PRODUCT, ROOT, parse, python_files

MODULES = python_files(*PRODUCT, "tests")
MOST_LINES = 400
MOST_LINES_OF_FUNCTION = 60
MOST_LINES_OF_CENTRE = 200
CENTRES = ("app/application.py", "app/screens/workspace.py", "core/agent/agent.py")
"""The App, the Screen and the Loop own no feature."""
VAGUE = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|handlers?|misc|common_?functions)(?:_|$)", re.IGNORECASE)


def count_lines(path: Path) -> int:
    return len((ROOT / path).read_text(encoding="utf-8").splitlines())


def test_no_file_is_too_long() -> None:
    assert {str(path): count_lines(path) for path in MODULES if count_lines(path) > MOST_LINES} == {}


def test_no_function_is_too_long() -> None:
    long = {}
    for path in MODULES:
        for node in ast.walk(parse(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES_OF_FUNCTION:
                    long[f"{path}:{node.lineno} {node.name}"] = lines
    assert long == {}


@pytest.mark.parametrize("centre", CENTRES)
def test_the_centres_stay_small(centre: str) -> None:
    assert count_lines(Path(centre)) <= MOST_LINES_OF_CENTRE


def test_names_say_what_is_meant() -> None:
    vague = [str(path) for path in MODULES if any(VAGUE.search(part.removesuffix(".py")) for part in path.parts)]
    assert vague == []


def test_every_module_says_why_it_exists() -> None:
    silent = [str(path) for path in MODULES if not (ast.get_docstring(parse(path)) or not (ROOT / path).stat().st_size)]
    assert silent == []


def test_no_module_docstring_is_a_novel() -> None:
    long = {}
    for path in python_files(*PRODUCT):
        first_paragraph = (ast.get_docstring(parse(path)) or "").split("\n\n")[0]
        if first_paragraph.count("\n") > 2:
            long[str(path)] = first_paragraph
    assert long == {}
