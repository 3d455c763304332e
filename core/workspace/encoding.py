"""Bytes to text and back without loss: encoding and byte order mark are found, kept, and used again."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from core.contract.errors import ToolErrorType, ToolFailure

SNIFFED_BYTES = 4096
"""How much of a file decides whether it is binary."""
_DETECTED_BYTES = 65_536
"""How much of it the detector sees: it takes 80 ms a megabyte."""
_MAX_CONTROL_SHARE = 0.1
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b")) + b"\x7f"
_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKS = tuple(bom for bom, _ in _BOMS)
_LEGACY = (
    "cp1252",
    "cp1251",
    "koi8_r",
    "cp932",
    "euc_jp",
    "gb18030",
    "big5",
    "euc_kr",
    "cp1253",
    "cp1255",
    "cp1256",
)
"""What the detector may answer: with all codecs allowed it takes Western text for Central European."""
_DOUBLE_BYTE = frozenset({"cp932", "euc_jp", "gb18030", "big5", "euc_kr"})
_MIN_DOUBLE_BYTES = 8
"""With fewer bytes beyond ASCII, an accented letter or two are likelier than East Asian text."""
_OTHER_ALPHABETS = frozenset({"cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"})
_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
"""A byte beyond ASCII among ASCII: letters of another alphabet stand together, accented ones rarely do."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text, and how to make its bytes again."""

    text: str
    """Line breaks as they stand in the file."""
    encoding: str = "utf-8"
    """A codec's name of Python's, without a mark of its own."""
    bom: bytes = b""
    errors: str = "strict"
    """`surrogateescape` where the bytes are no valid text: each bad byte stands as one lone surrogate."""

    def encode(self, text: str) -> bytes:
        """Return the bytes of a new text in this file's encoding, with its byte order mark.

        Raises:
            ToolFailure: encoding_failure, naming the first character that the encoding can't hold.
        """
        try:
            return self.bom + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError as error:
            character = text[error.start]
            line = text.count("\n", 0, error.start) + 1
            raise ToolFailure(
                ToolErrorType.ENCODING_FAILURE,
                f"The character U+{ord(character):04X} in line {line} can't be written in the file's encoding"
                f" ({self.label}).",
                "Use characters of that encoding, or convert the file to UTF-8 first.",
            ) from None

    @property
    def label(self) -> str:
        """The encoding's name for people."""
        name = self.encoding.upper().replace("_", "-")
        if self.errors != "strict":
            return f"{name} with invalid bytes"
        return f"{name} with BOM" if self.bom else name

    @property
    def line_ending(self) -> str:
        """The most frequent line break; a line feed where there is none."""
        pairs = self.text.count("\r\n")
        counts = {"\n": self.text.count("\n") - pairs, "\r\n": pairs, "\r": self.text.count("\r") - pairs}
        best = max(counts, key=lambda ending: counts[ending])
        return best if counts[best] else "\n"


def is_binary(data: bytes) -> bool:
    """Return whether bytes are no text: a NUL or many control characters at the beginning, and no Unicode mark."""
    head = data[:SNIFFED_BYTES]
    if head.startswith(_MARKS):
        return _by_mark(data) is None
    if b"\0" in head:
        return True
    size = len(head)
    return size - len(head.translate(None, _CONTROL)) > size * _MAX_CONTROL_SHARE


def plain_text(data: bytes) -> str | None:
    """Return the text of a file if it is UTF-8 without a mark, as nearly all are; none where `decode` must look closer.

    Raises:
        ToolFailure: binary_file.
    """
    if is_binary(data):
        raise ToolFailure(ToolErrorType.BINARY_FILE, f"The file is binary ({len(data):,} bytes).")
    if data.startswith(_MARKS):
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def decode(data: bytes) -> TextFile:
    """Return the text of a file; `decode(data).encode(decode(data).text) == data` for every input it takes.

    Raises:
        ToolFailure: binary_file.
    """
    text = plain_text(data)
    if text is not None:
        return TextFile(text)
    marked = _by_mark(data)
    if marked is not None:
        return marked
    lenient = TextFile(data.decode("utf-8", "surrogateescape"), errors="surrogateescape")
    if _is_mostly_utf8(lenient.text):
        return lenient
    for encoding in (_detect(data), "cp1252"):
        decoded = _try(data, b"", encoding, "strict")
        if decoded is not None:
            return decoded
    return lenient


def _by_mark(data: bytes) -> TextFile | None:
    if not data.startswith(_MARKS):
        return None
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            for errors in ("strict", "surrogatepass", "surrogateescape"):
                decoded = _try(data[len(bom) :], bom, encoding, errors)
                if decoded is not None:
                    return decoded
    return None


def _try(body: bytes, bom: bytes, encoding: str, errors: str) -> TextFile | None:
    try:
        text = body.decode(encoding, errors)
        is_lossless = text.encode(encoding, errors) == body
    except UnicodeError:
        return None
    return TextFile(text, encoding, bom, errors) if is_lossless else None


def _is_mostly_utf8(text: str) -> bool:
    escaped = sum("\udc80" <= character <= "\udcff" for character in text)
    return sum(character > "\x7f" for character in text) - escaped > escaped


def _detect(data: bytes) -> str:
    from charset_normalizer import from_bytes  # late: most files are UTF-8

    head = data[:_DETECTED_BYTES]
    if len(data) > len(head):
        head = head[: head.rfind(b"\n") + 1] or head  # not in the middle of a character
    best = from_bytes(head, cp_isolation=list(_LEGACY)).best()
    if best is None:
        return "cp1252"
    high_bytes = len(head) - len(head.translate(None, bytes(range(128, 256))))
    is_guess = best.encoding in _DOUBLE_BYTE and high_bytes < _MIN_DOUBLE_BYTES
    is_accented = best.encoding in _OTHER_ALPHABETS and len(_ALONE.findall(head)) > 0.8 * high_bytes
    return "cp1252" if is_guess or is_accented else best.encoding
