"""Placeholders are told from code and from comments that only speak of a rest."""

from __future__ import annotations

import pytest

from core.fileops.matching.placeholders import find_placeholder

OLD = "def f():\n    a()\n    b()\n    c()\n"


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of code unchanged ...",
        "// rest of the function stays the same",
        "/* ... remaining code ... */",
        "<!-- ... existing markup ... -->",
        "-- ... rest of query ...",
        "{/* ... other props ... */}",
        "# [rest of the code remains unchanged]",
        "(rest of methods ...)",
        "% ... unchanged ...",
        "; ... keep the rest as is ...",
        "// ...",
        "# same as before",
        "    # (unchanged)",
        "(* … existing cases … *)",
        "run()  # ... rest unchanged",
        "// (no changes)",
        "# code continues here",
        "// … existing code …",
        "// rest of method omitted for brevity",
    ],
)
def test_a_placeholder_for_lines_that_would_vanish(line: str) -> None:
    assert find_placeholder(OLD, f"def f():\n{line}\n") == line.strip()


@pytest.mark.parametrize(
    "line",
    [
        "...",
        "x: tuple[int, ...] = ()",
        "def g(*args, ...): pass",
        "call(...rest)",
        "...rest,",
        "{...existing}",
        "func f(args ...string) {",
        "print('Loading...')  # please wait...",
        's = "(rest of methods ...)"',
        "# the rest of the items is sold later",
        "# unchanged since 2019 by the vendor",
        "return rest",
        "# existing rows win",
        "# TODO: the rest, later",
        "# as fast as before",
    ],
)
def test_code_and_comments_are_none(line: str) -> None:
    assert find_placeholder(OLD, f"def f():\n{line}\n", "a.py") == ""


def test_only_where_lines_vanish_and_old_string_lacks_it() -> None:
    assert find_placeholder("b()\n", "# ... rest of code ...\nb()\n") == ""
    assert find_placeholder("# ... rest ...\na()\n", "# ... rest ...\nb()\n") == ""
    assert find_placeholder("a();\n", "...\n", "a.js") == "..."
