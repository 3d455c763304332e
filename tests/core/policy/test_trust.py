"""Trust: bound to content, kept private, asked again after any change of what would take effect."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.contract.requests import QuestionReply
from core.policy.trust import NEVER, NOT_NOW, TRUST, ProjectTrust, TrustState, TrustStore


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in ("settings.toml", "policies/p.toml", "tools/t.py"):
        (project / ".stet" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / ".stet" / name).write_text("# " + name)
    return project


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "state" / "trust.json")


def answer(trust: ProjectTrust, label: str) -> None:
    (question,) = trust.question().questions
    assert label in [choice.label for choice in question.choices]
    trust.take(QuestionReply({question.question: label}))


def test_a_project_that_brings_nothing_is_not_asked_about(tmp_path: Path, store: TrustStore) -> None:
    (tmp_path / ".stet").mkdir()
    (tmp_path / ".stet" / "memory.md").write_text("a fact")
    assert ProjectTrust(tmp_path, store).state is TrustState.NOTHING


@pytest.mark.parametrize(
    ("label", "now", "later"),
    [
        (TRUST, TrustState.TRUSTED, TrustState.TRUSTED),
        (NEVER, TrustState.REFUSED, TrustState.REFUSED),
        (NOT_NOW, TrustState.UNKNOWN, TrustState.UNKNOWN),
    ],
)
def test_the_answer_is_kept(project: Path, store: TrustStore, label: str, now: TrustState, later: TrustState) -> None:
    trust = ProjectTrust(project, store)
    assert trust.state is TrustState.UNKNOWN
    answer(trust, label)
    assert (trust.state, ProjectTrust(project, store).state) == (now, later)


def test_an_unanswered_question_trusts_nothing(project: Path, store: TrustStore) -> None:
    trust = ProjectTrust(project, store)
    trust.take(QuestionReply(cancelled=True))
    assert not trust.is_trusted and ProjectTrust(project, store).state is TrustState.UNKNOWN


@pytest.mark.parametrize(
    "name", [".stet/settings.toml", ".stet/tools/t.py", ".stet/tools/new.py", ".stet/policies/p.toml", "scripts/run.sh"]
)
def test_a_change_of_what_takes_effect_is_asked_about_again(project: Path, store: TrustStore, name: str) -> None:
    (project / "scripts").mkdir()
    (project / "scripts" / "run.sh").write_text("echo")
    (project / ".stet" / "settings.toml").write_text('[tools]\ndiscovery_command = "sh scripts/run.sh --all"\n')
    answer(ProjectTrust(project, store), TRUST)
    (project / "README").write_text("this takes no effect")
    assert ProjectTrust(project, store).is_trusted
    with open(project / name, "a") as file:
        file.write("# changed\n")
    assert ProjectTrust(project, store).state is TrustState.UNKNOWN


def test_names_and_contents_are_not_mixed_up(tmp_path: Path, store: TrustStore) -> None:
    digests = set()
    for number, (name, text) in enumerate([("ab", "c"), ("a", "bc"), ("a", "b:c")]):
        tools = tmp_path / str(number) / ".stet" / "tools"
        tools.mkdir(parents=True)
        (tools / name).write_text(text)
        digests.add(ProjectTrust(tmp_path / str(number), store).content.digest)
    assert len(digests) == 3


def test_trust_is_of_one_place(project: Path, store: TrustStore, tmp_path: Path) -> None:
    answer(ProjectTrust(project, store), TRUST)
    os.rename(project, tmp_path / "copy")
    assert ProjectTrust(tmp_path / "copy", store).state is TrustState.UNKNOWN


def test_files_that_change_while_the_user_decides_are_not_trusted(project: Path, store: TrustStore) -> None:
    trust = ProjectTrust(project, store)
    (project / ".stet" / "tools" / "t.py").write_text("evil")
    with pytest.raises(StetError, match="changed"):
        answer(trust, TRUST)
    assert not trust.is_trusted and not ProjectTrust(project, store).is_trusted


@pytest.mark.parametrize("kind", ["fifo", "large", "loop"])
def test_what_can_not_be_read_whole_can_not_be_trusted(project: Path, store: TrustStore, kind: str) -> None:
    path = project / ".stet" / "tools" / "x.py"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "large":
        with open(path, "wb") as file:
            file.truncate(50_000_000)
    else:
        path.symlink_to(path)
    trust = ProjectTrust(project, store)
    assert trust.state is TrustState.REFUSED and trust.content.problem


def test_our_own_change_keeps_the_trust(project: Path, store: TrustStore) -> None:
    trust = ProjectTrust(project, store)
    answer(trust, TRUST)
    (project / ".stet" / "policies" / "saved.toml").write_text("# saved by us")
    trust.follow_own_change()
    assert ProjectTrust(project, store).is_trusted
    trust.withdraw()
    assert ProjectTrust(project, store).state is TrustState.UNKNOWN


def test_granted_for_the_session_is_not_kept(project: Path, store: TrustStore) -> None:
    trust = ProjectTrust(project, store, granted=True)
    assert trust.is_trusted
    trust.follow_own_change()
    assert not ProjectTrust(project, store).is_trusted


def test_the_file_is_private_and_a_broken_one_trusts_nothing(project: Path, store: TrustStore, tmp_path: Path) -> None:
    answer(ProjectTrust(project, store), TRUST)
    path = tmp_path / "state" / "trust.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text())["version"] == 1
    for text in ("", "[]", '{"projects": []}', '{"projects": {"x": 1}}', "[" * 100_000):
        path.write_text(text)
        assert not ProjectTrust(project, store).is_trusted
