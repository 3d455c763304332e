"""Character sets that a program designates (ISO 2022); in UTF-8 only the line drawing of DEC is more than ASCII."""

from __future__ import annotations

from collections.abc import Mapping

from pyte import charsets

CharacterSet = Mapping[int, str] | None
"""What characters mean, as a table for `str.translate`; none is ASCII."""
DEC_GRAPHICS: Mapping[int, str] = {code: charsets.VT100_MAP[code] for code in range(0x60, 0x7F)} | {0x68: "\u2424"}
"""The DEC special graphics set."""
