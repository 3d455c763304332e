"""The rung of likeness: it finds a place, writes nothing that was not asked for, and refuses rather than guess."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import ToolFailure
from core.contract.tool import CallState
from core.fileops.matching.ladder import LIKENESS, find_edit
from core.policy.engine import PolicyEngine
from core.policy.rules import Rule
from core.tools.abort import AbortSignal
from core.tools.builtin.smart_edit import SmartEditTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace
from tests.bench.edits import CASES
from tests.fakes.harness import YES, Harness, call

pytestmark = pytest.mark.anyio

FILE = """\
def area(width, height):
    # the area in square metres
    check(width)
    check(height)
    total = width * height
    return total


def other():
    pass
"""
OLD = """\
def area(width, height):
    # the area in square feet
    check(width)
    check(height)
    total = width * height
    return total
"""
NEW = OLD.replace("width * height", "width * height * FACTOR")


def edit(content: str, old: str, new: str, expected: int | None = 1) -> str:
    return find_edit(content, old, new, expected, "a.py", by_likeness=True).content


def refused(content: str, old: str, new: str) -> bool:
    try:
        edit(content, old, new)
    except ToolFailure:
        return True
    return False


def test_a_stale_line_stays_as_the_file_has_it() -> None:
    outcome = find_edit(FILE, OLD, NEW, by_likeness=True)
    assert outcome.content == FILE.replace("width * height\n", "width * height * FACTOR\n")
    assert outcome.rung == LIKENESS and not outcome.is_exact and outcome.lines == (1,)


def test_without_leave_it_is_not_looked_for() -> None:
    with pytest.raises(ToolFailure):
        find_edit(FILE, OLD, NEW)


@pytest.mark.parametrize(
    ("content", "old", "new", "why"),
    [
        (FILE, OLD, OLD.replace("feet", "yards"), "the line that differs is the one to change"),
        (FILE, OLD.replace("def area", "def arena"), NEW.replace("def area", "def arena"), "it opens the block"),
        (FILE, OLD.replace("    # the", "        # the"), NEW.replace("    # the", "        # the"), "indentation"),
        (
            FILE,
            OLD.replace("# the area in square feet", "log(42)"),
            NEW.replace("# the area in square feet", "log(42)"),
            "no likeness",
        ),
        (FILE + FILE.replace("metres", "miles"), OLD, NEW, "two places"),
        (FILE, "    check(width)\n    chek(height)\n", "    check(width)\n    chek(height)\n    x()\n", "too short"),
        (FILE.replace("square metres", "square metres\n    # more"), OLD, NEW, "a line more in the file"),
        (
            FILE,
            OLD.replace("return total", "return totals"),
            NEW.replace("return total", "return totals"),
            "the last line",
        ),
    ],
)
def test_it_refuses(content: str, old: str, new: str, why: str) -> None:
    assert refused(content, old, new), why


def test_what_stands_there_thousands_of_times_is_no_crash() -> None:
    with pytest.raises(ToolFailure, match="0 occurrences"):
        find_edit("x = 1\n" * 6_000, "y = 2\nz = 3\n", "x = 1\n")


def test_a_number_of_places_is_not_found_by_likeness() -> None:
    with pytest.raises(ToolFailure):
        edit(FILE, OLD, NEW, 2)


@given(st.integers(1, 4), st.text(alphabet="abcdefgh ", min_size=1, max_size=30))
def test_only_what_was_asked_for_changes(index: int, noise: str) -> None:
    """Whatever a quoted line reads like: the result is the wanted change of the file's own lines, or a refusal."""
    lines = OLD.split("\n")
    lines[index] = "    " + noise
    old = "\n".join(lines)
    new = old.replace("width * height\n", "width * height * FACTOR\n")
    if new == old or refused(FILE, old, new):
        return
    assert edit(FILE, old, new) == FILE.replace("width * height\n", "width * height * FACTOR\n")


def test_fifty_thousand_lines() -> None:
    content = "".join(f"    value_{number} = compute({number})\n" for number in range(50_000))
    old = "".join(f"    value_{number} = compute({number})\n" for number in range(30_000, 30_010))
    broken = old.replace("value_30004 = compute", "value_30004 = computed")
    new = broken.replace("compute(30007)", "compute(7)")
    assert edit(content, broken, new) == content.replace("compute(30007)", "compute(7)")
    assert refused("    x = 1\n" * 50_000, "    x = 1\n" * 9 + "    x = 2\n" + "    y\n", "    x = 1\n")


async def test_what_is_found_by_likeness_is_always_shown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FILE)
    session = Harness()
    session.policy.mode = type(session.policy.mode).AUTO_EDIT
    session.registry.register(SmartEditTool(ToolContext(Workspace([tmp_path]))))
    assert "smart_edit" not in {declared.name for declared in session.registry.declarations()}
    async with session.answering(lambda request: YES) as asked:
        exact = call("smart_edit", file_path="a.py", old_string="    pass\n", new_string="    return 1\n")
        (done,) = await session.scheduler.run([exact], 1, AbortSignal())
        assert done.state is CallState.SUCCEEDED and asked == []
        alike = call("smart-edit", "c2", file_path="a.py", old_string=OLD, new_string=NEW)
        (done,) = await session.scheduler.run([alike], 1, AbortSignal())
    assert done.state is CallState.SUCCEEDED and "by likeness" in asked[0].reason  # type: ignore[union-attr]
    assert (tmp_path / "a.py").read_text() == FILE.replace("    pass", "    return 1").replace(
        "width * height\n", "width * height * FACTOR\n"
    )


def test_no_case_of_the_edits_comes_to_harm() -> None:
    from tests.bench import edits

    if not CASES.is_file():
        pytest.skip("the folder of behaviour cases (../shared/cases) is not here")
    harmed = []
    for case in edits.load():
        if case["category"] not in ("stale_line", "typo", "comment_drift", "near_duplicate", "skipped_lines"):
            continue
        content = edits.content(case["file"]).decode("utf-8", "surrogateescape")
        old, new = edits.argument(case["old_string"]), edits.argument(case["new_string"])
        try:
            after = find_edit(content, old, new, case["expected_replacements"], case["name"], by_likeness=True).content
        except ToolFailure:
            continue
        data = after.encode("utf-8", "surrogateescape")
        if edits.verdict_of(case, edits.content(case["file"]), data, False) != "right":
            harmed.append(case["id"])
    assert harmed == []


async def test_rules_for_replace_hold_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FILE)
    session = Harness(policy=PolicyEngine([Rule("replace", "deny", message="frozen")]))
    session.registry.register(SmartEditTool(ToolContext(Workspace([tmp_path]))))
    exact = call("smart_edit", file_path="a.py", old_string="    pass\n", new_string="    return 1\n")
    (done,) = await session.scheduler.run([exact], 1, AbortSignal())
    assert done.state is CallState.DENIED and (tmp_path / "a.py").read_text() == FILE
