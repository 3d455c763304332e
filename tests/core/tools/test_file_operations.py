"""file_operations: every operation type, one review, all or nothing."""

from __future__ import annotations

import os
import resource
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.contract.errors import ToolErrorType
from core.contract.events import FileChanged
from core.contract.tool import Kind, llm_text
from core.fileops import rewriting, transforming
from core.settings.models import FileOperationsSettings, Settings
from core.tools.abort import AbortSignal
from core.tools.context import ToolContext
from core.tools.registry import builtin_registry
from core.workspace.workspace import Workspace
from tests.core.fileops.trees import snapshot
from tests.core.tools.file_operations_place import Place, edit

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_every_type_in_one_call(place: Place) -> None:
    result = await place.run(
        {"id": "r", "type": "read", "file_path": "a.py"},
        {"id": "s", "type": "search", "pattern": "def b"},
        {"id": "g", "type": "glob", "pattern": "*.md", "dir_path": "docs"},
        {"id": "l", "type": "list", "dir_path": "docs"},
        edit("a.py", "return 1", "return 2", id="e"),
        {"id": "c", "type": "create", "file_path": "new/deep/n.txt", "content": "n\n"},
        {"id": "w", "type": "write", "file_path": "b.py", "content": "b = 1\n"},
        {"id": "p", "type": "append", "file_path": "b.py", "content": "c = 2\n"},
        {"id": "d", "type": "delete", "path": "docs", "recursive": True},
        {"id": "m", "type": "move", "source": "c.py", "destination": "lib/c.py"},
        {"id": "y", "type": "copy", "source": "lib/c.py", "destination": "lib/c2.py"},
        {
            "id": "t",
            "type": "transform",
            "include": ["a.py"],
            "pattern": r"return (\d)",
            "replacement": r"return \g<1>0",
        },
        {"id": "r2", "type": "read", "file_path": "a.py"},
        {"id": "n", "type": "analyze", "include": ["*.py"], "depends_on": ["r2"]},
        {"id": "n2", "type": "analyze", "path": "b.py"},
        {"id": "i", "type": "dependencies", "paths": ["."]},
        {"id": "v", "type": "validate", "file_path": "a.py"},
    )
    assert result.error is None, llm_text(result.llm_content)
    assert place.text("a.py") == "def a():\n    return 20\n" and place.text("b.py") == "b = 1\nc = 2\n"
    assert place.text("new/deep/n.txt") == "n\n" and not (place.root / "docs").exists()
    assert place.text("lib/c.py") == place.text("lib/c2.py") == "def c():\n    return 1\n"
    text = llm_text(result.llm_content)
    first, _, last = text.partition("=== r2 (read)")
    assert "return 1" in first.partition("=== s ")[0] and "return 20" in last, "a read sees what came before it"
    assert "Found 1 match" in text and "x.md" in text
    assert result.data["summary"]["succeeded"] == 17
    changed = {os.path.relpath(e.path, place.root) for e in place.events if isinstance(e, FileChanged)}
    assert changed == {"a.py", "new/deep/n.txt", "b.py", "c.py", "lib/c.py", "lib/c2.py"}
    assert os.listdir(place.journals) == ["lock"] and not list(place.root.rglob(".stet-*"))


async def test_all_problems_at_once_each_with_its_operation(place: Place) -> None:
    message = place.tool.validate_tool_params(
        {
            "operations": [
                {"type": "reed", "file_path": "a.py"},
                {"id": "two", "type": "edit", "file_path": "a.py"},
                {"id": "three", "type": "read", "file_path": "a.py", "depends_on": ["nine"]},
                {"id": "three", "type": "transform", "include": ["."], "pattern": "(", "replacement": ""},
            ]
        }
    )
    assert message is not None
    for part in (
        "operation 1 (reed)",
        "operation 2 'two' (edit)",
        "'nine'",
        "no regular expression",
        "several of that id",
    ):
        assert part in message, part


async def test_wrong_options_hide_no_wrong_operation(place: Place) -> None:
    reading = {"type": "read", "file_path": "a.py"}
    operations: list[dict[str, Any]] = [
        {"type": "reed"},
        {**reading, "id": "two", "depends_on": ["three"]},
        {**reading, "id": "three", "depends_on": ["two"]},
        {**reading, "id": "self", "depends_on": ["self", "nine"]},
        {"id": "self", "type": "delete"},
    ]
    message = place.tool.validate_tool_params({"operations": operations, "max_parallel": 99, "dry": True})
    assert message is not None and message.startswith("7 problems")
    for part in ("max_parallel", "'dry'", "(reed)", "'path'", "several of that id", "itself", "'nine'", "two → three"):
        assert part in message, part
    message = place.tool.validate_tool_params({"operations": [reading, 3], "max_parallel": 99})
    assert message is not None and "max_parallel" in message and "operations.1" in message
    message = place.tool.validate_tool_params({"operations": [reading], "max_parallel": 99})
    assert message is not None and message.startswith("argument 'max_parallel'")


async def test_what_a_single_tool_refuses_is_refused_here_with_all_else(place: Place) -> None:
    elided = {"old_string": "a = 1\nb = 2\nreturn a\n", "new_string": "a = 2\n# ... existing code ...\nreturn a\n"}
    operations = [
        {"type": "read", "file_path": "a.py", "start_line": 5, "end_line": 2},
        {"type": "search", "pattern": "("},
        {"type": "glob", "pattern": " "},
        {"type": "edit", "file_path": "a.py", **elided},
    ]
    message = place.tool.validate_tool_params({"operations": operations})
    assert message is not None and message.startswith("4 problems") and len(message.splitlines()) == 5
    for part in ("start_line cannot be", "Invalid regular expression", "cannot be empty", "omission placeholder"):
        assert part in message, part


async def test_one_failure_changes_nothing_and_every_reason_is_said(place: Place) -> None:
    before = snapshot(place.root)
    result = await place.run(
        edit("a.py", "return 1", "return 2"),
        edit("b.py", "no such text", "x", id="bad"),
        {"id": "gone", "type": "delete", "path": "nothing.txt"},
        {"id": "out", "type": "create", "file_path": "../out.txt", "content": "x"},
    )
    assert snapshot(place.root) == before
    text = llm_text(result.llm_content)
    assert result.error is not None and "3 of 4 operations" in text
    assert "0 occurrences" in text and "File not found: nothing.txt" in text and "not within workspace" in text


async def test_a_full_disk_is_told_of_the_operation_that_found_no_room(place: Place) -> None:
    before = snapshot(place.root)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        result = await place.run(
            edit("a.py", "return 1", "return 2"),
            {"type": "delete", "path": "docs", "recursive": True},
            {"type": "create", "file_path": "small.txt", "content": "x"},
            {"type": "create", "file_path": "big.txt", "content": "x" * 200_000},
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert snapshot(place.root) == before
    assert [op["state"] for op in result.data["operations"]] == ["skipped", "skipped", "skipped", "failed"]
    assert [op["content"] for op in result.data["operations"]][:3] == ["Not begun."] * 3
    assert result.error is not None and result.error.type is ToolErrorType.NO_SPACE_LEFT


async def test_where_nothing_was_done_the_reason_is_shown(place: Place) -> None:
    missing = [{"type": "read", "file_path": f"{number}.txt"} for number in range(9)]
    result = await place.run(missing[0])
    assert result.error is not None and "File not found" in result.error.message
    change = edit("a.py", "return 1", "return 2")
    result = await place.run(change, *missing[:2])
    assert (
        result.error is not None
        and "'2': File not found" in result.error.message
        and "0.txt" in str(result.return_display)
    )
    result = await place.run(change, *(edit(f"{number}.py", "x", "y") for number in range(9)))
    assert result.error is not None and result.error.message.endswith("and 6 more")
    result = await place.run(*missing)
    assert result.error is not None and result.error.message == "None of the 9 operations was done."


async def test_without_a_transaction_each_stands_by_itself(place: Place) -> None:
    result = await place.run(
        edit("a.py", "return 1", "return 2", id="good"),
        edit("b.py", "no such text", "x", id="bad"),
        edit("c.py", "return 1", "return 3", id="after", depends_on=["bad"]),
        transaction=False,
    )
    assert [op["state"] for op in result.data["operations"]] == ["succeeded", "failed", "skipped"]
    assert "return 2" in place.text("a.py") and "return 1" in place.text("c.py") and result.error is None
    assert "each operation stands by itself" in llm_text(result.llm_content)


async def test_a_failing_read_takes_the_change_back(place: Place) -> None:
    before = snapshot(place.root)
    result = await place.run(
        edit("a.py", "return 1", "return 2", id="e"),
        {"type": "read", "file_path": "missing.py", "depends_on": ["e"]},
    )
    assert result.error is not None and snapshot(place.root) == before
    assert "Taken back" in llm_text(result.llm_content)


async def test_looking_alone_needs_no_consent_and_deleting_always_does(place: Place) -> None:
    looking = place.invocation({"type": "read", "file_path": "a.py"})
    assert looking.kind is Kind.READ and await looking.reason_to_ask() == ""
    deleting = place.invocation({"type": "delete", "path": "a.py"})
    assert deleting.kind is Kind.EDIT and "deletes 1 path" in await deleting.reason_to_ask()


async def test_sensitive_names_are_refused(place: Place) -> None:
    (place.root / ".env").write_text("KEY=1\n")
    result = await place.run({"type": "move", "source": ".env", "destination": "env.txt"})
    assert result.error is not None and result.error.type is ToolErrorType.SENSITIVE_PATH
    assert (place.root / ".env").exists()


async def test_a_directory_is_copied_with_what_is_planned_in_it(place: Place) -> None:
    (place.root / "docs" / "deep").mkdir()
    (place.root / "docs" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (place.root / "docs" / "deep" / "run.sh").chmod(0o755)
    (place.root / "docs" / "link").symlink_to("deep/run.sh")
    result = await place.run(
        edit("docs/x.md", "# x", "# y"),
        {"type": "create", "file_path": "docs/new.md", "content": "new\n"},
        {"type": "delete", "path": "docs/link"},
        {"type": "copy", "source": "docs", "destination": "pages/copy"},
    )
    assert result.error is None, llm_text(result.llm_content)
    docs, copied = snapshot(place.root / "docs"), snapshot(place.root / "pages" / "copy")
    assert docs == copied and docs["x.md"][2] == b"# y\n" and docs["deep/run.sh"][1] == 0o755
    (place.root / "docs" / "id.pem").write_text("key\n")
    before = snapshot(place.root)
    result = await place.run({"type": "copy", "source": "docs", "destination": "again"})
    assert result.error is not None and result.error.type is ToolErrorType.SENSITIVE_PATH
    assert snapshot(place.root) == before


async def test_a_directory_moves_to_another_workspace_directory(place: Place, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    place.context.workspace = Workspace([place.root, tmp_path / "other"])
    before = snapshot(place.root / "docs")
    target = str(tmp_path / "other" / "docs")
    result = await place.run({"type": "move", "source": "docs", "destination": target}, transaction=True)
    assert result.error is None, llm_text(result.llm_content)
    assert snapshot(tmp_path / "other" / "docs") == before and not (place.root / "docs").exists()


async def test_a_file_that_may_not_be_written_is_not_replaced(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *args, **kwargs: False)
    before = snapshot(place.root)
    result = await place.run(edit("a.py", "return 1", "return 2"), edit("b.py", "return 1", "return 2"))
    assert result.error is not None and snapshot(place.root) == before
    assert "Permission denied: a.py" in llm_text(result.llm_content)


async def test_a_circle_and_a_path_outside_are_said_with_all_else(place: Place) -> None:
    looking = {"type": "read", "file_path": "a.py"}
    circle = [{**looking, "id": "x", "depends_on": ["y"]}, {**looking, "id": "y", "depends_on": ["x"]}]
    out = {"id": "out", "type": "create", "file_path": "../out.txt", "content": "x"}
    message = place.tool.validate_tool_params({"operations": [*circle, out]})
    assert message is not None and "in a circle: x → y → x" in message
    assert "operation 3 'out' (create): Path is not within workspace" in message


async def test_the_files_of_a_directory_count_where_it_goes_or_comes_as_a_whole(place: Place) -> None:
    (place.root / "docs" / "deep").mkdir()
    (place.root / "docs" / "deep" / "y.md").write_text("# y\n")
    (place.root / "docs" / "link").symlink_to("deep")
    moved = await place.run(
        {"type": "move", "source": "docs", "destination": "pages"}, edit("pages/x.md", "# x", "# z")
    )
    assert moved.data["summary"]["files_changed"] == 6, "three gone here, three come there"
    assert "- deleted `docs/` 3 files" in str(moved.return_display)
    assert "- new `pages/` 2 files" in str(moved.return_display)
    deleted = await place.run(
        edit("pages/x.md", "# z", "# w"),
        {"type": "create", "file_path": "pages/more.md", "content": ""},
        {"type": "delete", "path": "pages", "recursive": True},
    )
    assert deleted.error is None and deleted.data["summary"]["files_changed"] == 3
    changed = {os.path.relpath(e.path, place.root) for e in place.events if isinstance(e, FileChanged)}
    assert changed == {"pages/x.md"}, "a directory is no file"


async def test_every_operation_is_told_of_while_it_runs(place: Place) -> None:
    shown: list[Any] = []
    invocation = place.invocation(
        *({"id": name, "type": "read", "file_path": f"{name}.py"} for name in "abc"),
        edit("a.py", "return 1", "return 2", id="e"),
        {"id": "after", "type": "read", "file_path": "a.py"},
    )
    await invocation.execute(AbortSignal(), shown.append)
    assert 1 <= len(shown) <= 5 and shown[-1].startswith("5 of 5 operations")
    assert [line.split()[2:] for line in shown[-1].splitlines()[2:]] == [
        *(["read", f"`{name}`"] for name in "abc"),
        ["edit", "`e`"],
        ["read", "`after`"],
    ]


async def test_a_pattern_that_never_ends_is_stopped(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.root / "bait.txt").write_text("a" * 40 + "!\n")
    monkeypatch.setattr(transforming, "rewrite_texts", partial(rewriting.rewrite_texts, seconds=0.5))
    result = await place.run({"type": "transform", "include": ["bait.txt"], "pattern": "(a+)+$", "replacement": ""})
    assert result.error is not None and result.error.type is ToolErrorType.TIMEOUT


def test_more_text_than_a_pipe_holds_reaches_a_process_that_is_slow_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "_POLL", 0.001)  # as if it had not begun to read when first looked at
    texts = ["one line\n" * 1000] * 500
    results = rewriting.rewrite_texts(texts, "one", "two", seconds=60)
    assert results == [("two line\n" * 1000, 1000)] * 500


async def test_a_copy_gets_no_rights_and_what_it_lacks_is_said(place: Place) -> None:
    (place.root / "a.py").chmod(0o4755)
    result = await place.run({"type": "copy", "source": "a.py", "destination": "n.py"})
    assert result.error is None and stat.S_IMODE((place.root / "n.py").stat().st_mode) == 0o755
    try:
        os.setxattr(place.root / "a.py", "user.note", b"x")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    result = await place.run({"type": "copy", "source": "a.py", "destination": "o.py"})
    assert "[extended attributes are not copied: a.py]" in llm_text(result.llm_content)


async def test_a_protected_directory_is_not_deleted_in_part(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.root / "docs" / "deep").mkdir()
    (place.root / "docs" / "deep" / "y.md").write_text("# y\n")
    (place.root / "docs" / "deep").chmod(0o555)
    before, access = snapshot(place.root), os.access

    def mode_counts(path: Any, mode: int, *, dir_fd: int | None = None, **more: Any) -> bool:  # for root, too
        own = os.stat(path, dir_fd=dir_fd).st_mode
        return access(path, mode, dir_fd=dir_fd, **more) and not (mode & os.W_OK and not own & 0o200)

    monkeypatch.setattr(os, "access", mode_counts)
    result = await place.run({"type": "delete", "path": "docs", "recursive": True})
    assert result.error is not None and result.error.type is ToolErrorType.PERMISSION_DENIED
    assert snapshot(place.root) == before
    (place.root / "docs" / "deep").chmod(0o755)


async def test_a_symlink_is_moved_and_deleted_itself(place: Place) -> None:
    (place.root / "l1").symlink_to("a.py")
    (place.root / "l2").symlink_to("a.py")
    result = await place.run({"type": "move", "source": "l1", "destination": "l3"}, {"type": "delete", "path": "l2"})
    assert result.error is None
    assert os.readlink(place.root / "l3") == "a.py" and not os.path.lexists(place.root / "l2")
    assert (place.root / "a.py").exists()


async def test_a_moved_directory_can_be_edited_in_its_new_place(place: Place) -> None:
    result = await place.run(
        edit("docs/x.md", "# x", "# y"),
        {"type": "move", "source": "docs", "destination": "pages"},
        edit("pages/x.md", "# y", "# z"),
    )
    assert result.error is None, llm_text(result.llm_content)
    assert place.text("pages/x.md") == "# z\n" and not (place.root / "docs").exists()


@pytest.mark.parametrize(
    ("enabled", "single", "bundle"), [("off", True, False), ("adapters", True, True), ("full", False, True)]
)
async def test_the_setting_says_what_the_model_is_told_of(
    place: Place, enabled: Any, single: bool, bundle: bool
) -> None:
    context = ToolContext(place.workspace, Settings(file_operations=FileOperationsSettings(enabled=enabled)))
    names = {declaration.name for declaration in builtin_registry(context).declarations()}
    assert ("replace" in names) is single and ("file_operations" in names) is bundle
    assert "run_shell_command" in names
