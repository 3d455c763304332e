"""The cases of replace and write_file, run against ours."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from core.contract.tool import llm_text
from tests.core.tools.case_workspace import CaseWorkspace, load_cases
from tests.core.tools.deviations import EDITING

pytestmark = pytest.mark.anyio
TOOLS = ("replace", "write_file")


@pytest.mark.parametrize("engine", ["off", "adapters"])
async def test_every_case(cases: Path, tmp_path: Path, engine: Literal["off", "adapters"]) -> None:
    wrong = []
    for case in load_cases(cases, *TOOLS):
        place = CaseWorkspace(tmp_path / case["id"], case)
        result = await place.run(case["tool"], case["args"], place.context(engine))
        expected, deviation = case["expect"], EDITING.get(case["id"])
        text = llm_text(result.llm_content)
        error = result.error.type.value if result.error else None
        wanted_error = expected["error_type"]
        files = expected["files_after"]
        contains = tuple(expected["contains"])
        if deviation is not None:
            if deviation.error or deviation.succeeds:
                wanted_error = deviation.error.value if deviation.error else None
            contains = contains if deviation.contains is None else deviation.contains
            files = {**files, **deviation.files}
        try:
            assert error == wanted_error
            for part in contains if wanted_error is None else ():
                assert place.fill(part) in text
            for path, content in files.items():
                assert (place.root / path).read_bytes().decode() == content
        except (AssertionError, OSError) as problem:
            wrong.append(f"{case['id']}: {problem}\n{text[:500]}")
    assert not wrong, "\n\n".join(wrong)


async def test_no_deviation_is_left_over(cases: Path) -> None:
    assert set(EDITING) <= {case["id"] for case in load_cases(cases, *TOOLS)}
