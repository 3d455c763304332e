"""A session that is killed at any moment is taken up again as its record holds it; the benchmark does it 200 times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.kills import ROOM, kill_once


@pytest.mark.parametrize("after", [300, ROOM // 3, ROOM - 5_000])
def test_a_killed_session_goes_on(tmp_path: Path, after: int) -> None:
    assert kill_once(tmp_path, after) == []
