"""The process that runs a user's regular expression, so that a slow one can be killed. It opens no file.

Frames on stdin: a line of JSON with lengths, then that many UTF-8 texts. Answers on stdout: a line of JSON with a list
of 1-based line numbers for each text. The first line on stdin is the job. Standard library only: it starts bare.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from typing import Any


class Job:
    """What to look for, as the first line on stdin says."""

    def __init__(self, description: dict[str, Any]) -> None:
        flags = re.IGNORECASE if description["ignore_case"] else 0
        self.pattern = re.compile(description["pattern"], flags)
        self.excluded = re.compile(description["exclude"], flags) if description["exclude"] else None
        self.limit = int(description["limit"])
        self._fold = bool(description["ignore_case"])
        self._literals = [text.lower() if self._fold else text for text in description["literals"]]
        self._whole = re.compile(description["pattern"], flags | re.MULTILINE) if description["whole"] else None

    def lines_of(self, text: str) -> list[int]:
        """Return the numbers of the matching lines of a text whose lines end in line feeds."""
        if self._literals:
            folded = text.lower() if self._fold else text
            if not any(literal in folded for literal in self._literals):
                return []
        if self._whole is not None and self._whole.search(text) is None:
            return []
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        found: list[int] = []
        for number, line in enumerate(lines, 1):
            if self._matches(line):
                found.append(number)
                if len(found) >= self.limit:
                    break
        return found

    def _matches(self, line: str) -> bool:
        if not self.pattern.search(line) or (self.excluded and self.excluded.search(line)):
            return False
        return not self._fold or line.isascii() or self._holds_literal(line)

    def _holds_literal(self, line: str) -> bool:
        """Return whether the literals stand there in ASCII: `re` takes a long s for an s, and no engine does."""
        folded = line.encode("utf-8", "surrogatepass").lower()
        return not self._literals or any(literal.encode() in folded for literal in self._literals)


def serve() -> None:
    """Answer frames until stdin ends."""
    sys.path.insert(0, os.path.abspath(__file__).rsplit(os.sep, 3)[0])
    from core.workspace.lifeline import bound_to_reader

    warnings.simplefilter("ignore")
    given, answers = sys.stdin.buffer, sys.stdout
    job = Job(json.loads(given.readline()))
    while header := given.readline():
        texts = [given.read(length).decode("utf-8", "surrogatepass") for length in json.loads(header)]
        with bound_to_reader(answers.fileno()):
            results = [job.lines_of(text) for text in texts]
        answers.write(json.dumps(results) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
