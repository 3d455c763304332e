"""/permissions: lists, explains, takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands.permissions import answer
from core.contract.errors import StetError
from core.policy.engine import PolicyEngine
from core.policy.rule_files import RuleFiles
from core.policy.rules import SHELL_TOOL, Rule
from core.policy.trust import ProjectTrust, TrustState, TrustStore
from core.tools.context import ToolContext
from core.tools.registry import builtin_registry
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


class Session:
    def __init__(self, folder: Path) -> None:
        self.files = RuleFiles(folder / "user", folder / "project" / ".stet" / "policies")
        saved = [self.files.save(Rule(SHELL_TOOL, "allow", prefix)) for prefix in ("npm test", "git status")]
        granted = Rule(SHELL_TOOL, "allow", "make_x", source="this session")
        self.policy = PolicyEngine([*saved, granted], root=folder)
        self.registry = builtin_registry(ToolContext(Workspace([folder])))
        (folder / "project" / ".stet").mkdir(parents=True)
        (folder / "project" / ".stet" / "settings.toml").touch()
        self.store = TrustStore(folder / "state" / "trust.json")
        self.project = folder / "project"
        trust = ProjectTrust(self.project, self.store)
        self.store.remember(self.project, trust.content.digest, True)
        self.trust = ProjectTrust(self.project, self.store)

    async def ask(self, arguments: str) -> str:
        return await answer(self.policy, self.files, self.trust, arguments, self.registry)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


async def test_every_rule_is_listed_with_its_place(session: Session, tmp_path: Path) -> None:
    text = await session.ask("")
    assert "Mode default. This project is trusted" in text
    assert f"1. allow {SHELL_TOOL} command_prefix 'npm test', priority 100 ({tmp_path}/user/saved.toml:1)" in text
    assert "(this session)" in text


async def test_a_decision_is_explained_part_by_part(session: Session, tmp_path: Path) -> None:
    text = await session.ask("check git status && rm -rf x")
    assert text.splitlines()[0] == "ask: `rm -rf x`: no rule allows it"
    assert f"allow  git status  (allow: git status ({tmp_path}/user/saved.toml:" in text


async def test_a_saved_rule_goes_from_its_file_and_the_others_stay(session: Session) -> None:
    await session.ask("forget 1")
    left = [rule.command_prefix for rule in session.policy.rules]
    assert sorted(left) == ["git status", "make_x"]
    assert [rule.command_prefix for rule in session.files.load()[0]] == ["git status"]
    assert session.policy.check_command("npm test").verdict == "ask"
    await session.ask(f"forget {left.index('git status') + 1}")
    assert [rule.command_prefix for rule in session.policy.rules] == ["make_x"]


async def test_a_grant_of_the_session_goes(session: Session) -> None:
    number = [rule.command_prefix for rule in session.policy.rules].index("make_x") + 1
    await session.ask(f"forget {number}")
    assert session.policy.check_command("make_x").verdict == "ask"
    assert len(session.files.load()[0]) == 2


async def test_trust_is_taken_back(session: Session) -> None:
    await session.ask("untrust")
    assert ProjectTrust(session.project, session.store).state is TrustState.UNKNOWN


@pytest.mark.parametrize("arguments", ["forget 9", "forget 0", "forget x", "forget", "check", "sudo"])
async def test_what_makes_no_sense_is_refused(session: Session, arguments: str) -> None:
    with pytest.raises(StetError):
        await session.ask(arguments)


async def test_a_call_of_a_tool_is_explained(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.policy.add(Rule("write_file", "deny", path="gen/**", message="made by a program", source="rules.toml:7"))
    text = await session.ask('check write_file {"file_path": "gen/a", "content": ""}')
    assert text.startswith("deny: made by a program (rules.toml:7)") and "tool: write_file, of kind edit" in text
    text = await session.ask('check write_fil {"file_path": "gen/a"}')
    assert text.startswith("ask: ") and "there is none of the name 'write_fil'" in text and "write_file" in text
    with pytest.raises(StetError, match="not JSON"):
        await session.ask("check read_file {x}")
    assert (await session.ask("check npm test")).startswith("allow: ")
