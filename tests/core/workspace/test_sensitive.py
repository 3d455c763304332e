"""Names that hold secrets: the cases, and what the user may allow."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.sensitive import SensitiveRules, Verdict
from core.workspace.workspace import Workspace


def track(root: Path) -> None:
    for arguments in (["init", "-q"], ["add", "-A", "-f"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def place_case(root: Path, path: str) -> str:
    """Make the file that a case speaks of; return the path to ask for."""
    if path.startswith("dir-link/"):
        (root / "dir-link").symlink_to(".")
        (root / ".env").write_text("K=1")
        return "dir-link/.env"
    if path.startswith("hard-link-to-env"):
        (root / ".env").write_text("K=1")
        os.link(root / ".env", root / "hard-link-to-env")
        return "hard-link-to-env"
    file = root / os.path.normpath(path)
    (root / "a").mkdir(exist_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    if path.endswith("/") or path == "node_modules":
        file.mkdir()
        file = file / "x"
    file.write_text("K=1")
    return path


def test_cases(cases: Path, tmp_path: Path) -> None:
    wrong: list[tuple[str, str]] = []
    for number, case in enumerate(json.loads((cases / "sensitive.json").read_text(encoding="utf-8"))):
        root = tmp_path / str(number)
        root.mkdir()
        asked = place_case(root, case["path"])
        workspace = Workspace([root])
        try:
            workspace.read(asked)
            outcome = "allow"
        except ToolFailure as failure:
            outcome = "block" if failure.type is ToolErrorType.SENSITIVE_PATH else failure.type
        verdict = workspace.judge(asked).verdict
        if case["expect"] == "allow" and verdict is not Verdict.ALLOW:
            wrong.append((case["path"], verdict))
        if outcome not in (case["expect"], *case.get("accept", ())):
            wrong.append((case["path"], outcome))
    assert not wrong


def test_a_tracked_source_file_asks(tmp_path: Path) -> None:
    for path in ("src/secretary.py", "secrets/load.ts", "secrets.json", ".env.example", "key.pem"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x")
    track(tmp_path)
    (tmp_path / "new_secret.py").write_text("not tracked")
    workspace = Workspace([tmp_path])
    verdicts = {
        path: workspace.judge(path).verdict
        for path in ("src/secretary.py", "secrets/load.ts", "secrets.json", ".env.example", "key.pem", "new_secret.py")
    }
    assert verdicts == {
        "src/secretary.py": Verdict.ASK,
        "secrets/load.ts": Verdict.ASK,
        "secrets.json": Verdict.REFUSE,
        ".env.example": Verdict.ASK,
        "key.pem": Verdict.REFUSE,
        "new_secret.py": Verdict.REFUSE,
    }
    with pytest.raises(ToolFailure):
        workspace.read("src/secretary.py")
    assert workspace.read(workspace.resolve("src/secretary.py", approved=True)).data == b"x"
    with pytest.raises(ToolFailure):
        workspace.resolve("key.pem", approved=True)


@pytest.mark.parametrize(
    ("allowed", "path", "verdict"),
    [
        ([".env.example"], ".env.example", Verdict.ALLOW),
        ([".env*"], "deploy/.env.test", Verdict.ALLOW),
        (["certs/*.pem"], "certs/a.pem", Verdict.ALLOW),
        (["certs/*.pem"], "other/a.pem", Verdict.REFUSE),
        (["node_modules/"], "node_modules/x/index.js", Verdict.ALLOW),
        (["node_modules"], "node_modules/x/.env", Verdict.REFUSE),
        (["*.KEY"], "a.key", Verdict.ALLOW),
    ],
)
def test_the_user_may_allow(allowed: list[str], path: str, verdict: Verdict) -> None:
    assert SensitiveRules(allowed).judge(path, lambda: False).verdict is verdict


@pytest.mark.parametrize("path", ["\uff0eenv", "ID.PEM", "Node_Modules/x", "x/.GIT/config", "cli\u017fecret.txt"])
def test_other_spellings_of_a_name_are_no_way_around(path: str) -> None:
    assert SensitiveRules().judge(path, lambda: False).verdict is Verdict.REFUSE


def test_the_workspace_itself_may_lie_in_such_a_directory(tmp_path: Path) -> None:
    root = tmp_path / "node_modules" / "package"
    root.mkdir(parents=True)
    (root / "index.js").write_text("x")
    assert Workspace([root]).read("index.js").data == b"x"


def test_a_new_hard_link_is_noticed_after_a_clean_answer(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("K=1")
    os.link(tmp_path / "one", tmp_path / "two")
    workspace = Workspace([tmp_path])
    assert workspace.read("one").data == b"K=1"
    os.link(tmp_path / "one", tmp_path / ".env")
    with pytest.raises(ToolFailure) as caught:
        workspace.read("one")
    assert caught.value.type is ToolErrorType.SENSITIVE_PATH
    with pytest.raises(ToolFailure):
        workspace.write("two", b"x")
