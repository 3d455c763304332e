"""The cases of the reading tools and of write_todos, run against ours."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Literal

import pytest

from core.contract.conversation import MediaPart
from core.contract.tool import llm_text
from core.workspace import candidates
from core.workspace.engines import Engine as Searcher
from tests.core.tools.case_workspace import CaseWorkspace, load_cases
from tests.core.tools.deviations import READING, Deviation

pytestmark = pytest.mark.anyio
TOOLS = ("read_file", "list_directory", "glob", "grep_search", "write_todos")


def check_text(place: CaseWorkspace, expected: dict[str, Any], deviation: Deviation | None, text: str) -> None:
    wanted = expected["contains"] if deviation is None or deviation.contains is None else deviation.contains
    for part in wanted:
        assert place.fill(part) in text
    for part in expected["not_contains"]:
        assert place.fill(part) not in text


@pytest.mark.parametrize("engine", ["off", "adapters"])
async def test_every_case(cases: Path, tmp_path: Path, engine: Literal["off", "adapters"]) -> None:
    wrong = []
    for case in load_cases(cases, *TOOLS):
        place = CaseWorkspace(tmp_path / case["id"], case)
        result = await place.run(case["tool"], case["args"], place.context(engine))
        expected, deviation = case["expect"], READING.get(case["id"])
        text = llm_text(result.llm_content)
        error = result.error.type.value if result.error else None
        wanted_error = expected["error_type"]
        if deviation is not None and (deviation.error or deviation.succeeds):
            wanted_error = deviation.error.value if deviation.error else None
        try:
            assert error == wanted_error
            if wanted_error is None:
                check_text(place, expected, deviation, text)
            for path, content in expected["files_after"].items():
                assert (place.root / path).read_text() == content
        except AssertionError as problem:
            wrong.append(f"{case['id']}: {problem}\n{text[:500]}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("in_repository", [False, True], ids=["plain", "repository"])
@pytest.mark.parametrize("searcher", [searcher for searcher in Searcher if searcher is not Searcher.PYTHON])
async def test_every_case_of_searching_on_every_engine(
    cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searcher: Searcher, in_repository: bool
) -> None:
    if not shutil.which(searcher.split()[0]):
        pytest.skip(f"{searcher} is not installed")
    monkeypatch.setattr(candidates, "FEW", 0)
    checked = 0
    for case in load_cases(cases, "grep_search"):
        place = CaseWorkspace(tmp_path / case["id"], case)
        if in_repository and not (place.root / ".git").exists():
            subprocess.run(["git", "init", "-q"], cwd=place.root, check=True)
        answers = []
        for engine in (Searcher.PYTHON, searcher):
            monkeypatch.setattr(candidates, "available_engine", lambda by_git, clues, engine=engine: engine)
            result = await place.run("grep_search", case["args"], place.context())
            answers.append((llm_text(result.llm_content), result.error))
        assert answers[0] == answers[1], case["id"]
        checked += 1
    assert checked


async def test_media_cases_give_their_data(cases: Path, tmp_path: Path) -> None:
    checked = 0
    for case in load_cases(cases, "read_file"):
        if "inlineData" not in case["expect"].get("exact", ""):
            continue
        place = CaseWorkspace(tmp_path / case["id"], case)
        result = await place.run("read_file", case["args"])
        wanted = json.loads(case["expect"]["exact"])["inlineData"]
        assert isinstance(result.llm_content, tuple)
        (part,) = result.llm_content
        assert isinstance(part, MediaPart)
        assert (part.mime_type, part.data) == (wanted["mimeType"], wanted["data"])
        assert result.return_display == case["expect"]["display"]
        checked += 1
    assert checked


async def test_no_deviation_is_left_over(cases: Path) -> None:
    assert set(READING) <= {case["id"] for case in load_cases(cases, *TOOLS)}
