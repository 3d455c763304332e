"""Times and sizes as people read them: short, steady in width, never more exact than is useful."""

from __future__ import annotations

WORTH_TELLING = 0.1
"""Seconds from which it is of interest how long something took."""

SHORT = [(0, "-short"), (17, "-tall")]
"""Classes of a dialog's screen by its rows: on a short one blank lines give way to what is listed."""


def format_duration(seconds: float) -> str:
    """Return a span of time: `80ms`, `1.2s`, `42s`, `3m 05s`, `2h 07m`; negative spans count as none."""
    seconds = max(0.0, seconds)
    if seconds < 0.0995:
        return f"{round(seconds * 1000)}ms"
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    minutes = whole // 60
    return f"{minutes // 60}h {minutes % 60:02d}m"


def format_size(size: int) -> str:
    """Return a number of bytes in binary units: `512 B`, `1.4 KiB`, `27 MiB`."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1023.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 9.95 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 line`, `1,204 lines`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
