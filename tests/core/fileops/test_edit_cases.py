"""The ladder's bars over the visible cases: nothing harmed, and nearly all of it right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.edits import judge_all, load, share, table

pytestmark = pytest.mark.anyio


async def test_imperfect_edits_land_where_they_should(cases: Path) -> None:
    outcomes = await judge_all(load(cases / "edits.json"))
    figures = table(outcomes)
    assert not [outcome for outcome in outcomes if outcome.verdict in ("harmful", "false_ok", "error")], figures
    assert share(outcomes) >= 0.95, figures
    assert share(outcomes, "apply") >= 0.92, figures
    assert max(outcome.seconds for outcome in outcomes) < 10, figures  # the goal is 2 s; a busy machine gets more
