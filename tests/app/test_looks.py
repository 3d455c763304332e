"""How the whole workspace looks at three sizes: its text as it is drawn, in files beside this one.

    STET_WRITE_LOOKS=1 python -m pytest tests/app/test_looks.py     writes them anew: read what changed

What differs from run to run (dates, spans of time, ids) is left out. Colours have a test of their own.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.app.running import Running, running
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio

SIZES = ((80, 24), (120, 40), (200, 60))
LOOKS = Path(__file__).parent / "looks"
STILL = 5
"""Looks at the screen that have to find the same."""
WORK = """think The retry has no pause. I look at it first.
say |
  ## What I do

  I give the client a *pause* that grows, in `client.py`:

  1. read it
  2. change it
  3. run the **tests**

  | case | pause |
  |---|---|
  | first | 1 s |
  | second | 2 s |

  ```python
  def pause(tries: int) -> float:
      return 2.0**tries
  ```
call write_todos {"todos": [{"description": "Read the client", "status": "completed"}, \
{"description": "Let the pause grow", "status": "in_progress"}, {"description": "Run the tests", "status": "pending"}]}
call read_file {"file_path": "client.py"}
---
call replace {"file_path": "client.py", "old_string": "PAUSE = 1\\n", "new_string": "PAUSE = 2\\nMOST = 60\\n"}
call write_file {"file_path": "docs/retry.md", "content": "# Retry\\n\\nThe pause grows.\\n"}
call read_file {"file_path": "no/such/file.py"}
---
call run_shell_command {"command": "printf 'one passed\\\\ntwo failed\\\\n'; exit 1"}
---
say One test fails yet. Shall I go on?
"""


def drawn(run: Running) -> str:
    """Return what is on the screen, without what differs from run to run."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-01-02 03:04", run.text)
    text = re.sub(r"s-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+", lambda match: "s" * len(match[0]), text)
    return "".join(f"{line.rstrip()}\n" for line in text.split("\n"))


async def still(run: Running) -> str:
    """Return the screen once nothing changes it any more."""
    found, same = "", 0
    chat = run.app.workspace.query_one(TranscriptView)

    def is_still() -> bool:
        nonlocal found, same
        if chat.window.neighbours(len(chat.window.blocks)):  # what the scroll bar shows is an estimate yet
            chat._measure_idle()
            return False
        now = drawn(run)
        same = same + 1 if now == found else 0
        found = now
        return same >= STILL

    await run.until(is_still, "a screen that stays as it is")
    return found


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be seen."""

    keys: tuple[str, ...] = ()
    """That bring it up."""
    shows: tuple[str, ...] = ()
    """What it shows when it is there."""
    leave: tuple[str, ...] = ("escape",)


SCENES = {
    "workspace": Scene(shows=("Shall I go on?", "Let the pause grow", "retry.md"), leave=()),
    "folded": Scene(("ctrl+o",), ("two failed",), ("ctrl+o",)),
    "chat_top": Scene(("f3", "home"), ("stet ",), ("end", "escape")),
    "todo": Scene(("f4",), ("Run the tests",)),
    "changes": Scene(("f5",), ("client.py",)),
    "commands": Scene(("slash", *"se"), ("sessions",), ("escape", "ctrl+u", "backspace")),
    "palette": Scene(("ctrl+p",), ("Find an action",)),
    "help": Scene(("f1",), ("Send the prompt",)),
    "settings": Scene(("f2", *"theme"), ("ui.theme",), ("escape", "escape")),
    "sessions": Scene(("slash", *"sessions", "enter"), ("Let the client wait longer",)),
    "shell": Scene(("f6",), ("one passed",)),
}


async def test_the_workspace_looks_as_it_did(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project.parent))
    is_writing = bool(os.environ.get("STET_WRITE_LOOKS"))
    monkeypatch.delenv("STET_WRITE_LOOKS", raising=False)  # else it is told of as no setting
    for module in ("transcript.tool_block", "transcript.tool_group", "transcript.thought_block", "shell.tabs"):
        monkeypatch.setattr(f"widgets.{module}.WORTH_TELLING", float("inf"))
    (project / "client.py").write_text("import time\n\nPAUSE = 1\n\n\ndef wait():\n    time.sleep(PAUSE)\n")
    found = dict.fromkeys(SCENES, "")
    async with running(project, WORK, size=SIZES[0], approval_mode="yolo") as run:
        await run.prompt("Let the client wait longer")
        await run.idle()
        await run.press("ctrl+o", "ctrl+o")
        for columns, rows in SIZES:
            await run.pilot.resize_terminal(columns, rows)
            for name, scene in SCENES.items():
                await run.press(*scene.keys)
                await run.shows(*scene.shows)
                found[name] += f"--- {columns}x{rows}\n{await still(run)}"
                await run.press(*scene.leave)
                await run.until(lambda: run.app.screen is run.app.workspace, "the workspace again")
    if is_writing:
        for name, text in found.items():
            (LOOKS / f"{name}.txt").write_text(text, encoding="utf-8")
    kept = {name: (LOOKS / f"{name}.txt").read_text(encoding="utf-8") for name in SCENES}
    changes = [
        line
        for name in SCENES
        for line in unified_diff(kept[name].split("\n"), found[name].split("\n"), name, "now", "", n=0, lineterm="")
    ]
    assert not changes, "\n".join(changes)
