"""What a command line names: files that are there, and those it may make. It decides nothing, and may miss some."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterator

from core.workspace.listing import NEVER_LISTED

_MAX_WORDS = 200
_MAX_BELOW = 2_000
"""Files that are named below one directory."""
_SIGNS = set("();<>|&\n")


def named_paths(command: str, directory: str) -> Iterator[str]:
    """Yield absolute paths that the words of a command name: files, what patterns match, what lies in directories.

    Args:
        directory: where the command runs.
    """
    for word in dict.fromkeys(_words(command)):
        if glob.has_magic(word):
            found = glob.iglob(os.path.join(glob.escape(directory), word), recursive=True)
        else:
            found = iter([os.path.join(directory, word)])
        for path in found:
            if os.path.isdir(path) and not os.path.islink(path):
                yield from _files_below(path)
            else:
                yield path


def _words(command: str) -> list[str]:
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:  # an open quote
        words = command.split()
    plain = [word.partition("=")[2] if word.startswith("-") or "=" in word else word for word in words[:_MAX_WORDS]]
    return [
        word for word in plain if word and not word.startswith("-") and "\0" not in word and not set(word) <= _SIGNS
    ]


def _files_below(directory: str) -> Iterator[str]:
    count = 0
    for folder, folders, files in os.walk(directory):
        folders[:] = [name for name in folders if name not in NEVER_LISTED]
        for name in files:
            yield os.path.join(folder, name)
            count += 1
            if count >= _MAX_BELOW:
                return
