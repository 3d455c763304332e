"""save_memory and the store behind it: one line a fact, whole files at every moment, nothing that could give orders."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.confirmation import InfoConfirmation
from core.contract.errors import StetError, ToolErrorType
from core.contract.visible import has_hidden
from core.tools.abort import AbortSignal
from core.tools.builtin.save_memory import SaveMemoryTool
from core.tools.context import ToolContext
from core.tools.memory import MAX_FACT, MAX_LOADED, MemoryChanged, MemoryScope, MemoryStore, RememberedFact, plain_fact
from core.workspace.workspace import Workspace
from tests.core.tools.case_workspace import load_cases

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 20, 9, 8, 7)
USER, PROJECT = MemoryScope.USER, MemoryScope.PROJECT


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    (tmp_path / "project").mkdir()
    return MemoryStore(tmp_path / "config", tmp_path / "project")


@pytest.fixture
def tool(store: MemoryStore, tmp_path: Path) -> SaveMemoryTool:
    return SaveMemoryTool(ToolContext(Workspace([tmp_path / "project"]), memory=store))


async def test_every_case_keeps_its_fact_as_one_timestamped_line(cases: Path, tmp_path: Path) -> None:
    """The specification keeps lines with times in files of its own; what is said and what is kept stays the same."""
    for case in load_cases(cases, "save_memory"):
        root = tmp_path / case["id"]
        root.mkdir()
        store = MemoryStore(root / "config", root)
        tool = SaveMemoryTool(ToolContext(Workspace([root]), memory=store))
        scope = PROJECT if case["args"].get("scope") == "project" else USER
        before = next(iter(case["files"].values()), "")
        store.path(scope).parent.mkdir(parents=True)
        store.path(scope).write_text(before)
        result = await tool.build_and_execute(case["args"])
        error = case["expect"]["error_type"]
        assert (result.error.type.value if result.error else None) == error, case["id"]
        if error is not None:
            assert store.read(scope) == before
            continue
        assert case["expect"]["contains"][0] in str(result.llm_content), case["id"]
        kept = next(iter(case["expect"]["files_after"].values())).splitlines()[-1].removeprefix("- ")
        *earlier, line = store.read(scope).splitlines()
        assert earlier == before.splitlines(), case["id"]
        assert re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] " + re.escape(kept), line), case["id"]


def test_a_new_file_is_private_and_a_link_stays_one(store: MemoryStore, tmp_path: Path) -> None:
    assert store.add("likes tabs", USER, NOW) == "[2026-11-20 09:08:07] likes tabs"
    assert stat.S_IMODE(store.path(USER).stat().st_mode) == 0o600
    elsewhere = tmp_path / "dotfiles.md"
    elsewhere.write_text("mine")
    store.path(USER).unlink()
    store.path(USER).symlink_to(elsewhere)
    store.add("more", USER, NOW)
    assert store.path(USER).is_symlink()
    assert elsewhere.read_text() == "mine\n[2026-11-20 09:08:07] more\n"


def test_projects_have_their_own(store: MemoryStore, tmp_path: Path) -> None:
    store.add("about the project", PROJECT, NOW)
    store.add("about the user", USER, NOW)
    other = MemoryStore(tmp_path / "config", tmp_path)
    assert [fact.line[22:] for fact in store.facts()] == ["about the user", "about the project"]
    assert [fact.line[22:] for fact in other.facts()] == ["about the user"]
    assert store.for_model() == (
        "## About the user and their wishes\n\n[2026-11-20 09:08:07] about the user\n\n"
        "## About this project\n\n[2026-11-20 09:08:07] about the project"
    )


def test_forgetting_and_editing(store: MemoryStore) -> None:
    for fact in ("one", "two", "three"):
        store.add(fact, USER, NOW)
    two = store.facts()[1]
    store.forget(two)
    assert [fact.line[22:] for fact in store.facts()] == ["one", "three"]
    with pytest.raises(MemoryChanged):
        store.forget(two)
    shown = store.read(USER)
    store.replace(USER, shown, "all new\n")
    assert store.facts() == [RememberedFact(USER, "all new")]
    with pytest.raises(MemoryChanged):
        store.replace(USER, shown, "lost")
    assert store.read(USER) == "all new\n"


def test_only_the_end_of_a_long_memory_is_loaded(store: MemoryStore) -> None:
    store.add("first", USER, NOW)
    store.replace(USER, store.read(USER), "first\n" + "x" * 50 + "\n" * 1 + ("y" * 80 + "\n") * 500 + "last\n")
    text = store.for_model()
    assert text.endswith("last") and "first" not in text and "Older facts are left out" in text
    assert len(text) < MAX_LOADED + 200


def test_two_processes_lose_nothing(store: MemoryStore, tmp_path: Path) -> None:
    script = (
        "import sys; from datetime import datetime; from core.tools.memory import MemoryScope, MemoryStore\n"
        "store = MemoryStore(__import__('pathlib').Path(sys.argv[1]), sys.argv[2])\n"
        "for number in range(25): store.add(f'{sys.argv[3]}-{number}', MemoryScope.USER, datetime.now())"
    )
    arguments = [sys.executable, "-c", script, str(tmp_path / "config"), str(tmp_path / "project")]
    root = Path(__file__).parents[3]
    running = [subprocess.Popen([*arguments, name], cwd=root) for name in ("a", "b")]
    assert [process.wait() for process in running] == [0, 0]
    assert {fact.line[22:] for fact in store.facts()} == {f"{name}-{number}" for name in "ab" for number in range(25)}


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")
    with pytest.raises(StetError, match="can't be written"):
        MemoryStore(tmp_path / "config", tmp_path).add("x", USER, NOW)


@given(st.text(max_size=200))
def test_a_fact_is_one_harmless_line(text: str) -> None:
    fact = plain_fact(text)
    assert "\n" not in fact and "<" not in fact and ">" not in fact and not has_hidden(fact)
    assert len(fact.splitlines()) <= 1


async def test_the_user_sees_the_line_and_the_file_first(tool: SaveMemoryTool, store: MemoryStore) -> None:
    details = await tool.build({"fact": "- likes\ntabs", "scope": "project"}).should_confirm_execute(AbortSignal())
    assert isinstance(details, InfoConfirmation)
    assert "] likes tabs\n" in details.prompt and str(store.path(PROJECT)) in details.prompt
    assert not store.path(PROJECT).exists()


async def test_bad_facts_are_refused(tool: SaveMemoryTool) -> None:
    for fact in ("", "  ", "---", "x" * (MAX_FACT + 1), 5):
        result = await tool.build_and_execute({"fact": fact})
        assert result.error is not None and result.error.type is ToolErrorType.INVALID_TOOL_PARAMS


async def test_without_a_memory(tmp_path: Path) -> None:
    result = await SaveMemoryTool(ToolContext(Workspace([tmp_path]))).build_and_execute({"fact": "x"})
    assert result.error is not None and result.error.type is ToolErrorType.MEMORY_TOOL_EXECUTION_ERROR
