"""Our colour themes: dark, light and high contrast. Textual's own stand beside them; `ansi-dark` has the terminal's."""

from __future__ import annotations

from textual.theme import Theme

DEFAULT = "stet-dark"

DARK = Theme(
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
LIGHT = Theme(
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
CONTRAST = Theme(
    name="stet-contrast",
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

THEMES = (DARK, LIGHT, CONTRAST)
PREFERRED = (*(theme.name for theme in THEMES), "ansi-dark", "ansi-light")
"""What the list of themes begins with."""
