"""Edits as models make them, through the tool, judged by the bytes of the file afterwards.

Run as `python -m tests.bench.edits [CATEGORY or ID ...]` for the table.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contract.errors import ToolErrorType
from core.tools.builtin.replace import ReplaceTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "edits.json"
VERDICTS = ("right", "harmful", "missed", "false_ok", "error")
BUGS = (ToolErrorType.UNHANDLED_EXCEPTION, ToolErrorType.EXECUTION_FAILED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case."""

    id: str
    category: str
    expect: str
    verdict: str
    """`right`; `harmful`: changed into something that no reading asks for; `missed`: refused what was to be applied;
    `false_ok`: said to be done with nothing changed; `error`: neither done nor refused."""
    was_applied: bool
    seconds: float
    message: str


def load(path: Path = CASES) -> list[dict[str, Any]]:
    """Return the cases."""
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return cases


def content(value: Any) -> bytes:
    """Return a file of a case: base64, numbered lines, or repeated parts."""
    if isinstance(value, str):
        return base64.b64decode(value)
    if "parts" in value:
        return "".join(text * times for text, times in value["parts"]).encode()
    over = {int(number): line for number, line in value.get("over", {}).items()}
    lines = (over.get(n, value["format"].replace("{n}", str(n))) for n in range(1, value["lines"] + 1))
    return "".join(line + value.get("eol", "\n") for line in lines).encode()


def argument(value: Any) -> str:
    """Return old_string or new_string of a case."""
    return value if isinstance(value, str) else content(value).decode()


async def judge(case: dict[str, Any], folder: Path) -> Outcome:
    """Run one case in an empty folder."""
    before = content(case["file"])
    path = folder / case["name"]
    path.write_bytes(before)
    tool = ReplaceTool(ToolContext(Workspace([folder])))
    args = {
        "file_path": case["name"],
        "old_string": argument(case["old_string"]),
        "new_string": argument(case["new_string"]),
        "expected_replacements": case["expected_replacements"],
    }
    started = time.perf_counter()
    try:
        result = await tool.build_and_execute(args)
    except Exception as error:  # noqa: BLE001 - boundary: a tool run
        message, was_refused, is_bug = repr(error), False, True
    else:
        message = result.error.message if result.error else str(result.llm_content)
        was_refused = result.error is not None
        is_bug = result.error is not None and result.error.type in BUGS
    seconds = time.perf_counter() - started
    after = path.read_bytes()
    verdict = "error" if is_bug else verdict_of(case, before, after, was_refused)
    return Outcome(case["id"], case["category"], case["expect"], verdict, after != before, seconds, message)


def verdict_of(case: dict[str, Any], before: bytes, after: bytes, was_refused: bool) -> str:
    """Return the verdict on the bytes."""
    accepted = case.get("accept", [])
    wanted = [content(item["file"]) for item in accepted if isinstance(item, dict)]
    if case["expect"] == "apply":
        wanted.append(content(case["expected_file"]))
    may_refuse = case["expect"] == "refuse" or "refuse" in accepted
    if was_refused:
        return "harmful" if after != before else "right" if may_refuse else "missed"
    if after in wanted:
        return "right"
    return "false_ok" if after == before else "harmful"


async def judge_all(cases: Sequence[dict[str, Any]]) -> list[Outcome]:
    """Run the cases one after another."""
    outcomes = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            outcomes.append(await judge(case, Path(folder)))
    return outcomes


def share(outcomes: Sequence[Outcome], expect: str | None = None) -> float:
    """Return the share of right ones, of those with this expectation."""
    chosen = [outcome for outcome in outcomes if expect in (None, outcome.expect)]
    return sum(outcome.verdict == "right" for outcome in chosen) / max(1, len(chosen))


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the figures by category, and all that was not right."""
    rows = [f"{'category':22}" + "".join(f"{verdict:>9}" for verdict in VERDICTS) + f"{'of':>6}{'slowest':>9}"]
    for category in [*sorted({outcome.category for outcome in outcomes}), ""]:
        chosen = [outcome for outcome in outcomes if category in ("", outcome.category)]
        counts = Counter(outcome.verdict for outcome in chosen)
        cells = "".join(f"{counts[verdict] or '-':>9}" for verdict in VERDICTS)
        slowest = max(outcome.seconds for outcome in chosen)
        rows.append(f"{category or 'all':22}{cells}{len(chosen):>6}{slowest:>8.2f}s")
    rows.append(
        f"right {share(outcomes):.1%}; to be applied {share(outcomes, 'apply'):.1%};"
        f" to be refused {share(outcomes, 'refuse'):.1%}"
    )
    rows += [
        f"{outcome.verdict} {outcome.id}: {outcome.message[:200]}" for outcome in outcomes if outcome.verdict != "right"
    ]
    return "\n".join(rows)


def main(names: Sequence[str]) -> None:
    """Print the table for the named categories and cases, or for all."""
    cases = [case for case in load() if not names or case["category"] in names or case["id"] in names]
    print(table(asyncio.run(judge_all(cases))))


if __name__ == "__main__":
    main(sys.argv[1:])
