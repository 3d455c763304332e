"""The process that parses: what a hostile file does to a parser, it does to this process alone. It opens no file.

Frames on standard input and output: eight bytes of length, then a pickle. It ends with us, or when idle.
"""

from __future__ import annotations

import os
import pickle
import select
import struct
import sys
from pathlib import Path

IDLE_SECONDS = 60.0
MAX_MEMORY = 3 << 30
"""Bytes of address space."""


def serve() -> None:
    """Say which files it takes, then answer each list of jobs with a list of analyses."""
    _limit_memory()
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from core.fileops.languages.registry import Wanted, load_languages
    from core.workspace.lifeline import bound_to_reader

    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a plugin prints must not get between the frames
    languages = load_languages()
    extensions = {extension: plugin.name for extension, plugin in languages.plugins.items()}
    _write(target, (extensions, languages.problems))
    while select.select([source], [], [], IDLE_SECONDS)[0]:
        head = source.read(8)
        if len(head) < 8:
            return
        jobs, wanted = pickle.loads(source.read(struct.unpack("!Q", head)[0]))
        with bound_to_reader(target.fileno()):
            found = [languages.analyse(path, data, Wanted(*wanted)) for path, data in jobs]
        _write(target, found)


def _write(target: object, value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    target.write(struct.pack("!Q", len(data)) + data)  # type: ignore[attr-defined]  # a binary file
    target.flush()  # type: ignore[attr-defined]


def _limit_memory() -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = MAX_MEMORY if hard == resource.RLIM_INFINITY else min(MAX_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    serve()
