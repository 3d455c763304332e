"""The history's file, the walk and the search."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Static

from tests.widgets.prompt.host import PromptHost, until
from widgets.prompt.draft import Draft, PromptMode
from widgets.prompt.history import ENTRY_LIMIT, HistoryWalk, PromptHistory
from widgets.prompt.search import HistorySearch, search_history


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.jsonl"
    drafts = [
        Draft("ünï\ncode"),
        Draft("ls", PromptMode.SHELL),
        Draft("[Pasted text #1, 2 lines]", pastes={1: "a\nb"}),
        Draft("[Pasted text #1, 2 lines] big", pastes={1: "x" * (ENTRY_LIMIT + 1)}),
    ]
    history = PromptHistory(path)
    for draft in drafts:
        history.add(draft)
        history.save(draft)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    read = PromptHistory(path)
    read.load()
    assert list(read.entries[:3]) == drafts[:3]
    assert read.entries[3] == Draft(drafts[3].text)


def test_torn_and_foreign_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(
        b'{"text":"a"}\n[1]\n"x"\n{"text":"b","mode":"odd"}\n\xff\xfe\n{"pastes":3,"text":"c"}\n{"text":"to'
    )
    history = PromptHistory(path)
    history.save(Draft("next"))
    history.load()
    assert [draft.text for draft in history.entries] == ["a", "next"]


def test_each_text_once_the_latest_last_and_limited(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps({"text": f"p{n % 7}"}) + "\n" for n in range(40)))
    history = PromptHistory(path, limit=5)
    history.add(Draft("mine"))
    history.load()
    assert [draft.text for draft in history.entries] == ["p1", "p2", "p3", "p4", "mine"]
    assert len(path.read_text().splitlines()) == 5  # rewritten, as it was more than twice the limit
    assert [entry.name for entry in tmp_path.iterdir()] == ["history.jsonl"]


def test_nothing_blank_and_nothing_twice_in_a_row() -> None:
    history = PromptHistory()
    assert history.add(Draft("a"))
    assert not history.add(Draft("a"))
    assert not history.add(Draft(" \n"))
    assert history.add(Draft("a", PromptMode.SHELL))


@given(st.lists(st.text(min_size=1).filter(str.strip), unique=True), st.text())
def test_walking_there_and_back_ends_at_the_draft(texts: list[str], text: str) -> None:
    history = PromptHistory()
    for each in texts:
        history.add(Draft(each))
    walk, draft = HistoryWalk(history), Draft(text)
    seen: list[str] = []
    at = draft
    while (found := walk.earlier(at)) is not None:
        at = found
        seen.append(found.text)
    assert seen == texts[::-1]
    while (found := walk.later()) is not None:
        at = found
    assert at == draft


def test_from_a_shell_line_through_shell_lines_only() -> None:
    history = PromptHistory()
    for draft in (Draft("ls", PromptMode.SHELL), Draft("ask")):
        history.add(draft)
    walk = HistoryWalk(history)
    found = walk.earlier(Draft("", PromptMode.SHELL))
    assert found is not None and found.text == "ls"
    assert walk.earlier(found) is None


def test_search_finds_words_before_letters_and_the_latest_first() -> None:
    drafts = [Draft("fix the parser"), Draft("fix parser tests"), Draft("find pastes")]
    assert [d.text for d in search_history(drafts, "pars FIX")] == ["fix parser tests", "fix the parser"]
    assert [d.text for d in search_history(drafts, "fps")][0] == "find pastes"
    assert [d.text for d in search_history(drafts, "")] == ["find pastes", "fix parser tests", "fix the parser"]


@pytest.mark.anyio
async def test_sent_prompts_reach_the_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    app = PromptHost(history=PromptHistory(path))
    async with app.run_test() as pilot:
        await pilot.press("a", "enter", "b", "enter", "!", "c", "enter", "d")
        app.pane.clear()
        await until(pilot, lambda: path.exists() and path.read_text().count("\n") == 4)
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
    assert texts == ["a", "b", "c", "d"]


@pytest.mark.anyio
async def test_unwritable_history_does_not_disturb(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    app = PromptHost(history=PromptHistory(tmp_path / "file" / "history.jsonl"))
    async with app.run_test() as pilot:
        await pilot.press("a", "enter", "b", "enter")
        await pilot.pause()
        assert app.sent == ["a", "b"]


@pytest.mark.anyio
async def test_search_dialog_takes_an_entry_or_leaves_all_as_it_was() -> None:
    history = PromptHistory()
    for draft in (Draft("fix [/b] parser"), Draft("make", PromptMode.SHELL), Draft("other")):
        history.add(draft)
    app = PromptHost(history=history)
    async with app.run_test(size=(60, 18)) as pilot:
        await pilot.press("p", "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, HistorySearch))
        await pilot.press("a", "r", "enter")
        await until(pilot, lambda: not isinstance(app.screen, HistorySearch))
        assert app.pane.draft == Draft("fix [/b] parser")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, HistorySearch))
        await pilot.press("ctrl+u", "down", "down", "escape")
        await until(pilot, lambda: not isinstance(app.screen, HistorySearch))
        assert app.pane.draft == Draft("fix [/b] parser")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, HistorySearch))
        await pilot.press("ctrl+u", "ctrl+r", "enter")
        await until(pilot, lambda: not isinstance(app.screen, HistorySearch))
        assert app.pane.draft == Draft("make", PromptMode.SHELL)
        assert app.focused is app.pane.editor


@pytest.mark.anyio
async def test_the_search_names_the_keys_that_are_in_force() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        app.set_keymap({"history.cancel": "f9,escape"})
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert str(app.screen.query_one("#history-keys", Static).render()).endswith("f9 cancel")
        await pilot.press("f9")
        assert len(app.screen_stack) == 1
