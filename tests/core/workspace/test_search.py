"""Searching: one result whichever engine there is, nothing that hangs, nothing that is not to be read."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.engines import Engine
from core.workspace.listing import Stop
from core.workspace.patterns import required_literals, stays_in_line
from core.workspace.search import SearchOutcome, SearchQuery, search
from core.workspace.workspace import Workspace

ENGINES = [
    pytest.param(
        engine, marks=pytest.mark.skipif(not shutil.which(engine.split()[0]), reason=f"{engine} is not installed")
    )
    for engine in Engine
    if engine is not Engine.PYTHON
]


def run(
    root: Path, query: SearchQuery, engine: Engine | None = None, inside: str = ".", stop: Stop | None = None
) -> SearchOutcome:
    workspace = Workspace([root])
    return search(workspace, workspace.resolve(inside), query, stop, engine)


def found(outcome: SearchOutcome) -> dict[str, tuple[int, ...]]:
    return {file.path: file.numbers for file in outcome.files}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    files = {
        "plain.txt": b"Target one\nnothing\ntarget two\n",
        "crlf.txt": b"a\r\nTARGET\r\nb\r\n",
        "cr.txt": b"a\rtarget\rb",
        "utf16.txt": "x\ntarget ä\n".encode("utf-16"),
        "utf16be.txt": b"\xfe\xff" + "target\n".encode("utf-16-be"),
        "latin.txt": "Straße target größer\nschön, übermäßig süß\n".encode("cp1252"),
        "binary.bin": b"target\0\x01\x02",
        "-dash.txt": b"target",
        "new\nline.txt": b"target\n",
        "\u00e4.txt": "target \u00e4\u00df\n".encode(),
        "sub/deep/d.py": b"class TargetError(Exception):\n    pass\n",
        "sub/a.b": b"a.b\naxb\n",
        "empty": b"",
        "ignored.tmp": b"target\n",
        ".gitignore": b"*.tmp\n",
        "secrets.txt": b"target\n",
        "quote.txt": b'say "hi" and "target"\n',
    }
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (root / "link.txt").symlink_to("plain.txt")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


QUERIES = [
    SearchQuery("target"),
    SearchQuery("Target", case_sensitive=True),
    SearchQuery(r"^target$"),
    SearchQuery(r"class \w+Error"),
    SearchQuery("a.b"),
    SearchQuery("a.b", fixed=True),
    SearchQuery("(one|two)$"),
    SearchQuery(r"(?<!x)target"),
    SearchQuery('"[^"]*"'),
    SearchQuery("größer"),
    SearchQuery("STRASSE|STRAßE"),
    SearchQuery("target", include="*.txt", exclude="two"),
    SearchQuery("target", per_file=1),
    SearchQuery("target", total=3),
    SearchQuery("target", names_only=True),
    SearchQuery(r"\d{9}|^$"),
    SearchQuery(r"\bT\w+t\b", case_sensitive=True),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.pattern)
def test_every_engine_finds_what_reading_all_files_finds(tree: Path, query: SearchQuery, engine: Engine) -> None:
    assert run(tree, query, engine) == run(tree, query, Engine.PYTHON)


def test_text_of_all_sorts_is_found_and_the_rest_left_out(tree: Path) -> None:
    outcome = run(tree, SearchQuery("target"))
    assert found(outcome) == {
        "-dash.txt": (1,),
        "cr.txt": (2,),
        "crlf.txt": (2,),
        "latin.txt": (1,),
        "new\nline.txt": (1,),
        "plain.txt": (1, 3),
        "quote.txt": (1,),
        "sub/deep/d.py": (1,),
        "utf16.txt": (2,),
        "utf16be.txt": (1,),
        "ä.txt": (1,),
    }
    assert list(found(outcome)) == sorted(found(outcome))
    assert outcome.notes == ["1 files with sensitive names were not searched."]


def test_limits_are_said_and_context_comes_along(tree: Path) -> None:
    outcome = run(tree, SearchQuery("target", total=3, before=1, after=1))
    assert outcome.total == 3 and outcome.is_limited
    assert outcome.files[1].lines == {1: "a", 2: "target", 3: "b"}
    assert not run(tree, SearchQuery("nothing", total=1)).is_limited


def test_a_subdirectory_is_searched_relative_to_itself(tree: Path) -> None:
    assert found(run(tree, SearchQuery("target"), inside="sub")) == {"deep/d.py": (1,)}


def test_a_hostile_pattern_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("target first\n")
    (tmp_path / "b.txt").write_text("a" * 40 + "!\n")
    began = time.monotonic()
    outcome = run(tmp_path, SearchQuery("^(a+)+$|zz(a|aa)+$"))
    assert time.monotonic() - began < 8
    assert "too slow" in outcome.notes[0]


def test_what_was_found_before_the_limit_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ab\n" + "x" * 1_100_000)
    (tmp_path / "b.txt").write_text("a" * 40 + "!\n")
    outcome = run(tmp_path, SearchQuery("^ab$|^(a+)+$"))
    assert found(outcome) == {"a.txt": (1,)}
    assert "too slow" in outcome.notes[0]


def test_cancelling_ends_a_search_soon(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("a" * 60 + "!\n")
    stop = Stop()
    done = threading.Event()

    def work() -> None:
        run(tmp_path, SearchQuery("^(a+)+$"), stop=stop)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert not done.wait(0.3)
    stop.set()
    assert done.wait(1.5)
    thread.join()


def test_a_time_limit_is_said(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("a" * 60 + "!\n")
    outcome = run(tmp_path, SearchQuery("^(a+)+$"), stop=Stop(0.3))
    assert any("time limit" in note for note in outcome.notes)


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "*", r"\p{L}", "(?P<a"])
def test_a_bad_pattern_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        run(tmp_path, SearchQuery(pattern))
    assert caught.value.type is ToolErrorType.INVALID_PATTERN
    assert run(tmp_path, SearchQuery(pattern, fixed=True)).total == 0


def test_a_large_text_is_named_and_a_large_binary_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.workspace.search.MAX_SEARCHED_BYTES", 100)
    (tmp_path / "big.txt").write_text("target\n" * 100)
    (tmp_path / "big.bin").write_bytes(b"\0" * 1000)
    outcome = run(tmp_path, SearchQuery("target"))
    assert outcome.notes == ["big.txt is too large and was not searched."]


def test_many_files_come_in_order_whatever_the_batches(tmp_path: Path) -> None:
    for number in range(450):
        (tmp_path / f"{number:04d}-{'x' * 200}.txt").write_text("target\n" if number % 3 == 0 else "other\n")
    for engine in (Engine.GREP, Engine.PYTHON, None):
        outcome = run(tmp_path, SearchQuery("target", total=120), engine)
        assert [file.path[:4] for file in outcome.files] == [f"{number:04d}" for number in range(0, 360, 3)]
        assert outcome.is_limited


ATOMS = st.sampled_from(
    ["ab", "c", "[ab]", "[^a]", ".", r"\w", r"\s", r"\d", "a|b", "xyz", r"\.", r"\b", "^", "$", "(?i:q)"]
)
REGEXES = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | inner.map(lambda part: f"(?:{part})+")
        | inner.map(lambda part: f"({part})*")
        | st.tuples(inner, inner).map(lambda parts: f"(?:{parts[0]}|{parts[1]})")
    ),
    max_leaves=4,
)
TEXTS = st.text(alphabet="abcxyzq. 1\n", max_size=20)


@settings(max_examples=400, deadline=None)
@given(REGEXES, TEXTS, st.booleans())
def test_what_is_said_of_a_pattern_beforehand_is_true(pattern: str, text: str, ignore_case: bool) -> None:
    flags = re.IGNORECASE if ignore_case else 0
    lines = [line for line in text.split("\n") if re.search(pattern, line, flags)]
    literals = required_literals(pattern, flags)
    for line in lines:
        folded = line.casefold() if ignore_case else line
        assert not literals or any((part.casefold() if ignore_case else part) in folded for part in literals)
    if lines and stays_in_line(pattern, flags):
        assert re.search(pattern, text, flags | re.MULTILINE)


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("class Foo", ("class Foo",)),
        (r"\bdef (read|write)_\w+", ("def ",)),
        ("foo|barbar", ("barbar", "foo")),
        ("(?:abc)+x?", ("abc",)),
        ("a*", ()),
        ("x|.", ()),
        ("größe", ("gr",)),
        (r"a\nb", ()),
    ],
)
def test_literals(pattern: str, literals: tuple[str, ...]) -> None:
    assert required_literals(pattern) == literals
