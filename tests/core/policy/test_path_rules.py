"""Rules with a path hold for what a pattern or a search comes upon, not only for what a call names."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType
from core.contract.tool import Kind, llm_text
from core.policy.engine import PolicyEngine
from core.policy.rules import Rule
from core.tools.builtin.file_operations import FileOperationsInvocation, FileOperationsTool
from core.tools.builtin.read_many_files import ReadManyFilesTool
from core.tools.builtin.search_file_content import SearchFileContentTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("a.md", "private/b.md", "draft/c.md", "private/large.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}\n")
    (tmp_path / "private/large.md").write_text("large\n" * 300_000)
    (tmp_path / "link.md").symlink_to("private/b.md")
    (tmp_path / ".env").write_text("text of env\n")
    return tmp_path


def context_of(project: Path, *rules: Rule, mode: str = "default") -> ToolContext:
    context = ToolContext(Workspace([project]))
    context.path_refusal = PolicyEngine(rules, root=project, mode=mode).path_refusal
    return context


DENY = Rule("*", "deny", path="private/**", message="for nobody", source="rules.toml:1")
ASK = Rule("read_file", "ask", path="draft/**", message="ask me")


@pytest.mark.parametrize("include", [["**/*.md"], ["."], ["a.md", "private", "draft", "link.md"]])
async def test_read_many_files_leaves_out_what_rules_keep_and_says_so(project: Path, include: list[str]) -> None:
    result = await ReadManyFilesTool(context_of(project, DENY, ASK)).build_and_execute({"include": include})
    text = llm_text(result.llm_content)
    assert "text of a.md" in text
    assert "text of private" not in text and "large" not in text.split("[Not read")[0] and "text of draft" not in text
    assert text.count("for nobody (rules.toml:1)") == 3 and "ask me" in text
    assert "text of env" not in text


async def test_a_file_that_the_call_names_was_asked_about_before(project: Path) -> None:
    tool = ReadManyFilesTool(context_of(project, DENY, ASK))
    text = llm_text((await tool.build_and_execute({"include": ["draft/c.md", "private/b.md"]})).llm_content)
    assert "text of draft/c.md" in text and "text of private" not in text


async def test_yolo_lifts_rules_that_ask_and_no_others(project: Path) -> None:
    tool = ReadManyFilesTool(context_of(project, DENY, ASK, mode="yolo"))
    text = llm_text((await tool.build_and_execute({"include": ["**/*.md"]})).llm_content)
    assert "text of draft/c.md" in text and "text of private" not in text


async def test_a_search_shows_nothing_of_such_files(project: Path) -> None:
    tool = SearchFileContentTool(context_of(project, DENY, ASK))
    result = await tool.build_and_execute({"pattern": "text of"})
    text = llm_text(result.llm_content)
    assert text.startswith('Found 1 match for pattern "text of"') and "text of a.md" in text
    assert "text of private" not in text and "text of draft" not in text
    assert "Matches in private/b.md are left out: for nobody" in text


async def test_a_stronger_rule_that_allows_opens_a_part(project: Path) -> None:
    open_part = Rule("*", "allow", path="private/b.md", priority=200)
    tool = ReadManyFilesTool(context_of(project, DENY, open_part))
    text = llm_text((await tool.build_and_execute({"include": ["private/*.md"]})).llm_content)
    assert "text of private/b.md" in text and "large\nlarge" not in text


@pytest.mark.parametrize("rule", [DENY, Rule("*", "ask", path="private/**")])
def test_a_link_leads_around_no_rule(project: Path, rule: Rule) -> None:
    (project / "folder").symlink_to("private")
    engine = PolicyEngine([rule], root=project)
    for name in ("link.md", "folder/b.md", "folder/new.md", "folder"):
        assert engine.check("read_file", {}, Kind.READ, [str(project / name)]).verdict == (
            "allow" if name == "folder" else rule.decision
        )


def test_a_rule_that_allows_must_allow_where_a_link_leads(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs/out.md").symlink_to("../a.md")
    engine = PolicyEngine([Rule("write_file", "allow", path="docs/**")], root=project)
    assert engine.check("write_file", {}, Kind.EDIT, ["docs/new.md"]).verdict == "allow"
    assert engine.check("write_file", {}, Kind.EDIT, ["docs/out.md"]).verdict == "ask"


def test_a_name_that_no_file_has_is_the_tools_to_refuse(project: Path) -> None:
    assert PolicyEngine([DENY], root=project).check("read_file", {}, Kind.READ, ["a\0b"]).verdict == "allow"


def test_a_workspace_that_is_named_by_a_link_is_the_same(project: Path) -> None:
    other = project.parent / f"{project.name}-link"
    other.symlink_to(project)
    engine = PolicyEngine([Rule("write_file", "allow", path="docs/**")], root=other)
    assert engine.check("write_file", {}, Kind.EDIT, [str(other / "docs/new.md")]).verdict == "allow"


def decided(project: Path, *operations: dict[str, str], rules: tuple[Rule, ...], **options: object) -> str:
    """Return what policy says of a file_operations call, and of the single calls that it stands for."""
    tool = FileOperationsTool(context_of(project))
    invocation = tool.build({"operations": list(operations), **options})
    assert isinstance(invocation, FileOperationsInvocation)
    policy = PolicyEngine(rules, root=project, mode="auto_edit")
    paths = [location.path for location in invocation.tool_locations()]
    decision = policy.check(tool.name, {}, invocation.kind, paths)
    return policy.narrowed(decision, invocation.stands_for()).verdict


def test_file_operations_may_do_no_more_than_the_single_tools(project: Path) -> None:
    read = {"type": "read", "file_path": "private/b.md"}
    write = {"type": "write", "file_path": "a.md", "content": "x"}
    rules = (
        Rule("read_file", "deny", path="private/**"),
        Rule("write_file", "ask", path="a.md"),
        Rule("replace", "deny", path="draft/**"),
    )
    assert decided(project, read, rules=()) == decided(project, write, rules=()) == "allow"
    assert decided(project, read, rules=rules) == "deny"
    assert decided(project, write, rules=rules) == "ask"
    assert decided(project, write, read, rules=rules) == "deny"
    edit = {"type": "edit", "file_path": "draft/c.md", "old_string": "a", "new_string": "b"}
    assert decided(project, edit, rules=rules) == "deny"
    assert decided(project, {"type": "edit", **edit, "file_path": "link.md"}, rules=rules) == "allow"


async def test_operations_on_source_files_leave_out_what_rules_keep(project: Path) -> None:
    for name in ("shown.py", "private/hidden.py"):
        (project / name).write_text("def wanted():\n    pass\n")
    (project / "private/hidden.py").write_text("from shown import wanted\n\nwanted()\n")
    context = context_of(project, DENY)
    context.transactions = project.parent / "journals"
    looking = {"type": "analyze", "include": ["**/*.py"], "include_content": True}
    text = llm_text((await FileOperationsTool(context).build_and_execute({"operations": [looking]})).llm_content)
    assert "function wanted" in text and "from shown" not in text and "for nobody" in text
    renaming = {"type": "rename_symbol", "file_path": "shown.py", "symbol": "wanted", "new_name": "other"}
    result = await FileOperationsTool(context).build_and_execute({"operations": [renaming]})
    assert result.error is not None and result.error.type is ToolErrorType.POLICY_VIOLATION
    assert "def wanted" in (project / "shown.py").read_text()


async def test_a_transformation_leaves_out_what_rules_keep(project: Path) -> None:
    context = context_of(project, DENY)
    context.transactions = project.parent / "journals"
    change = {"type": "transform", "include": ["**/*.md"], "pattern": "text", "replacement": "TEXT"}
    result = await FileOperationsTool(context).build_and_execute({"operations": [change]})
    assert result.error is None and "for nobody" in llm_text(result.llm_content)
    assert (project / "a.md").read_text().startswith("TEXT")
    assert (project / "private/b.md").read_text().startswith("text")
