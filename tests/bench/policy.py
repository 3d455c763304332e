"""How long decisions take: usual commands, ten thousand rules, texts made to be slow; and the table of cases."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from core.contract.tool import Kind
from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "shell_policy.json"
USUAL = (
    "git status",
    "git status && git diff HEAD -- a.py | head -5",
    "npm test -- -k name",
    "bash -c 'cd src && pytest -q'",
    "for f in *.py; do wc -l $f; done",
)
SLOW = {
    "500 parts": " && ".join(["git status"] * 500),
    "an argument of 100 kB": "git status " + "a" * 100_000,
    "200 nested substitutions": "git status " + "$(" * 200 + "x" + ")" * 200,
    "10,000 quotes": "git status " + "'" * 10_001,
    "5,000 wrappers": "env " * 5_000 + "git push",
}


def _milliseconds(decide: Callable[[], object], rounds: int) -> float:
    decide()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        decide()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e3


def _row(name: str, measured: float, target: float) -> None:
    print(f"{name:44} {measured:8.2f} ms   target {target:g} ms{'' if measured <= target else '   MISSED'}")


def _many_rules() -> list[Rule]:
    prefixes = [Rule(SHELL_TOOL, ("allow", "ask", "deny")[n % 3], f"program{n % 200} command{n}") for n in range(8_000)]
    paths = [Rule("write_file", "allow", path=f"docs/{n}/**") for n in range(1_000)]
    servers = [Rule(f"server{n}__*", "allow") for n in range(500)]
    arguments = [Rule(SHELL_TOOL, "deny", args_pattern=rf"secret-{n}\b") for n in range(500)]
    return [*prefixes, *paths, *servers, *arguments]


def _show_cases() -> None:
    if not CASES.is_file():
        print("The table of cases is missing.")
        return
    exact = right = bypassed = 0
    slowest = 0.0
    table = json.loads(CASES.read_text())
    for case in table:
        rules = [Rule(SHELL_TOOL, "allow", prefix) for prefix in case["allow_prefixes"] if prefix.strip()]
        engine = PolicyEngine([*rules, *(Rule(SHELL_TOOL, "deny", prefix) for prefix in case.get("deny_prefixes", ()))])
        started = time.perf_counter()
        verdict = engine.check_command(case["command"]).verdict
        slowest = max(slowest, time.perf_counter() - started)
        exact += verdict == case["expect"]
        acceptable = verdict == case["expect"] or verdict in case.get("accept", ())
        right += acceptable
        bypassed += verdict == "allow" and not acceptable
    print(f"cases: {len(table)}, exact {exact}, acceptable {right}, allowed that must not be {bypassed} (target 0)")
    _row("the slowest case", slowest * 1e3, 50)


def main() -> int:
    rules = [Rule(SHELL_TOOL, "allow", "git status"), Rule(SHELL_TOOL, "deny", "git push")]
    engine = PolicyEngine(rules, looking_allowed=True)
    many = PolicyEngine([*_many_rules(), *rules], looking_allowed=True)
    for command in USUAL:
        _row(command, _milliseconds(lambda command=command: engine.check_command(command), 200), 1)  # type: ignore[misc]  # bound now
    for command in USUAL[:3]:
        row = _milliseconds(lambda command=command: many.check_command(command), 50)  # type: ignore[misc]  # bound now
        _row(f"10,000 rules: {command}"[:44], row, 5)
    edit = {"file_path": "src/a.py"}
    _row("10,000 rules: an edit", _milliseconds(lambda: many.check("write_file", edit, Kind.EDIT, ["src/a.py"]), 50), 5)
    for name, text in SLOW.items():
        _row(name, _milliseconds(lambda text=text: engine.check_command(text), 5), 50)  # type: ignore[misc]  # bound now
    _show_cases()
    return 0


if __name__ == "__main__":
    sys.exit(main())
