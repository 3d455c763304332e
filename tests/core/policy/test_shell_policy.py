"""Command lines against the table of cases: never allowed where it must not be, never over-asked where it must be."""

from __future__ import annotations

import json
from pathlib import Path

from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule


def decide(case: dict[str, object]) -> str:
    allow = [Rule(SHELL_TOOL, "allow", str(prefix)) for prefix in case["allow_prefixes"]]  # type: ignore[attr-defined]
    deny = [Rule(SHELL_TOOL, "deny", str(prefix)) for prefix in case.get("deny_prefixes", [])]  # type: ignore[attr-defined]
    return str(PolicyEngine([*allow, *deny]).check_command(str(case["command"])).verdict)


def test_every_case_of_the_table(cases: Path) -> None:
    table = json.loads((cases / "shell_policy.json").read_text())
    wrong = []
    for case in table:
        verdict = decide(case)
        right = verdict == case["expect"] or verdict in case.get("accept", [])
        if verdict == "allow" and not right:
            wrong.append(f"BYPASS {case['id']}: {case['command']!r:.120}")
        elif not right and case["level"] == "must":
            wrong.append(
                f"{case['id']}: {case['command']!r:.120} is {verdict}, expected {case['expect']}: {case['why']}"
            )
    assert not wrong, "\n".join(wrong)
