"""Images that are pasted: dropped onto the terminal, which types their paths, or taken from the clipboard."""

from __future__ import annotations

import asyncio
import itertools
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"})
MAX_BYTES = 20_000_000
_LONGEST = 4_096
_PATIENCE = 2.0
"""Seconds that a program may take for the clipboard."""

_TOOLS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--list-types"), ("wl-paste", "--type", "image/png")),
    (
        "DISPLAY",
        ("xclip", "-selection", "clipboard", "-t", "TARGETS", "-o"),
        ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ),
)
"""Environment variable that must be set, the command that names what the clipboard holds, and the one that gives it."""


def find_dropped(text: str) -> list[Path]:
    """Return the images that a paste names, if it names nothing else: as paths, quoted or escaped, or as file URLs.

    Blocks: it looks whether they are there.
    """
    text = text.strip()
    if not text.startswith(("/", "~/", "'/", '"/', "file://")) or "\n" in text or len(text) > _LONGEST:
        return []
    whole = [_path(text)] if not text.startswith(("'", '"')) else []
    if whole and _is_image(whole[0]):
        return whole  # with blanks in it that nothing escapes
    try:
        paths = [_path(word) for word in shlex.split(text)]
    except ValueError:
        return []
    return paths if paths and all(map(_is_image, paths)) else []


def _path(word: str) -> Path:
    if word.startswith("file://"):
        return Path(unquote(urlsplit(word).path))
    return Path(os.path.expanduser(word))


def _is_image(path: Path) -> bool:
    try:
        return path.is_absolute() and path.suffix.lower() in SUFFIXES and path.is_file()
    except (OSError, ValueError):
        return False


def mention_images(text: str, root: Path, scratch: Path) -> str:
    """Return mentions of the images that a paste names, else the paste as it is; blocks.

    One outside of the workspace is copied to where it may be read: pasting it allows that.
    """
    paths = find_dropped(text)
    try:
        return "".join(_mention(_take_in(path, root, scratch)) for path in paths) if paths else text
    except OSError:
        return text


def _take_in(path: Path, root: Path, scratch: Path) -> str:
    real = path.resolve()
    if real.is_relative_to(root):
        return str(real.relative_to(root))
    if real.stat().st_size > MAX_BYTES:
        raise OSError("too large")
    target = free_name(scratch, path.name)
    shutil.copyfile(real, target)
    return str(target)


def _mention(path: str) -> str:
    return f'@"{path}" ' if any(each.isspace() or each in "'`,;)\"" for each in path) else f"@{path} "


def free_name(folder: Path, name: str) -> Path:
    """Return a path in a folder that nothing has yet: `shot.png`, `shot-2.png` …"""
    stem, suffix = os.path.splitext(name.replace('"', ""))
    names = itertools.chain([f"{stem}{suffix}"], (f"{stem}-{number}{suffix}" for number in itertools.count(2)))
    return next(path for path in (folder / each for each in names) if not path.exists())


async def save_clipboard_image(folder: Path, environment: Mapping[str, str]) -> Path | None:
    """Save the image that the clipboard holds; none where it holds none, or nothing can tell."""
    for variable, asked, given in _TOOLS:
        if not environment.get(variable) or environment.get("SSH_CONNECTION") or shutil.which(asked[0]) is None:
            continue
        if b"image/png" in await _output(asked) and (data := await _output(given)) and len(data) <= MAX_BYTES:
            path = free_name(folder, "pasted.png")
            await asyncio.to_thread(path.write_bytes, data)
            return path
    return None


async def paste_image(folder: Path, environment: Mapping[str, str]) -> str:
    """Return a mention of the clipboard's image, saved in a folder; empty if there is none."""
    path = await save_clipboard_image(folder, environment)
    return "" if path is None else _mention(str(path))


async def _output(command: tuple[str, ...]) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(_PATIENCE):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return b""
    return output if process.returncode == 0 else b""
