"""What engines narrow: never too much, whatever stands in a tree, and whatever an expression says."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.workspace import candidates as candidates_module
from core.workspace import engines as engines_module
from core.workspace import program as program_module
from core.workspace.ascii_form import NEVER, ascii_form
from core.workspace.engines import Engine, Narrowing
from core.workspace.globbing import compile_glob
from core.workspace.listing import list_files
from core.workspace.names import Names
from core.workspace.patterns import find_clues
from core.workspace.program import Program, ProgramFailed
from core.workspace.search import SearchOutcome, SearchQuery, search
from core.workspace.workspace import Workspace

INSTALLED = [engine for engine in Engine if engine is Engine.PYTHON or shutil.which(engine.value.split()[0])]


def run(root: Path, query: SearchQuery, engine: Engine | None) -> SearchOutcome:
    workspace = Workspace([root])
    return search(workspace, workspace.resolve("."), query, None, engine)


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=False, capture_output=True)


# --- trees -------------------------------------------------------------------------------------------

NAMES = [
    "a",
    "b.py",
    "\u00e9.txt",
    "new\nline.md",
    "tab\tx",
    "b.log",
    ".env",
    "secret.py",
    "-dash",
    "\udcff\udcfe.bin",
    "node_modules",
    "dist",
    "\u212a.key",
    " 160000 z",
    "? x",
    "H 100644 y",
]
TEXTS = [
    "target one\n",
    "x\r\nTARGET\r\ny\r\n",
    "a\rtarget\rb",
    "class TargetError(Exception):\n    pass\n",
    "gr\u00f6\u00dfer target \u00df\n",
    "foo_12 bar-3456\nab12\n",
    "\u017ftarget k\u212a ta\u0131get\n",
    "say \"hi\" 'x'\n\n",
    "2024-01-02\n",
    "tArget two\n end",
]
RULES = ["*.log", "/a", "dist/", "!b.log", "secret*", "b.py", "*.txt"]
QUERIES = [
    SearchQuery("target"),
    SearchQuery("Target", case_sensitive=True),
    SearchQuery("ta.get", fixed=True),
    SearchQuery(r"^target"),
    SearchQuery(r"class \w+Error"),
    SearchQuery(r"\d{4}-\d\d"),
    SearchQuery("(one|two)$"),
    SearchQuery("(?<!\u017f)target"),
    SearchQuery("gr\u00f6\u00dfer|\u00df"),
    SearchQuery(r"[a-z]+_\d+", include="*.{py,txt}"),
    SearchQuery(r"(.)\1[kK]|^$", total=3),
    SearchQuery(r"['\"][^'\"]*['\"]", names_only=True),
]


def content(chance: random.Random) -> bytes:
    text = "".join(chance.choice(TEXTS) for _ in range(chance.randint(1, 3)))
    kinds = [
        text.encode(),
        text.encode(),
        text.encode(),
        text.encode("utf-16"),
        b"\xfe\xff" + text.encode("utf-16-be"),
        text.encode("utf-32"),
        text.encode("cp1252", "replace"),
        b"target\0\1" + text.encode(),
        b"\xef\xbb\xbf" + text.encode(),
    ]
    return chance.choice(kinds)


def grow(directory: Path, chance: random.Random, depth: int = 0) -> None:
    for name in chance.sample(NAMES, chance.randint(3, 8)):
        path, kind = directory / name, chance.random()
        if kind < 0.6:
            path.write_bytes(content(chance))
        elif kind < 0.85 and depth < 2:
            path.mkdir()
            grow(path, chance, depth + 1)
        elif kind < 0.93:
            path.symlink_to(chance.choice(["a", "../b.py", "/etc/hostname", "nowhere", "."]))
        else:
            os.mkfifo(path)
    for name, share in ((".gitignore", 0.4), (".stetignore", 0.2)):
        if chance.random() < share:
            (directory / name).write_text("\n".join(chance.sample(RULES, 2)))


def make_tree(root: Path, chance: random.Random) -> None:
    """Make a tree with all that git knows: ignored, tracked and deleted files, repositories inside, replaced ones."""
    grow(root, chance)
    folders = sorted(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())
    if folders and chance.random() < 0.4:
        inner = chance.choice(folders)
        git(inner, "init", "-q")
        git(inner, "add", "-A")
        git(inner, "commit", "-qm", "x")
    if chance.random() < 0.3:
        return
    git(root, "init", "-q")
    git(root, "add", "-A")
    for path in sorted(root.rglob("*")):
        what = chance.random()
        if ".git" in path.parts or not path.is_file() or path.is_symlink() or what > 0.2:
            continue
        if what < 0.06:
            path.unlink()
        elif what < 0.1:
            path.unlink()
            path.mkdir()
            (path / "in").write_text("target\n")
        else:
            flag = "--assume-unchanged" if what < 0.15 else "--skip-worktree"
            git(root, "update-index", flag, "--", str(path.relative_to(root)))
            path.write_text("target now\n")


@pytest.mark.parametrize("seed", range(4))
def test_every_engine_finds_the_same_in_odd_trees(tmp_path: Path, seed: int) -> None:
    make_tree(tmp_path, random.Random(seed))
    readable = {path for path in list_files(str(tmp_path), "").files if (tmp_path / path).is_file()}
    for query in (QUERIES[0], *QUERIES[seed + 1 :: 4]):
        expected = run(tmp_path, query, Engine.PYTHON)
        assert {file.path for file in expected.files} <= readable
        for engine in (*INSTALLED, None):
            assert run(tmp_path, query, engine) == expected, (engine, query.pattern)


@pytest.mark.parametrize("seed", range(3))
def test_a_listing_for_a_glob_is_the_whole_listing_sifted(tmp_path: Path, seed: int) -> None:
    make_tree(tmp_path, random.Random(100 + seed))
    whole = list_files(str(tmp_path), "")
    for pattern in (
        "**/*.py",
        "*",
        "a",
        "**/{*.log,dist/**}",
        "**/\u00e9*",
        "tab\tx",
        "**/*[ab]*",
        "**/160000 z",
        "? x",
    ):
        glob = compile_glob(pattern)
        sifted = list_files(str(tmp_path), "", glob=glob)
        for all_of_them, found in ((whole.files, sifted.files), (whole.links, sifted.links)):
            assert sorted(found) == sorted(path for path in all_of_them if glob.matches(path) or path == pattern)


def test_the_first_files_are_tried_while_the_engine_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        (tmp_path / f"{number:02d}").write_text("target\n" if number % 3 == 0 else "")
    git(tmp_path, "init", "-q")
    queries = [SearchQuery("target", total=total) for total in (1, 2, 9, 10, 100)]
    expected = [run(tmp_path, query, Engine.PYTHON) for query in queries]
    monkeypatch.setattr(candidates_module, "FEW", 0)
    monkeypatch.setattr(candidates_module, "MANY", 10)
    monkeypatch.setattr(candidates_module, "_TRIED", 7)
    assert [run(tmp_path, query, None) for query in queries] == expected
    monkeypatch.setattr(Narrowing, "names", lambda *_: pytest.fail("the engine was waited for"))
    assert run(tmp_path, queries[1], None) == expected[1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a program may take from outside of it")
def test_a_huge_file_does_not_keep_git_from_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines_module, "MEMORY", 200_000_000)
    with (tmp_path / "huge.txt").open("wb") as file:
        file.write(b"target\n" * 1000)
        file.truncate(1_000_000_000)
    (tmp_path / "small.txt").write_text("target\n")
    git(tmp_path, "init", "-q")
    outcome = run(tmp_path, SearchQuery("target"), Engine.GIT_GREP)
    assert [file.path for file in outcome.files] == ["small.txt"]
    assert outcome.notes == ["huge.txt is too large and was not searched."]


def test_an_engine_that_is_ended_leaves_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_module, "_POLL", 0.001)
    command = ["sh", "-c", "printf 'a\\0b\\0c'; exec sleep 100"]
    with Program(command, str(tmp_path), dict(os.environ)) as program:
        seen: list[int] = []

        def is_enough() -> bool:
            seen.append(1)
            return len(seen) > 300

        assert not program.wait(is_enough)
        assert program.output == b"a\0b\0c"


@pytest.mark.parametrize(
    ("script", "is_fine"), [("exit 0", True), ("exit 2", True), ("echo no >&2; exit 2", False), ("kill -9 $$", False)]
)
def test_a_program_that_breaks_down_is_noticed(tmp_path: Path, script: str, is_fine: bool) -> None:
    with Program(["sh", "-c", script], str(tmp_path), dict(os.environ), lenient=2) as program:
        if is_fine:
            assert program.wait(lambda: False)
        else:
            with pytest.raises(ProgramFailed):
                program.wait(lambda: False)


# --- expressions -------------------------------------------------------------------------------------

ATOMS = st.sampled_from(
    ["ab", "c", "[ab]", "[^a]", ".", r"\w", r"\s", r"\d", r"\W", "a|b", r"[\]\-^\\]", r"\.", r"\b", "^", "$", "(?i:q)"]
    + ["{", "}", "[^\\w]", "\u00e4", "(?=a)", "(?!b)", "[*-.]", r"[\d\s]", "\u017f", r"\Z", r"\A", "-"]
)
REGEXES = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | inner.map(lambda part: f"(?:{part})+")
        | inner.map(lambda part: f"({part})*?")
        | inner.map(lambda part: f"(?:{part}){{2,3}}")
        | inner.map(lambda part: f"(?:{part}){{0,20}}")
        | inner.map(lambda part: part if "(" in part else rf"({part})?(?(1)x|(?:{part}))")
        | st.tuples(inner, inner).map(lambda parts: f"(?:{parts[0]}|{parts[1]})")
    ),
    max_leaves=4,
)
LINES = st.text(alphabet="abcqQxyz. 1_-+[]{}\\^\t\x01\x7f", max_size=12)


@settings(max_examples=300, deadline=None)
@given(REGEXES, LINES, st.booleans())
def test_a_form_finds_all_that_its_expression_finds(pattern: str, line: str, ignore_case: bool) -> None:
    flags = re.IGNORECASE if ignore_case else 0
    if re.search(pattern, line, flags):
        form = ascii_form(pattern, flags)
        assert form is not NEVER
        assert re.search(form, line)
        assert re.search(form, f"x\r{line}\ry"), "a line feed is not all that ends a line"


@pytest.mark.parametrize(
    ("pattern", "form"),
    [
        ("ab.c", "ab.c"),
        (r"\bx\d+", "x([0-9])+"),
        ("(?i)b|[x-z]", "[BX-Zbx-z]"),
        ("(?i)bc|[x-z]", "([Bb][Cc]|[X-Zx-z])"),
        ("\u00e4", NEVER),
        ("\u00e4|b", "b"),
        (r"a\nb", NEVER),
        ("^a$", "(^|\r)a(\r|$)"),
    ],
)
def test_forms(pattern: str, form: str | None) -> None:
    assert ascii_form(pattern, 0) == form


@pytest.mark.parametrize("engine", [engine for engine in INSTALLED if engine is not Engine.PYTHON])
@pytest.mark.parametrize(
    "pattern",
    [r"[^a]q\d", r"[\]\-^\\]{2,3}x", r"(?:a{2}){3}b|c", r"[!-~]+1", r"\{\}\(\)\|\*\?\+\$\^", "[*-.][ -,]x", r"\S\s\W9"]
    + [r"(\w)\1x", "gr\u00f6\u00dfe", r"def \w+", "-x", "--", r"[\x01-\x1f]z", "(?:){5}x|y", "x{0}y", "[a\u00e4]b"],
)
def test_every_engine_takes_every_form(tmp_path: Path, engine: Engine, pattern: str) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("text\n")
    clues = find_clues(pattern, re.IGNORECASE)
    assert clues.tell_something
    with Narrowing(engine, str(tmp_path), clues, largest=10**6) as narrowing:
        assert narrowing.names(lambda: False) is not None
        assert not narrowing.has_failed


@pytest.mark.parametrize("pattern", [".*", "a?", "^", "(?:x|)", r"\s*$|y*"])
def test_an_expression_for_everything_asks_no_engine(pattern: str) -> None:
    assert not find_clues(pattern).tell_something


# --- names -------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(alphabet="abS/.\u00e9", min_size=1, max_size=6), max_size=8, unique=True),
    st.lists(st.sampled_from(["a", "b/", "s.", ".a", "sa"]), max_size=2),
    st.sampled_from(["", "b/", "\u00e9s/"]),
)
def test_names_are_found_by_what_they_hold(paths: list[str], literals: list[str], below: str) -> None:
    entries = b"".join(b"X 1\t" + path.encode() + b"\0" for path in paths)
    names = Names(entries, skip=4, below=below)
    every = [below + path for path in paths]
    assert list(names) == every and len(names) == len(paths) and names.first(3) == every[:3]
    found = names.holding(literals)
    assert len(found) == len(set(found)) and set(found) <= set(every)
    assert {path for path in every if any(literal in path.lower() for literal in literals)} <= set(found)
