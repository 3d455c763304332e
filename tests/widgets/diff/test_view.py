"""The view: bounded work, what counts as seen, hostile text, wide characters."""

from __future__ import annotations

import gc
import warnings

import pytest
from rich.cells import cell_len
from textual.strip import Strip
from textual.widgets import Input

from core.diff.hunks import make_patch
from tests.widgets.diff.host import Host, drawn, numbered, press, review, segments, settle, show, small, three_hunks
from tests.widgets.hostile import HOSTILE, is_safe
from widgets.diff.painter import Painter
from widgets.diff.view import DiffView

pytestmark = pytest.mark.anyio


async def test_a_diff_of_10_000_lines_paints_only_what_is_on_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[int] = []
    paint = Painter.paint

    def count(self: Painter, index: int, part: int, **options: object) -> Strip:
        painted.append(index)
        return paint(self, index, part, **options)  # type: ignore[arg-type] # passes them on as they are

    monkeypatch.setattr(Painter, "paint", count)
    patch = make_patch("a.txt", numbered(10_000), numbered(10_000).replace("line", "row"))
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(patch))
        assert screen.view.virtual_size.height > 20_000
        assert len(set(painted)) <= 24
        assert len(painted) <= 24 * 6
        painted.clear()
        await press(pilot, "G")
        assert len(painted) <= 24 * 6
        assert any("row 10000" in line for line in drawn(app))


async def test_a_hunk_is_seen_when_its_last_line_was_on_screen() -> None:
    app = Host()
    patch = make_patch("a.txt", "", numbered(50))
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(patch))
        assert screen.proposal.unseen == (0,)
        await press(pilot, "pagedown")
        assert screen.proposal.unseen == (0,)
        await press(pilot, "pagedown", "pagedown", "pagedown")
        assert screen.proposal.unseen == ()


async def test_the_tail_of_a_long_line_wraps_into_view_and_is_marked_as_cut_without_wrapping() -> None:
    app = Host()
    patch = make_patch("a.txt", "a\n", "a " + "." * 150 + " rm -rf\n")
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(patch))
        assert any("rm -rf" in line for line in drawn(app))
        await press(pilot, "w")
        assert not any("rm -rf" in line for line in drawn(app))
        assert any("\u203a" in line for line in drawn(app))
        await press(pilot, "right", "l")
        screen.view.scroll_to(x=screen.view.max_scroll_x, animate=False)
        await settle(pilot)
        assert any("rm -rf" in line for line in drawn(app))


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (200, 60)])
async def test_every_line_fills_its_width_exactly(size: tuple[int, int]) -> None:
    app = Host()
    patch = make_patch("a.py", numbered(9), "日本語 👩\u200d💻 ⚠\ufe0f e\u0301 " * 12 + "\tx\n" + numbered(9))
    async with app.run_test(size=size) as pilot:
        screen = await show(pilot, review(patch))
        for keys in ([], ["t"], ["w"], ["b"], ["t"]):
            await press(pilot, *keys)
            view = screen.view
            widths = {view.render_line(y).cell_length for y in range(view.size.height)}
            assert widths == {view.scrollable_content_region.width}
            assert all(cell_len(line) <= size[0] for line in drawn(app))


@pytest.mark.parametrize("text", [" ".join(HOSTILE[start::5]) for start in range(5)])
async def test_hostile_text_is_drawn_as_text(text: str) -> None:
    app = Host()
    patch = make_patch(f"dir/{text}.py", f"old\n{text}\n", f"{text}{text}\nnew {text}\n")
    async with app.run_test(size=(100, 24)) as pilot:
        screen = await show(
            pilot,
            review(patch, title=text, tool=text, reason=text, grant=text, rule=text, notes={patch.path: (text,)}),
        )
        for keys in ([], ["t"], ["p"]):
            await press(pilot, *keys)
            assert all(is_safe(line) for line in drawn(app))
            for segment in segments(app):
                assert segment.style is None or segment.style.link is None
                assert segment.style is None or "@click" not in segment.style.meta
        assert app.screen is not screen, "the rule is not shown"
        assert screen.outcome is None


async def test_old_and_new_stand_side_by_side_where_there_is_room() -> None:
    app = Host()
    async with app.run_test(size=(120, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        assert screen.view.is_split
        assert any("line 10" in line and "ten" in line for line in drawn(app))
        await press(pilot, "t")
        assert not screen.view.is_split
        await pilot.resize_terminal(90, 24)
        await press(pilot, "t")
        assert screen.view.is_split
    async with Host().run_test(size=(80, 24)) as pilot:
        assert not (await show(pilot, review(three_hunks()))).view.is_split


async def test_signs_and_words_say_what_colours_say() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await show(pilot, review(three_hunks()))
        lines = drawn(app)
        assert any("\u2212 line 10" in line for line in lines)
        assert any("+ ten" in line for line in lines)
        await press(pilot, "space")
        assert any("[ ] 1/3" in line and "not accepted" in line for line in drawn(app))


async def test_differing_line_breaks_and_a_missing_last_one_are_shown() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await show(pilot, review(make_patch("a", "a\r\nb\r\n", "a\nb")))
        lines = drawn(app)
        assert any("a \u240d\u240a" in line for line in lines)
        assert any("a \u240a" in line for line in lines)
        assert any("no line break at the end" in line for line in lines)


async def test_search_goes_from_place_to_place() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        await press(pilot, "slash")
        field = screen.entry.query_one(Input)
        field.value = "ninety"
        await settle(pilot)
        assert "ninety" in (screen.view.cursor_line and screen.view.cursor_line.text or "")
        assert any("1 of 1 lines" in line for line in drawn(app))
        field.value = "line 1"
        await press(pilot, "down")
        first = screen.view.cursor
        await press(pilot, "down")
        assert screen.view.cursor != first
        await press(pilot, "escape")
        assert screen.view.needle == ""
        assert app.screen is screen


async def test_colours_of_the_language_arrive_later_and_stay_with_the_text() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(make_patch("a.py", "x = 1\n", "def f(): return 1\n")))
        keyword = screen.view.get_component_rich_style("diff--keyword")
        found = [segment.text for segment in segments(app) if segment.style and segment.style.color == keyword.color]
        assert "def" in found
        assert "return" in found


async def test_a_theme_change_is_taken_up() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        before = screen.view.render_line(0)
        app.theme = "textual-light"
        await press(pilot)
        assert screen.view.render_line(0).text == before.text
        assert screen.view.render_line(0) != before


def test_the_view_handles_no_key_that_the_review_needs() -> None:
    own = {key for keys in (binding.key for binding in DiffView.BINDINGS) for key in keys.split(",")}  # type: ignore[union-attr] # all are Bindings
    assert not own & {"up", "down", "home", "end", "space", "enter"}


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_sixteen_colours_never_put_text_on_its_own_colour(theme: str) -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        app.theme = theme
        patch = make_patch("a.py", "a = 'red'\nb = 1\nc = 2\n", "a = 'blue'\nb = 1  # one\nc = 2\n")
        screen = await show(pilot, review(patch, make_patch("b.py", "x = 1\n", "x = 2\n")))
        screen.view.find("blue")
        await press(pilot, "semicolon")
        styles = {segment.style for segment in segments(app) if segment.style is not None and segment.text.strip()}
        grounds = {
            style.bgcolor.number for style in styles if style.bgcolor is not None and not style.bgcolor.is_default
        }
        inks = {style.color.number for style in styles if style.color is not None and style.bgcolor is not None}
        assert {1, 2} <= inks and not {1, 2, 3} & grounds


async def test_a_hunk_that_changes_blanks_alone_says_so() -> None:
    before = numbered(40)
    after = numbered(40, {3: "  line 3", 20: "row 20"}).replace("line 35\n", "line\t35\n\n")
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        await show(pilot, review(make_patch("a.txt", before, after)))
        heads = [line for line in drawn(app) if "@@" in line]
        assert ["only blanks" in head for head in heads] == [True, False, True]


async def test_a_review_that_closes_at_once_leaves_no_work_that_was_never_begun() -> None:
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        async with Host().run_test(size=(80, 24)) as pilot:
            screen = await show(pilot, review(small()))
            screen.view.start_tinting()
            pilot.app.workers.cancel_all()
            await settle(pilot)
        gc.collect()
    assert not [each for each in noted if "never awaited" in str(each.message)]
