"""`stet demo`: makes the scratch project, and opens the real application on it with the scripted model."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from app.demo.guide import GUIDE
from app.demo.project import make_project
from app.exit_codes import ExitCode
from app.launch import check_terminal, run_screen
from app.options import SessionOptions
from core.contract.errors import StetError

SCRIPT = Path(__file__).parent / "tour.script"


def run_demo(keep: Path | None) -> int:
    """Run the guided session and return the exit code.

    Args:
        keep: a new or empty folder in which the project stays; without it the project is gone afterwards.
    """
    starter = os.getpid()
    try:
        check_terminal()
        with ExitStack() as stack:
            if keep is None:
                scratch = tempfile.TemporaryDirectory(prefix="stet-demo-", ignore_cleanup_errors=True)
                folder = Path(stack.enter_context(scratch), "shop")
            else:
                folder = Path(os.path.abspath(keep))
            make_project(folder)
            code = run_screen(demo_options(folder))
    except StetError as error:
        sys.stderr.write(f"stet demo: {error}\n")
        return ExitCode.USAGE
    if keep is not None and os.getpid() == starter:  # the application's own process returns here, too
        sys.stdout.write(f"The project is kept in {folder}\n")
    return code


def demo_options(folder: Path) -> SessionOptions:
    """Return the options of the guided session: everything is asked about, and nothing of it is kept."""
    return SessionOptions(
        directory=folder,
        model=f"script/{SCRIPT}",
        approval_mode="default",
        interactive=True,
        record=False,
        guide=GUIDE,
    )
