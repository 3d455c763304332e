"""The log in the state folder, for commands without a screen. Imported when there is something to run or to report."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from core.contract.errors import StetError
from core.log import open_log
from core.redaction import Redactor
from core.settings.paths import find_folders, make_private


@contextlib.contextmanager
def keep_log(*, debug: bool = False) -> Iterator[Path | None]:
    """Send all logging to the log for as long as the context lasts; gives its path, or none where it can't be kept."""
    folder = find_folders(os.environ).state / "logs"
    with contextlib.suppress(StetError):
        make_private(folder)
    with open_log(folder, Redactor.from_environment(os.environ), debug=debug) as path:
        yield path
