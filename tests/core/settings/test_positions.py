"""Places of keys and values in TOML: what stands between a value's offsets is that value."""

from __future__ import annotations

import tomllib
from typing import Any

import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from core.settings.positions import Path, find_positions

SAMPLE = """\
# comment with [brackets] and = signs
top = 1
"quoted key" = 'a'
a.b.'c.d' = "]}#" # tail

[ui] # why
theme = \"\"\"
[not.a.header]
x = "" \\\"""
\"\"\" # end
size = { w = 1, h = { deep = [ 1, [2, 3], ] } }
when = 1979-05-27 07:32:00

[[rule]]
n = 1
[rule.part]
x = true
[[rule]]
n = 2
list = [
  # inside
  'a', # after
  "b",
]
"""


def test_a_text_with_every_form() -> None:
    places = find_positions(SAMPLE)
    lines = {path: (place.line, place.column) for path, place in places.items()}
    assert lines[("top",)] == (2, 1)
    assert lines[("quoted key",)] == (3, 1)
    assert lines[("a", "b", "c.d")] == (4, 1)
    assert lines[("ui",)] == (6, 1)
    assert lines[("ui", "size", "h", "deep", 1, 0)] == (11, 36)
    assert lines[("rule",)] == lines[("rule", 0)] == (14, 1)
    assert lines[("rule", 0, "part", "x")] == (17, 1)
    assert lines[("rule", 1, "n")] == (19, 1)
    assert lines[("rule", 1, "list", 1)] == (23, 3)
    assert ("not", "a", "header") not in places
    check_slices(SAMPLE)


def check_slices(text: str) -> None:
    values = tomllib.loads(text)
    for path, place in find_positions(text).items():
        if place.start != place.stop:
            assert tomllib.loads(f"v = {text[place.start : place.stop]}")["v"] == follow(values, path)
    assert set(paths_of_leaves(values)) - {()} <= set(find_positions(text))


def follow(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def paths_of_leaves(value: Any, path: Path = ()) -> list[Path]:
    if isinstance(value, dict) and value:
        return [leaf for key, item in value.items() for leaf in paths_of_leaves(item, (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for index, item in enumerate(value) for leaf in paths_of_leaves(item, (*path, index))]
    return [path]


SCALARS = st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.text() | st.floats(allow_nan=False) | st.datetimes()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=6), st.booleans())
def test_whatever_tomli_w_writes(values: dict[str, Any], multiline: bool) -> None:
    check_slices(tomli_w.dumps(values, multiline_strings=multiline))
