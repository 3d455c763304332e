"""Style sheets: no selector that matches everything (Textual would restyle every widget), one file a pane."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture.sources import ROOT, parse, python_files

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"([^{};]*)\{")


def find_stars(css: str) -> list[str]:
    """Return the selectors that hold a bare `*`."""
    return [match[1].strip() for match in _SELECTOR.finditer(_COMMENT.sub("", css)) if "*" in match[1]]


def style_texts() -> list[tuple[Path, str]]:
    texts = [(path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in (ROOT / "styles").rglob("*.tcss")]
    for path in python_files("app", "widgets"):
        for node in ast.walk(parse(path)):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Constant):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Name) and target.id.endswith("CSS") for target in targets):
                    texts.append((path, str(node.value.value)))
    return texts


def test_the_search_finds_stars() -> None:
    assert find_stars("/* * { } */ A > * { color: red; } B { width: 1fr; } * { }") == ["A > *", "*"]


def test_no_selector_matches_everything() -> None:
    texts = style_texts()
    assert len(texts) > 3
    assert {str(path): find_stars(css) for path, css in texts if find_stars(css)} == {}
