"""Bytes of the web to text: by their mark, their header, their own declaration, or what they look like."""

from __future__ import annotations

import codecs
import re

from core.contract.errors import ToolFailure
from core.workspace.encoding import decode

_HEADER = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:+-]{1,40})", re.IGNORECASE)
_DECLARED = re.compile(rb"<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_.:+-]{1,40})", re.I)
_SNIFFED = 4_096
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_AS_WINDOWS = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030"}
"""What browsers take for what (WHATWG Encoding, section 4.2)."""
_NEVER = frozenset({"utf-7", "unicode-escape", "raw-unicode-escape", "punycode", "idna", "undefined", "mbcs", "oem"})
"""Codecs that no page is written in: some run code paths that are slow or surprising."""
_MAX_ZEROS = 0.3


def decode_page(data: bytes, content_type: str) -> str:
    """Return the text of a page; what can't be read is replaced, never an error."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    guessed = _guess_wide(data[:_SNIFFED])
    if guessed:
        return data.decode(guessed, "replace")
    try:
        text = data.decode("utf-8")
        if not data.isascii():
            return text  # valid UTF-8 with letters beyond ASCII is no accident, whatever the header says
    except UnicodeDecodeError:
        text = None
    named = _HEADER.search(content_type)
    declared = _DECLARED.search(data[:_SNIFFED])
    for name in (named[1] if named else "", declared[1].decode("ascii") if declared else ""):
        decoded = _try(data, name)
        if decoded is not None:
            return decoded
    return text if text is not None else _detected(data)


def _try(data: bytes, name: str) -> str | None:
    """Return the text if `name` is a charset and the bytes are valid in it."""
    try:
        codec = codecs.lookup(name).name if name else ""
        if not codec or codec.replace("_", "-") in _NEVER:
            return None
        return data.decode(_AS_WINDOWS.get(codec, codec))
    except (LookupError, ValueError):
        return None


def _guess_wide(head: bytes) -> str:
    """Return the UTF-16 form of bytes without a mark whose every other byte is zero; else an empty string."""
    pairs = len(head) // 2
    if pairs < 2:
        return ""
    even, odd = head[0 : 2 * pairs : 2].count(0) / pairs, head[1 : 2 * pairs : 2].count(0) / pairs
    if odd > _MAX_ZEROS and even < 0.02:
        return "utf-16-le"
    return "utf-16-be" if even > _MAX_ZEROS and odd < 0.02 else ""


def _detected(data: bytes) -> str:
    try:
        return decode(data).text.encode("utf-8", "replace").decode("utf-8")
    except ToolFailure:
        return data.decode("utf-8", "replace")
