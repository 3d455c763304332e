"""The todo pane."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from app.actions import Catalogue, Scope
from core.contract.todo import Todo, TodoList, TodoStatus
from tests.widgets.hostile import HOSTILE, is_safe
from widgets.todo import edits
from widgets.todo.messages import TodosEdited
from widgets.todo.pane import TodoPane
from widgets.todo.view import todo_line

STYLES = Path(__file__).parents[3] / "styles"
DONE, NOW, OPEN = TodoStatus.COMPLETED, TodoStatus.IN_PROGRESS, TodoStatus.PENDING


def todo_list(*items: tuple[str, TodoStatus]) -> TodoList:
    return TodoList(tuple(Todo(f"id-{text}", text, status) for text, status in items))


class TodoHost(App[None]):
    CSS_PATH = [STYLES / "todo.tcss"]

    def __init__(self, todos: TodoList, **options: bool) -> None:
        super().__init__()
        self.pane = TodoPane(Catalogue().key_methods(Scope.TODO), **options)
        self.todos = todos
        self.edited: list[TodoList] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_mount(self) -> None:
        self.pane.set_todos(self.todos)
        self.pane.view.focus()

    def on_todos_edited(self, message: TodosEdited) -> None:
        self.edited.append(message.todos)

    @property
    def lines(self) -> list[str]:
        view = self.pane.view
        return [line for y in range(view.size.height) if (line := view.render_line(y).text.rstrip())]


THREE = todo_list(("read", DONE), ("edit", NOW), ("test", OPEN))


@pytest.mark.anyio
async def test_it_shows_shapes_words_and_progress() -> None:
    todos = todo_list(*[(status.value, status) for status in TodoStatus])
    app = TodoHost(todos)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert app.lines == [
            "○ pending",
            "▶ in_progress",
            "✔ completed",
            "✖ cancelled (cancelled)",
            "⊘ blocked (blocked)",
        ]
        assert app.pane.border_title == "todo 2/5"
        assert app.pane.summary == "2/5 in_progress"
        app.pane.set_todos(TodoList())
        await pilot.pause()
        assert (app.pane.summary, app.lines) == ("", ["no items"])


def test_ascii_signs_are_all_different() -> None:
    lines = {todo_line(Todo("1", "x", status), ascii_only=True) for status in TodoStatus}
    assert len(lines) == len(TodoStatus)
    assert all(line.isascii() for line in lines)


@pytest.mark.anyio
async def test_the_user_ticks_moves_removes_and_restores() -> None:
    app = TodoHost(THREE)
    async with app.run_test() as pilot:
        await pilot.press("home", "down", "space")
        assert app.pane.todos.items[1].status is DONE
        await pilot.press("space")
        assert app.pane.todos.items[1].status is OPEN
        await pilot.press("K")
        assert [item.description for item in app.pane.todos.items] == ["edit", "read", "test"]
        await pilot.press("shift+up")  # at the top already
        assert len(app.edited) == 3
        await pilot.press("J", "d")
        assert [item.description for item in app.pane.todos.items] == ["read", "test"]
        await pilot.press("u", "u")
        assert [item.description for item in app.pane.todos.items] == ["read", "edit", "test"]
        assert app.edited[-1] == app.pane.todos


@pytest.mark.anyio
async def test_the_user_adds_and_edits() -> None:
    app = TodoHost(THREE)
    async with app.run_test() as pilot:
        await pilot.press("home", "a", "n", "e", "w", "enter")
        await pilot.pause()
        assert [item.description for item in app.pane.todos.items] == ["read", "new", "edit", "test"]
        ids = [item.id for item in app.pane.todos.items]
        assert len(set(ids)) == 4
        await pilot.press("e", "end", "!", "enter")
        await pilot.pause()
        assert app.pane.todos.items[1].description == "new!"
        await pilot.press("a", "x", "escape")
        await pilot.pause()
        assert len(app.edited) == 2
        assert app.focused is app.pane.view


@pytest.mark.anyio
async def test_an_item_that_went_away_while_it_was_written_stays_away() -> None:
    app = TodoHost(THREE)
    async with app.run_test() as pilot:
        await pilot.press("e", "x")
        app.pane.set_todos(todo_list(("other", OPEN)))
        await pilot.press("enter")
        await pilot.pause()
        assert app.edited == []
        assert [item.description for item in app.pane.todos.items] == ["other"]


@pytest.mark.anyio
async def test_the_current_item_of_a_long_list_is_visible() -> None:
    items = [(f"item {n} " + "words " * 8, DONE if n < 60 else OPEN) for n in range(100)]
    app = TodoHost(TodoList())
    async with app.run_test(size=(40, 12)) as pilot:
        app.set_focus(None)
        await pilot.pause()
        items[60] = ("the current one", NOW)
        app.pane.set_todos(todo_list(*items))
        await pilot.pause()
        assert "▶ the current one" in app.lines
        items[60] = ("the current one", DONE)
        items[80] = ("another", NOW)
        app.pane.set_todos(todo_list(*items))
        await pilot.pause()
        assert "▶ another" in app.lines


@pytest.mark.anyio
async def test_the_mark_stays_on_its_item() -> None:
    app = TodoHost(THREE)
    async with app.run_test() as pilot:
        await pilot.press("end")
        app.pane.set_todos(TodoList((Todo("new", "first"), *THREE.items)))
        assert app.pane.todos.items[app.pane.view.cursor].description == "test"


@pytest.mark.anyio
async def test_a_click_on_the_sign_ticks() -> None:
    app = TodoHost(THREE)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.click(app.pane.view, offset=(8, 2))
        assert app.edited == []
        assert app.pane.view.cursor == 2
        await pilot.click(app.pane.view, offset=(0, 2))
        assert app.pane.todos.items[2].status is DONE


@pytest.mark.anyio
async def test_nothing_hostile_is_drawn() -> None:
    app = TodoHost(todo_list(*[(text, OPEN) for text in HOSTILE]))
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        assert len(app.lines) == len(HOSTILE)
        assert all(is_safe(line) for line in app.lines)
        assert any("[@click=app.exit]x[/]" in line for line in app.lines)


texts = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8, unique=True)


@given(texts, st.data())
def test_edits_keep_every_other_item(names: list[str], data: st.DataObject) -> None:
    todos = todo_list(*[(name, OPEN) for name in names])
    index = data.draw(st.integers(0, len(names) - 1))
    item = todos.items[index]
    assert edits.add(edits.remove(todos, index), index, item) == todos
    assert edits.tick(edits.tick(todos, index), index) == todos
    by = data.draw(st.sampled_from([-1, 1]))
    moved = edits.move(todos, index, by)
    assert sorted(i.id for i in moved.items) == sorted(i.id for i in todos.items)
    if 0 <= index + by < len(names):
        assert edits.move(moved, index + by, -by) == todos
