"""A rule that names a program allows it, not what it can be made to run, write or work on besides."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule

PROGRAMS = "git npm find tar awk sed xargs env sudo nice timeout test printf sort rg curl make ls ssh less vim rsync go"
PROGRAMS = f"{PROGRAMS} pytest gcc cargo fzf sqlite3 zip".split()
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
        "ssh -o ProxyCommand=x h", "git clone -u x y", "git clone 'ext::sh -c x'", "git rebase -x y HEAD",
        "git bisect run x", "git submodule foreach x", "git filter-branch --tree-filter x HEAD", "git difftool -x y",
        "git config core.pager x", "git config --global alias.x '!y'", "git config --edit", "git archive -o f HEAD",
        "git format-patch -o f", "git format-patch --output-directory=f", "git diff --no-index a b", "git push ext::x",
        "tar xIf x a", "tar -xIx -f a", "sed -i s/a/b/ f", "sed --in-place s/a/b/ f", "sed -ni p f", "sed -f x f",
        "sed 's|a|b|e' f", "sed 's,a,b,w f' a", "sed '1,2w/f' a", "sed 5ex f", "sed 1wf a", "sed -e p -e '/x/{e y' f",
        "sed '\\,x,e y' f", "sed 'r f' a", "awk -f x f", "awk -i inplace 1 f", "awk -l x 1", "sort -uo f a",
        "sort -T /x a", "curl -sSo f u", "curl -c f u", "curl --trace f u", "curl -T f u", "curl -d @f u",
        "curl -F a=@f u", "curl file:///etc/passwd", "curl --json @f u", "make CC=x", "make -e", "test 'a[$(x)]' -eq 1",
        "less '+!x' f", "less --log-file=f a", "vim '+!x' f", "vim -es f", "rsync -ae x a b", "go test -vettool=x",
        "go test --exec x", "go build -o f", "pytest -p x", "pytest -c /x", "pytest --rootdir=/x", "gcc -fplugin=x a.c",
        "gcc -B/x a.c", "cargo build --config x", "rg -z x", "fzf --preview x", "sqlite3 f '.shell x'", "zip -TTx a b",
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
        "git push -u origin main", "git commit -m run", "git config user.name", "git submodule update --init",
        "git bisect good", "git archive HEAD", "git rebase main", "tar -xzf Archive.tgz -C dir", "tar xf IF.tar",
        "tar tvf a.tar", "sed '1d;$d' f", "sed -e 's/a/b/g' -e 's#/x#/y#' f", "sed -nE '/a/,/b/{p}' f", "sed 5q f",
        "sed '/a/!d' f", "sed 's/\\(a\\)/\\1/' f", "sed y/abc/xyz/ f", "sed -n '$=' f", "sed 'a more' f",
        "sed ':x;N;bx' f", "curl -fsSL u", "curl -X POST -d a=1 u", "curl -XDELETE u", "curl -H 'X-F: @' u",
        "sort -t, -k2 f", "less -R f", "vim f", "rsync -av --delete a b", "go test ./... -run TestX -v",
        "go build ./...", "pytest -x -q -k foo --co",
        "pytest --maxfail=1 -n 2", "gcc -O2 -c a.c", "cargo test --release", "fzf -q x", "sqlite3 f 'select 1'",
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
