"""Languages of other packages: the example of the documentation is loaded, what is broken is told and left out."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.fileops.languages.registry import GROUP, Wanted, load_languages
from tests.architecture.sources import ROOT

EVERYTHING = Wanted(symbols=True, imports=True, problems=True, names=True)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which packages lie as if installed."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("stet_"):
            del sys.modules[name]


def install(folder: Path, module: str, code: str, kind: str) -> None:
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{module}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{module} = {module}:{kind}\n")


def entries(folder: Path) -> list[importlib.metadata.EntryPoint]:
    found = importlib.metadata.distributions(path=[str(folder)])
    return [entry for item in found for entry in item.entry_points if entry.group == GROUP]


def test_the_example_of_the_documentation(package: Path) -> None:
    page = (ROOT / "docs" / "languages.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    install(package, "stet_make", code, "Make")
    languages = load_languages(entries(package))
    assert languages.problems == []
    found = languages.analyse("a/b.mk", b"include common.mk\n\nall: one\n\techo\none:\n", EVERYTHING)
    assert [(s.kind, s.name, s.line) for s in found.symbols] == [("target", "all", 3), ("target", "one", 5)]
    assert [(i.module, i.line) for i in found.imports] == [("common.mk", 1)]
    assert (found.language, found.problems, found.names, found.failure) == ("make", (), None, "")
    broken = languages.analyse("x.mk", b"\techo\n", EVERYTHING)
    assert [(p.line, p.message) for p in broken.problems] == [(1, "a recipe without a target")]


BASE = """
from stet import LanguagePlugin
class L(LanguagePlugin):
    name = "l"
    extensions = (".l",)
    def parse_file(self, path, data): return data
    def validate_syntax(self, parsed): return []
    def extract_symbols(self, parsed): return []
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("L = 3", "no subclass of LanguagePlugin"),
        (BASE.replace("def extract_symbols", "def other"), "TypeError"),
        (BASE.replace('(".l",)', '("l",)'), "with their dots"),
        (BASE.replace('(".l",)', '(".py",)'), "python has them"),
        (f"{BASE}\n    def __init__(self): 1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_broken_plugin_is_told_and_the_rest_go_on(code: str, told: str, package: Path) -> None:
    install(package, "stet_broken", code, "L")
    install(package, "stet_good", BASE.replace('(".l",)', '(".good",)'), "L")
    languages = load_languages(entries(package))
    [problem] = languages.problems
    assert told in problem and "stet_broken" in problem
    assert languages.plugins[".good"].name == "l"
    assert languages.analyse("a.py", b"x = 1\n", EVERYTHING).symbols[0].name == "x"


def test_a_plugin_that_fails_on_a_file_spoils_that_file_alone(package: Path) -> None:
    install(package, "stet_failing", BASE.replace("return data", "return data.decode('ascii')"), "L")
    languages = load_languages(entries(package))
    assert "UnicodeDecodeError" in languages.analyse("a.l", b"\xff", EVERYTHING).failure
    assert languages.analyse("a.l", b"a", EVERYTHING).failure == ""
