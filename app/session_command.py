"""`stet session`: the sessions of this directory from outside: seen, searched, exported, forked, renamed, deleted."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.commandline import guarded, write_line
from app.exit_codes import ExitCode
from core.bus.replay import read_record
from core.contract.errors import StetError
from core.session.export import ExportFormat, export_session
from core.session.search import SessionIndex
from core.session.store import SessionStore, SessionSummary
from core.settings.paths import Folders, find_folders


def run_session_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet session list | show | search | export | fork | rename | delete`."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="the sessions of this directory, the latest first")
    showing = commands.add_parser("show", help="one session as Markdown")
    searching = commands.add_parser("search", help="sessions in which words were said")
    exporting = commands.add_parser("export", help="one session as a document")
    forking = commands.add_parser("fork", help="a new session that begins like this one")
    renaming = commands.add_parser("rename", help="give a session a title")
    deleting = commands.add_parser("delete", help="delete sessions")
    for each in (listing, searching):
        each.add_argument("--json", action="store_true", dest="as_json")
    for each in (showing, exporting, forking, renaming):
        each.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    searching.add_argument("words", nargs="+")
    exporting.add_argument("--format", choices=[*ExportFormat], default=ExportFormat.MARKDOWN)
    exporting.add_argument("--output", metavar="FILE", help="where to write it; else to standard output")
    forking.add_argument("--before", type=int, metavar="TURN", help="leave out this turn and what came after")
    renaming.add_argument("title")
    deleting.add_argument("ids", metavar="ID", nargs="+")
    options = parser.parse_args(arguments)
    run = {
        "list": _list,
        "show": _show,
        "search": _search,
        "export": _export,
        "fork": _fork,
        "rename": _rename,
        "delete": _delete,
    }[options.action]
    return guarded(lambda: run(options), getattr(options, "as_json", False))


def _folders() -> Folders:
    return find_folders(os.environ)


def _store() -> SessionStore:
    return SessionStore(_folders().state / "sessions", Path.cwd())


def _document(session: SessionSummary) -> dict[str, Any]:
    return {
        "id": session.id,
        "started": session.started,
        "changed": session.changed,
        "title": session.title,
        "path": str(session.path),
    }


def _row(session: SessionSummary) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.changed))
    return f"{session.id}  {when}  {session.title or '(no prompt)'}"


def _list(options: argparse.Namespace) -> int:
    sessions = _store().list()
    if options.as_json:
        write_line(json.dumps([_document(session) for session in sessions]))
    elif not sessions:
        write_line("There is no session of this directory yet.")
    else:
        for session in sessions:
            write_line(_row(session))
    return ExitCode.DONE


def _search(options: argparse.Namespace) -> int:
    store = _store()
    index = SessionIndex(_folders().cache / "sessions" / f"{store.folder.name}.db")
    matches = index.search(store.list(), " ".join(options.words))
    if options.as_json:
        write_line(json.dumps([{**_document(match.session), "snippet": match.snippet} for match in matches]))
    elif not matches:
        write_line("No session of this directory holds these words.")
    else:
        for match in matches:
            write_line(f"{_row(match.session)}\n    {match.snippet}")
    return ExitCode.DONE


def _export_text(options: argparse.Namespace, format: ExportFormat) -> str:
    session = _store().find(options.id)
    return export_session(read_record(session.path).envelopes, format, session.title)


def _show(options: argparse.Namespace) -> int:
    write_line(_export_text(options, ExportFormat.MARKDOWN).rstrip("\n"))
    return ExitCode.DONE


def _export(options: argparse.Namespace) -> int:
    text = _export_text(options, ExportFormat(options.format))
    if options.output is None:
        sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8"))
        return ExitCode.DONE
    try:
        with open(options.output, "x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise StetError(f"{options.output} could not be written: {error.strerror}.", "Name another file.") from error
    write_line(options.output)
    return ExitCode.DONE


def _fork(options: argparse.Namespace) -> int:
    store = _store()
    forked = store.fork(store.find(options.id), before_turn=options.before)
    write_line(f"{forked}\nTake it up with: stet --resume {forked}")
    return ExitCode.DONE


def _rename(options: argparse.Namespace) -> int:
    store = _store()
    store.rename(store.find(options.id), options.title)
    return ExitCode.DONE


def _delete(options: argparse.Namespace) -> int:
    store = _store()
    for session in [store.find(wanted) for wanted in options.ids]:
        store.delete(session)
        write_line(f"Deleted: {_row(session)}")
    return ExitCode.DONE
