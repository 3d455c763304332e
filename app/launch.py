"""From the command line to the screen: the guardian first, then settings, log and the application."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from app.exit_codes import ExitCode
from app.options import SessionOptions
from core.contract.errors import StetError
from core.contract.visible import make_visible
from stet.guardian import Note, run_guarded

if TYPE_CHECKING:
    from core.settings.paths import Folders

_SIGNALLED = 128
"""An exit code beyond that is this and the number of the signal that ended us."""
SWITCH_INTERVAL = 0.001
"""Seconds (Python's own choice is 0.005) after which a thread that imports or searches lets the screen go on: a key
changes threads several times until it shows."""


def check_terminal() -> None:
    """Raise `StetError` where no full screen can be shown."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise StetError("There is no terminal to draw on.", "Use `stet -p PROMPT` for one prompt without a screen.")
    if os.environ.get("TERM", "dumb") == "dumb":
        raise StetError("This terminal (TERM=dumb) can't show a full screen.", "Use `stet -p PROMPT`.")


def run_screen(options: SessionOptions, *, inline: bool = False) -> int:
    """Run the full-screen application and return the exit code; the terminal comes back as it was."""
    note = Note()
    return run_guarded(lambda: _run(options, inline, note), note.read)


def _run(options: SessionOptions, inline: bool, note: Note) -> int:
    import gc

    gc.disable()  # nothing made while starting is garbage; the application turns it on after the first paint
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        return _run_application(options, inline, note)
    except StetError as error:
        sys.stderr.write(f"stet: {make_visible(str(error))}\n")
        return ExitCode.USAGE


def trusts_theme(options: SessionOptions, folders: Folders) -> bool:
    """Return whether the project's settings count at the first paint; looked up only where they name a theme."""
    path = options.directory / ".stet" / "settings.toml"
    try:
        if options.trust or not path.is_file() or b"theme" not in path.read_bytes():
            return options.trust
        from core.policy.trust import ProjectTrust, TrustStore  # late: few projects bring a theme

        return ProjectTrust(options.directory, TrustStore(folders.state / "trust.json")).is_trusted
    except (OSError, StetError):
        return False  # what is wrong there is said when the session opens


def _run_application(options: SessionOptions, inline: bool, note: Note) -> int:
    from app.actions import Catalogue
    from app.application import StetApp
    from app.keymap import load_keymap
    from app.terminal_input import TerminalDriver
    from core.log import open_log
    from core.redaction import Redactor
    from core.settings.layers import read_layers
    from core.settings.paths import find_folders, make_private

    folders = find_folders(os.environ)
    trusted = trusts_theme(options, folders)
    layers = read_layers(folders, os.environ, project=options.directory, trusted=trusted, flags=options.flags())
    keymap = load_keymap(folders.config / "keys.toml")
    logs = make_private(folders.state / "logs")
    with open_log(logs, Redactor.from_environment(os.environ), debug=options.debug) as log_path:
        note.write(f"The log is {log_path}")

        def note_session(id: str) -> None:
            note.write(f"The session is kept: stet --resume {id}\nThe log is {log_path}")

        app = StetApp(
            options,
            catalogue=Catalogue(keys=keymap.keys),
            theme=str(layers.peek("ui.theme") or ""),
            on_session=note_session,
            driver=TerminalDriver,
            warnings=[str(problem) for problem in keymap.problems],
        )
        code = app.run(inline=inline, mouse=layers.peek("ui.mouse") is not False)
    if app.failure is not None:
        what = make_visible(f"{type(app.failure).__name__}: {app.failure}")
        sys.stderr.write(f"stet: internal error: {what}\n{make_visible(note.read())}\n")
        return ExitCode.INTERNAL
    if code is not None and code > _SIGNALLED:
        name = signal.Signals(code - _SIGNALLED).name
        with contextlib.suppress(OSError):  # the terminal is gone
            print(f"stet was ended by {name}.", make_visible(note.read()), sep="\n", file=sys.stderr, flush=True)
    return ExitCode.INTERNAL if code is None else code
