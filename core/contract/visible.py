"""Foreign text made visible: no control, bidirectional or invisible character gets through as itself.

C0 and DEL become their symbols of Unicode's Control Pictures block, C1 and format characters `\\x9b` or `\\u202e`.
Tab and line feed stay. Zero-width joiners and variation selectors stay inside emoji sequences (UTS #51).
"""

from __future__ import annotations

import re
from itertools import accumulate

_EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_SELECTED = f"[{_EMOJI}#*0-9]"
"""What a variation selector may follow."""
_NEVER_SHOWN = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff" + _INVISIBLE
_SUSPECT = re.compile(f"[{_NEVER_SHOWN}\u200d\ufe0e\ufe0f]")
"""What `_HIDDEN` may match; found in a tenth of the time."""
_HIDDEN = re.compile(
    f"[{_NEVER_SHOWN}]"
    + f"|(?<![{_EMOJI}])(?<!{_SELECTED}\ufe0f)\u200d|\u200d(?![{_EMOJI}])|(?<!{_SELECTED})[\ufe0e\ufe0f]"
)


def _show(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def make_visible(text: str) -> str:
    """Return `text` with every hidden character shown as a symbol; CR LF counts as a line feed."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return _HIDDEN.sub(_show, text) if _SUSPECT.search(text) else text


def make_visible_line(text: str) -> str:
    """As `make_visible`, for one line: line feeds and tabs are shown as symbols, too."""
    return make_visible(text).replace("\n", "\u240a").replace("\t", "\u2409")


def visible_offsets(line: str) -> list[int]:
    """Return where each character of `line` (one without line breaks) begins in `make_visible_line(line)`."""
    lengths = [1] * len(line)
    for match in _HIDDEN.finditer(line):
        lengths[match.start()] = len(_show(match))
    return list(accumulate(lengths[:-1], initial=0)) if line else []


def has_hidden(text: str) -> bool:
    """Return whether `make_visible` would change `text` other than in its line ends."""
    return _HIDDEN.search(text.replace("\r\n", "\n")) is not None
