"""A unified diff as rows: line numbers, signs and colours; the sign is always there, colour is never the only cue."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.contract.visible import make_visible, make_visible_line
from widgets.transcript.row import Piece, Pieces, Row
from widgets.transcript.wrap import chop, expand_tabs

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_ROLES = {"+": "diff-add", "-": "diff-remove", " ": "diff-same"}


def diff_rows(unified: str, width: int, prefix: Pieces) -> Iterator[list[Row]]:
    """Yield the rows of each line of `unified` (format of GNU diff -u); file headers are left out."""
    old = new = 0
    in_hunk = False
    digits = len(str(max((int(number) for match in _HUNK.finditer(unified) for number in match.groups()), default=0)))
    digits = max(3, digits)
    for raw in unified.removesuffix("\n").split("\n"):
        if match := _HUNK.match(raw):
            old, new = int(match[1]), int(match[2])
            in_hunk = True
            yield chop([(make_visible_line(raw), "diff-hunk")], width, prefix, prefix)
        elif in_hunk and raw[:1] in _ROLES:
            tag = raw[0]
            number: Piece = (f"{old if tag == '-' else new:>{digits}} ", "diff-number")
            blank: Piece = (" " * (digits + 1), "diff-number")
            role = _ROLES[tag]
            text = expand_tabs(make_visible(raw[1:].removesuffix("\r")).replace("\n", "␊"))
            yield chop(
                [(text, role)], width, (*prefix, number, (f"{tag} ", role)), (*prefix, blank, ("  ", role)), role
            )
            old += tag != "+"
            new += tag != "-"
        elif raw.startswith("\\"):
            yield chop([(make_visible_line(raw), "muted")], width, prefix, prefix)
