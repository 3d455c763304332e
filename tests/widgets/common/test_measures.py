"""Times, sizes and counts as people read them."""

from __future__ import annotations

import pytest

from widgets.common.measures import format_count, format_duration, format_size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0ms"),
        (0.0801, "80ms"),
        (0.0996, "0.1s"),
        (1.24, "1.2s"),
        (9.96, "10s"),
        (59.4, "59s"),
        (59.6, "1m 00s"),
        (185, "3m 05s"),
        (7620, "2h 07m"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1434, "1.4 KiB"), (28 << 20, "28 MiB"), (3 << 40, "3.0 TiB")],
)
def test_sizes(size: int, text: str) -> None:
    assert format_size(size) == text


def test_counts() -> None:
    assert format_count(1, "line") == "1 line"
    assert format_count(1204, "line") == "1,204 lines"
    assert format_count(2, "entry", "entries") == "2 entries"
