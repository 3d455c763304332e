"""Denied commands are found wherever they hide; data that only reads like one is left alone."""

from __future__ import annotations

import pytest

from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule
from core.policy.shell_quotes import expand_word

ALLOWED = (
    "git status, echo, true, cat, git, bash, env, find, xargs, sudo, nice, python, ls, test, printf, let, sh, eval,"
    " timeout, make, npm, awk, perl"
)
DENY = Rule(SHELL_TOOL, "deny", "git push")
ENGINE = PolicyEngine([DENY, *(Rule(SHELL_TOOL, "allow", name.strip()) for name in ALLOWED.split(","))])
YOLO = PolicyEngine([DENY], mode="yolo")

DENIED = [
    # plain positions
    "git push", "git push;", "git push&", "git push|cat", "git push 2>&1", "git    push", "git\tpush --force",
    "# x\ngit push", "echo x # y\ngit push", "true && { git push; }", "! git push", "(git push)", "git push > x",
    ">x git push", "2>&1 git push", "git >x push", "git status; { ( git push ) }", "git status\r\n git push",
    # control flow and definitions
    "if git push; then :; fi", "while git push; do :; done", "until git push; do :; done", "coproc git push",
    "for i in 1; do git push; done", "for ((i=0;i<1;i++)); do git push; done", "case x in x) git push;; esac",
    "select x in a; do git push; done", "f() { git push; }; f", "function f { git push; }", "time git push",
    # substitutions
    "echo $(git push)", 'echo "$(git push)"', "echo `git push`", "echo `echo \\`git push\\``", "cat <(git push)",
    "echo $((1+$(git push)))", 'echo "${x:-$(git push)}"', "[[ -n $(git push) ]]", "x=$(git push)",
    "export X=$(git push)", "echo $(echo $(echo $(git push)))", "cat <<EOF\n$(git push)\nEOF", "tee >(git push)",
    "test -v 'a[$(git push)]'", "printf -v 'a[$(git push)]' x", "let 'x=a[$(git push)]'",
    # spellings of the words
    "g\\it push", "\\git push", "'git' push", 'git "push"', "g''it pu\"\"sh", "$'git' push", "$'\\x67it' push",
    "git $'pu\\163h'", '$"git" push', "git${IFS}push", "git$IFS'push'", "{git,push}", "git {push,x}", "g$@it push",
    "git pu\\\nsh", "git \\\n push", "/usr/bin/git push", "./git push",
    # options in between
    "git -C . push", "git -c a=b -C x push --force", "git --no-pager push", "git --git-dir x push",
    "git " + "-c a=b " * 200 + "push",
    # environment and wrappers
    "A=1 git push", "env -i A=b git push", "sudo -u x git push", "xargs -n1 git push", "command -p git push",
    "builtin command git push", "exec git push", "timeout 5 git push", "nice -n 5 git push", "nohup git push &",
    "setsid -w git push", "stdbuf -oL git push", "find . -exec git push {} \\;", "ssh h git push", "ssh h 'git push'",
    "watch 'git push'", "parallel 'git push' ::: a", "script -qc 'git push' /dev/null", "su -c 'git push'",
    "flock f -c 'git push'", "env -S 'git push'", "env '-Sgit push'", "env --split-string='git push'",
    "npm exec -- git push", "poetry run git push", "docker run x git push", "env " * 300 + "git push",
    # shells and what they are fed
    "bash -c 'git push'", "bash -lc 'true; git push'", "eval git push", "eval 'git' 'push'", 'eval "git push"',
    "bash <<EOF\ngit push\nEOF", "bash <<'EOF'\ntrue\ngit push\nEOF", "cat <<EOF | sh\ngit push\nEOF",
    "bash <<< 'git push'", "echo 'git push' | sh", "echo git push | bash", "printf 'git push\\n' | bash -s",
    "echo git\\ push | sh", "sh -c \"sh -c 'git push'\"", 'bash -c "bash -c \\"git push\\""', "at now <<< 'git push'",
    "find . -exec sh -c 'git push' \\;", "busybox sh -c 'git push'", "X='git push'; $X", "X='git push'; eval $X",
    "trap 'git push' EXIT", "alias x='git push'; x", "mapfile -C 'git push' -c 1 <<< x",
    # programs with commands in their arguments
    "git -c alias.x='!git push' x", "git -c alias.p=push p", "git rebase -x 'git push' HEAD",
    "git bisect run git push", "git submodule foreach 'git push'", "GIT_SSH_COMMAND='git push' git fetch",
    "tar cf x y --checkpoint-action=exec='git push'", "python -c 'import os; os.system(\"git push\")'",
    "python3.11 -c \"import subprocess; subprocess.run(['git', 'push'])\"", "awk 'BEGIN{system(\"git push\")}'",
    "perl -e 'exec \"git push\"'",
    # texts that the grammar refuses
    "git push $(", "git push '", "((git push", "git status &&& git push", "fi; git push", "a|" * 600 + "git push",
]  # fmt: skip

ASKED = ["git p*sh", "git $X", "$X push", "git $(echo push)", "git pus?", "echo push | xargs git", "g?t push"]

DATA = [
    "echo 'git push'", "echo git push", "git pushx", "git log push", "git commit -m 'git push'", "cat push",
    'git commit -m "do not git push"', "git stash push", "git log --grep='git push'", "git status",
]  # fmt: skip


@pytest.mark.parametrize("command", DENIED)
def test_a_denied_command_is_found_wherever_it_hides(command: str) -> None:
    assert ENGINE.check_command(command).verdict == "deny"
    assert YOLO.check_command(command).verdict == "deny"


@pytest.mark.parametrize("command", ASKED)
def test_what_may_become_a_denied_command_asks_in_every_mode(command: str) -> None:
    assert ENGINE.check_command(command).verdict == "ask"
    assert YOLO.check_command(command).verdict == "ask"


@pytest.mark.parametrize("command", DATA)
def test_words_that_are_only_data_are_left_alone(command: str) -> None:
    assert ENGINE.check_command(command).verdict == "allow"


def test_a_rule_that_asks_sees_through_options_and_paths_too() -> None:
    engine = PolicyEngine([Rule(SHELL_TOOL, "allow", "git"), Rule(SHELL_TOOL, "ask", "git push")])
    for command in ("git push", "git -C . push", "git --no-pager push"):
        assert engine.check_command(command).verdict == "ask"
    assert engine.check_command("git --no-pager status").verdict == "allow"


def test_an_allowed_exception_beats_a_weaker_rule_that_denies() -> None:
    engine = PolicyEngine([DENY, Rule(SHELL_TOOL, "allow", "git push --dry-run", priority=200)])
    assert engine.check_command("git push --dry-run").verdict == "allow"
    assert engine.check_command("git push").verdict == "deny"
    assert engine.check_command("git push --dry-run; git push").verdict == "deny"


def test_yolo_is_stopped_by_rules_that_deny_or_name_it() -> None:
    engine = PolicyEngine(
        [
            Rule(SHELL_TOOL, "ask", "make"),
            Rule(SHELL_TOOL, "ask", "npm", modes=("yolo",)),
            Rule("*", "deny", "rm", priority=1),
        ],
        mode="yolo",
    )
    verdicts = {command: engine.check_command(command).verdict for command in ("make", "npm i", "rm x", "echo $x > y")}
    assert verdicts == {"make": "allow", "npm i": "ask", "rm x": "deny", "echo $x > y": "allow"}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("a'b c'\"d\\$\"\\e", [("ab cd$e", False)]),
        ("$'\\x41\\102\\u0043\\n'", [("ABC\n", False)]),
        ("x{a,b{c,d}}y", [("xay", False), ("xbcy", False), ("xbdy", False)]),
        ("{a..c}", [("{a..c}", True)]),
        ("'{a,b}'", [("{a,b}", False)]),
        ("${x}{a,b}", [("${x}a", True), ("${x}b", True)]),
        ("a${IFS}b", [("a", False), ("b", False)]),
        ("*.py", [("*.py", True)]),
        ("'*.py'", [("*.py", False)]),
        ('"a\\b"', [("a\\b", False)]),
        ("$", [("$", False)]),
        ("''", [("", False)]),
    ],
)
def test_quotes_are_removed_as_bash_removes_them(raw: str, words: list[tuple[str, bool]]) -> None:
    assert expand_word(raw) == words
