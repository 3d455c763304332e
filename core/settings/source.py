"""Settings files as they are on disk: read without hanging, decoded, parsed. Knows no setting."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

from core.settings.problem import SettingsProblem

MAX_BYTES = 1_000_000
_UTF_16_OR_32 = ((b"\xff\xfe\x00\x00", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class UnreadableSettings(Exception):
    """A settings file of which nothing can be used."""

    def __init__(self, problem: SettingsProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read_settings_text(path: Path) -> str:
    """Return a settings file as text without byte-order mark; empty where there is none.

    Raises:
        UnreadableSettings: it is no regular file (nothing is read from a FIFO or a device), too big, or no UTF-8.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableSettings(SettingsProblem(str(path), found=reason, expected="a readable file")) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a special file"
            raise UnreadableSettings(SettingsProblem(str(path), found=kind, expected="a regular file"))
        if status.st_size > MAX_BYTES:
            found = f"{status.st_size:,} bytes"
            raise UnreadableSettings(SettingsProblem(str(path), found=found, expected=f"at most {MAX_BYTES:,} bytes"))
        with open(descriptor, "rb", closefd=False) as file:
            return _decode(file.read(MAX_BYTES + 1), path)
    finally:
        os.close(descriptor)


def _decode(data: bytes, path: Path) -> str:
    for mark, name in _UTF_16_OR_32:
        if data.startswith(mark):
            raise UnreadableSettings(SettingsProblem(str(path), 1, 1, found=f"{name} text", expected="UTF-8"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        found = f"the byte 0x{data[error.start]:02x}"
        raise UnreadableSettings(SettingsProblem(str(path), line, column, found=found, expected="UTF-8")) from error


def parse_settings(text: str, path: Path) -> dict[str, Any]:
    """Return the tables of a settings file.

    Raises:
        UnreadableSettings: it is no TOML; line and column say where.
    """
    if not text.strip():
        return {}
    import tomllib  # late: the first paint waits for this module, and most people have no such file

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise UnreadableSettings(
            SettingsProblem(str(path), found="values nested too deeply", expected="plain TOML")
        ) from error
    except ValueError as error:  # TOMLDecodeError, or a number of more than 4,300 digits
        raise UnreadableSettings(_describe_syntax_error(text, path, str(error))) from error


def _describe_syntax_error(text: str, path: Path, message: str) -> SettingsProblem:
    place = _PLACE.search(message)
    line, column = None, None
    if place and place[1]:
        line, column = int(place[1]), int(place[2])
    elif place:
        lines = text.rstrip("\n").split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    return SettingsProblem(str(path), line, column, found=_PLACE.sub("", message), expected="TOML")
