"""A rule that names a program allows it, not what it can be made to run, write or work on besides."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule

PROGRAMS = "git npm find tar awk sed xargs env sudo nice timeout test printf sort rg curl make ls ssh".split()
ENGINE = PolicyEngine([Rule(SHELL_TOOL, "allow", program) for program in PROGRAMS], root=Path(__file__).parent)


@pytest.mark.parametrize(
    "command",
    [
        "git -c core.pager=x log", "git -c alias.x=!y x", "git -C /elsewhere status", "git log --output=f",
        "git log --outp=f", "git grep -Ox y", "git grep --open-files-in-pager=x y", "git fetch --upload-pack=x .",
        "git --exec-path=x status", "npm test --prefix /elsewhere", "npm test --script-shell=x", "npm -C /x test",
        "find . -delete", "find . -fprintf f x", "find . -exec x ';'", "tar cf /dev/null x --checkpoint-action=exec=y",
        "tar xf x --to-command=y", "tar xf x -Iy", "awk 'BEGIN{system(\"x\")}'", "awk '{print > \"f\"}' a",
        "awk '{print | \"x\"}' a", "sed -n '1e x' f", "sed 's/a/b/e' f", "sed 'w f' a", "xargs touch", "env x",
        "sudo x", "env A=1 x", "nice -n 5 x", "timeout 5 x", "test -v 'a[$(x)]'", "printf -v 'a[0]' x", "sort -o f a",
        "sort --compress-program=x a", "rg --pre x y", "curl -o f u", "make -f f", "make --eval=x",
        "ssh -o ProxyCommand=x h",
    ],
)  # fmt: skip
def test_what_goes_beyond_the_name_asks(command: str) -> None:
    decision = ENGINE.check_command(command)
    assert decision.verdict == "ask"
    assert not decision.grants


@pytest.mark.parametrize(
    "command",
    [
        "git status", "git log --oneline -5", "git commit -m 'x --output y'", "npm test -- --watch", "find . -name x",
        "tar cf x.tar y", "awk '{print $1}' f", "sed -n '1,5p' f", "sed 's/read/write/g' f", "sed 's/a/b/' file",
        "env", "test -f x", "printf '%s' x", "sort -k2 f", "rg -n pattern src", "curl -s u", "make -j4 all", "ls -la",
    ],
)  # fmt: skip
def test_usual_arguments_do_not(command: str) -> None:
    assert ENGINE.check_command(command).verdict == "allow"


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("git -C /elsewhere", "git -C /elsewhere status"),
        ("find . -delete", "find . -delete"),
        ("xargs touch", "xargs touch a"),
        ("env A=1 make_x", "env A=1 make_x -j2"),
        ("sudo apt", "sudo apt update"),
    ],
)
def test_a_rule_that_names_it_allows_it(prefix: str, command: str) -> None:
    assert PolicyEngine([Rule(SHELL_TOOL, "allow", prefix)]).check_command(command).verdict == "allow"
