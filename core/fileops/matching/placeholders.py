"""Placeholders: a comment that stands for code left out ("rest of code"), where that code would be deleted."""

from __future__ import annotations

import re

from core.diff.compute import diff_sequences
from core.diff.lines import split_lines

_LEADER = re.compile(
    r"^\s*(?P<open>\{?/\*+|<!--|\(\*|\{-|\{#|<%--|//+|#+!?|--+(?=[\s.…(\[]|$)|;+|%+|REM\b|\.\.(?!\.)|\(|\[)?"
    r"(?P<text>.*?)(?:\*+/\}?|-->|\*\)|-\}|#\}|--%>|\)|\])?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_DOTS = re.compile(r"\.{3,}|…")
_SPREAD = re.compile(r"[\s\[({<]*\.{3}\w[\w.]*[\s\])}>,;]*")
_TRAILING = re.compile(r"(?<=\S)\s+(?:#|//|/\*|--|<!--)\s*[(\[]?(?:\.{3}|…).*")
_WORD = re.compile(r"[a-z]+")
_KEYS = frozenset(
    "rest remainder remaining existing unchanged omitted elided truncated snip snipped same brevity previous"
    " unmodified untouched abbreviated skipped".split()
)
_KEYS_WITH_DOTS = _KEYS | frozenset(
    "other others more keep kept before above below original continues continue".split()
)
_PHRASE = re.compile(r"\bno (?:other |more )?changes?\b|\bas (?:before|above|is|it was)\b|\bcontinues\b")
_FILLERS = frozenset(
    """a above after all already and are arguments args as at be been before below block body but by case cases change
    changed changes class classes code codes component config constants constructor content contents continue continues
    definition definitions document else etc everything exactly exports field fields file files following for from
    function functions goes handler handlers has have helper helpers here hook hooks how identical implementation import
    imports in interface is it its keep kept left line lines logic loop markup method methods model module modules more
    my no not of omitting or original other others our page parameters params part parts procedure program properties
    queries query remain remains removed routes routine routines rule rules script section sections setup shown snippet
    source statement statements stay stays step steps struct stuff style styles switch target targets template test
    tests text that the their them then there these they this those to type types unaltered up variables view was were
    with your""".split()
)
_BRACES = frozenset(
    "js jsx mjs cjs ts tsx java c h cc cpp cxx hpp cs go rs swift kt kts scala php css scss less dart sh bash"
    " sql".split()
)
_HEADINGS = frozenset({"md", "markdown", "mdx"})


def find_placeholder(old: str, new: str, path: str = "") -> str:
    """Return the line of `new` that stands for lines of `old` which would vanish; empty if there is none.

    A placeholder that `old` has as well, or that only adds a line, is none; nor are Python's Ellipsis, a spread or a
    variadic parameter, which are code.
    """
    if not _may_hold(new):
        return ""
    before, after = ([line.strip() for line in split_lines(text)] for text in (old, new))
    known = set(before)
    for change in diff_sequences(before, after):
        vanishing = any(before[change.old_start : change.old_stop])
        for line in after[change.new_start : change.new_stop]:
            if vanishing and line not in known and is_placeholder(line, path):
                return line
    return ""


def _may_hold(new: str) -> bool:
    lowered = new.lower()
    return bool(_DOTS.search(new) or _PHRASE.search(lowered)) or any(key in lowered for key in _KEYS)


def is_placeholder(line: str, path: str = "") -> bool:
    """Return whether a line, taken alone, says that code is left out."""
    match = _LEADER.match(line)
    if match is None or len(line) > 200 or _SPREAD.fullmatch(line):
        return False
    comment = _TRAILING.search(line)
    if comment is not None and is_placeholder(comment[0], path):
        return True
    text = match["text"].strip(" \t[](){}<>*-=!:'\"")
    has_dots = bool(_DOTS.match(text) or _DOTS.search(text[-4:]))
    words = _WORD.findall(_DOTS.sub(" ", text.lower()).replace("'", ""))
    if not match["open"]:
        # No comment: only dots, or dots around the words, and only where that is no code.
        if not words:
            return has_dots and not text.strip(".… ") and _suffix(path) in _BRACES
        return has_dots and _all_known(words) and bool(_KEYS.intersection(words)) and not _looks_like_code(text)
    if not words:
        return has_dots and not text.strip(".… ") and not match["open"].startswith(("(", "["))
    if has_dots:
        return bool(_KEYS_WITH_DOTS.intersection(words)) and not _looks_like_code(text)
    if match["open"] in ("(", "[") or (match["open"].startswith("#") and _suffix(path) in _HEADINGS):
        return False
    return _all_known(words) and (bool(_KEYS.intersection(words)) or bool(_PHRASE.search(" ".join(words))))


def _suffix(path: str) -> str:
    return path.rsplit(".", 1)[-1].lower()


def _all_known(words: list[str]) -> bool:
    return all(word in _KEYS_WITH_DOTS or word in _FILLERS for word in words)


def _looks_like_code(text: str) -> bool:
    return bool(re.search(r"[=;{}\"`$]|\w\(", _DOTS.sub("", text)))
