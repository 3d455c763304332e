"""The process that runs a transformation's regular expression. It opens no file and starts bare (no packages)."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import warnings

MAX_MEMORY = 2 << 30
"""Bytes of its data."""


def serve() -> None:
    """Answer the one job on stdin: a list of new texts with counts."""
    sys.path.insert(0, os.path.abspath(__file__).rsplit(os.sep, 3)[0])
    from core.workspace.lifeline import bound_to_reader

    warnings.simplefilter("ignore")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY if hard < 0 else min(MAX_MEMORY, hard), hard))
    job = json.load(sys.stdin.buffer)
    try:
        with bound_to_reader(sys.stdout.fileno()):
            pattern = re.compile(job["pattern"], re.MULTILINE | (0 if job["case_sensitive"] else re.IGNORECASE))
            results = [pattern.subn(job["replacement"], text) for text in job["texts"]]
    except (re.error, IndexError) as error:
        sys.exit(str(error))
    except MemoryError:
        sys.exit("the new texts would be too large")
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    serve()
