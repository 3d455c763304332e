"""The themes: everything that is read has contrast enough, and NO_COLOR means none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from textual.color import Color
from textual.theme import Theme
from textual.widget import Widget

from app.themes import LEAST, THEMES, ReadableTheme, contrast
from core.diff.hunks import make_patch
from tests.app.running import Running, running
from widgets.diff.review import ReviewScreen

pytestmark = pytest.mark.anyio

TONES = ("primary", "accent", "success", "warning", "error")
LOOKS = Path(__file__).parent / "looks" / "themes.txt"
ROLES = (
    "background",
    "foreground",
    "text-muted",
    *(f"text-{tone}" for tone in TONES),
    "primary-muted",
    "success-muted",
    "error-muted",
    "primary",
    "success",
    "error",
)
"""The colours that are kept, by their names in the style sheets."""
OURS = ("stet-dark", "stet-light", "stet-contrast")
OTHERS = ("solarized-dark", "catppuccin-latte")
"""Two that have little contrast of their own; what is made of each theme's colours is tested apart."""
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


def ratio(one: RichColor, other: RichColor) -> float:
    return contrast(Color.from_rich_color(one), Color.from_rich_color(other))


def faults(stet: Running) -> set[str]:
    """Return what has too little contrast, with the theme's name."""
    found = set()
    theme = stet.app.current_theme
    least = theme.least if isinstance(theme, ReadableTheme) else LEAST
    for widget in stet.app.screen.walk_children(Widget, with_self=True):
        for name, text, ground in readable(widget):
            if text is not None and ground is not None:
                if (found_ratio := ratio(text, ground)) < least:
                    found.add(f"{theme.name}: {name} {found_ratio:.2f}")
    return found


async def all_faults(stet: Running, themes: Iterable[str]) -> set[str]:
    found = set()
    for theme in themes:
        stet.app.theme = theme
        await stet.pilot.pause()
        found |= faults(stet)
    return found


async def test_everything_that_is_read_has_contrast_enough(project: Path) -> None:
    (project / "a.py").write_text("def f():\n    return 1\n")
    async with running(project) as stet:
        assert {*stet.app.available_themes} == {theme.name for theme in THEMES}
        await stet.app.workspace.pane("todo")
        stet.app.workspace.prompt.set_queue(["one"])
        await stet.press("ctrl+f", "slash")
        assert await all_faults(stet, (*OURS, *OTHERS)) == set()
        await stet.press("f1")
        assert await all_faults(stet, OURS) == set()
        await stet.press("escape")
        patch = make_patch("a.py", "def f():\n    return 1\n", "def f():\n    return 2  # two\n")
        stet.app.push_screen(ReviewScreen([patch], title="Change a.py"))
        await stet.shows("return 2")
        assert await all_faults(stet, (*OURS, *OTHERS[:1])) == set()


def test_themes_look_as_they_did() -> None:
    """STET_WRITE_LOOKS=1 writes them anew: read what changed."""
    lines = []
    for theme in THEMES:
        used = replace(theme)
        made = {**used.to_color_system().generate(), **used.variables}
        lines.append(f"{theme.name}: " + " ".join(f"{role}={made[role]}" for role in ROLES))
    if os.environ.get("STET_WRITE_LOOKS"):
        LOOKS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == LOOKS.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: str(theme.name))
def test_a_theme_keeps_its_hues_and_its_grounds(theme: ReadableTheme) -> None:
    before = Theme.to_color_system(theme).generate()
    used = replace(theme)
    made = {**used.to_color_system().generate(), **used.variables}
    assert all(made[name] == before[name] for name in ("background", "surface", "panel"))
    if not theme.ansi:
        texts = (
            "foreground",
            "text-muted",
            *(f"text-{tone}" for tone in TONES),
        )
        for ground in ("background", "surface", "panel"):
            low = [name for name in texts if contrast(Color.parse(made[name]), Color.parse(made[ground])) < theme.least]
            assert not low
        assert contrast(Color.parse(made["primary-muted"]), Color.parse(made["surface"])) > 1.1  # it can be seen


async def test_no_color_means_none(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(project) as stet:
        await stet.prompt("hello")
        await stet.idle()
        await stet.press("f2")
        await stet.shows("ui.theme")
        strips = stet.app.screen._compositor.render_strips()
        assert any(style and style.underline for strip in strips for _, style, _ in strip)  # what is marked
        filters = stet.app.get_line_filters()
        for strip in strips:
            segments = list(strip)
            for each in filters:
                segments = each.apply(segments, Color(0, 0, 0))
            for _, style, _ in segments:
                assert style is None or all(c is None or c.is_default for c in (style.color, style.bgcolor))
