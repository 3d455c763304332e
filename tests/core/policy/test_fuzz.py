"""Texts at random: what the policy allows is run in a real bash, which runs nothing but what was allowed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule, Verdict
from core.policy.shell_reader import find_commands
from tests.fakes.shell_texts import ALLOWED, TracedBash, shell_texts

ENGINE = PolicyEngine([Rule(SHELL_TOOL, "allow", prefix) for prefix in ALLOWED])
STRICT = PolicyEngine([*ENGINE.rules, Rule(SHELL_TOOL, "deny", "touch")], mode="yolo")


def test_bash_runs_nothing_of_an_allowed_text_that_was_not_allowed() -> None:
    with TracedBash() as bash:
        if not bash.is_there:
            pytest.skip("there is no bash")
        assert "PWNED" in bash.violation("echo $(touch PWNED)")  # the trap works
        assert "eval" in bash.violation("eval :")
        allowed = {text for text in shell_texts(1, 12_000) if ENGINE.check_command(text).verdict is Verdict.ALLOW}
        assert len(allowed) > 200
        found = {text: problem for text in sorted(allowed)[:400] if (problem := bash.violation(text))}
    assert not found


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: data.decode("latin-1")))
def test_any_text_gets_a_decision(text: str) -> None:
    for engine in (ENGINE, STRICT):
        decision = engine.check_command(text)
        assert decision.reason and decision.verdict in Verdict


def test_characters_beyond_ascii_never_crash_the_parser() -> None:
    # the grammar's scanner reads past a table of the C library for these; a crash would take the whole program
    dice = random.Random(7)
    marks = [
        "<<EOF",
        "<<-E",
        "\n",
        "$",
        "{",
        "}",
        "(",
        ")",
        "#",
        "x",
        "=",
        "[",
        "]",
        " ",
        "'",
        '"',
        "\\",
        "|",
        "<",
        "`",
    ]
    for _ in range(3_000):
        wide = (chr(dice.choice((dice.randint(0x80, 0xD7FF), dice.randint(0xE000, 0x10FFFF)))) for _ in range(12))
        find_commands("".join(piece for char in wide for piece in (char, dice.choice(marks))))
    found = find_commands("écho é && git push ü").commands
    assert [command.words for command in found] == [("écho", "é"), ("git", "push", "ü")]
