"""The process that runs a transformation's regular expression. It opens no file. Standard library only."""

from __future__ import annotations

import json
import re
import sys
import warnings


def serve() -> None:
    """Answer the one job on stdin: a list of new texts with counts."""
    warnings.simplefilter("ignore")
    job = json.load(sys.stdin.buffer)
    try:
        pattern = re.compile(job["pattern"], re.MULTILINE | (0 if job["case_sensitive"] else re.IGNORECASE))
        results = [pattern.subn(job["replacement"], text) for text in job["texts"]]
    except (re.error, IndexError) as error:
        sys.exit(str(error))
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    serve()
