"""Exit codes of the command `stet`: contracts with people's scripts."""

from __future__ import annotations

from enum import IntEnum

from core.contract.errors import ModelError, NoUsableModel, StetError


class ExitCode(IntEnum):
    DONE = 0
    INTERNAL = 1
    USAGE = 2
    NO_MODEL = 3
    QUOTA = 4
    DENIED = 5
    LIMIT = 6
    FAILED = 7
    INTERRUPTED = 130


def exit_code_of_start(error: StetError) -> ExitCode:
    """Return the code for a session that could not start."""
    return ExitCode.NO_MODEL if isinstance(error, (NoUsableModel, ModelError)) else ExitCode.USAGE
