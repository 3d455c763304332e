"""The gate: what each answer does, what is offered, and what is said where nobody is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import ExecConfirmation
from core.contract.confirmation import ToolConfirmationOutcome as Outcome
from core.contract.errors import ToolErrorType
from core.contract.events import ApprovalMode, CallRejected, ModeChanged, Notice, RuleAdded
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.tool import CallState, Kind, ToolCall
from core.policy.engine import PolicyEngine
from core.policy.load import load_policy
from core.policy.rule_files import RuleFiles
from core.policy.rules import SHELL_TOOL, Rule
from core.scheduler.gate import Gate
from core.scheduler.scheduler import CompletedCall
from core.tools.abort import AbortSignal
from core.tools.declarative import ToolInvocation
from tests.fakes.harness import NO, YES, Harness, call
from tests.fakes.tools import Probe, ProbeInvocation, ProbeParams


class ShellParams(ProbeParams):
    command: str = ""


class ShellInvocation(ProbeInvocation):
    async def get_confirmation_details(self, abort: AbortSignal) -> ExecConfirmation:
        command = self.params.command  # type: ignore[attr-defined]  # the parameters of the subclass
        return ExecConfirmation("Run?", command, "", (), "/")

    def amended(self, reply: ApprovalReply) -> ProbeInvocation:
        return ProbeInvocation(self.params, self.probe, reply.command or "as proposed")


class ShellProbe(Probe):
    Params = ShellParams

    def create_invocation(self, params: ProbeParams) -> ToolInvocation:
        return ShellInvocation(params, self)


class NarrowInvocation(ProbeInvocation):
    def get_policy_update_options(self, outcome: Outcome) -> Mapping[str, Any]:
        return {"args_pattern": f'"name": "{self.params.name}"'} if self.params.name else {"colour": "red"}


class NarrowProbe(Probe):
    def create_invocation(self, params: ProbeParams) -> ToolInvocation:
        return NarrowInvocation(params, self)


class Session(Harness):
    """A harness with a shell, two tools of one server, and policy files."""

    def __init__(self, tmp_path: Path, policy: PolicyEngine | None = None, *, trusted: bool = False) -> None:
        super().__init__(policy=policy)
        for tool in (
            ShellProbe(SHELL_TOOL, Kind.EXECUTE),
            Probe("srv__a", Kind.OTHER),
            Probe("srv__b", Kind.OTHER),
            Probe("other__a", Kind.OTHER),
            NarrowProbe("narrow", Kind.FETCH),
        ):
            tool.log = self.log
            self.registry.register(tool)
        self.files = RuleFiles(tmp_path / "user", tmp_path / "project", trusted=trusted)
        self.scheduler.gate = Gate(self.policy, self.bus, self.files)
        self.asked: list[ApprovalRequest] = []

    async def run(self, *calls: ToolCall, reply: ApprovalReply = YES) -> list[CompletedCall]:
        async with self.answering(lambda request: reply) as asked:
            done = await self.scheduler.run(list(calls), 1, AbortSignal())
        self.asked += [request for request in asked if isinstance(request, ApprovalRequest)]
        return done

    async def shell(self, command: str, reply: ApprovalReply = YES) -> CompletedCall:
        return (await self.run(call(SHELL_TOOL, command=command, name=command), reply=reply))[0]


async def test_once_is_once(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for _ in range(2):
        await session.run(call("run", name="a"))
    assert (len(session.asked), session.policy.rules, session.of(RuleAdded)) == (2, (), [])


async def test_always_allows_edits_by_the_mode_and_others_by_a_rule(tmp_path: Path) -> None:
    session = Session(tmp_path)
    always = ApprovalReply(Outcome.PROCEED_ALWAYS)
    await session.run(call("edit", "1", name="a"), call("edit", "2", name="b"), reply=always)
    await session.run(call("run", "3", name="a"), call("run", "4", name="b"), reply=always)
    assert len(session.asked) == 2
    assert session.policy.mode is ApprovalMode.AUTO_EDIT
    assert session.of(ModeChanged) == [ModeChanged(ApprovalMode.AUTO_EDIT)]
    assert len(session.of(RuleAdded)) == 1


async def test_always_for_a_command_allows_its_like_and_no_more(tmp_path: Path) -> None:
    session = Session(tmp_path)
    await session.shell("git commit -m x && npm test", ApprovalReply(Outcome.PROCEED_ALWAYS))
    assert [rule.command_prefix for rule in session.policy.rules] == ["git commit", "npm test"]
    await session.shell("npm test; git commit -m y")
    assert len(session.asked) == 1
    await session.shell("git push")
    assert len(session.asked) == 2


@pytest.mark.parametrize(
    ("outcome", "asked_again"),
    [(Outcome.PROCEED_ALWAYS_TOOL, ["srv__b", "other__a"]), (Outcome.PROCEED_ALWAYS_SERVER, ["other__a"])],
)
async def test_always_for_a_tool_or_its_server(tmp_path: Path, outcome: Outcome, asked_again: list[str]) -> None:
    session = Session(tmp_path)
    await session.run(call("srv__a", name="x"), reply=ApprovalReply(outcome))
    for name in ("srv__a", "srv__b", "other__a"):
        await session.run(call(name, name="x"))
    assert [request.call.name for request in session.asked[1:]] == asked_again


@pytest.mark.parametrize("outcome", [Outcome.PROCEED_ALWAYS_TOOL, Outcome.PROCEED_ALWAYS_SERVER])
async def test_no_answer_allows_all_commands_at_once(tmp_path: Path, outcome: Outcome) -> None:
    session = Session(tmp_path)
    await session.shell("git commit -m x", ApprovalReply(outcome))
    assert [rule.command_prefix for rule in session.policy.rules] == ["git commit"]


@pytest.mark.parametrize(("scope", "folder"), [("", "user"), ("user", "user"), ("project", "project")])
async def test_always_and_save_writes_the_rule_that_was_shown(tmp_path: Path, scope: str, folder: str) -> None:
    session = Session(tmp_path, trusted=True)
    await session.shell("git commit -m x", ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=scope))
    path = tmp_path / folder / "saved.toml"
    assert path.read_text() == session.asked[0].rule
    assert session.asked[0].scopes == ("user", "project")
    assert session.of(RuleAdded) == [RuleAdded(session.asked[0].rule, str(path))]
    assert [rule.source for rule in session.policy.rules] == [f"{path}:1"]
    await session.shell("git commit -m y")
    assert len(session.asked) == 1


async def test_a_project_that_is_not_trusted_is_no_place_to_save(tmp_path: Path) -> None:
    session = Session(tmp_path)
    await session.shell("make_x", ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE, scope="project"))
    assert session.asked[0].scopes == ("user",)
    assert not (tmp_path / "project").exists()
    assert len(session.policy.rules) == 1  # for this session
    assert "can't be saved for the project" in session.of(Notice)[0].message


async def test_a_saved_rule_for_edits_is_of_that_file(tmp_path: Path) -> None:
    session = Session(tmp_path, PolicyEngine(root=tmp_path))
    edit = call("edit", name="a", path=str(tmp_path / "src" / "a.py"))
    await session.run(edit, reply=ApprovalReply(Outcome.PROCEED_ALWAYS_AND_SAVE))
    (rule,) = load_policy(tmp_path / "user" / "saved.toml")[0]
    assert (rule.tool, rule.path, rule.decision) == ("edit", "src/a.py", "allow")
    await session.run(edit, call("edit", "2", name="b", path=str(tmp_path / "src" / "b.py")))
    assert len(session.asked) == 2


async def test_a_rule_is_shown_with_what_it_would_have_allowed_so_far(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for command in ("git commit -m a", "git commit -m b", "git commit -m b", "git push", "ls; git commit -m c"):
        await session.shell(command, NO)
    await session.shell("git commit -m d")
    assert session.asked[0].would_have_allowed == ()
    assert session.asked[-1].would_have_allowed == ("git commit -m a", "git commit -m b (2 times)")


@pytest.mark.parametrize("command", ["bash -c x", "sudo x", "cat .env", "x $(y)", "echo a > b", "python x.py", "env a"])
async def test_what_runs_anything_or_is_unclear_is_never_offered_always(tmp_path: Path, command: str) -> None:
    session = Session(tmp_path)
    await session.shell(command)
    assert (session.asked[0].grant, session.asked[0].rule, session.asked[0].scopes) == ("", "", ())


async def test_a_grant_that_would_not_help_is_not_offered(tmp_path: Path) -> None:
    rules = [Rule(SHELL_TOOL, "ask", "git", message="careful"), Rule("run", "ask", priority=500)]
    session = Session(tmp_path, PolicyEngine(rules))
    await session.shell("git commit -m x")
    await session.run(call("run", name="a"))
    assert [(request.grant, request.rule) for request in session.asked] == [("", ""), ("", "")]


async def test_a_tool_may_narrow_what_is_granted(tmp_path: Path) -> None:
    session = Session(tmp_path)
    always = ApprovalReply(Outcome.PROCEED_ALWAYS)
    for name in ("a", "a", "b"):
        await session.run(call("narrow", name=name), reply=always)
    assert len(session.asked) == 2
    assert session.policy.rules[0].args_pattern
    await session.run(call("narrow", name=""), reply=always)  # what it names makes no rule: the usual one
    await session.run(call("narrow", name="c"))
    assert len(session.asked) == 3


async def test_an_edited_command_is_what_runs_unless_a_rule_denies_it(tmp_path: Path) -> None:
    session = Session(tmp_path, PolicyEngine([Rule(SHELL_TOOL, "deny", "git push", message="no pushing")]))
    done = await session.shell("git commit", ApprovalReply(Outcome.MODIFY_WITH_EDITOR, command="git commit -s"))
    assert done.state is CallState.SUCCEEDED and "git commit -s" in str(done.result.llm_content)
    done = await session.shell("git commit", ApprovalReply(Outcome.PROCEED_ONCE, command="true; sudo git push"))
    assert done.state is CallState.DENIED and "no pushing" in str(done.result.llm_content)
    done = await session.shell("git commit", ApprovalReply(Outcome.MODIFY_WITH_EDITOR))
    assert done.state is CallState.DENIED


async def test_a_rejection_carries_its_reason_and_does_nothing(tmp_path: Path) -> None:
    session = Session(tmp_path)
    done = await session.shell("make_x", ApprovalReply(Outcome.CANCEL, "use ninja"))
    assert done.result.error is not None and done.result.error.type is ToolErrorType.DENIED_BY_USER
    assert "use ninja" in str(done.result.llm_content) and session.log == []


async def test_where_nobody_is_there_the_denial_names_the_rule_and_the_way_out(tmp_path: Path) -> None:
    session = Session(tmp_path, PolicyEngine([Rule(SHELL_TOOL, "ask", "npm", priority=1, source="p.toml:3")]))
    (done,) = await session.scheduler.run([call(SHELL_TOOL, command="npm test", name="x")], 1, AbortSignal())
    text = str(done.result.llm_content)
    assert done.result.error is not None and done.result.error.type is ToolErrorType.POLICY_VIOLATION
    assert "nobody is here" in text and "p.toml:3" in text and 'command_prefix = "npm test"' in text
    assert session.log == [] and len(session.of(CallRejected)) == 1


async def test_a_sensitive_name_is_left_to_the_tool_to_refuse(tmp_path: Path) -> None:
    session = Session(tmp_path, PolicyEngine(root=tmp_path))
    (done,) = await session.run(call("look", name="a", path=str(tmp_path / ".env")))
    assert done.state is CallState.SUCCEEDED and session.asked == []  # this one looks at nothing
