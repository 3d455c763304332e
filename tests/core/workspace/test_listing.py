"""Listing and ignore rules: as git decides, each file once, bounded."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.workspace import listing as listing_module
from core.workspace.globbing import compile_glob
from core.workspace.ignore import Filtering, IgnoreRules
from core.workspace.listing import Stop, list_files


def git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout


def make(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


NAMES = ["a", "b", "ab", "a.d", "x"]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
PATTERNS = st.lists(st.sampled_from([*NAMES, "*", "**", "?", "[ab]", "a*", "*.d"]), min_size=1, max_size=3).map(
    "/".join
)
ODD = re.compile(r"\*\*/(\*\*|$)")
"""Stars that pathspec reads otherwise than git, and that no one writes."""
LINES = st.builds(
    lambda bang, lead, pattern, tail: f"{bang}{lead}{pattern}{tail}",
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    PATTERNS,
    st.sampled_from(["", "", "/", "/**"]),
).filter(lambda line: not ODD.search(line))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(files={"a/a"}, top=["a/*"], deep=["a", "!a"])
@given(files=st.sets(PATHS, min_size=1, max_size=8), top=st.lists(LINES, max_size=4), deep=st.lists(LINES, max_size=2))
def test_rules_without_git_are_those_of_git(
    tmp_path_factory: pytest.TempPathFactory, files: set[str], top: list[str], deep: list[str]
) -> None:
    root = tmp_path_factory.mktemp("rules")
    for path in sorted(files):
        if not any(other.startswith(path + "/") for other in files):
            make(root, {path: "x"})
    make(root, {".gitignore": "\n".join(top)})
    if (root / "a").is_dir():
        make(root, {"a/.gitignore": "\n".join(deep)})
    by_hand = set(list_files(str(root), "").files)
    git(root, "init", "-q")
    by_git = list_files(str(root), "")
    assert by_git.by_git
    assert by_hand == set(by_git.files)
    rules = IgnoreRules(str(root))
    for directory, names, found in os.walk(root):
        below = os.path.relpath(directory, root)
        if below.startswith(".git"):
            continue
        for name in names + found:
            path = os.path.normpath(os.path.join(below, name))
            is_directory = name in names
            if path != ".git":
                said = rules.ignored_among([(path, is_directory)])
                assert bool(said) == rules.git_rules_ignore(path, is_directory=is_directory), path


@pytest.mark.parametrize("line", ["!", "\\", "[", "/", "//", "", " ", "#", "\x00", "[z-a]", "a" * 10_000])
def test_odd_lines_do_no_harm(tmp_path: Path, line: str) -> None:
    make(tmp_path, {".gitignore": f"{line}\nout\n", "out": "", "in": ""})
    assert set(list_files(str(tmp_path), "").files) == {".gitignore", "in"}


def test_own_rules_stand_on_top_of_git(tmp_path: Path) -> None:
    make(tmp_path, {"a.txt": "", "b.log": "", "c/d.txt": "", "c/e.md": "", ".stetignore": "*.log\n/c/d.txt\n"})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    found = list_files(str(tmp_path), "")
    assert set(found.files) == {".stetignore", "a.txt", "c/e.md"}
    assert set(found.ignored) == {"b.log", "c/d.txt"}
    assert list_files(str(tmp_path), "c").files == ["e.md"]
    assert "b.log" in list_files(str(tmp_path), "", Filtering(own=False)).files


def test_a_tracked_file_is_never_ignored_by_git(tmp_path: Path) -> None:
    make(tmp_path, {"kept.log": "", "other.log": "", ".gitignore": "*.log\n"})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "kept.log")
    found = list_files(str(tmp_path), "")
    assert set(found.files) == {".gitignore", "kept.log"}
    assert found.ignored == ["other.log"]
    assert "other.log" in list_files(str(tmp_path), "", Filtering(git=False)).files


def test_a_repository_inside_is_listed_too(tmp_path: Path) -> None:
    make(tmp_path, {"a": "", "inner/b": "", "inner/c.log": "", "inner/.gitignore": "*.log\n"})
    git(tmp_path / "inner", "init", "-q")
    git(tmp_path, "init", "-q")
    found = list_files(str(tmp_path), "")
    assert set(found.files) == {"a", "inner/b", "inner/.gitignore"}


def test_a_deleted_file_and_a_private_directory_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, {"a": "", "b": "", "node_modules/x/index.js": "", "sub/node_modules/y.js": ""})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    (tmp_path / "a").unlink()
    assert list_files(str(tmp_path), "").files == ["b"]


def test_a_workspace_that_its_repository_ignores_is_listed_all_the_same(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "work/\n", "work/a": "", "work/b": ""})
    git(tmp_path, "init", "-q")
    assert set(list_files(str(tmp_path / "work"), "").files) == {"a", "b"}


def test_links_that_lead_round_give_each_file_once(tmp_path: Path) -> None:
    for name in ("x", "y", "z"):
        make(tmp_path, {f"{name}/file": ""})
        for number in range(3):
            (tmp_path / name / f"up{number}").symlink_to("..")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "in").symlink_to("x/file")
    (tmp_path / "out").symlink_to("/etc/hostname")
    began = time.monotonic()
    found = list_files(str(tmp_path), "")
    assert time.monotonic() - began < 2
    assert sorted(found.files) == ["x/file", "y/file", "z/file"]
    assert found.links == ["in"]
    git(tmp_path, "init", "-q")
    found = list_files(str(tmp_path), "")
    assert (sorted(found.files), found.links) == (["x/file", "y/file", "z/file"], ["in"])


def test_a_listing_ends_at_its_limit_or_when_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {f"{directory}/{number}": "" for directory in "ab" for number in range(20)})
    monkeypatch.setattr(listing_module, "MAX_FILES", 10)
    found = list_files(str(tmp_path), "")
    assert found.is_cut and 10 <= len(found.files) <= 20
    stop = Stop()
    stop.set()
    found = list_files(str(tmp_path), "", stop=stop)
    assert found.is_cut and not found.files


def test_a_hostile_repository_runs_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    root = make(tmp_path / "repo", {"a.txt": "target\n", ".gitattributes": "*.txt filter=evil diff=evil\n"})
    git(root, "init", "-q")
    script = f"sh -c 'touch {canary}'"
    for name in ("core.fsmonitor", "core.pager", "diff.external", "filter.evil.clean", "filter.evil.smudge"):
        git(root, "config", name, script)
    git(root, "config", "diff.evil.textconv", script)
    git(root, "config", "core.hooksPath", str(make(tmp_path / "hooks", {"post-index-change": script}) / "."))
    (tmp_path / "hooks" / "post-index-change").chmod(0o755)
    from core.workspace.engines import Engine, Narrowing
    from core.workspace.git import is_tracked
    from core.workspace.patterns import find_clues

    assert "a.txt" in list_files(str(root), "").files
    IgnoreRules(str(root)).ignored_among([("a.txt", False)])
    is_tracked(str(root / "a.txt"))
    for pattern in ("target", "t.*t"):
        with Narrowing(Engine.GIT_GREP, str(root), find_clues(pattern), largest=10**6) as narrowing:
            assert "a.txt" in (narrowing.names(lambda: False) or [])
    assert not canary.exists()


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.txt", "a.TXT", True),
        ("*.txt", "d/a.txt", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/.a.py", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("{a,b}.{c,d}", "b.c", True),
        ("{a,b{1,2}}", "b2", True),
        ("[!a]x", "bx", True),
        ("[!a]x", "ax", False),
        ("[^a]x", "/x", False),
        ("[]]", "]", True),
        ("[a-c]*", "bz", True),
        ("[a|b]", "|", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("{a", "{a", True),
        ("{a}", "{a}", True),
        ("./x", "x", True),
        ("a?c", "a/c", False),
        ("(x)+.t", "(x)+.t", True),
        ("a\nb*", "a\nbc", True),
    ],
)
def test_globs(pattern: str, path: str, matches: bool) -> None:
    assert compile_glob(pattern).matches(path) is matches


def test_a_glob_without_a_slash_may_match_anywhere() -> None:
    assert compile_glob("*.py", anywhere=True).matches("deep/down/a.py")
    assert not compile_glob("deep/*.py", anywhere=True).matches("deep/down/a.py")
    assert not compile_glob("*.PY", case_sensitive=True).matches("a.py")
