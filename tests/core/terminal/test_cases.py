"""The recorded byte streams of real programs and the screens that real terminals show for them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.contract.frame import Row
from core.terminal.screen import TerminalScreen

Index = list[dict[str, Any]]


def load(cases: Path) -> Index:
    index: Index = json.loads((cases / "terminal" / "index.json").read_text(encoding="utf-8"))
    return index


def data_of(cases: Path, name: str) -> bytes:
    return (cases / "terminal" / f"{name}.bin").read_bytes()


def feed(pieces: Iterable[bytes]) -> TerminalScreen:
    screen = TerminalScreen(80, 24)
    for piece in pieces:
        screen.feed(piece)
    return screen


def all_of(screen: TerminalScreen) -> tuple[list[str], tuple[Row, ...], list[Row], object]:
    rows = list(screen.history.rows(0, len(screen.history)))
    return screen.display, screen.frame().rows, rows, (screen.cursor.x, screen.cursor.y, screen.title, screen.modes)


def wanted_screens(cases: Path, case: dict[str, Any]) -> list[list[str]]:
    text = (cases / "terminal" / f"{case['name']}.txt").read_text(encoding="utf-8")
    lines = [line.rstrip() for line in text.split("\n")[:24]]
    screens = [lines]
    for other in ([case["xtermjs_lines"]] if "xtermjs_lines" in case else []) + case.get("also", []):
        screens.append([other.get(str(number), line).rstrip() for number, line in enumerate(lines)])
    return screens


def test_screens(cases: Path) -> None:
    wrong = []
    for case in load(cases):
        screen = feed([data_of(cases, case["name"])])
        if [line.rstrip() for line in screen.display] not in wanted_screens(cases, case):
            wrong.append(case["name"])
    assert wrong == []


def test_cursors_and_modes(cases: Path) -> None:
    wrong = []
    for case in load(cases):
        if "also" in case:
            continue  # the oracles disagree about the width of what they replace invalid bytes with
        screen = feed([data_of(cases, case["name"])])
        places = [case["cursor"], case["xtermjs_cursor"]]
        frame = screen.frame()
        if [screen.cursor.x, screen.cursor.y] not in places and [frame.cursor_column, frame.cursor_line] not in places:
            wrong.append(f"{case['name']}: {screen.cursor.x}, {screen.cursor.y}")
        shown = (frame.alternate, frame.cursor_visible, frame.application_cursor, frame.mouse)
        if shown != (case["alternate"], case["cursor_visible"], case["app_cursor"], case["mouse"]):
            wrong.append(f"{case['name']}: {shown}")
    assert wrong == []


def test_any_cutting_gives_the_same_screen(cases: Path) -> None:
    dice = random.Random(7)
    for case in load(cases):
        data = data_of(cases, case["name"])
        whole = all_of(feed([data]))
        assert all_of(feed(data[at : at + 1] for at in range(len(data)))) == whole, case["name"]
        cuts = sorted({0, len(data), *(dice.randrange(len(data) + 1) for _ in range(40))})
        assert all_of(feed(data[a:b] for a, b in zip(cuts, cuts[1:], strict=False))) == whole, case["name"]
