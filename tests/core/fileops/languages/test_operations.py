"""analyze, dependencies, validate and rename_symbol as operations of one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import FileOperationsConfirmation, ToolConfirmationOutcome
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.tool import Kind, ToolResult, llm_text
from core.tools.abort import AbortSignal
from core.tools.builtin.file_operations import FileOperationsInvocation, FileOperationsTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

FILES = {
    "a.py": 'import b\n\n\nclass A:\n    """A."""\n\n    def old(self, x):\n'
    "        return b.make() if x else self.old(1)\n",
    "b.py": "import a\n\n\ndef make():\n    return a.A().old(0)\n",
    "c.py": "import a\n\n\ndef use(thing):\n    a.A().old(1)\n    return thing.old\n",
    "bad.py": "def f(:\n",
    "notes.txt": "old\n",
    ".env.py": "import a\na.A().old(2)\n",
}


class Place:
    def __init__(self, base: Path) -> None:
        self.root = base / "ws"
        self.root.mkdir()
        for name, text in FILES.items():
            (self.root / name).write_text(text)
        context = ToolContext(Workspace([self.root]), transactions=base / "journals")
        self.tool = FileOperationsTool(context)

    def invocation(self, *operations: dict[str, Any], **options: Any) -> FileOperationsInvocation:
        built = self.tool.build({"operations": list(operations), **options})
        assert isinstance(built, FileOperationsInvocation)
        return built

    async def run(self, *operations: dict[str, Any], **options: Any) -> ToolResult:
        return await self.tool.build_and_execute({"operations": list(operations), **options})

    def text(self, name: str) -> str:
        return (self.root / name).read_text()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


RENAME = {"type": "rename_symbol", "file_path": "a.py", "symbol": "A.old", "new_name": "fresh"}


async def test_analyze(place: Place) -> None:
    operation = {"type": "analyze", "include": ["*.py", "notes.txt", "missing.py"], "exclude": ["c.py"]}
    text = llm_text((await place.run(operation)).llm_content)
    assert "File: a.py (python, 8 lines)\nImports:\n  1: b → b.py\nSymbols:\n  4-8 class A: class A\n    “A.”\n" in text
    assert "    7-8 method old: def old(self, x) [complexity 2]\n" in text
    assert "File: bad.py (python, 1 lines)\nSyntax error in line 1, column " in text
    assert "File: c.py" not in text and ".env.py (python" not in text
    assert "notes.txt: no language is known for it" in text and "missing.py: File not found" in text


async def test_analyze_with_content_and_by_a_single_path(place: Place) -> None:
    text = llm_text((await place.run({"type": "analyze", "file_path": "b.py", "include_content": True})).llm_content)
    assert FILES["b.py"] in text
    result = await place.run({"type": "analyze", "file_path": "notes.txt"})
    assert result.error is not None and result.error.type is ToolErrorType.FILE_NOT_FOUND


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
async def test_lines_are_counted_alike_whatever_ends_them(place: Place, ending: str) -> None:
    lines = ["def a():", "    return 1", "\x0cx = '\x0b\u2028'", "def b(:", "    return a()", ""]
    (place.root / "odd.py").write_bytes(ending.join(lines).encode())
    text = llm_text((await place.run({"type": "analyze", "include": ["odd.py"], "include_content": True})).llm_content)
    assert "odd.py (python, 5 lines)\nSyntax error in line 4, column 7" in text and "  1-2 function a" in text
    assert "--- content ---\n" + "\n".join(lines[:2]) in text
    text = llm_text((await place.run({"type": "validate", "file_path": "odd.py"})).llm_content)
    assert "  line 4, column 7: invalid syntax\n    def b(:\n" in text
    await place.run({"type": "rename_symbol", "file_path": "odd.py", "symbol": "a", "new_name": "first"})
    assert (place.root / "odd.py").read_bytes() == ending.join(lines).replace("a()", "first()").encode()


@pytest.mark.parametrize("entry", ["pkg", "pkg/", "./pkg", "link", "{root}/pkg", "pkg/inner/.."])
async def test_a_directory_stands_for_what_is_in_it(place: Place, entry: str) -> None:
    (place.root / "pkg" / "inner").mkdir(parents=True)
    (place.root / "pkg" / "x.py").write_text("import pkg.inner.y\n")
    (place.root / "pkg" / "inner" / "y.py").write_text("y = 1\n")
    (place.root / "link").symlink_to("pkg")
    include = [entry.format(root=place.root)]
    text = llm_text((await place.run({"type": "analyze", "include": include})).llm_content)
    assert "File: pkg/inner/y.py" in text and "File: pkg/x.py" in text and "a.py" not in text
    text = llm_text((await place.run({"type": "dependencies", "include": include})).llm_content)
    assert "2 files, 1 import among them" in text
    await place.run({"type": "transform", "include": include, "pattern": "y = 1", "replacement": "y = 2"})
    assert place.text("pkg/inner/y.py") == "y = 2\n"


async def test_dependencies(place: Place) -> None:
    whole = llm_text((await place.run({"type": "dependencies"})).llm_content)
    assert "a.py → b.py → a.py" in whole and "c.py → a.py" in whole
    around = llm_text((await place.run({"type": "dependencies", "of": "b.py"})).llm_content)
    assert (
        "Imports of the project:\n  a.py\nImported by (1):\n  a.py\nDepend on it through others (1):\n  c.py\n"
        in around
    )
    assert "Cycle: a.py → b.py → a.py" in around


async def test_what_only_types_need_is_marked_and_makes_no_cycle(place: Place) -> None:
    (place.root / "b.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n")
    (place.root / "a.py").write_text("import b\n")
    whole = llm_text((await place.run({"type": "dependencies"})).llm_content)
    assert "No cycles (imports for types only are left out" in whole and "b.py → a.py [types only]" in whole
    around = {"type": "dependencies", "of": "b.py"}
    text = llm_text((await place.run(around, {**around, "types_in_cycles": True})).llm_content)
    assert text.count("  a.py [types only]") == 2 and text.count("Cycle: a.py → b.py → a.py") == 1


async def test_validate(place: Place) -> None:
    text = llm_text(
        (
            await place.run(
                {"type": "validate", "file_path": "a.py"},
                {"type": "validate", "file_path": "bad.py"},
                {"type": "validate", "file_path": "new.go", "content": "package p\n\nfunc {\n"},
            )
        ).llm_content
    )
    assert "a.py is valid python." in text
    assert "bad.py is no valid python:\n  line 1, column 7: " in text and "    def f(:" in text
    assert "The proposed text of new.go is no valid go:\n  line 3" in text


async def test_looking_needs_no_consent(place: Place) -> None:
    operations = [{"type": "analyze", "path": "a.py"}, {"type": "dependencies"}, {"type": "validate", "path": "a.py"}]
    assert place.invocation(*operations).kind is Kind.READ
    assert place.invocation(*operations, RENAME).kind is Kind.EDIT


async def test_rename_is_one_review_and_one_change(place: Place) -> None:
    invocation = place.invocation(RENAME)
    details = await invocation.get_confirmation_details(AbortSignal())
    assert isinstance(details, FileOperationsConfirmation)
    assert sorted(file.file_name for file in details.files) == ["a.py", "b.py", "c.py"]
    assert all(
        "left as they are, as it could not be decided what they mean: 1, in c.py" in file.notes
        for file in details.files
    )
    result = await invocation.execute(AbortSignal())
    assert result.error is None
    text = llm_text(result.llm_content)
    assert "Renamed `old` to `fresh`: 4 places in 3 files\n" in text
    assert "  c.py:6: a member of something of unknown type" in text
    assert "Not looked at: .env.py" in text
    assert place.text("a.py") == FILES["a.py"].replace("old", "fresh")
    assert place.text("b.py") == FILES["b.py"].replace("old", "fresh")
    assert place.text("c.py") == FILES["c.py"].replace("A().old", "A().fresh")
    assert {name: place.text(name) for name in ("notes.txt", ".env.py")} == {
        name: FILES[name] for name in ("notes.txt", ".env.py")
    }


async def test_a_part_of_a_renaming_may_be_declined(place: Place) -> None:
    invocation = place.invocation(RENAME)
    await invocation.get_confirmation_details(AbortSignal())
    reply = ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, declined=(str(place.root / "c.py"),))
    result = await invocation.amended(reply).execute(AbortSignal())
    assert result.error is None
    assert "fresh" in place.text("b.py") and place.text("c.py") == FILES["c.py"]


async def test_what_a_limited_renaming_breaks_is_said_in_the_review_and_in_the_result(place: Place) -> None:
    invocation = place.invocation({**RENAME, "include": ["b.py"]})
    details = await invocation.get_confirmation_details(AbortSignal())
    assert isinstance(details, FileOperationsConfirmation)
    assert sorted(file.file_name for file in details.files) == ["a.py", "b.py"]
    for file in details.files:
        assert "uses outside `include` will break: 1, in c.py" in file.notes
    text = llm_text((await invocation.execute(AbortSignal())).llm_content)
    assert "these will break (1):\n  c.py:5: a.A().old(1)\n" in text
    assert "fresh" in place.text("b.py") and place.text("c.py") == FILES["c.py"]


async def test_a_conflict_is_told_before_anyone_is_asked(place: Place) -> None:
    (place.root / "d.py").write_text("import a\nclass D(a.A):\n    def fresh(self): ...\n")
    with pytest.raises(ToolFailure, match=r"d\.py:3: D has a `fresh` already"):
        await place.invocation(RENAME).get_confirmation_details(AbortSignal())


async def test_a_renaming_sees_what_is_planned_before_it(place: Place) -> None:
    result = await place.run(
        {"type": "create", "file_path": "new.py", "content": "import a\na.A().old(3)\n"},
        {"type": "delete", "path": "c.py"},
        {"type": "edit", "file_path": "b.py", "old_string": "old(0)", "new_string": "old(0).old"},
        RENAME,
    )
    assert result.error is None, result.llm_content
    assert place.text("new.py") == "import a\na.A().fresh(3)\n"
    assert "fresh(0).old" in place.text("b.py")
    assert not (place.root / "c.py").exists()


async def test_a_dry_run_changes_nothing(place: Place) -> None:
    text = llm_text((await place.run(RENAME, dry_run=True)).llm_content)
    assert "+    def fresh(self, x):" in text
    assert {name: place.text(name) for name in FILES} == FILES
