"""README and docs against the program: examples run, names exist, numbers are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.action_rows import ROWS
from app.dialog_keys import dialog_rows
from app.exit_codes import ExitCode
from app.presenters.all import all_commands
from core.model.gemini_access import gemini_access
from docs.__main__ import outdated_pages
from stet import Toolbox
from tests.architecture.sources import ROOT
from widgets.prompt.vim.command import Unfinished, read_command

pytestmark = pytest.mark.anyio

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_pages_that_follow_from_the_program_are_up_to_date() -> None:
    assert list(outdated_pages()) == [], "`make docs` writes them anew"


async def test_the_tool_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert sum(bool(line.strip()) for line in example.splitlines()) <= 20
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))
    tools, project = tmp_path / "config" / "tools", tmp_path / "project"
    tools.mkdir(parents=True)
    project.mkdir()
    (tools / "count_lines.py").write_text(example)
    (project / "a.txt").write_text("one\ntwo\n")
    async with Toolbox(project) as box:
        assert box.problems == []
        result = await box.call("count_lines", {"file_path": "a.txt"})
        assert (result.error, result.llm_content) == (None, "2 lines")
        outside = await box.call("count_lines", {"file_path": str(tools / "count_lines.py")})
        assert outside.error is not None


def test_the_keys_of_the_readme_are_those_of_the_program() -> None:
    known = {key for action in ROWS for key in action.keys} | {"ctrl+]", "@", "/", "!"}
    known = {key.replace("escape", "esc") for key in known}
    table = README.partition("## Keys")[2].partition("In a review")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    shown = {key for row in rows for key in re.findall(r"`(.+?)`", row)}
    assert len(shown) > 15
    assert shown - known == set()
    review = README.partition("In a review")[2].partition("[All keys]")[0]
    in_review = {key for action in dialog_rows() for key in action.keys} | {";"}
    assert set(re.findall(r"`(.+?)`", review.removeprefix(": "))) - in_review == set()


@pytest.mark.parametrize("page", ["README.md", "docs/headless.md"])
def test_exit_codes(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    stated = re.findall(r"(?:^\| |codes |, |,\n)(\d+)(?: \| | )", text, re.MULTILINE)
    assert {int(code) for code in stated} == {int(code) for code in ExitCode}


def test_links_lead_somewhere() -> None:
    broken = []
    for path in (ROOT / "README.md", *PAGES):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            if "://" not in target and not (path.parent / target).exists():
                broken.append(f"{path.name}: {target}")
    assert broken == []


def test_the_places_that_the_page_for_developers_names_are_there() -> None:
    page = (ROOT / "docs/development.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([\w./]+)`", page) if "/" in name and "NAME" not in name]
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_commands_that_the_pages_name_are_there() -> None:
    known = {name for each in all_commands() for name in (each.name, *each.aliases)}
    known |= {"commands", "chat", "git", "notes"}  # one of the screen's; an address; examples of commands of one's own
    pages = README + "".join(path.read_text(encoding="utf-8") for path in PAGES)
    named = set(re.findall(r"`/([a-z]+)\b[^`]*`", pages))
    assert len(named) > 20
    assert named - known == set()


def test_every_page_is_linked_or_named() -> None:
    everything = README + "".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert [path.name for path in PAGES if path.name not in everything] == []


def test_the_variables_of_the_models_page_are_read() -> None:
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    key = {"GOOGLE_API_KEY": "b", "GEMINI_API_KEY": "a"}
    place = {"GOOGLE_GEMINI_BASE_URL": "http://localhost:1", "GOOGLE_GENAI_API_VERSION": "v1"}
    plain = gemini_access(key | place)
    assert plain is not None
    assert (plain.api_key, plain.base_url, plain.api_version) == ("a", "http://localhost:1", "v1")
    cloud = {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l"}
    vertex_place = {"GOOGLE_VERTEX_BASE_URL": "http://localhost:2"}
    vertex = gemini_access(cloud | vertex_place)
    assert vertex is not None
    assert (vertex.project, vertex.location, vertex.base_url) == ("p", "l", "http://localhost:2")
    named = set(re.findall(r"\b(?:GEMINI|GOOGLE)_[A-Z_]+\b", text))
    assert named == {*key, *place, *cloud, *vertex_place}


def test_vis_keys_of_the_page_on_the_prompt_are_commands() -> None:
    page = (ROOT / "docs/prompt.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| (.+) \|$", page, re.MULTILINE))
    shown = " ".join(re.findall(r"`(.+?)`", rows["motions"] + rows["alone"]))
    keys = [key.replace("\\", "") for key in shown.split()]
    assert len(keys) > 40
    for key in keys:
        assert read_command([key] if key.startswith("ctrl") else list(key)) is not Unfinished.UNKNOWN, key
