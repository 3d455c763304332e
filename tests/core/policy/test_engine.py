"""Decisions: modes, kinds, priorities, paths, prefixes, grants; and policy files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import StetError
from core.contract.events import ApprovalMode
from core.contract.tool import Kind
from core.policy.engine import PolicyEngine
from core.policy.load import load_policies
from core.policy.rules import SHELL_TOOL, Rule, Verdict, matches_path

ALLOW_STATUS = Rule(SHELL_TOOL, "allow", "git status")


@pytest.mark.parametrize(
    ("mode", "kind", "verdict"),
    [
        ("default", Kind.READ, "allow"),
        ("default", Kind.SEARCH, "allow"),
        ("default", Kind.THINK, "allow"),
        ("default", Kind.FETCH, "ask"),
        ("default", Kind.EDIT, "ask"),
        ("default", Kind.OTHER, "ask"),
        ("auto_edit", Kind.EDIT, "allow"),
        ("auto_edit", Kind.DELETE, "ask"),
        ("plan", Kind.READ, "allow"),
        ("plan", Kind.EDIT, "deny"),
        ("plan", Kind.MOVE, "deny"),
        ("yolo", Kind.EDIT, "allow"),
        ("yolo", Kind.OTHER, "allow"),
    ],
)
def test_the_defaults_of_each_mode(mode: str, kind: Kind, verdict: str) -> None:
    assert PolicyEngine(mode=mode).check("t", {}, kind).verdict == verdict


@pytest.mark.parametrize("mode", ["default", "auto_edit", "plan", "yolo"])
def test_a_deny_rule_holds_in_every_mode(mode: str) -> None:
    engine = PolicyEngine([Rule("*", "deny", message="never"), Rule("*", "allow")], mode=mode)
    decision = engine.check("t", {}, Kind.EDIT)
    assert decision.verdict == "deny"
    if mode != "plan":
        assert "never" in decision.reason


def test_plan_mode_is_not_opened_by_a_rule_that_allows() -> None:
    engine = PolicyEngine([Rule("*", "allow", priority=10_000)], mode="plan", looking_allowed=True)
    assert engine.check("write_file", {}, Kind.EDIT).verdict == "deny"
    assert engine.check_command("touch x").verdict == "deny"
    assert engine.check_command("git status > x").verdict == "deny"
    assert engine.check_command("git status").verdict == "allow"


def test_priority_decides_and_on_a_tie_the_stricter_one() -> None:
    allow, ask, deny = (Rule("t", decision) for decision in ("allow", "ask", "deny"))
    assert PolicyEngine([allow, ask]).check("t").verdict == "ask"
    assert PolicyEngine([allow, deny, ask]).check("t").verdict == "deny"
    assert PolicyEngine([Rule("t", "allow", priority=101), deny]).check("t").verdict == "allow"


def test_rules_match_names_paths_arguments_kinds_and_servers() -> None:
    engine = PolicyEngine(
        [
            Rule("write_file", "allow", path="docs/**"),
            Rule("github__*", "deny"),
            Rule("*", "allow", mcp_server="jira"),
            Rule("fetch", "allow", args_pattern=r"example\.org"),
            Rule("*", "allow", kind=("delete", "move")),
        ],
        root="/p",
    )
    assert engine.check("write_file", {}, Kind.EDIT, ["/p/docs/a/b.md"]).verdict == "allow"
    assert engine.check("write_file", {}, Kind.EDIT, ["/p/src/b.md"]).verdict == "ask"
    assert engine.check("write_file", {}, Kind.EDIT, ["/p/docs/../src/b.md"]).verdict == "ask"
    assert engine.check("github__x").verdict == "deny"
    assert engine.check("jira__x").verdict == "allow"
    assert engine.check("fetch", {"url": "https://example.org"}).verdict == "allow"
    assert engine.check("m", {}, Kind.MOVE).verdict == "allow"


def test_a_chain_is_allowed_only_when_every_part_is() -> None:
    engine = PolicyEngine([ALLOW_STATUS])
    assert engine.check_command("git status && git status -s").verdict == "allow"
    decision = engine.check_command("git status && rm -rf .")
    assert decision.verdict == "ask"
    assert [(part.text, part.verdict) for part in decision.parts] == [
        ("git status", Verdict.ALLOW),
        ("rm -rf .", Verdict.ASK),
    ]
    assert "rm -rf ." in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "ls -la src",
        "cat a.py | head -5",
        "git diff HEAD~1 -- a.py",
        "grep -rn x . | wc -l",
        "git log --oneline -5",
        "pwd",
    ],
)
def test_commands_that_only_look_run_without_asking(tmp_path: Path, command: str) -> None:
    assert PolicyEngine(root=tmp_path, looking_allowed=True).check_command(command).verdict == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/passwd",
        "cat ../x",
        "cat ~/x",
        "cat *",
        "ls -la > x",
        "git diff --output=x",
        "git diff --out=x",
        "git -c core.pager=x log",
        "git log --ext-diff",
        "git push",
        "sort -o x y",
        "sort -ox y",
        "uniq a b",
        "rg --pre=x y",
        "rg --pre x y",
        "grep --file=/etc/passwd x",
        "tree -o x",
        "date -s 12:00",
        "find . -delete",
        "git grep -Ovim x",
        "cat $HOME/x",
        "date --se=1",
        "date 010100002030",
        "tree -R -L 1",
        "test -v 'a[$(touch x)]'",
        "printf -v 'a[$(touch x)]' y",
        "git show HEAD:.env",
        "git show :.env",
        "git diff HEAD:../x y",
    ],
)
def test_commands_that_may_do_more_ask(tmp_path: Path, command: str) -> None:
    assert PolicyEngine(root=tmp_path, looking_allowed=True).check_command(command).verdict == "ask"


def test_a_link_that_leads_outside_is_not_read_without_asking(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to("/etc/passwd")
    assert PolicyEngine(root=root, looking_allowed=True).check_command("cat link").verdict == "ask"


@pytest.mark.parametrize(
    ("command", "prefixes"),
    [
        ("npm test", ["npm test"]),
        ("npm test -- -k x", ["npm test"]),
        ("git commit -m 'a b' && npm test", ["git commit", "npm test"]),
        ("pytest -q", ["pytest"]),
        ("python -c 'x'", []),
        ("sudo ls", []),
        ("bash x.sh", []),
        ("xargs rm", []),
        ("find . -exec rm x ;", []),
        ("npm test && env x", []),
        ("echo $(x)", []),
    ],
)
def test_grants_are_narrow_and_never_for_what_runs_anything(command: str, prefixes: list[str]) -> None:
    assert [rule.command_prefix for rule in PolicyEngine().check_command(command).grants] == prefixes


@given(st.lists(st.sampled_from(["git", "push", "status", "'a b'", "-x", "&&", ";", "|", "x.py", '"q"']), max_size=8))
def test_every_grant_allows_the_command_that_produced_it(pieces: list[str]) -> None:
    command = " ".join(pieces)
    grants = PolicyEngine().check_command(command).grants
    if grants:
        assert PolicyEngine(grants).check_command(command).verdict == "allow"


@given(st.text(alphabet=" \t\ngitstaus;&|<>$()`'\"\\*{}#!~=\x00\u200b/x", max_size=40))
def test_no_text_is_allowed_that_holds_more_than_the_allowed_program(text: str) -> None:
    decision = PolicyEngine([ALLOW_STATUS]).check_command(text)
    if decision.verdict is Verdict.ALLOW:
        assert all(part.text.startswith(("git", "'", '"')) for part in decision.parts)
        assert not set("$`<(){}\x00\u200b") & set(text.replace("\n", " ").split("#")[0].split("'")[0].split('"')[0])


def test_policy_files_name_file_and_line_of_every_problem(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        '# rules\n[[rule]]\ntool = "x"\ndecision = "deny"\n\n[[rule]]\ntool = "y"\ndecison = "allow"\n\n'
        '[[rule]]\ndecision = "maybe"\n[[rule]]\npriority = "high"\n'
    )
    (tmp_path / "b.toml").write_text("[[rule]\n")
    (tmp_path / "c.toml").mkdir()
    rules, problems = load_policies(tmp_path)
    assert [(rule.tool, rule.source) for rule in rules] == [("x", f"{tmp_path}/a.toml:2")]
    assert [(Path(p.file).name, p.line) for p in problems] == [
        ("a.toml", 6),
        ("a.toml", 10),
        ("a.toml", 12),
        ("b.toml", 1),
        ("c.toml", 0),
    ]
    assert "decison" in problems[0].message


@pytest.mark.parametrize("bad", [{"decision": "maybe"}, {"modes": ("x",)}, {"kind": "x"}, {"args_pattern": "("}])
def test_a_rule_that_makes_no_sense_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(StetError):
        Rule(**bad)  # type: ignore[arg-type]


def test_globs_on_paths() -> None:
    assert matches_path("a/b/c.py", "**/*.py") and matches_path("c.py", "**/*.py")
    assert not matches_path("a/b.py", "*.py") and matches_path("a/b.py", "a/*")
    assert not matches_path("a/b/c", "a/*") and matches_path("a/b/c", "a/**")


def test_the_mode_can_change(tmp_path: Path) -> None:
    engine = PolicyEngine(root=tmp_path)
    engine.mode = ApprovalMode.YOLO
    assert engine.check_command("rm -rf x").verdict == "allow"
    engine.add(Rule(SHELL_TOOL, "deny", "rm"))
    assert engine.check_command("true; $(rm -rf x)").verdict == "deny"
