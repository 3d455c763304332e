"""Markdown that streams looks in the end as if it had come at once, and costs what was added."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from widgets.transcript import markdown_rows
from widgets.transcript.markdown_flow import MarkdownFlow
from widgets.transcript.markdown_parser import code_of
from widgets.transcript.row import Row, copy_text

LINES = [
    "# Title",
    "## Part",
    "Plain words with *emphasis*, **strong**, `code` and ~~old~~.",
    "a [link](https://example.org/x) and ![picture](a.png)",
    "",
    "",
    "- item",
    "  - nested",
    "    more of it",
    "  ",
    "1. first",
    "2. second",
    "   ```sh",
    "   ls",
    "   ```",
    "* other",
    "---",
    "--- x",
    "===",
    "> quoted",
    "> - in quote",
    "```python",
    "```",
    "````",
    "~~~",
    "def f(x):  # comment",
    '    """text',
    "| a | b |",
    "|---|--:|",
    "| 1 | 2 |",
    "    indented",
    "\ttab",
    "[x]: https://example.org",
    "&#27;&#x202e;",
    "日本語のテキスト 👨\u200d👩\u200d👧",
    "\x1b[31m\r",
    "- [ ] open",
    "- [x] closed",
]
DOCUMENT = st.lists(st.sampled_from(LINES), max_size=25).map("\n".join)


def at_once(text: str, width: int = 40) -> list[Row]:
    flow = MarkdownFlow(width)
    flow.feed(text)
    flow.finish()
    return flow.rows()


def streamed(text: str, cuts: list[int], width: int = 40) -> list[Row]:
    flow = MarkdownFlow(width)
    position = 0
    for size in cuts:
        flow.feed(text[position : position + size])
        flow.rows()
        position += size
    flow.feed(text[position:])
    flow.finish()
    return flow.rows()


@given(DOCUMENT, st.lists(st.integers(1, 40), max_size=60))
@example("- a\n--- x", [5, 1, 1, 1])
@example("1. a\n1. b\n\n1. c", [4, 4, 1, 1])
@example("```\nx\n``\n```\ny", [1] * 14)
@example("```\r\nx\r\n```\r\ny", [1] * 14)
def test_any_cutting_gives_the_same_rows(text: str, cuts: list[int]) -> None:
    assert streamed(text, cuts) == at_once(text)


@given(st.text(max_size=120), st.lists(st.integers(1, 9), max_size=20))
def test_any_text_at_all_gives_rows(text: str, cuts: list[int]) -> None:
    assert streamed(text, cuts, 20) == at_once(text, 20)


@pytest.mark.parametrize("fence", ["```", "~~~~", "  ```"])
def test_a_long_fence_is_the_same_streamed_and_at_once(fence: str) -> None:
    text = f"intro\n\n{fence}python\n" + "".join(f"{'  ' * (n % 3)}x_{n} = 'a'\n" for n in range(900))
    text += f"{fence}\n\nafter\n"
    assert streamed(text, [97] * 200) == at_once(text)


def test_a_fence_colours_a_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from widgets.transcript import markdown_flow

    coloured = 0
    highlight = markdown_flow.highlight_lines

    def count(code: str, language: str) -> list[object]:
        nonlocal coloured
        coloured += code.count("\n") + 1
        return list(highlight(code, language))

    monkeypatch.setattr(markdown_flow, "highlight_lines", count)
    text = "```python\n" + "".join(f"value_{n} = {n}\n" for n in range(800))
    streamed(text, [len(text) // 100] * 100)
    assert coloured <= 800 + 100


@pytest.mark.parametrize("line", ["- item {}\n", "{}. item\n", "para {}\n\n", "# head {}\n", "> quote {}\n\n"])
def test_what_is_finished_is_drawn_once(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = 0
    lines_of = markdown_rows.inline_lines

    def count(*arguments: object) -> object:
        nonlocal drawn
        drawn += 1
        return lines_of(*arguments)  # type: ignore[arg-type] # passes them on as they are

    monkeypatch.setattr(markdown_rows, "inline_lines", count)
    flow = MarkdownFlow(80)
    for number in range(400):
        flow.feed(line.format(number + 1))
        flow.rows()
    assert drawn <= 4 * 400


def test_a_long_unit_is_not_parsed_at_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    from widgets.transcript import markdown_flow

    parsed = 0
    parse = markdown_flow.parse_blocks

    def count(source: str) -> object:
        nonlocal parsed
        parsed += len(source)
        return parse(source)

    monkeypatch.setattr(markdown_flow, "parse_blocks", count)
    flow = MarkdownFlow(80)
    flow.feed("| a | b |\n|---|---|\n")
    for number in range(2_000):
        flow.feed(f"| {number} | some text |\n")
        flow.rows()
    total = 2_000 * 22
    assert parsed < 20 * total


def test_rows_of_finished_units_stay_the_same_objects() -> None:
    flow = MarkdownFlow(40)
    flow.feed("one\n\ntwo\n\nthree\nmo")
    before = flow.rows()
    flow.feed("re\n\nfour")
    assert all(a is b for a, b in zip(before[:4], flow.rows(), strict=False))


def shown(text: str, width: int = 40) -> list[str]:
    return [row.text.rstrip() for row in at_once(text, width)]


def test_lists_number_their_items_and_keep_their_spacing() -> None:
    assert shown("3. a\n3. b\n\n3. c\n   - d\n") == ["3. a", "4. b", "", "5. c", "   ◦ d"]
    assert shown("- [ ] a\n- [x] b") == ["• ☐ a", "• ☑ b"]


def test_a_table_is_drawn_in_columns_and_as_records_where_it_does_not_fit() -> None:
    table = "| name | n |\n|---|--:|\n| one | 1 |\n| two | 22 |\n"
    assert shown(table) == ["name │  n", "─────┼───", "one  │  1", "two  │ 22"]
    wide = "| " + " | ".join(f"column{n}" for n in range(6)) + " |\n" + "|---" * 6 + "|\n" + "| value here" * 6 + "|\n"
    records = shown(wide, 24)
    assert records[0] == "column0: value here"
    assert all(len(line) <= 24 for line in records)


def test_a_link_shows_where_it_goes() -> None:
    assert shown("[docs](https://example.org/a)") == ["docs (https://example.org/a)"]
    assert shown("<https://example.org>") == ["https://example.org"]
    assert shown("![shot](img.png)") == ["[image: shot] (img.png)"]
    assert shown("[x](javascript:alert(1))") == ["[x](javascript:alert(1))"]


def test_html_is_text() -> None:
    assert shown("<b>x</b> <script>y</script>") == ["<b>x</b> <script>y</script>"]


def test_code_is_copied_as_it_was() -> None:
    rows = at_once("```python\ndef f():\n    return 'a long text that does not fit into the row at all'\n```")
    assert copy_text(rows[1:]) == "def f():\n    return 'a long text that does not fit into the row at all'"
    assert code_of("x\n```py\na\n```\ny\n```\nb\n```") == "a\n\nb"


@pytest.mark.parametrize(
    "unit", ["[", "*", "**a ", "`", "<", "![", "&", ">", "- ", "[a](", "_a", "\\", "|", "](", "\u0301"]
)
def test_pathological_text_is_bounded(unit: str) -> None:
    rows = at_once(unit * (30_000 // len(unit)), 80)
    assert len(rows) <= 30_000
