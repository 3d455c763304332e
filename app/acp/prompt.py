"""A prompt's blocks as text, mentions and media. What the editor embeds is data, fenced for the model."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from app.attachments import Attachments
from core.contract.conversation import MediaPart
from core.contract.errors import StetError
from core.contract.visible import make_visible_line
from core.tools.untrusted import fence
from widgets.prompt.trigger import find_mentions

MAX_MEDIA = 20_000_000
"""Bytes of an image or a sound."""


@dataclass(frozen=True, slots=True)
class EditorPrompt:
    text: str
    mentions: tuple[str, ...]
    """What the text names with `@`, and the files that the editor linked."""
    beside: Attachments
    """What the editor sent along."""


def read_prompt(blocks: Sequence[Any], roots: Sequence[str]) -> EditorPrompt:
    """Take a prompt apart.

    Args:
        roots: the workspace's directories; a linked file in one of them is read by our tools, under our rules.

    Raises:
        StetError: a block can't be used; nothing is sent then.
    """
    texts: list[str] = []
    mentions: list[str] = []
    beside: list[str] = []
    media: list[MediaPart] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                texts.append(block.text)
                mentions += find_mentions(block.text)
            case ImageContentBlock() | AudioContentBlock():
                media.append(_media(block.mime_type, block.data))
            case ResourceContentBlock():
                path = _path_of(block.uri, roots)
                texts.append(f"@{path}" if path else f"{make_visible_line(block.name)} ({block.uri})")
                mentions += [path] if path else []
            case EmbeddedResourceContentBlock(resource=TextResourceContents() as held):
                texts.append(_path_of(held.uri, roots) or held.uri)
                beside.append(fence(held.text, f"the editor's {make_visible_line(held.uri)}"))
            case EmbeddedResourceContentBlock(resource=BlobResourceContents() as held):
                media.append(_media(held.mime_type or "", held.blob))
            case _:
                raise StetError(f"The prompt holds a block of the type {block.type!r}.", "Send text, images or files.")
    text = "".join(texts)
    if not text.strip() and not beside and not media:
        raise StetError("The prompt is empty.", "Send some text.")
    sent = "\n".join(["", "Sent along by the editor:", *beside]) if beside else ""
    return EditorPrompt(text, tuple(dict.fromkeys(mentions)), Attachments(sent, tuple(media)))


def _media(mime_type: str, data: str) -> MediaPart:
    if not mime_type.startswith(("image/", "audio/")) and mime_type != "application/pdf":
        raise StetError(f"The prompt holds {mime_type or 'data of no type'!r}.", "Send images, sounds or PDF files.")
    if len(data) > MAX_MEDIA * 4 // 3:
        raise StetError(f"The prompt holds more than {MAX_MEDIA // 1_000_000} MB of {mime_type}.", "Send less.")
    try:
        base64.b64decode(data, validate=True)
    except binascii.Error:
        raise StetError(f"The prompt's {mime_type} is not base64.", "Nothing was sent.") from None
    return MediaPart(mime_type, data)


def _path_of(uri: str, roots: Sequence[str]) -> str:
    """Return the path within the workspace that a `file:` address names; empty for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = os.path.normpath(unquote(parts.path))
    first, *others = (root.rstrip("/") + "/" for root in roots)
    if path.startswith(first):
        return path.removeprefix(first)
    return path if path.startswith(tuple(others)) else ""
