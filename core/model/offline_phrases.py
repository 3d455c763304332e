"""How people say things to the offline assistant: quoting, polite words, lists of files."""

from __future__ import annotations

import fnmatch
import json
import re

POLITE = re.compile(
    r"^(?:(?:please|pls|hey|hi|hello|ok|okay|now|then|just|and|stet|can you|could you|would you|will you|let's|let us|"
    r"i want you to|i want to|i would like you to|i would like to|i'd like you to|i'd like to|you should|go and)"
    r"[,:!]?\s+)+",
    re.IGNORECASE,
)
TAIL = re.compile(r"(?:[,\s]+(?:please|pls|thanks|thank you|for me))*[.!?\s]*$", re.IGNORECASE)

QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|`[^`]*`|“[^”]*”|‘[^’]*’|«[^»]*»"
_QUOTED = re.compile(QUOTED)
_FILE_WORD = re.compile(r"^(?:the|all|every|each|any|my|our|both|files?|folders?|director(?:y|ies))\s+", re.IGNORECASE)
_EVERYWHERE = {
    "everywhere", "file", "files", "project", "whole project", "entire project", "repository", "repo", "codebase",
    "workspace", "code", "here", "it", ".",
}  # fmt: skip
_KINDS = {
    "python": "*.py", "javascript": "*.js", "typescript": "*.ts", "go": "*.go", "rust": "*.rs", "java": "*.java",
    "c": "*.c", "markdown": "*.md", "text": "*.txt", "html": "*.html", "css": "*.css", "json": "*.json",
    "yaml": "*.yaml", "toml": "*.toml", "shell": "*.sh",
}  # fmt: skip


def unquote(text: str) -> str:
    """Return what stands between quotes, or the text itself. In double quotes `\\n`, `\\t` and so on are read."""
    text = text.strip()
    if not _QUOTED.fullmatch(text):
        return text
    if text.startswith('"'):
        try:
            return str(json.loads(text, strict=False))
        except json.JSONDecodeError:
            pass
    return text[1:-1]


def without_tail(text: str) -> str:
    """Return a phrase without the polite words and the full stop at its end; quoted text is left alone."""
    text = text.strip()
    return text if _QUOTED.fullmatch(text) else text[: _tail_start(text)]


def _tail_start(text: str) -> int:
    found = TAIL.search(text)
    return found.start() if found else len(text)


def files_of(text: str | None) -> tuple[str, ...]:
    """Return the files and patterns that a phrase names; none where it means the whole project."""
    if text is None:
        return ()
    files: list[str] = []
    for piece in re.split(rf"({QUOTED})|\s*,\s*|\s+and\s+|\s*;\s*", without_tail(text)):
        name = unquote(piece or "").strip()
        while (shorter := _FILE_WORD.sub("", name)) != name:
            name = shorter
        kind = re.sub(r"\s+files?$", "", name.removeprefix("./"), flags=re.IGNORECASE)
        kind = _KINDS.get(kind.lower(), kind) if kind != name else name.removeprefix("./")
        if kind and kind.lower() not in _EVERYWHERE:
            files.append(kind)
    return tuple(dict.fromkeys(files))


def is_meant(path: str, files: tuple[str, ...]) -> bool:
    """Return whether a path of the project is one of those named: as it stands, by its end, by pattern, by folder."""
    return not files or any(
        path == name
        or path.endswith("/" + name)
        or fnmatch.fnmatchcase(path, name)
        or fnmatch.fnmatchcase(path, "*/" + name)
        or path.startswith(name.rstrip("/") + "/")
        for name in files
    )


def code(text: str) -> str:
    """Return foreign text as inline code."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return fence + pad + text.replace("\n", "↵") + pad + fence


def block(text: str, language: str = "", limit: int = 200) -> str:
    """Return foreign text as a code block of at most `limit` lines."""
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    lines = text.rstrip("\n").split("\n")
    more = f"\n… and {len(lines) - limit} more lines." if len(lines) > limit else ""
    return f"{fence}{language}\n" + "\n".join(lines[:limit]) + f"\n{fence}{more}"


def plural(count: int, noun: str) -> str:
    """Return `1 file`, `2 files`."""
    ending = "es" if noun.endswith(("ch", "s")) else "s"
    return f"{count} {noun}{'' if count == 1 else ending}"
