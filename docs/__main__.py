"""Writes the pages of this folder that follow from the program: `python -m docs`.

What a key does stands in the action catalogue and in the dialogs, what a setting takes in the settings' model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import stet  # noqa: F401  # first: it puts our folders on the path
from app.actions import Catalogue
from app.dialog_keys import dialog_rows
from app.presenters.all import all_commands
from core.settings.catalogue import describe_type, help_texts, setting_rows

FOLDER = Path(__file__).parent

_KEYS = """\
# Keys

`f1` shows all this in the application, searchable; `ctrl+p` finds every action by name. The last line of the screen
shows the keys that work where you are.

## Other keys

`keys.toml` beside the settings (`stet config path`) gives actions other keys, by the names in the last column:

```toml
"pane.side" = "ctrl+x"
"chat.fold_tools" = ["ctrl+e", "alt+o"]
"app.suspend" = []              # none
```

A key that means two things in one place is reported with its line, and the built-in keys stay. A key of a dialog can
be another one, but not none. Some terminals can't tell `ctrl+enter` and `shift+enter` from `enter`; each has another
key beside it. With vi's keys (`/vim`) the prompt takes those of vim's normal and visual modes, too; they are fixed.
"""

_SETTINGS = """\
# Settings

`stet config path` names the file, `stet config show` lists every setting with where its value came from, and
`stet config set KEY VALUE` writes one, keeping your comments. Later ones win: the built-in values, your
`settings.toml`, `.stet/settings.toml` of a project that you trust, the environment, flags. In the environment a setting
is `STET_` with its name in capitals and `__` for each dot: `STET_UI__THEME=nord`.

What is wrong in a file is reported with file, line, what was found and what was expected; the rest holds.

```toml
[model]
name = "gemini/gemini-2.5-pro"

[agent]
max_cost = 2.50
```
"""

_SPELLED = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "question_mark": "?",
    "underscore": "_",
    "semicolon": ";",
    "slash": "/",
}


def keys_page() -> str:
    """Return `keys.md`."""
    groups: dict[str, list[str]] = {}
    for action in (*Catalogue(), *dialog_rows()):
        if action.keys or action.palette:
            keys = " ".join(f"`{_spell(key)}`" for key in action.keys) or "palette"
            does = f"**{action.label}**" + (f": {action.help}" if action.help else "")
            groups.setdefault(action.group, []).append(_row(keys, does, f"`{action.id}`"))
    parts = [_KEYS]
    for title, rows in groups.items():
        parts.append("\n".join([f"## {title}", "", _row("key", "does", "name"), _row("---", "---", "---"), *rows, ""]))
    commands = []
    for each in all_commands():
        names = " ".join(f"`/{name}`" for name in (each.name, *each.aliases))
        commands.append(_row(names, f"`{each.arguments}`" if each.arguments else "", each.summary))
    head = ["## Commands", "", _row("command", "arguments", "does"), _row("---", "---", "---")]
    return "\n".join([*parts, "\n".join([*head, *commands, ""])])


def settings_page() -> str:
    """Return `settings.md`."""
    texts = help_texts()
    groups: dict[str, list[str]] = {}
    for row in setting_rows():
        default = "" if row.default in (None, "", ()) else f"`{json.dumps(row.default)}`"
        groups.setdefault(row.path[0], []).append(_row(f"`{row.key}`", describe_type(row), default, texts[row.key]))
    head = [_row("setting", "takes", "built-in", "help"), _row("---", "---", "---", "---")]
    tables = ["\n".join([f"## {texts[name].rstrip('.')}", "", *head, *rows, ""]) for name, rows in groups.items()]
    return "\n".join([_SETTINGS, *tables])


PAGES: dict[str, Callable[[], str]] = {"keys.md": keys_page, "settings.md": settings_page}


def outdated_pages() -> Iterator[str]:
    """Yield the names of pages that differ from what the program says."""
    for name, page in PAGES.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != page():
            yield name


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _spell(key: str) -> str:
    *modifiers, name = key.split("+")
    return "+".join((*modifiers, _SPELLED.get(name, name)))


if __name__ == "__main__":
    for outdated in list(outdated_pages()):
        (FOLDER / outdated).write_text(PAGES[outdated](), encoding="utf-8")
        print(f"docs/{outdated} is new")
