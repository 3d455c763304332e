"""The offline assistant over the real tools: it reads their words as they are."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from app.toolbox import Toolbox
from core.contract.confirmation import ConfirmationDetails, EditConfirmation, ToolConfirmationOutcome
from core.contract.conversation import Message, ResultPart, Role, user_message
from core.contract.ids import CallId
from core.contract.model import CallChunk, FinishChunk, ModelRequest
from core.contract.requests import ApprovalReply, DroppedHunk
from core.contract.tool import llm_text
from core.diff.hunks import apply_hunks, make_patch
from core.model.offline import OfflineProvider
from core.model.offline_readings import review_of
from core.tools.abort import AbortSignal
from core.tools.builtin import BUILTIN
from core.tools.context import ToolContext
from core.tools.registry import ToolRegistry
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio

READERS = ("read_file", "list_directory", "glob", "search_file_content", "write_todos")


class Session:
    def __init__(self, root: Path) -> None:
        context = ToolContext(Workspace([root]))
        self.registry = ToolRegistry()
        for place in BUILTIN:
            module, name = place.split(":")
            if module.rpartition(".")[2] in READERS:
                self.registry.register(getattr(importlib.import_module(module), name)(context))
        self.messages: list[Message] = []

    async def ask(self, prompt: str) -> str:
        self.messages.append(user_message(prompt))
        while True:
            async with OfflineProvider().stream(ModelRequest(tuple(self.messages))) as stream:
                items = [item async for item in stream]
            finish = items[-1]
            assert isinstance(finish, FinishChunk)
            self.messages.append(Message(Role.MODEL, finish.parts, "offline"))
            calls = [item.call for item in items if isinstance(item, CallChunk)]
            if not calls:
                return self.messages[-1].text
            parts = []
            for call in calls:
                tool = self.registry.find(call.name)
                assert tool is not None, call
                result = await tool.build_and_execute(dict(call.args), AbortSignal())
                parts.append(ResultPart(call.id, call.name, llm_text(result.llm_content), result.error is not None))
            self.messages.append(Message(Role.USER, tuple(parts)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("class Cat:\n    def cat(self):\n        return 'cat concat'\n", "utf-8")
    (tmp_path / "notes.txt").write_bytes(b"\xff\xfe" + "a cat\r\nno more\r\n".encode("utf-16-le"))
    (tmp_path / "long.txt").write_text("x\n" * 2_500 + "cat\nconcat\n", "utf-8")
    return tmp_path


async def test_reading(project: Path) -> None:
    session = Session(project)
    found = await session.ask("find cat in src")
    assert "     2  def cat(self):" in found
    assert "src/a.py" in await session.ask("find files *.py")
    assert "src/\nlong.txt\nnotes.txt" in await session.ask("list .")
    assert "a.py" in await session.ask("show src")
    assert "a cat\nno more" in await session.ask("show notes.txt")
    assert "(lines 2501 to 2502)" in await session.ask("show long.txt lines 2501-2600")
    assert "     1  class Cat\n     2    method cat" in await session.ask("outline src/a.py")
    assert "can't be shown" in await session.ask("show nope.py")
    assert "  1  done     tea" in await _last(session, "todo add tea", "todo done 1")


async def _last(session: Session, *prompts: str) -> str:
    answers = [await session.ask(prompt) for prompt in prompts]
    return answers[-1]


async def test_what_the_reviewer_left_out_is_not_claimed_as_done(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 'old'\n" + "\n" * 20 + "y = 'old'\n")

    def first_hunk_only(details: ConfirmationDetails) -> ApprovalReply:
        assert isinstance(details, EditConfirmation)
        patch = make_patch("a.py", details.original_content, details.new_content)
        dropped = (DroppedHunk("a.py", patch.hunks[1].header),)
        return ApprovalReply(
            ToolConfirmationOutcome.PROCEED_ONCE, new_content=apply_hunks(patch, (0,)), dropped=dropped
        )

    call = {"file_path": "a.py", "old_string": "old", "new_string": "new", "expected_replacements": 2}
    async with Toolbox(tmp_path, approve=first_hunk_only) as box:
        result = await box.call("replace", call)
    assert result.error is None
    assert review_of(ResultPart(CallId("c"), "replace", llm_text(result.llm_content))) == "1 of 2 hunks taken"
    assert review_of(ResultPart(CallId("c"), "replace", "Successfully modified file: a.py (2 replacements).")) == ""
