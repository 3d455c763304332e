"""The process that runs a transformation's regular expression. It opens no file and starts bare (no packages)."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import warnings
from bisect import bisect_left

_BREAK = re.compile(r"\r\n?|\n")
MAX_MEMORY = 2 << 30
"""Bytes of its data."""


def replace_between_breaks(pattern: re.Pattern[str], replacement: str, text: str) -> tuple[str, int]:
    """Return a text with all matches replaced, where every line ends in a line feed to the pattern, and their number.

    What is outside the matches stays as it is; line feeds that are put in become the break of a line nearby.
    """
    plain = _BREAK.sub("\n", text)
    breaks = [(match.start(), match[0]) for match in _BREAK.finditer(text)]
    if len({kind for _, kind in breaks}) == 1:
        new, count = pattern.subn(replacement, plain)
        return new.replace("\n", breaks[0][1]), count
    mark = next(mark for mark in map(chr, range(0xE000, 0xF900)) if mark not in text + replacement)
    inserted = pattern.sub(mark + replacement + mark, plain).split(mark)[1::2]
    spans = [match.span() for match in pattern.finditer(plain)]
    longer = [start - number for number, start in enumerate(start for start, kind in breaks if kind == "\r\n")]
    parts: list[str] = []
    position = 0
    for span, new in zip(spans, inserted, strict=True):
        first, end = (place + bisect_left(longer, place) for place in span)
        near = min(bisect_left(breaks, (first, "")), len(breaks) - 1)
        parts += [text[position:first], new.replace("\n", breaks[near][1])]
        position = end
    return "".join([*parts, text[position:]]), len(spans)


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
            replacement = job["replacement"]
            results = [
                pattern.subn(replacement, text)
                if job["is_raw"] or "\r" not in text
                else replace_between_breaks(pattern, replacement, text)
                for text in job["texts"]
            ]
    except (re.error, IndexError) as error:
        sys.exit(str(error))
    except MemoryError:
        sys.exit("the new texts would be too large")
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    serve()
