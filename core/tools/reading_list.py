"""Files read for one result: texts share a budget of characters, media go along whole, what can't be read is noted."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import ContentPart
from core.contract.visible import make_visible_line
from core.tools.builtin.read_file import MEDIA_TYPES, media_type
from core.workspace.batch import BatchReader
from core.workspace.encoding import decode, is_binary, plain_text
from core.workspace.files import MAX_FILE_BYTES
from core.workspace.globbing import expand_braces
from core.workspace.paths import WorkspacePath
from core.workspace.workspace import Workspace

MIN_SHARE = 2_000
"""Characters that a file gets at least; with less room, later files are left out altogether."""
MAX_MEDIA_BYTES = 14_000_000
"""All media of one result: requests to the Gemini API may have 20 MB, and Base64 adds a third."""
_AHEAD = 20
"""Budgets' worth of text that is held until it is known how it is shared."""
_REASONS = {ToolErrorType.BINARY_FILE: "binary", ToolErrorType.FILE_NOT_FOUND: "File not found"}


class _Text(NamedTuple):
    raw: str
    path: str
    text: str
    is_whole: bool
    lines: int
    """Of the whole file, where only a part of it is held; 0 where that is not known."""


class ReadingList:
    """What was read so far.

    Args:
        include: the patterns as given: they decide which media are wanted.
        budget: characters of all texts together.
        approved: the user has agreed to sensitive names among those given one by one.
        refusal: tells why a rule keeps a file (as found, and where it really is) from being read.
    """

    MAX_BYTES = 1_000_000
    """Of a larger text only the beginning is read."""

    def __init__(
        self,
        workspace: Workspace,
        reader: BatchReader,
        include: Sequence[str],
        budget: int,
        *,
        approved: bool = False,
        refusal: Callable[[tuple[str, str], bool], str] = lambda paths, named: "",
    ) -> None:
        self.left_out: list[tuple[str, str]] = []
        """Path and reason."""
        self.taken: set[str] = set()
        """Real paths of what was read."""
        self._workspace = workspace
        self._reader = reader
        self._wanted_media = [form.lower() for pattern in include for form in expand_braces(pattern)]
        self._budget = budget
        self._approved = approved
        self._refusal = refusal
        self._texts: list[_Text] = []
        self._media: list[MediaPart] = []
        self._media_bytes = 0
        self._held = 0

    @property
    def count(self) -> int:
        """Files whose content is given, at least in part."""
        return len(self._texts) + len(self._media)

    def add(self, raw: str, is_named: bool) -> None:
        """Read a file; `is_named` where it was given by itself and not by a pattern."""
        approved = self._approved and is_named
        try:
            try:
                path, content = self._reader.read(raw, approved=approved)
            except ToolFailure as failure:
                if failure.type is not ToolErrorType.FILE_TOO_LARGE:
                    raise
                self._add_large(raw, self._workspace.resolve(raw, approved=approved), is_named)
                return
            if path in self.taken or self._is_refused(raw, path, is_named):  # the first is a link to it
                return
            if _is_medium(path, content.data):
                self._add_medium(raw, path, content.data)
            else:
                self._add_text(raw, path, content.data)
                self._workspace.ledger.note_read(path, content)
        except ToolFailure as failure:
            self.left_out.append((raw, _REASONS.get(failure.type, failure.message)))

    def _is_refused(self, raw: str, path: str, is_named: bool) -> bool:
        refusal = self._refusal((raw, path), is_named)
        if refusal:
            self.left_out.append((raw, refusal))
        return bool(refusal)

    def _add_large(self, raw: str, place: WorkspacePath, is_named: bool) -> None:
        if self._is_refused(raw, place.path, is_named):
            return
        head = self._workspace.read_head(place, self.MAX_BYTES)
        if _is_medium(place.path, head):
            self._add_medium(raw, place.path, self._workspace.read(place, limit=MAX_FILE_BYTES).data)
        elif is_binary(head):
            self.left_out.append((raw, "binary"))
        elif place.path not in self.taken:
            self._add_text(raw, place.path, head[: head.rfind(b"\n") + 1] or head, is_whole=False)

    def _add_medium(self, raw: str, path: str, data: bytes) -> None:
        name = os.path.basename(path)
        stem, suffix = os.path.splitext(name.lower())
        if not any(suffix in form or (stem and stem in form) for form in self._wanted_media):
            self.left_out.append((raw, "an image, a sound or a PDF: name it, or its extension, to have it sent"))
        elif self._media_bytes + len(data) > MAX_MEDIA_BYTES:
            self.left_out.append((raw, f"all media together may have {MAX_MEDIA_BYTES // 1_000_000} MB"))
        else:
            self.taken.add(path)
            self._media_bytes += len(data)
            self._media.append(MediaPart(media_type(name, data), base64.b64encode(data).decode("ascii"), name))

    def _add_text(self, raw: str, path: str, data: bytes, is_whole: bool = True) -> None:
        text = plain_text(data)
        if text is None:
            text = decode(data).text.encode("utf-8", "replace").decode("utf-8")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = 0
        room = self._budget if self._held < _AHEAD * self._budget else MIN_SHARE
        if len(text) > room:
            lines = text.count("\n") + (not text.endswith("\n")) if is_whole else 0
            text, is_whole = text[:room], False
        self._held += len(text)
        self.taken.add(path)
        self._texts.append(_Text(raw, path, text, is_whole, lines))

    def parts(self) -> tuple[ContentPart, ...]:
        """Return what was read, by path, cut to the budget; files that find no room are noted as left out."""
        self._texts.sort(key=lambda item: item.path)
        shares = share_out([len(item.text) for item in self._texts], self._budget)
        texts: list[_Text] = []
        parts: list[ContentPart] = []
        for item, share in zip(self._texts, shares, strict=True):
            if share is None:
                self.left_out.append((item.raw, "no room: read it by itself"))
                continue
            texts.append(item)
            parts.append(f"--- {make_visible_line(item.path)} ---\n\n{_cut(item, share)}\n\n")
        self._texts = texts
        return (*parts, *self._media)


def _is_medium(path: str, data: bytes) -> bool:
    suffix = path.rpartition(".")[2].lower()
    return suffix in MEDIA_TYPES and media_type(path, data) != ""


def share_out(lengths: Sequence[int], budget: int) -> list[int | None]:
    """Return how many characters of each text there is room for; none where there is no room for it at all.

    Short texts come whole, and long ones are cut to the same length. If that were less than `MIN_SHARE`, the first
    texts get as much, and the last ones nothing.
    """
    if sum(lengths) <= budget:
        return list(lengths)
    left, waiting = budget, len(lengths)
    level = 0
    for length in sorted(lengths):
        level = left // waiting
        if length > level:
            break
        left -= length
        waiting -= 1
    if level >= MIN_SHARE or len(lengths) == 1:
        return [min(length, level) for length in lengths]
    shares: list[int | None] = []
    left = budget
    for length in lengths:
        share = min(length, MIN_SHARE)
        fits = share <= left
        shares.append(share if fits else None)
        left -= share if fits else 0
    return shares


def _cut(item: _Text, share: int) -> str:
    if item.is_whole and share >= len(item.text):
        return item.text
    text = item.text[:share]
    text = text[: text.rfind("\n") + 1] or text
    shown = text.count("\n")
    total = item.lines or (item.text.count("\n") + (not item.text.endswith("\n")) if item.is_whole else 0)
    of = f" of {total} total lines" if total else ""
    gap = "" if text.endswith("\n") else "\n"
    where = (
        f"lines 1-{shown}{of}. Use read_file with offset={shown} to read on." if shown else "a part of its only line."
    )
    return f"{text}{gap}[File content truncated: showing {where}]"


def _shown(path: str) -> str:
    return make_visible_line(path)
