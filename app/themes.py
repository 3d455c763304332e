"""Our colour themes: dark, light and high contrast. Textual's own stand beside them; `ansi-dark` has the terminal's.

Whatever a theme's own colours are, what is read in them has contrast enough: see `readable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from textual.color import BLACK, WHITE, Color
from textual.design import ColorSystem
from textual.theme import BUILTIN_THEMES, Theme

DEFAULT = "stet-dark"
LEAST = 4.5
"""Contrast of text (WCAG 2.2, success criterion 1.4.3)."""
LEAST_HIGH = 7.0
"""The same for the theme of high contrast (1.4.6)."""

_TINTS = {
    "primary": (0.3, ("surface", "panel"), ("foreground",)),
    "success": (0.42, ("surface",), ("foreground",)),
    "error": (0.42, ("surface",), ("foreground",)),
    "primary-muted": (1.0, ("surface",), ("foreground",)),
    "warning-muted": (1.0, ("background",), ("foreground",)),
    "success-muted": (1.0, ("background",), ("foreground", "text-success")),
    "error-muted": (1.0, ("background",), ("foreground", "text-error")),
    "input-selection-background": (1.0, ("surface",), ("foreground",)),
}
"""Colours that are grounds of texts: how much of each stands, on what, and the texts that are read on it."""
_ROOM, _MOST = 1.4, 12.0
"""How much more contrast a text needs that is also read on tinted grounds, but no more than so much."""
_STEPS = 40


@dataclass
class ReadableTheme(Theme):
    """A theme whose texts are made readable when it is first used."""

    least: float = LEAST

    def to_color_system(self) -> ColorSystem:
        system = super().to_color_system()
        if self.ansi:
            return system
        made = readable({**system.generate(), **self.variables}, self.least)
        for name in ("foreground", "primary", "success", "error"):
            setattr(system, name, Color.parse(made[name]))
        self.variables = system.variables = {**self.variables, **made}
        return system


def readable(variables: Mapping[str, str], least: float) -> dict[str, str]:
    """Return the colours of texts, and of the grounds that they stand on, so changed that all have enough contrast.

    Args:
        variables: of the theme, by Textual's names.
        least: the contrast that is enough.
    """
    colours = {name: Color.parse(variables[name]) for name in ("background", "surface", "panel")}
    boosted = [_parsed(variables["boost"], ground) for ground in colours.values()]
    grounds = [*colours.values(), *boosted]

    def raised(name: str, text: Color, room: float = 1.0) -> None:
        colours[name] = raise_contrast(text, grounds, min(_MOST, least * room))

    raised("foreground", Color.parse(variables["foreground"]), _ROOM)
    for name in ("primary", "secondary", "accent", "success", "warning", "error"):
        raised(f"text-{name}", Color.parse(variables[f"text-{name}"]), _ROOM if name in ("success", "error") else 1)
    muted, dimmed = variables["text-muted"], grounds[0].blend(colours["foreground"], 0.7)
    raised("text-muted", dimmed if muted.startswith("auto") else Color.parse(muted))
    for name, (share, below, texts) in _TINTS.items():
        read, under = [colours[text] for text in texts], [colours[ground] for ground in below]
        tint = _parsed(variables[name], under[0])
        colours[name] = _weakened(tint, share, under, read, least)
    made = {name: colour.hex for name, colour in colours.items() if name not in ("background", "surface", "panel")}
    return {**made, "input-selection-foreground": made["foreground"]}


def _parsed(value: str, ground: Color) -> Color:
    """Return a colour of a theme, such as `#81a1c1` or `#81a1c1 35%`, as it shows on a ground."""
    named, _, share = value.partition(" ")
    colour = Color.parse(named)
    alpha = float(share.rstrip("%")) / 100 if share else colour.a
    return ground.blend(colour.with_alpha(1), alpha)


def raise_contrast(text: Color, grounds: Sequence[Color], least: float) -> Color:
    """Return a text's colour, as much nearer to black or white as it must be on all of the grounds."""
    end = WHITE if all(ground.get_contrast_text(1) == WHITE for ground in grounds) else BLACK
    for step in range(_STEPS + 1):
        changed = text.blend(end, step / _STEPS)
        if all(contrast(changed, ground) >= least for ground in grounds):
            break
    return changed


def _weakened(tint: Color, share: float, grounds: Sequence[Color], texts: Sequence[Color], least: float) -> Color:
    """Return a tint, as much nearer to its ground as it must be for all the texts on it."""
    for step in range(_STEPS + 1):
        changed = tint.blend(grounds[0], step / _STEPS)
        mixed = [ground.blend(changed, share) for ground in grounds]
        if all(contrast(text, each) >= least for text in texts for each in mixed):
            break
    return changed


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Color) -> float:
    parts = (part / 255 for part in colour.rgb)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


DARK = ReadableTheme(
    name=DEFAULT,
    primary="#6CB6FF",
    secondary="#B0A4F0",
    accent="#F2B866",
    success="#7BC88C",
    warning="#F0B94D",
    error="#F08080",
    foreground="#E2E6EC",
    background="#14171C",
    surface="#1A1E25",
    panel="#222832",
    boost="#FFFFFF10",
    variables={
        "text-muted": "#A3ADBA", "text-disabled": "#8490A0", "border-blurred": "#3A4452",
        "input-selection-background": "#2B5C8A", "input-selection-foreground": "#FFFFFF",
    },
)  # fmt: skip
LIGHT = ReadableTheme(
    name="stet-light",
    primary="#0B5CAD",
    secondary="#5B3FB0",
    accent="#8A4B00",
    success="#1B6B34",
    warning="#7A5200",
    error="#A8242B",
    foreground="#1C2430",
    background="#FBFBF9",
    surface="#F2F2EE",
    panel="#E6E7E3",
    boost="#0000000A",
    dark=False,
    variables={
        "text-primary": "#0B5CAD", "text-secondary": "#5B3FB0", "text-accent": "#7C4300", "text-success": "#175C2D",
        "text-warning": "#6E4A00", "text-error": "#98202A", "text-muted": "#4B5563", "text-disabled": "#5D6672",
        "primary-muted": "#CFE2F5", "success-muted": "#D6EEDC", "error-muted": "#F8DCDC", "warning-muted": "#F5E6C0",
        "border-blurred": "#C9CCC6",
    },
)  # fmt: skip
CONTRAST = ReadableTheme(
    name="stet-contrast",
    least=LEAST_HIGH,
    primary="#5CC8FF",
    secondary="#D0B0FF",
    accent="#FFD24A",
    success="#7CFF8A",
    warning="#FFD24A",
    error="#FF8A8A",
    foreground="#FFFFFF",
    background="#000000",
    surface="#000000",
    panel="#101010",
    boost="#FFFFFF18",
    variables={
        "text-primary": "#5CC8FF", "text-secondary": "#D0B0FF", "text-accent": "#FFD24A", "text-success": "#7CFF8A",
        "text-warning": "#FFD24A", "text-error": "#FF9A9A", "text-muted": "#D6D6D6", "text-disabled": "#B8B8B8",
        "primary-muted": "#00476B", "success-muted": "#00400A", "error-muted": "#5A0000", "warning-muted": "#4A3800",
        "border-blurred": "#9A9A9A",
    },
)  # fmt: skip

_OURS = (DARK, LIGHT, CONTRAST)
THEMES = (
    *_OURS,
    *(
        ReadableTheme(**{each.name: getattr(theme, each.name) for each in fields(theme)})
        for theme in BUILTIN_THEMES.values()
    ),
)
PREFERRED = (*(theme.name for theme in _OURS), "ansi-dark", "ansi-light")
"""What the list of themes begins with."""
