"""The changes pane: what turns changed, added up, with what was taken back."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from core.contract.events import ChangesKept, KeptChange
from widgets.changes.messages import ChangeChosen
from widgets.changes.pane import ChangesPane, gather

pytestmark = pytest.mark.anyio

KEYS = {"down": "down", "enter": "undo", "up": "up"}


def change(name: str, added: int = 1, removed: int = 0, *, created: bool = False, problem: str = "") -> KeptChange:
    return KeptChange(f"/w/{name}", name, created, False, added, removed, problem)


def test_calls_of_a_turn_are_added_up_by_file() -> None:
    events = [
        ChangesKept("1", "edit", 1, (change("a", 1, 2, created=True),)),
        ChangesKept("2", "sed", 1, (change("a", 3), change("b"))),
        ChangesKept("3", "edit", 2, (change("a"),)),
    ]
    first, second = gather(events)
    assert first.labels == ("edit", "sed")
    assert first.files["/w/a"] == change("a", 4, 2, created=True)
    assert (second.turn, list(second.files)) == (2, ["/w/a"])


def test_an_undo_takes_back_and_a_redo_does_again() -> None:
    made = ChangesKept("1", "edit", 1, (change("a"), change("b")))
    undo = ChangesKept("2", "undo", 1, (change("a"),), undoes=("1",))
    redo = ChangesKept("3", "redo", 1, (change("a"),), undoes=("2",))
    assert gather([made, undo])[0].taken_back == {"/w/a"}
    assert gather([made, undo, redo])[0].taken_back == frozenset()


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.pane = ChangesPane(KEYS)
        self.chosen: list[tuple[int, str]] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_change_chosen(self, message: ChangeChosen) -> None:
        self.chosen.append((message.turn, message.path))


async def test_keys_choose_a_turn_or_a_file_and_the_mark_stays() -> None:
    app = Host()
    events = [ChangesKept("1", "sed [b]x[/b]\x1b", 1, (change("a"), change("[red]b", problem="too large")))]
    async with app.run_test() as pilot:
        app.pane.show_changes(gather(events))
        app.pane.view.focus()
        await pilot.press("enter", "down", "enter")
        assert app.chosen == [(1, ""), (1, "/w/[red]b")]
        events.append(ChangesKept("2", "edit", 2, (change("c"),)))
        app.pane.show_changes(gather(events))
        assert app.pane.marked == (1, "/w/[red]b")
        assert app.pane.border_title == "changes 3"
        texts = [str(app.pane.view.get_option_at_index(number).prompt) for number in range(5)]
        assert texts[2:] == ["turn 1 · 2 files · sed [b]x[/b]␛", " M [red]b +1 (can't come back)", " M a +1"]


async def test_without_changes_it_says_so_and_chooses_nothing() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.pane.view.focus()
        await pilot.press("enter", "down", "enter")
        assert app.chosen == []
        assert "Nothing was changed" in str(app.pane.view.get_option_at_index(0).prompt)
