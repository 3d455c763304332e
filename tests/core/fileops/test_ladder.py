"""The ladder, by the ways in which quotations go wrong."""

from __future__ import annotations

import html
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import ToolErrorType, ToolFailure
from core.fileops.matching.ladder import EditOutcome, find_edit
from core.fileops.matching.merge import rewrite

SHOP = '''\
import json
import os


class Shop:
    """Sells things."""

    def __init__(self, path, limit=10):
        self.path = path
        self.items = {}
        self.limit = limit

    def load(self):
        with open(self.path) as file:
            for key, value in json.load(file).items():
                if value is None:
                    continue
                self.items[key] = value
        return len(self.items)

    def add(self, name, price):
        if len(self.items) >= self.limit:
            raise ValueError("full")
        self.items[name] = price
        return self

    def total(self):
        result = 0
        for name, price in self.items.items():
            result += price
        return result


def main():
    shop = Shop(os.environ["SHOP"])
    print(shop.load())
'''


def refusal(content: str, old: str, new: str, expected: int | None = 1, path: str = "a.py") -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        find_edit(content, old, new, expected, path)
    return caught.value


# --- exact ----------------------------------------------------------------------------------------


@given(st.text(max_size=30), st.text(min_size=1, max_size=8), st.text(max_size=8), st.text(max_size=30))
def test_one_exact_place_is_replaced_literally(before: str, old: str, new: str, after: str) -> None:
    content = before + old + after
    starts = [n for n in range(len(content)) if content.startswith(old, n)]
    if len(starts) != 1 or old == new or "\r" in content + new or ".." in new or "…" in new:
        return
    try:
        outcome = find_edit(content, old, new)
    except ToolFailure as failure:
        assert failure.type is ToolErrorType.EDIT_NO_CHANGE
        return
    assert outcome.rung == "exact"
    if "\n" not in old:
        assert outcome.content == before + new + after


def test_what_looks_like_a_pattern_is_text() -> None:
    assert find_edit("a (b) c\n", "(b)", r"\1 \g<0> $& $1").content == "a \\1 \\g<0> $& $1 c\n"


def test_counts_must_fit_and_are_said_with_lines() -> None:
    failure = refusal("x\ny\nx\n", "x", "z")
    assert failure.type is ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH
    assert "expected 1 occurrences but found 2 (lines 1, 3)" in failure.message
    assert "expected 3 occurrences but found 2" in refusal("x\ny\nx\n", "x", "z", 3).message
    assert find_edit("x\ny\nx\n", "x", "z", 2).content == "z\ny\nz\n"
    assert find_edit("x\ny\nx\n", "x", "z", None).lines == (1, 3)


def test_overlapping_places_count() -> None:
    assert refusal("}\n}\n}\n", "}\n}\n", "}\nx\n}\n").type is ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH
    assert find_edit("aaaa", "aa", "b", 2).content == "bb"
    assert refusal("aaaaa", "aa", "b", 2).type is ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH


def test_nothing_to_change_is_refused() -> None:
    assert refusal("a\n", "a", "a").type is ToolErrorType.EDIT_NO_CHANGE
    failure = refusal("import os\nimport sys\n", "import os\n", "import os\nimport sys\n")
    assert failure.type is ToolErrorType.EDIT_NO_CHANGE
    assert "Already applied: new_string stands at line 1" in failure.message


def test_a_first_line_cut_behind_its_indentation_may_move_or_go() -> None:
    content = "def f():\n    a()\n    b()\n    c()\n"
    assert find_edit(content, "a()\n    b()", "x()\na()\n    b()").content == content.replace("    a", "    x()\n    a")
    assert find_edit(content, "a()\n    b()\n", "    b()\n").content == content.replace("    a()\n", "")


# --- layout ---------------------------------------------------------------------------------------


def test_line_breaks_stay_those_of_each_line() -> None:
    mixed = "a\r\nb\nc\rd\n"
    assert find_edit(mixed, "b\nc\nd", "b\nX\nY\nd").content == "a\r\nb\nX\rY\rd\n"
    assert find_edit("a\r\nb\r\n", "a", "a\nx").content == "a\r\nx\r\nb\r\n"
    assert find_edit("a\nb\n", "a\r\nb", "a\r\nx\r\nb").content == "a\nx\nb\n"
    assert find_edit("a\nb\n", "a\nb\n", "a\r\nb\r\n").content == "a\r\nb\r\n"


def test_only_changed_lines_lose_trailing_white_space() -> None:
    content = "one \ntwo\t\nthree\n"
    assert find_edit(content, "one\ntwo\nthree", "one\nTWO\nthree").content == "one \nTWO\nthree\n"
    assert find_edit("one\ntwo\n", "one  \ntwo ", "ONE  \ntwo ").content == "ONE\ntwo\n"


def test_blank_lines_may_differ() -> None:
    content = "a\n\n\nb\nc\n"
    assert find_edit(content, "a\nb\nc", "a\nb\nX\nc").content == "a\n\n\nb\nX\nc\n"
    assert find_edit("a\nb\nc\n", "a\n\nb\nc", "a\n\nb\nX\nc").content == "a\nb\nX\nc\n"
    assert find_edit("x\na\nb\n", "\n\na\nb\n\n", "\n\na\nX\nb\n\n").content == "x\na\nX\nb\n"


def test_a_whole_line_deletion_leaves_no_empty_line() -> None:
    assert find_edit("  a\n  b\n  c\n", "a\nb", "").content == "  c\n"
    assert find_edit("  a\n  b\n  c\n", "a\nb\n", "x").content == "  x\n  c\n"


def test_a_line_that_moves_into_or_out_of_a_block_is_refused() -> None:
    content = "for x in xs:\n    seen.add(x)\nprint(seen)\n"
    failure = refusal(content, "for x in xs:\n    seen.add(x)\n    print(seen)", "for x in xs:\n    print(seen)")
    assert failure.type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND
    assert "indented in another way" in str(failure)


def test_tabs_stay_tabs() -> None:
    content = "all: x\n\tone\n\ttwo\n"
    assert find_edit(content, "    one\n    two", "    one\n        deep\n    two").content == (
        "all: x\n\tone\n\t\tdeep\n\ttwo\n"
    )


# --- tokens and reflowed text ---------------------------------------------------------------------


def test_white_space_between_tokens_may_differ_but_not_in_strings() -> None:
    content = "x = {'a b':1}\ny=f( x )\n"
    assert find_edit(content, "x={'a b': 1}\ny = f(x)", "x={'a b': 1}\ny = g(x)").content == (
        "x = {'a b':1}\ny = g(x)\n"
    )
    assert refusal(content, "x={'a  b': 1}\ny = f(x)", "q").type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND
    assert refusal("a = b +c\n", "a = b ++c", "q").type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND
    assert refusal("a b\n", "ab", "q").type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND


def test_line_breaks_mean_nothing_in_brackets_and_prose_only() -> None:
    code = "x = call(a, b)\ny = 1\n"
    assert find_edit(code, "x = call(\n    a, b\n)\ny = 1", "x = call(\n    a, b\n)\ny = 2", 1, "a.py").content == (
        "x = call(a, b)\ny = 2\n"
    )
    assert refusal("a = 1\nb = 2\n", "a = 1 b = 2", "c").type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND
    prose = "One two\nthree four.\n\nMore.\n"
    assert find_edit(prose, "One two three\nfour.", "One two three\nfive.", 1, "a.md").content == (
        "One two three\nfive.\n\nMore.\n"
    )
    assert refusal("* one\n* two\n", "* one * two", "x", 1, "a.md").type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND


# --- transcription --------------------------------------------------------------------------------

BLOCK = "        self.items[name] = price\n        return self\n"
CHANGED = "        self.items[name] = price\n        log(name)\n        return self\n"
WANTED = SHOP.replace(BLOCK, CHANGED)


@pytest.mark.parametrize("style", ["{n:6d}|", "{n:6d}\t", "{n:5d}→", "L{n}: ", "{n}: ", "{n:4d} | ", "{n}:"])
@pytest.mark.parametrize("is_new_numbered", [True, False])
def test_line_numbers_are_undone(style: str, is_new_numbered: bool) -> None:
    def numbered(block: str) -> str:
        return "".join(style.format(n=n) + line + "\n" for n, line in enumerate(block.splitlines(), 24))

    outcome = find_edit(SHOP, numbered(BLOCK), numbered(CHANGED) if is_new_numbered else CHANGED)
    assert outcome.content == WANTED
    assert outcome.rung == "line numbers"


def test_fences_diff_marks_and_entities_are_undone() -> None:
    assert find_edit(SHOP, f"```python\n{BLOCK}```", f"```python\n{CHANGED}```").content == WANTED
    marked_old = "".join(f" {line}\n" for line in BLOCK.splitlines())
    marked_new = "".join(
        ("+" if line not in BLOCK.splitlines() else " ") + line + "\n" for line in CHANGED.splitlines()
    )
    assert find_edit(SHOP, marked_old, marked_new).content == WANTED
    content = 'if a < b and c["x"] & 1:\n    go()\n'
    assert find_edit(content, html.escape(content), html.escape(content).replace("go", "run")).content == (
        content.replace("go", "run")
    )


def test_one_level_of_escapes_is_undone() -> None:
    content = 'def hi():\n    print("a\\n")\n'
    old = content.strip().replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    assert find_edit(content, old, old.replace("(", "(1, ")).content == 'def hi(1, ):\n    print(1, "a\\n")\n'
    assert find_edit(content, 'print(\\"a\\n\\")', 'print(\\"b\\n\\")').content == content.replace('"a', '"b')


def test_the_files_spelling_stays_within_changed_lines() -> None:
    content = "He said “no” — and left.\nWidth: 10\u00a0mm\n"
    outcome = find_edit(content, 'He said "no" - and left.\nWidth: 10 mm', 'He said "no" - and stayed.\nWidth: 10 mm')
    assert outcome.content == content.replace("left", "stayed")
    page = "<p>Totals &lt; 10 are hidden.</p>\n"
    assert find_edit(page, "Totals < 10 are", "Totals < 20 are").content == page.replace("10", "20")
    assert refusal(page, "Totals < 10 are", "Totals < 10 & > 5 are").type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND


def test_what_copying_adds_never_reaches_the_file() -> None:
    failure = refusal(SHOP, f"<<<<<<< SEARCH\n{BLOCK}", f"=======\n{CHANGED}>>>>>>> REPLACE")
    assert failure.type is ToolErrorType.EDIT_PREPARATION_FAILURE
    code = "a = ['—x']\nrun(a)\n".replace("—", "--")
    assert find_edit(code, "a = ['—x']\nrun(a)", "a = ['—x']\nrun(a, 1)").content == code.replace("(a)", "(a, 1)")


def test_what_differs_in_more_than_layout_is_refused_with_the_nearest_region() -> None:
    failure = refusal(SHOP, BLOCK.replace("price", "cost"), CHANGED, path="shop.py")
    assert failure.type is ToolErrorType.EDIT_NO_OCCURRENCE_FOUND
    assert "0 occurrences found" in failure.message
    assert "Nearest: lines 24-25. The first line that differs is line 24" in failure.hint
    assert "new_string stands at line 24" in refusal(WANTED, "    nothing_like_it()\n", CHANGED.strip("\n")).hint


# --- all of it, at random -------------------------------------------------------------------------


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def edited(rng: random.Random, lines: list[str]) -> list[str]:
    """Insert, delete, wrap or change one line."""
    index = rng.choice([n for n, line in enumerate(lines) if line.strip()])
    line, indent = lines[index], indent_of(lines[index])
    choices = [
        [indent + "log(1)", line],
        [line, indent + "log(1)"],
        [],
        [indent + "if ready:", "    " + line],
        [line + "  # changed"],
    ]
    return lines[:index] + rng.choice(choices) + lines[index + 1 :]


def as_tabs(line: str) -> str:
    columns = len(indent_of(line))
    return "\t" * (columns // 4) + " " * (columns % 4) + line.lstrip()


@given(st.integers(0, 2**32), st.sampled_from(["shift", "tabs", "from tabs", "crlf", "blank", "numbers", "diff"]))
def test_any_edit_survives_any_transcription(seed: int, way: str) -> None:
    rng = random.Random(seed)
    file = SHOP.splitlines()
    start = rng.randrange(4, len(file) - 4)
    stop = rng.randrange(start + 3, min(len(file), start + 9) + 1)
    old = file[start:stop]
    if not old[0].strip() or not old[-1].strip():
        return
    new = edited(rng, old)
    wanted = file[:start] + new + file[stop:]
    ending = "\n"
    if way == "shift":
        columns = rng.choice([-4, -2, 1, 2, 8])
        columns = max(columns, -min(len(indent_of(line)) for line in (*old, *new) if line.strip()))
        old, new = ([_shifted(line, columns) for line in lines] for lines in (old, new))
    elif way == "tabs":
        file, wanted = ([as_tabs(line) for line in lines] for lines in (file, wanted))
    elif way == "from tabs":
        old, new = ([as_tabs(line) for line in lines] for lines in (old, new))
    elif way == "crlf":
        ending = "\r\n"
    elif way == "blank":
        old, new = ["", *old, ""], ["", *new, ""]
    elif way == "numbers":
        old, new = ([f"{start + n:6d}|{line}" for n, line in enumerate(lines, 1)] for lines in (old, new))
    elif way == "diff":
        kept = set(old)
        old, new = [" " + line for line in old], [("+", " ")[line in kept] + line for line in new]
        if not any(line.startswith("+") for line in new):
            return
    content = ending.join(file) + ending
    outcome = outcome_of(content, "\n".join(old), "\n".join(new))
    if outcome is not None:
        assert outcome.content == ending.join(wanted) + ending
    elif way not in ("blank", "diff"):
        raise AssertionError((old, new))


def _shifted(line: str, columns: int) -> str:
    if not line.strip():
        return line
    return " " * columns + line if columns >= 0 else line[-columns:]


def outcome_of(content: str, old: str, new: str) -> EditOutcome | None:
    try:
        return find_edit(content, old, new, 1, "shop.py")
    except ToolFailure as failure:
        assert failure.type is not ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH
        return None


@given(st.integers(0, 2**32), st.sampled_from(["changed", "added", "gone", "misspelt"]))
def test_no_stale_quotation_is_forced_on_the_file(seed: int, way: str) -> None:
    rng = random.Random(seed)
    file = SHOP.splitlines()
    start = rng.randrange(4, len(file) - 6)
    old = file[start : start + 6]
    if not old[0].strip() or not old[-1].strip():
        return
    new = edited(rng, old)
    filled = [n for n in range(start + 1, start + 5) if file[n].strip()]
    index = rng.choice(filled)
    if way == "changed":
        file[index] += "_2"
    elif way == "added":
        file.insert(index, "        audit()")
    elif way == "gone":
        del file[index]
    else:
        old[index - start] += "x"
    assert outcome_of("\n".join(file), "\n".join(old), "\n".join(new)) is None


@given(st.lists(st.sampled_from(["a", "b", "", "c"])), st.lists(st.sampled_from(["a", "b", "", "c"])), st.data())
def test_a_rewritten_file_has_the_new_lines_and_the_old_breaks(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    endings = st.sampled_from(["\r\n", "\n", "\r"])
    content = "".join(line + data.draw(endings) for line in old)
    wanted = "".join(line + "\n" for line in new)
    written = rewrite(content, wanted)
    assert written.replace("\r\n", "\n").replace("\r", "\n") == wanted
    if content.count("\r\n") == len(old) == content.count("\n") == content.count("\r") and old:
        assert written.count("\r\n") == len(new)


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "old"),
    [
        ("    pass\n" * 50_000, "pass\n" * 100),
        ("\n" * 100_000 + "x\n", "\n" * 3_000 + "y"),
        ("function f(a){return a+1};" * 100_000, "function f(a) { return a + 1 };\n" * 20 + "x"),
        ("(" * 50_000 + "\n", "( " * 500 + "x"),
        ("“a” – " * 100_000, '"a" - ' * 50 + "b"),
        ("&lt;a&gt;\n" * 60_000, "<a>\n" * 50 + "b"),
        ("'" * 79 + "\n" * 30_000, "'\n' '\n"),
        ("".join(f"record {n}: value\n" for n in range(50_000)), "record 7: value\nrecord 8: valu\n"),
    ],
    ids=["equal lines", "blank lines", "one line", "brackets", "typography", "entities", "quotes", "near twins"],
)
def test_bait_is_refused_in_time(content: str, old: str) -> None:
    assert isinstance(refusal(content, old, "z"), ToolFailure)  # the whole test has a few seconds


def test_many_places_are_replaced_at_once() -> None:
    content = "".join(f"row {n} + offset\r\n" for n in range(50_000))
    outcome = find_edit(content, "+ offset", "+ shift", 50_000)
    assert outcome.content == content.replace("offset", "shift")
