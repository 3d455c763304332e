"""The offline assistant's commands that change files: replace, rename, create. Every change goes through the tools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator

from core.contract.conversation import ResultPart
from core.model.offline_phrases import QUOTED, code, files_of, is_meant, plural, unquote, without_tail
from core.model.offline_plan import Ask, Plan, Scene, Verb, Wish, answer
from core.model.offline_readings import Match, first_line, found_count, matches_in, page_in, review_of

_Results = tuple[ResultPart, ...]
MATCH_LIMIT = 2_000


def _replace(found: re.Match[str], scene: Scene) -> Plan:
    old, new, files = _operands(found)
    if old == new:
        return answer(f"Nothing to do: {code(old)} would be replaced with itself.")
    if "\n" in old:
        return answer("I can only look for text within one line. Give a shorter text, or edit the file in the review.")
    if found["word"]:
        return _rename_plan(old, new, files)
    return _replace_plan(old, new, files)


def _rename(found: re.Match[str], scene: Scene) -> Plan:
    old, new, files = _operands(found)
    if not re.fullmatch(r"[\w$-]+", old) or not re.fullmatch(r"[\w$-]+", new):
        return answer(
            f"{code(old)} and {code(new)} are not both names of something in the code. To replace any text, say "
            f'`replace "…" with "…" in FILES`; to rename a file, `run mv OLD NEW`.'
        )
    if old == new:
        return answer(f"Nothing to do: {code(old)} already has that name.")
    return _rename_plan(old, new, files)


def _operands(found: re.Match[str]) -> tuple[str, str, tuple[str, ...]]:
    """Return old and new text and the files, which may stand before the new text: `replace A in FILES with B`."""
    old, tail = found["old"], found["files"]
    new = found["new"] if tail is not None else without_tail(found["new"])
    if tail is None and (early := _EARLY_FILES.fullmatch(old)):
        old, tail = early["old"], early["files"]
    return unquote(old), unquote(new), files_of(tail)


def _replace_plan(old: str, new: str, files: tuple[str, ...]) -> Plan:
    found = yield from _search(re.escape(old), old, files, fixed=old)
    if isinstance(found, str):
        return found
    counts = {path: sum(match.text.count(old) for match in matches) or 1 for path, matches in found.items()}
    wishes = [_replacement(path, old, new, count) for path, count in counts.items()]
    results = yield Ask(tuple(wishes), f"{_places(counts)}. I replace {code(old)} with {code(new)}.")
    return (yield from _report(dict(zip(counts, results, strict=False)), counts, old, new, files))


def _rename_plan(old: str, new: str, files: tuple[str, ...]) -> Plan:
    word = re.compile(rf"(?<![\w$]){re.escape(old)}(?![\w$])")
    found = yield from _search(rf"\b{re.escape(old)}\b", old, files)
    if isinstance(found, str):
        return found
    texts = yield from _read_whole(tuple(found))
    wishes: dict[str, Wish] = {}
    counts: dict[str, int] = {}
    for path, text in texts.items():
        count = len(word.findall(text))
        if not count:
            continue
        counts[path] = count
        if text.count(old) == count:
            wishes[path] = _replacement(path, old, new, count)
        else:  # the name also stands inside longer ones: replace the lines around it as a whole
            region = _region(text, word)
            wishes[path] = _replacement(path, region, word.sub(lambda _: new, region), 1)
    if not wishes:
        return f"{code(old)} does not stand alone as a name in {_where(files)}; nothing was changed."
    results = yield Ask(tuple(wishes.values()), f"{_places(counts)}. I rename {code(old)} to {code(new)}.")
    return (yield from _report(dict(zip(wishes, results, strict=False)), counts, old, new, files))


def _search(
    pattern: str, text: str, files: tuple[str, ...], fixed: str = ""
) -> Generator[Ask, _Results, dict[str, list[Match]] | str]:
    """Look for a text; return the matches by file, or what to say instead."""
    args: dict[str, object] = {"pattern": fixed or pattern, "case_sensitive": True, "total_max_matches": MATCH_LIMIT}
    if fixed:
        args["fixed_strings"] = True
    (result,) = yield Ask((Wish("search_file_content", args),), f"I look for {code(text)}.")
    if result.is_error:
        return f"The search failed: {first_line(result)}"
    found: dict[str, list[Match]] = defaultdict(list)
    for match in matches_in(result.text):
        if is_meant(match.path, files):
            found[match.path].append(match)
    if not found:
        return f"{code(text)} does not stand in {_where(files)}; nothing was changed."
    return dict(found)


def _read_whole(paths: tuple[str, ...]) -> Generator[Ask, _Results, dict[str, str]]:
    """Read files to their end; those that can't be read are left out."""
    lines: dict[str, list[str]] = {path: [] for path in paths}
    offsets = dict.fromkeys(paths, 0)
    while offsets:
        wishes = tuple(
            Wish("read_file", {"file_path": path, "offset": offset} if offset else {"file_path": path})
            for path, offset in offsets.items()
        )
        results = yield Ask(wishes)
        following: dict[str, int] = {}
        for (path, offset), result in zip(offsets.items(), results, strict=False):
            if result.is_error:
                lines.pop(path, None)
                continue
            page = page_in(result.text)
            lines[path] += page.lines
            if page.next_offset is not None and page.next_offset > offset:
                following[path] = page.next_offset
        offsets = following
    return {path: "\n".join(rows) for path, rows in lines.items()}


def _region(text: str, word: re.Pattern[str]) -> str:
    """Return the lines from the first match to the last, with more around them until they stand only once."""
    rows = text.split("\n")
    hits = [number for number, row in enumerate(rows) if word.search(row)]
    first, last = hits[0], hits[-1]
    while text.count("\n".join(rows[first : last + 1])) > 1 and (first > 0 or last + 1 < len(rows)):
        first, last = max(0, first - 1), min(len(rows) - 1, last + 1)
    return "\n".join(rows[first : last + 1])


def _replacement(path: str, old: str, new: str, count: int) -> Wish:
    return Wish("replace", {"file_path": path, "old_string": old, "new_string": new, "expected_replacements": count})


def _report(results: dict[str, ResultPart], counts: dict[str, int], old: str, new: str, files: tuple[str, ...]) -> Plan:
    """Try again where only the count was wrong, then say what became of each file."""
    wrong = {
        path: _replacement(path, old, new, count)
        for path, result in results.items()
        if result.is_error and (count := found_count(result)) and count != counts[path]
    }
    if wrong:
        counts |= {path: wish.args["expected_replacements"] for path, wish in wrong.items()}
        again = yield Ask(tuple(wrong.values()), "Some lines hold it more often; I count anew.")
        results |= dict(zip(wrong, again, strict=False))
    done = [path for path, result in results.items() if not result.is_error]
    rows = [f"- {code(path)}: {review_of(results[path]) or plural(counts[path], 'place')}" for path in done]
    rows += [f"- {code(path)}: **not changed**. {first_line(r)}" for path, r in results.items() if r.is_error]
    missing = [name for name in files if not any(is_meant(path, (name,)) for path in results)]
    rows += [f"- {code(name)}: {code(old)} is not there" for name in missing]
    head = f"Changed {code(old)} to {code(new)} in {plural(len(done), 'file')}." if done else "Nothing was changed."
    return head + "\n\n" + "\n".join(rows)


def _places(counts: dict[str, int]) -> str:
    return f"Found {plural(sum(counts.values()), 'place')} in {plural(len(counts), 'file')}"


def _where(files: tuple[str, ...]) -> str:
    return ", ".join(map(code, files)) if files else "this project"


def _create(found: re.Match[str], scene: Scene) -> Plan:
    path, content = unquote(found["path"]), found["content"]
    if content is None or not content.strip():
        return answer(
            f"What shall {code(path)} hold? Say `create {path} with` and the text, on the same line or below it."
        )
    return _create_plan(path, _content(content))


def _content(text: str) -> str:
    text = text.strip("\n")
    fenced = re.fullmatch(r"\s*(`{3,}|~{3,})[^\n]*\n(.*?)\n?\1\s*", text, re.DOTALL)
    if fenced:
        text = fenced[2]
    elif re.fullmatch(QUOTED, text.strip(), re.DOTALL):
        text = unquote(text)
    else:
        text = text.lstrip(" ") if "\n" not in text else text
    return text if text.endswith("\n") else text + "\n"


def _create_plan(path: str, content: str) -> Plan:
    (result,) = yield Ask((Wish("write_file", {"file_path": path, "content": content}),))
    if result.is_error:
        return f"{code(path)} was not written: {first_line(result)}"
    return f"Wrote {code(path)} ({plural(content.count(chr(10)), 'line')})."


_TO = r"(?:with|by|to|into|as|->|→)"
_IN = r"(?:\s+(?:in|inside|within|across|throughout)\s+(?P<files>.+)|\s+everywhere)?"
_FLAGS = re.IGNORECASE | re.DOTALL
_EARLY_FILES = re.compile(rf"(?P<old>{QUOTED}|\S+)\s+(?:in|inside|within|across)\s+(?P<files>\S*[./*]\S*.*)", _FLAGS)

EDIT_VERBS = (
    Verb(
        "replace",
        ('replace "A" with "B" in FILES', "replace the word A with B in FILES"),
        "replaces a text in one or many files; `the word` leaves longer words alone",
        re.compile(
            r"(?:replace|substitute|change|swap)\s+(?:all\s+|every\s+|each\s+)?(?:(?:occurrences?|instances?|uses?)\s+of\s+)?"
            rf"(?P<word>(?:the\s+)?word\s+)?(?P<old>{QUOTED}|.+?)\s+{_TO}\s+(?:the\s+word\s+)?(?P<new>{QUOTED}|.+?){_IN}\s*",
            _FLAGS,
        ),
        _replace,
        ("substitute", "change", "swap", "edit", "fix"),
    ),
    Verb(
        "rename",
        ("rename OLD to NEW", "rename OLD to NEW in FILES"),
        "renames something in the code wherever its name stands alone",
        re.compile(
            r"rename\s+(?:the\s+)?(?:(?:symbol|function|method|class|variable|constant|name|identifier|field)\s+)?"
            rf"(?P<old>{QUOTED}|\S+)\s+{_TO}\s+(?P<new>{QUOTED}|\S+?){_IN}\s*",
            _FLAGS,
        ),
        _rename,
    ),
    Verb(
        "create",
        ("create FILE with TEXT",),
        "writes a file; the text may go on over the lines below, or stand in a ``` block",
        re.compile(
            r"(?:create|write|make)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?"
            rf"(?P<path>{QUOTED}|[^\s:]+?)(?:\s+file)?"
            r"(?:(?:\s+(?:with|containing|holding)(?:\s+(?:the\s+)?(?:content|contents|text|lines?))?\s*:?|\s*:|(?=\n))(?P<content>.*))?\s*",
            _FLAGS,
        ),
        _create,
        ("write", "make", "new", "touch"),
    ),
)
