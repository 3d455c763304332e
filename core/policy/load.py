"""Policy files: TOML tables `[[rule]]`, every problem with its file and line; the good rules of a file still count."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contract.errors import StetError
from core.policy.rules import Rule, Verdict, rule_from_table

_RULE_HEAD = re.compile(r"^\s*\[\[\s*rule\s*\]\]", re.MULTILINE)
MAX_BYTES = 4_000_000
_FEW = 10
"""Repetitions that are harmless when nested."""


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """What is wrong in a policy file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def load_policies(folder: Path, *, tighten_only: bool = False) -> tuple[list[Rule], list[PolicyProblem]]:
    """Return the rules of all `*.toml` files of a folder, in the order of their names.

    Args:
        tighten_only: the folder belongs to a project that is not trusted. Rules that allow are left out, and those
            with an expression that may take for ever, as their decision is that of someone unknown.
    """
    rules: list[Rule] = []
    problems: list[PolicyProblem] = []
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
        found, wrong = load_policy(path)
        problems += wrong
        if tighten_only:
            slow = [rule for rule in found if rule.args_pattern and may_run_away(rule.args_pattern)]
            problems += [_too_slow(rule) for rule in slow]
            found = [rule for rule in found if rule.verdict is not Verdict.ALLOW and rule not in slow]
        rules += found
    return rules, problems


def _too_slow(rule: Rule) -> PolicyProblem:
    file, _, line = rule.source.rpartition(":")
    return PolicyProblem(file, int(line), "args_pattern repeats a repetition: not used, as the project is not trusted")


def load_policy(path: Path) -> tuple[list[Rule], list[PolicyProblem]]:
    """Return the rules of one file and what is wrong with the others."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return [], [PolicyProblem(str(path), 0, "is no regular file of at most 4 MB")]
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return [], [PolicyProblem(str(path), 0, f"can't be read: {error}")]
    return parse_policy(text, str(path))


def parse_policy(text: str, path: str) -> tuple[list[Rule], list[PolicyProblem]]:
    """Return the rules of a file's text and what is wrong with the others."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        return [], [PolicyProblem(path, int(line[1]) if line else 0, f"is not TOML: {error}")]
    lines = [text.count("\n", 0, match.end()) + 1 for match in _RULE_HEAD.finditer(text)]
    rules: list[Rule] = []
    problems = [PolicyProblem(path, 1, f"unknown table {key!r}; expected [[rule]]") for key in tables if key != "rule"]
    entries = tables.get("rule", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return [], [*problems, PolicyProblem(path, 1, "rules are written as [[rule]] tables")]
    for number, entry in enumerate(entries):
        line_number = lines[number] if number < len(lines) else 0
        try:
            rules.append(rule_from_table(entry, f"{path}:{line_number}"))
        except StetError as error:
            problems.append(PolicyProblem(path, line_number, str(error).replace("\n", " ")))
    return rules, problems


def write_policy(path: Path, text: str) -> None:
    """Write a policy file, atomically, readable by its owner alone; its folder is made if need be, a link is kept."""
    path = Path(os.path.realpath(path))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with open(temporary, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def may_run_away(pattern: str) -> bool:
    """Return whether an expression repeats what itself repeats without end: it may take for ever on some text."""
    parser = getattr(re, "_parser", None)  # of CPython; without it nothing is known of the expression
    return parser is None or _has_nested_repeat(parser.parse(pattern), inside=False)


def _has_nested_repeat(nodes: Any, inside: bool) -> bool:
    for operation, argument in nodes:
        name = str(operation)
        parts: list[Any] = []
        repeats = False
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            repeats = int(argument[1]) > _FEW
            parts = [argument[2]]
        elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
            parts = [argument[-1]]
        elif name == "BRANCH":
            parts = argument[1]
        if repeats and inside:
            return True
        if any(_has_nested_repeat(part, inside or repeats) for part in parts):
            return True
    return False
