"""The themes: everything that is read has contrast enough, and NO_COLOR means none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from textual.color import Color
from textual.widget import Widget

from app.themes import THEMES
from core.diff.hunks import make_patch
from tests.app.running import Running, running
from widgets.diff.review import ReviewScreen

pytestmark = pytest.mark.anyio

LEAST = 4.5
"""Contrast of text (WCAG 2.2, success criterion 1.4.3)."""
ORNAMENTS = ("rule", "filler", "bar", "quote-bar", "cursor-bar", "disabled", "off", "dropped", "border", "scrollbar")
"""Component classes that no one reads: lines, fillings, and what can't be used."""
UNUSED = {"screen--selection", "text-area--gutter", "text-area--cursor-gutter", "input--suggestion"}
"""Textual's; the first is a ground without a text."""


def readable(widget: Widget) -> Iterator[tuple[str, RichColor | None, RichColor | None]]:
    """Return name, text colour and ground of each kind of text that a widget draws."""
    yield type(widget).__name__, widget.rich_style.color, widget.rich_style.bgcolor
    for name in sorted(type(widget).COMPONENT_CLASSES):
        if name.split("--")[-1] in ORNAMENTS or "scrollbar" in name or name in UNUSED:
            continue
        with contextlib.suppress(KeyError):
            style = widget.get_component_rich_style(name)
            yield name, style.color, style.bgcolor


def luminance(color: RichColor) -> float:
    """Return the relative luminance (WCAG 2.2)."""
    parts = [part / 255 for part in color.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: RichColor, other: RichColor) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def faults(stet: Running) -> set[str]:
    found = set()
    for widget in stet.app.screen.walk_children(Widget, with_self=True):
        for name, text, ground in readable(widget):
            if text is not None and ground is not None:
                ratio = contrast(text, ground)
                if ratio < LEAST:
                    found.add(f"{name} {ratio:.2f}")
    return found


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_everything_that_is_read_has_contrast_enough(project: Path, theme: str) -> None:
    (project / "a.py").write_text("def f():\n    return 1\n")
    async with running(project) as stet:
        stet.app.theme = theme
        await stet.app.workspace.pane("todo")
        stet.app.workspace.prompt.set_queue(["one"])
        await stet.press("ctrl+f", "slash")
        await stet.pilot.pause()
        assert faults(stet) == set()
        await stet.press("f1")
        await stet.pilot.pause()
        assert faults(stet) == set()
        await stet.press("escape")
        await stet.pilot.pause()
        patch = make_patch("a.py", "def f():\n    return 1\n", "def f():\n    return 2  # two\n")
        stet.app.push_screen(ReviewScreen([patch], title="Change a.py"))
        await stet.shows("return 2")
        assert faults(stet) == set()


async def test_no_color_means_none(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(project) as stet:
        await stet.prompt("hello")
        await stet.idle()
        strips = stet.app.screen._compositor.render_strips()
        filters = stet.app.get_line_filters()
        for strip in strips:
            segments = list(strip)
            for each in filters:
                segments = each.apply(segments, Color(0, 0, 0))
            for _, style, _ in segments:
                assert style is None or all(c is None or c.is_default for c in (style.color, style.bgcolor))
