"""Policy files: TOML tables `[[rule]]`, every problem with its file and line; the good rules of a file still count."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from core.contract.errors import StetError
from core.policy.rules import Rule, Verdict, rule_from_table

_RULE_HEAD = re.compile(r"^\s*\[\[\s*rule\s*\]\]", re.MULTILINE)
MAX_BYTES = 4_000_000


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
        tighten_only: leave out rules that allow: the folder belongs to a project that is not trusted.
    """
    rules: list[Rule] = []
    problems: list[PolicyProblem] = []
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
        found, wrong = load_policy(path)
        rules += [rule for rule in found if not (tighten_only and rule.verdict is Verdict.ALLOW)]
        problems += wrong
    return rules, problems


def load_policy(path: Path) -> tuple[list[Rule], list[PolicyProblem]]:
    """Return the rules of one file and what is wrong with the others."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return [], [PolicyProblem(str(path), 0, "is no regular file of at most 4 MB")]
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return [], [PolicyProblem(str(path), 0, f"can't be read: {error}")]
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        return [], [PolicyProblem(str(path), int(line[1]) if line else 0, f"is not TOML: {error}")]
    lines = [text.count("\n", 0, match.end()) + 1 for match in _RULE_HEAD.finditer(text)]
    rules: list[Rule] = []
    problems = [
        PolicyProblem(str(path), 1, f"unknown table {key!r}; expected [[rule]]") for key in tables if key != "rule"
    ]
    entries = tables.get("rule", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return [], [*problems, PolicyProblem(str(path), 1, "rules are written as [[rule]] tables")]
    for number, entry in enumerate(entries):
        line_number = lines[number] if number < len(lines) else 0
        try:
            rules.append(rule_from_table(entry, f"{path}:{line_number}"))
        except StetError as error:
            problems.append(PolicyProblem(str(path), line_number, str(error).replace("\n", " ")))
    return rules, problems


def append_rule(path: Path, rule: Rule) -> None:
    """Add a rule to the end of a policy file, atomically; the file and its folder are made if need be."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if old and not old.endswith("\n\n"):
        old = old.rstrip("\n") + "\n\n"
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with open(temporary, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(old + rule.as_toml())
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
