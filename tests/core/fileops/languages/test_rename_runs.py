"""Programs made by chance run after a renaming as they ran before it, whatever is renamed in them."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from tests.core.fileops.languages.renames import RenameProject

NAMES = ("a", "b", "c")
DEEPEST = 3


class Writer:
    """Writes a program that logs what its names hold; every name is used in many scopes."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def text(self) -> str:
        self._block(0, frozenset())
        return "\n".join(self.lines) + "\n"

    def _put(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _name(self) -> str:
        return self.chance.choice(NAMES)

    def _value(self) -> str:
        self.count += 1
        return str(self.count)

    def _block(self, depth: int, fixed: frozenset[str], in_class: bool = False) -> None:
        """Write a block; `fixed` are names that must not be declared `global` or `nonlocal` here any more."""
        shared: set[str] = set()
        if depth and not in_class and self.chance.random() < 0.4:
            name = self._name()
            if name not in fixed:
                self._put(depth, f"global {name}")
                shared.add(name)
        for _ in range(self.chance.randint(2, 5) if depth else 8):
            self._statement(depth)
        self._put(depth, f"log(lambda: {self._name()})")

    def _statement(self, depth: int) -> None:
        one, two, value = self._name(), self._name(), self._value()
        plain = [
            f"{one} = {value}",
            f"log(lambda: {one})",
            f"log(lambda: [{one} for {one} in (1, {value}) if {two} is not None])",
            f"log(lambda: (lambda {one}={two}: ({one}, {two}))())",
            f"log(lambda: ({one} := {value}))",
            f"for {one} in ({value},): log(lambda: {two})",
            f"{one}, *{two} = {value}, 2" if one != two else f"{one} = {value}",
            f"log(lambda: f'{{{one}!r:>{{{two}}}}}')",
            f"log(lambda: dict({one}={value})['{one}' if 0 else list(dict({one}=0))[0]] and {two})",
        ]
        compound = ["function", "class", "match", "try"] if depth < DEEPEST else []
        kind = self.chance.choice([*plain, *compound])
        if kind == "function":
            given = self._name()
            self._put(depth, f"def {one}({given}={value}):")
            self._block(depth + 1, frozenset({given}))
            self._put(depth, f"run(lambda: {one}())")
            self._put(depth, f"run(lambda: {one}({given}=7))")
        elif kind == "class":
            self._put(depth, f"class {one}:")
            self._block(depth + 1, frozenset(), in_class=True)
        elif kind == "match":
            self._put(depth, f"match ({value}, 5):")
            self._put(depth + 1, f"case ({one}, 5): log(lambda: {two})")
        elif kind == "try":
            self._put(depth, f"try: log(lambda: {two}); raise ValueError({value})")
            self._put(depth, f"except ValueError as {one}: log(lambda: str({one}))")
        else:
            self._put(depth, kind)


def run(text: str) -> list[str]:
    """Return what a program logs; names that are bound to nothing are logged as such."""
    told: list[str] = []

    def show(value: Any) -> str:
        if isinstance(value, (int, str)):
            return re.sub(r"<.*?>", "<>", str(value))
        return f"({', '.join(map(show, value))})" if isinstance(value, (tuple, list)) else type(value).__name__

    def log(get: Any) -> None:
        try:
            told.append(show(get()))
        except (NameError, TypeError, ValueError, AttributeError, RecursionError) as error:
            told.append(type(error).__name__)

    def call(get: Any) -> None:
        if len(told) < 2_000:
            log(get)

    exec(compile(text, "<program>", "exec"), {"log": log, "run": call})
    return told


def is_valid(text: str) -> bool:
    try:
        run(text)
    except (SyntaxError, NameError, TypeError, ValueError, AttributeError, IndexError):
        return False
    return True


@pytest.mark.parametrize("part", range(4))
def test_a_renamed_program_runs_as_before(part: int, tmp_path: Path) -> None:
    renamed = 0
    for seed in range(part * 5, part * 5 + 5):
        text = next(text for attempt in range(200) if is_valid(text := Writer(seed * 1_000 + attempt).text()))
        project = RenameProject(tmp_path, f"== a.py\n{text}")
        for number in range(1, text.count("\n") + 1):
            for name in NAMES:
                renamed += try_renaming(project, text, name, number)
    assert renamed > 20


def try_renaming(project: RenameProject, text: str, name: str, line: int) -> bool:
    try:
        plan = project.plan("a.py", name, "z", line)
    except ToolFailure as failure:
        assert failure.type is ToolErrorType.SYMBOL_NOT_FOUND, (line, failure)
        return False
    if "could not be decided" in plan.text:
        return False  # a keyword of a call whose function is bound several times
    new = plan.texts["a.py"][1]
    assert run(new) == run(text), (line, name, new)
    return True
