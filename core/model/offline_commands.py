"""The offline assistant's commands that change no file: find, show, outline, run, test, todo."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath
from typing import Any

from core.model.offline_outline import outline_of
from core.model.offline_phrases import (
    QUOTED,
    block,
    code,
    files_of,
    is_meant,
    plural,
    unquote,
    without_tail,
)
from core.model.offline_plan import Ask, Plan, Scene, Verb, Wish, answer
from core.model.offline_readings import ending_in, first_line, matches_in, names_in, page_in, paths_in

_FLAGS = re.IGNORECASE | re.DOTALL
_SHOWN = 50
_LANGUAGES = {".py": "python", ".js": "javascript", ".ts": "typescript", ".rs": "rust", ".sh": "bash", ".yml": "yaml"}


def _find(found: re.Match[str], scene: Scene) -> Plan:
    tail = found["files"]
    what = unquote(found["what"] if tail is not None else without_tail(found["what"]))
    if found["kind"] or (re.fullmatch(r"[^\s\"']*[*?][^\s\"']*", what) and not tail):
        return _find_files(what if re.search(r"[*?\[{]", what) else f"**/*{what}*")
    return _find_text(what, files_of(tail))


def _find_files(pattern: str) -> Plan:
    pattern = pattern if "/" in pattern else f"**/{pattern}"
    (result,) = yield Ask((Wish("glob", {"pattern": pattern}),))
    if result.is_error:
        return f"The search failed: {first_line(result)}"
    paths = paths_in(result.text)
    if not paths:
        return f"No file matches {code(pattern)}."
    return f"{plural(len(paths), 'file')}:\n\n" + block("\n".join(paths), limit=_SHOWN)


def _find_text(what: str, files: tuple[str, ...]) -> Plan:
    args = {"pattern": what, "fixed_strings": True, "case_sensitive": what != what.lower()}
    (result,) = yield Ask((Wish("search_file_content", args),))
    if result.is_error:
        return f"The search failed: {first_line(result)}"
    by_file: dict[str, list[str]] = defaultdict(list)
    matches = [match for match in matches_in(result.text) if is_meant(match.path, files)]
    for match in matches[:_SHOWN]:
        by_file[match.path].append(f"{match.line:>6}  {match.text.strip()[:200]}")
    if not matches:
        where = ", ".join(map(code, files)) if files else "this project"
        return f"{code(what)} does not stand in {where}."
    rows = [row for path, lines in by_file.items() for row in (path, *lines)]
    more = f"\n\nThese are the first {_SHOWN}." if len(matches) > _SHOWN else ""
    head = f"{plural(len(matches), 'match')} for {code(what)} in {plural(len({m.path for m in matches}), 'file')}:"
    return f"{head}\n\n{block(chr(10).join(rows), limit=10_000)}{more}"


def _show(found: re.Match[str], scene: Scene) -> Plan:
    path = without_tail(found["path"])
    lines = re.fullmatch(r"(.+?)\s+(?:from\s+)?lines?\s+(\d+)(?:\s*(?:-|–|to|\.\.)\s*(\d+))?", path)
    if lines:
        first, last = int(lines[2]), int(lines[3] or lines[2])
        return _show_file(_one_file(lines[1]), max(first, 1), max(last, first))
    return _show_file(_one_file(path))


def _one_file(text: str) -> str:
    """Return the path in a phrase; `.` where it means all."""
    return unquote(text) if text.strip().startswith(("'", '"', "`")) else (files_of(text) or (".",))[0]


def _show_file(path: str, first: int = 1, last: int | None = None) -> Plan:
    args: dict[str, Any] = {"file_path": path}
    if last is not None:
        args |= {"offset": first - 1, "limit": last - first + 1}
    if path in (".", "") or path.endswith("/"):
        return (yield from _list_folder(path or "."))
    (result,) = yield Ask((Wish("read_file", args),))
    if result.is_error:
        if "directory" in result.text.lower() and "not found" not in result.text.lower():
            return (yield from _list_folder(path))
        return f"{code(path)} can't be shown: {first_line(result)}"
    page = page_in(result.text)
    suffix = PurePosixPath(path).suffix
    part = f" (lines {page.first} to {page.first + len(page.lines) - 1})" if last or page.next_offset else ""
    language = _LANGUAGES.get(suffix, suffix.removeprefix("."))
    return f"{code(path)}{part}:\n\n" + block("\n".join(page.lines), language)


def _list(found: re.Match[str], scene: Scene) -> Plan:
    return _list_folder(_one_file(found["path"] or "."))


def _list_folder(path: str) -> Plan:
    (result,) = yield Ask((Wish("list_directory", {"dir_path": path}),))
    if result.is_error:
        return f"{code(path)} can't be listed: {first_line(result)}"
    folders, files = names_in(result.text)
    names = [f"{name}/" for name in sorted(folders)] + sorted(files)
    return f"{code(path)} holds:\n\n{block(chr(10).join(names))}" if names else f"{code(path)} is empty."


def _outline(found: re.Match[str], scene: Scene) -> Plan:
    return _outline_files(files_of(found["files"]))


def _outline_files(files: tuple[str, ...]) -> Plan:
    if not files:
        return "Which file? For example: `outline src/app.py`."
    results = yield Ask(tuple(Wish("read_file", {"file_path": path}) for path in files))
    answers: list[str] = []
    for path, result in zip(files, results, strict=False):
        if result.is_error:
            answers.append(f"{code(path)} can't be read: {first_line(result)}")
            continue
        symbols = outline_of(path, "\n".join(page_in(result.text).lines))
        rows = [f"{symbol.line:>6}  {'  ' * symbol.depth}{symbol.kind} {symbol.name}" for symbol in symbols]
        answers.append(f"{code(path)}:\n\n{block(chr(10).join(rows))}" if rows else f"{code(path)} defines nothing.")
    return "\n\n".join(answers)


def _run(found: re.Match[str], scene: Scene) -> Plan:
    command = found["command"].strip()
    fenced = re.fullmatch(r"(`+)(.+?)\1[.!]?", command, re.DOTALL)
    return _run_command(fenced[2].strip() if fenced else command)


def _run_command(command: str, description: str = "") -> Plan:
    args = {"command": command} | ({"description": description} if description else {})
    (result,) = yield Ask((Wish("run_shell_command", args),))
    if result.is_error:
        return f"{code(command)} did not run: {first_line(result)}"
    ending = ending_in(result.text)
    rows = ending.output.strip("\n").split("\n")
    how = f"ended with {ending.how}" if ending.how else "is done" if ending.is_over else "goes on"
    return f"{code(command)} {how}.\n\n{block(chr(10).join(rows[-40:]))}"


def _test(found: re.Match[str], scene: Scene) -> Plan:
    path = without_tail(found["path"] or "")
    return _run_tests(_one_file(path) if path else "")


def _run_tests(path: str) -> Plan:
    (result,) = yield Ask((Wish("list_directory", {"dir_path": "."}),), "I look how this project is tested.")
    if result.is_error:
        return f"The project can't be listed: {first_line(result)}"
    folders, files = names_in(result.text)
    command = _test_command(folders, files, path)
    if command is None:
        return "I see no tests that I know how to run (pytest, npm, go, cargo, make). Say `run` and the command."
    return (yield from _run_command(command, "Run the tests"))


def _test_command(folders: set[str], files: set[str], path: str) -> str | None:
    names = {name.rstrip("/") for name in folders}
    tail = f" '{path}'" if path and "'" not in path else ""
    python = {"pytest.ini", "conftest.py", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml"} & files
    if python or any(re.fullmatch(r"test_.*\.py|.*_test\.py", name) for name in files):
        return f"python3 -m pytest -q{tail}"
    for marker, command in (
        ("package.json", f"npm test{' --' + tail if tail else ''}"),
        ("Cargo.toml", f"cargo test{tail}"),
        ("go.mod", f"go test {tail.strip() or './...'}"),
    ):
        if marker in files:
            return command
    if {"Makefile", "makefile", "GNUmakefile"} & files:
        return "make test"
    return f"python3 -m pytest -q{tail}" if names & {"tests", "test"} else None


def _todo(found: re.Match[str], scene: Scene) -> Plan:
    todos = _todos_of(scene)
    words = without_tail(found["words"] or "")
    action, _, rest = words.partition(" ")
    rest = unquote(rest)
    match action.lower():
        case "" | "list" | "show" | "s":
            return answer(_todo_text(todos))
        case "add":
            new = {"id": str(_next_number(todos)), "description": rest, "status": "pending"}
            return _write_todos([*todos, new]) if rest else answer("What shall be added? `todo add TEXT`")
        case "done" | "finish" | "complete" | "start" | "begin" | "cancel" | "drop":
            status = {"start": "in_progress", "begin": "in_progress", "cancel": "cancelled", "drop": "cancelled"}
            return _mark_todo(todos, rest, status.get(action.lower(), "completed"))
        case _:
            new = {"id": str(_next_number(todos)), "description": unquote(words), "status": "pending"}
            return _write_todos([*todos, new])


def _mark_todo(todos: list[dict[str, Any]], which: str, status: str) -> Plan:
    which = which.strip().lower().lstrip("#")
    chosen = [todo for todo in todos if todo["id"] == which] or [
        todo for todo in todos if which and which in todo["description"].lower()
    ]
    if len(chosen) != 1:
        what = "No item is" if not chosen else f"{len(chosen)} items are"
        return answer(f"{what} meant by {code(which)}.\n\n{_todo_text(todos)}")
    if status == "in_progress":  # only one can be
        todos = [{**t, "status": "pending"} if t["status"] == "in_progress" else t for t in todos]
    return _write_todos([{**t, "status": status} if t["id"] == chosen[0]["id"] else t for t in todos])


def _write_todos(todos: list[dict[str, Any]]) -> Plan:
    (result,) = yield Ask((Wish("write_todos", {"todos": todos}),))
    return f"The list was not changed: {first_line(result)}" if result.is_error else _todo_text(todos)


def _todos_of(scene: Scene) -> list[dict[str, Any]]:
    """Return the list as the earlier calls left it."""
    todos: dict[str, dict[str, Any]] = {}
    for call in scene.calls_before("write_todos"):
        if not call.args.get("merge"):
            todos = {}
        for number, item in enumerate(call.args.get("todos", ()), 1):
            id = str(item.get("id") or number)
            known = todos.get(id, {"id": id, "description": "", "status": "pending"})
            todos[id] = known | {key: item[key] for key in ("description", "status") if key in item}
    return list(todos.values())


def _next_number(todos: list[dict[str, Any]]) -> int:
    return max((int(todo["id"]) for todo in todos if todo["id"].isdecimal()), default=0) + 1


def _todo_text(todos: list[dict[str, Any]]) -> str:
    if not todos:
        return "The todo list is empty. `todo add TEXT` puts something on it."
    signs = {"completed": "done", "in_progress": "now", "cancelled": "dropped", "blocked": "blocked"}
    return block("\n".join(f"{t['id']:>3}  {signs.get(t['status'], ''):<7}  {t['description']}" for t in todos))


READ_VERBS = (
    Verb(
        "test",
        ("test", "test PATH"),
        "runs the project's tests: pytest, npm, cargo, go or make, whichever it finds",
        re.compile(r"(?:run\s+|execute\s+)?(?:all\s+)?(?:my\s+|our\s+|the\s+)?(?:unit\s+)?tests?(?:\s+suite)?"
                   r"(?:\s+(?:in|of|for)?\s*(?P<path>.+))?[\s.!?]*", _FLAGS),
        _test,
        ("check",),
    ),
    Verb(
        "find",
        ('find "TEXT" in FILES', "find files *.py"),
        "looks for a text, or for files by name",
        re.compile(
            r"(?:find|search(?:\s+for)?|grep(?:\s+for)?|look\s+for|locate|where\s+(?:is|are))\s+(?:all\s+)?(?:the\s+)?"
            r"(?P<kind>files?\s+(?:(?:named|called|like|matching)\s+)?)?(?:(?:text|word|occurrences?\s+of)\s+)?"
            rf"(?P<what>{QUOTED}|.+?)(?:\s+(?:is\s+)?(?:defined|used))?(?:\s+(?:in|inside|within|across)\s+(?P<files>.+))?\s*",
            _FLAGS,
        ),
        _find,
        ("search", "grep", "locate", "where"),
    ),
    Verb(
        "todo",
        ("todo add TEXT", "todo start N", "todo done N", "todo list"),
        "keeps the todo list",
        re.compile(r"(?:(?:show\s+)?(?:the\s+|my\s+)?todos?(?:\s+list)?)(?:\s*:?\s+(?P<words>.+))?\s*", _FLAGS),
        _todo,
        ("task", "tasks", "remind"),
    ),
    Verb(
        "outline",
        ("outline FILE",),
        "names what a source file defines, with line numbers",
        re.compile(r"(?:outline|symbols)(?:\s+(?:of|in|for)?\s*(?P<files>.+))?\s*", _FLAGS),
        _outline,
        ("symbols", "structure", "summarise", "summarize"),
    ),
    Verb(
        "show",
        ("show FILE", "show FILE lines 10-20", "list FOLDER"),
        "shows a file or a folder",
        re.compile(
            r"(?:show|open|read|cat|print|view|display)\s+(?:me\s+)?(?:the\s+)?(?:contents?\s+of\s+)?(?P<path>.+)",
            _FLAGS,
        ),
        _show,
        ("open", "read", "cat", "print", "view", "display"),
    ),
    Verb("list", (), "", re.compile(r"(?:list|ls)(?:\s+(?P<path>.+))?\s*", _FLAGS), _list, ("dir",)),
    Verb(
        "run",
        ("run COMMAND",),
        "runs a shell command in the shell pane",
        re.compile(r"(?:(?:run|execute|exec)\s+|!\s*)(?:the\s+command\s+)?(?P<command>.+)", _FLAGS),
        _run,
        ("execute", "exec", "shell"),
    ),
)  # fmt: skip
