"""The diff: round trips, size and speed."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import StetError
from core.diff.compute import diff_lines, diff_sequences
from core.diff.hunks import NEW_FILE_HUNK, apply_hunks, make_patch
from core.diff.lines import split_ending, split_lines
from core.diff.stats import diff_stat
from core.diff.unified import parse_unified, unified_diff, write_unified
from core.diff.words import pair_lines, word_marks

LINE = st.text(alphabet=st.sampled_from("ab -+@\\\x0c\x0b\u2028\x85\t"), max_size=4)
ENDING = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.tuples(LINE, ENDING), max_size=30))
    return "".join(line + ending for line, ending in lines) + draw(LINE)


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str]:
    """A text and the same with some lines changed, so that they have much in common."""
    lines = split_lines(draw(texts()))
    changed = []
    for line in lines:
        what = draw(st.integers(0, 7))
        changed += [] if what == 0 else [draw(LINE) + "\n", line] if what == 1 else [line]
    return "".join(lines), "".join(changed) + draw(st.sampled_from(["", "", "x", "y\n"]))


@given(texts())
def test_lines_join_to_the_text(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(split_ending(line)[1] for line in lines[:-1])
    assert not any(breaker in split_ending(line)[0] for line in lines for breaker in "\r\n")


@given(edits(), st.integers(0, 4))
def test_all_hunks_make_the_new_text_and_none_the_old(edit: tuple[str, str], context: int) -> None:
    old, new = edit
    patch = make_patch("f", old, new, context)
    assert apply_hunks(patch, range(len(patch.hunks))) == new
    assert apply_hunks(patch, ()) == old


@given(edits(), st.data())
def test_a_subset_of_hunks_is_the_subset_of_changes(edit: tuple[str, str], data: st.DataObject) -> None:
    old, new = edit
    patch = make_patch("f", old, new, 1)
    accepted = data.draw(st.sets(st.integers(0, max(0, len(patch.hunks) - 1))))
    before, after = split_lines(old), split_lines(new)
    expected: list[str] = []
    position = 0
    for change in diff_lines(before, after):
        owner = next(
            hunk
            for hunk in patch.hunks
            if any(
                (line.tag == "-" and line.old_number == change.old_start + 1)
                or (line.tag == "+" and line.new_number == change.new_start + 1)
                for line in hunk.lines
            )
        )
        expected += before[position : change.old_start]
        if owner.index in accepted:
            expected += after[change.new_start : change.new_stop]
        else:
            expected += before[change.old_start : change.old_stop]
        position = change.old_stop
    expected += before[position:]
    assert apply_hunks(patch, accepted) == "".join(expected)


@given(edits())
def test_a_unified_diff_reads_back_as_its_hunks(edit: tuple[str, str]) -> None:
    patch = make_patch("dir/f.py", *edit)
    if not patch.hunks:
        assert write_unified(patch) == ""
        return
    (file,) = parse_unified(write_unified(patch))
    assert file.path == "dir/f.py"
    assert len(file.hunks) == len(patch.hunks)
    for read, made in zip(file.hunks, patch.hunks, strict=True):
        assert read.header.split(" @@")[0] == made.header.split(" @@")[0]
        assert [(a.tag, a.text + a.ending, a.old_number, a.new_number) for a in read.lines] == [
            (b.tag, b.text + b.ending, b.old_number, b.new_number) for b in made.lines
        ]


@given(edits())
def test_between_two_changes_something_is_common(edit: tuple[str, str]) -> None:
    before, after = (split_lines(text) for text in edit)
    changes = diff_lines(before, after)
    for left, right in zip(changes, changes[1:], strict=False):
        assert before[left.old_stop : right.old_start] == after[left.new_stop : right.new_start] != []
    assert all(change.old_stop > change.old_start or change.new_stop > change.new_start for change in changes)


@pytest.mark.parametrize(
    "damage",
    [
        lambda diff: diff.replace("+1,2 @@", "+1,1 @@"),
        lambda diff: diff.replace("+1,2 @@", "+1,3 @@"),
        lambda diff: diff.replace("@@ -1,1 +1,2 @@", "@@"),
        lambda diff: "nothing of the sort",
    ],
)
def test_a_diff_whose_counts_are_wrong_is_refused(damage: object) -> None:
    diff = unified_diff("f", "a\n", "a\nb\n")
    with pytest.raises(StetError, match="can't be read"):
        parse_unified(damage(diff))  # type: ignore[operator]  # a lambda of str


def test_a_new_file_comes_in_hunks_of_sixty_lines() -> None:
    text = "".join(f"line {n}\n" for n in range(150))
    patch = make_patch("f", None, text)
    assert [hunk.added for hunk in patch.hunks] == [NEW_FILE_HUNK, NEW_FILE_HUNK, 30]
    assert patch.is_new
    assert apply_hunks(patch, {0, 2}) == "".join(f"line {n}\n" for n in range(150) if not 60 <= n < 120)
    assert write_unified(patch).count("@@") == 2
    assert apply_hunks(make_patch("f", text, None), range(3)) == ""


def test_a_hunk_names_the_definition_above_it() -> None:
    text = "class Shop:\n    def buy(self):\n" + "".join(f"        step({n})\n" for n in range(20))
    patch = make_patch("f.py", text, text.replace("step(15)", "step(99)"))
    assert patch.hunks[0].header == "@@ -15,7 +15,7 @@ def buy(self):"


def test_words_that_differ_are_marked() -> None:
    (hunk,) = make_patch("f", "total = price * count\n", "total = price * amount\n").hunks
    removed, added = hunk.lines
    assert [removed.text[start:stop] for start, stop in removed.marks] == ["count"]
    assert [added.text[start:stop] for start, stop in added.marks] == ["amount"]
    assert word_marks("alpha beta", "gamma delta") == ((), ())
    assert word_marks("x" * 3_000, "x" * 3_001) == ((), ())


def test_lines_are_paired_by_likeness() -> None:
    assert pair_lines(["return compute(x)"], ["if ready:", "    return compute(x, y)"]) == [(0, 1)]


def test_an_inserted_block_begins_at_its_outermost_line() -> None:
    old = ["/**\n", " * A\n", " */\n", "a()\n"]
    new = ["/**\n", " * B\n", " */\n", "b()\n", *old]
    (change,) = diff_lines(old, new)
    assert (change.new_start, change.new_stop) == (0, 4)


def test_counts_tell_the_model_from_the_user() -> None:
    stat = diff_stat("a\nb\n", "a\nbb\n", "a\nbb\nccc\n")
    assert (stat.model_added_lines, stat.model_removed_lines) == (1, 1)
    assert (stat.model_added_chars, stat.model_removed_chars) == (2, 1)
    assert (stat.user_added_lines, stat.user_removed_lines, stat.user_added_chars) == (1, 0, 3)
    assert diff_stat("a\n", "b\n").user_added_lines == 0


def size(old: list[str], new: list[str]) -> int:
    return sum(c.old_stop - c.old_start + c.new_stop - c.new_start for c in diff_sequences(old, new))


def corpus(rng: random.Random, lines: int, distinct: int, share: float) -> tuple[list[str], list[str]]:
    old = [f"line {rng.randrange(distinct)}\n" for _ in range(lines)]
    new = []
    for line in old:
        if rng.random() < share:
            new += rng.choice([[], [f"new {rng.randrange(distinct)}\n"], [line, "inserted\n"]])
        else:
            new.append(line)
    return old, new


@pytest.mark.parametrize(("lines", "distinct", "share"), [(4_000, 8, 0.05), (4_000, 10**9, 0.2), (4_000, 2_000, 0.5)])
def test_diffs_are_about_as_small_as_gits(tmp_path: Path, lines: int, distinct: int, share: float) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    old, new = corpus(random.Random(7), lines, distinct, share)
    (tmp_path / "old").write_text("".join(old))
    (tmp_path / "new").write_text("".join(new))
    done = subprocess.run(
        ["git", "diff", "--no-index", "--numstat", "old", "new"], cwd=tmp_path, capture_output=True, text=True
    )
    added, removed, *_ = done.stdout.split()
    assert size(old, new) <= 1.03 * (int(added) + int(removed)) + 4


def test_large_diffs_are_quick() -> None:
    rng = random.Random(1)
    old, new = corpus(rng, 50_000, 10**9, 0.1)
    same = ["    pass\n"] * 50_000
    shuffled = [f"line {n % 20_000}\n" for n in range(50_000)]
    rng.shuffle(shuffled)
    started = time.process_time()
    assert size(old, new) > 0
    assert size(same, ["x\n", *same[:-9], "y\n"]) > 0
    assert size([f"line {n % 20_000}\n" for n in range(50_000)], shuffled) > 0
    assert time.process_time() - started < 20


@pytest.mark.parametrize(("old", "new"), [(None, ""), ("", None)])
def test_an_empty_file_that_appears_or_goes_is_one_hunk_to_be_accepted(old: str | None, new: str | None) -> None:
    patch = make_patch("a", old, new)
    (hunk,) = patch.hunks
    assert not hunk.lines and apply_hunks(patch, (0,)) == apply_hunks(patch, ()) == ""
    assert write_unified(patch) == unified_diff("a", old, new) == ""
    assert make_patch("a", "", "").hunks == ()
