"""Vi's editing: what each key makes of a text. `python -m tests.bench vim_fuzz` compares it with vim itself."""

from __future__ import annotations

import random

import pytest

from tests.widgets.prompt.vim_keyboard import Typist
from widgets.prompt.vim.command import Command, Unfinished, read_command
from widgets.prompt.vim.editing import VimMode

ALL_KEYS = [
    *"hjklwWbBeE0^$G%{}_|;,fFtTraiIAoOxXDCYsSpPuJ~.vVdcygRZ123456789\"'()[]<>\n z",
    "backspace",
    "escape",
    "ctrl+r",
    "left",
    "delete",
    "backspace",
    "home",
    "end",
    "f1",
]
TEXT = 'the quick (brown fox)\n  jumps, over\n\nsay "it is" {\n  a;\n  b;\n}\nend'


@pytest.mark.parametrize(
    ("before", "keys", "after"),
    [
        # motions; the bar stands before the cursor's character
        ("|one two", "w", "one |two"),
        ("|one, two", "w", "one|, two"),
        ("|one, two", "W", "one, |two"),
        ("one |two", "b", "|one two"),
        ("|one two", "e", "on|e two"),
        ("one two|", "ge", "on|e two"),
        ("|a b c d", "3w", "a b c |d"),
        ("|one\n\ntwo", "w", "one\n|\ntwo"),
        ("  on|e", "0", "|  one"),
        ("  on|e", "^", "  |one"),
        ("|one\ntwo", "$", "on|e\ntwo"),
        ("o|ne\ntwo", "j", "one\nt|wo"),
        ("on|e\n\ntwo", "jj", "one\n\ntw|o"),
        ("|one\nt\nthree", "$jj", "one\nt\nthre|e"),
        ("|one\ntwo\nthree", "G", "one\ntwo\n|three"),
        ("one\ntwo\n|three", "2G", "one\n|two\nthree"),
        ("one\ntwo\n|three", "gg", "|one\ntwo\nthree"),
        ("|a, b, c", "f,;", "a, b|, c"),
        ("|a, b, c", "t,;", "a, |b, c"),
        ("a, b, |c", "F,", "a, b|, c"),
        ("|a, b, c", "f,;,", "a|, b, c"),
        ("|f(a[1], (b))", "%", "f(a[1], (b)|)"),
        ("|one\ntwo\n\nfour", "}", "one\ntwo\n|\nfour"),
        ("|one two", "<esc>l", "o|ne two"),
        # operators
        ("|one two", "dw", "|two"),
        ("|one\ntwo", "dw", "|\ntwo"),
        ("|one two", "cwred<esc>", "re|d two"),
        ("|a b c", "c2wX<esc>", "|X c"),
        ("one |two three", "d$", "one| "),
        ("|one\ntwo\nthree", "dd", "|two\nthree"),
        ("one\n|two", "dd", "|one"),
        ("|one\ntwo\nthree", "2dd", "|three"),
        ("|one\ntwo\nthree", "dj", "|three"),
        ("one\n|two\nthree", "ccred<esc>", "one\nre|d\nthree"),
        ("a, b|, c", "dF,", "a|, c"),
        ("|a, b", "dt,", "|, b"),
        ("|one\ntwo\n\nfour", "d}", "|\nfour"),
        ("one two|", "2db", "|o"),
        ("|one two", "gUw", "|ONE two"),
        ("|ONE two", "guu", "|one two"),
        ("|One", "g~~", "|oNE"),
        ("{\n  a|\n}\nb", "d}", "|{"),
        ("  |one\ntwo\nb", "dje<esc>", "|b"),
        # indents, and what is repeated
        ("|one\n\n  two", ">G", "    |one\n\n      two"),
        ("|one\ntwo\nb", "2>>.", "        |one\n        two\nb"),
        ("\ton|e", "<<", "    |one"),
        ("|one\ntwo\nb\nc", "V>jj.", "    one\ntwo\n    |b\nc"),
        ("|one\ntwo", "V2>", "        |one\ntwo"),
        ("|one\ntwo", "vlrxj0.", "xxe\n|xxo"),
        ("|one two\nb c\nd e\nf", "vjd.", "| e\nf"),
        ("|one\ntwo\nb\nc", "VcX<esc>j.", "X\n|X\nb\nc"),
        # writing over what stands there
        ("|one two", "Rab<esc>", "a|be two"),
        ("on|e\ntwo", "Rabc<esc>", "onab|c\ntwo"),
        ("|one two", "Rabc<bs><bs>x<esc>", "a|xe two"),
        ("|one two three", "2Rab<esc>", "aba|btwo three"),
        ("|one two", "Rab<esc>w.", "abe a|bo"),
        ("|one two", "Rab<esc>u", "|one two"),
        # registers
        ("|one two", '"ayww"ap', "one tone| wo"),
        ("|one two three", 'yiwwdw"0P', "one on|ethree"),
        ("|one\ntwo\nc", 'dddd"2p', "c\n|one"),
        ("|one\ntwo", '"add"ap"ap', "two\none\n|one"),
        ("|one two", '"ayiww"Ayiw0"aP', "onetw|oone two"),
        ("|one two", '"_dwP', "|two"),
        ("|one two", 'yiww"_diw"0P', "oneon|e "),
        ("|one two three", "yiwwviwpww", "one one thre|e"),
        ("|one two three", "yiwwviwPwviwP", "one one on|e"),
        ("|abcdefghij", '2"a3x', "|ghij"),
        # objects
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one tw|o", "daw", "on|e"),
        ("a-|b c", "diW", "| c"),
        ('say "it |is" so', 'ci"no<esc>', 'say "n|o" so'),
        ('say "it |is" so', 'da"', "say |so"),
        ('|say "it" so', 'di"', 'say "|" so'),
        ("f(a, |b)", "di(", "f(|)"),
        ("f(a, (|b))", "d2ib", "f(|)"),
        ("f(|a)", "da)", "|f"),
        ("if {\n  |a;\n  b;\n}", "di{", "if {\n|}"),
        ("x = [1, |2]", "ci[<esc>", "x = |[]"),
        ("|one\ntwo\n\nfour", "dap", "|four"),
        ("|one\ntwo\n\nfour", "dip", "|\nfour"),
        # simple ones
        ("|one", "x", "|ne"),
        ("one|", "X", "o|e"),
        ("o|ne two", "D", "|o"),
        ("o|ne two", "CX<esc>", "o|X"),
        ("|one", "sX<esc>", "|Xne"),
        ("on|e", "SX<esc>", "|X"),
        ("|one", "rX", "|Xne"),
        ("|one", "2rX", "X|Xe"),
        ("|one", "4rX", "|one"),
        ("o|ne", "r<cr>", "o\n|e"),
        ("|one", "~~", "ON|e"),
        ("|one\n  two", "J", "one| two"),
        ("|f(\n  )", "J", "f(|)"),
        ("|one", "iX<esc>", "|Xone"),
        ("|one", "aX<esc>", "o|Xne"),
        ("  on|e", "IX<esc>", "  |Xone"),
        ("|one", "AX<esc>", "one|X"),
        ("|one", "oX<esc>", "one\n|X"),
        ("|one", "OX<esc>", "|X\none"),
        ("|one", "3iab<esc>", "ababa|bone"),
        # registers
        ("|one two", "dwP", "one| two"),
        ("|one two", "yiwwP", "one on|etwo"),
        ("|one\ntwo", "yyp", "one\n|one\ntwo"),
        ("|one\ntwo", "ddp", "two\n|one"),
        ("one\n|two", "yyP", "one\n|two\ntwo"),
        ("|ab", "xp", "b|a"),
        ("|one", "Y2p", "one\n|one\none"),
        # repeat and undo
        ("|a b c d", "dw..", "|d"),
        ("|a b", "cwX<esc>w.", "X |X"),
        ("|a b c", "x2.", "| c"),
        ("|one\ntwo", "A;<esc>j.", "one;\ntwo|;"),
        ("|one two", "dwu", "|one two"),
        ("|one two", "dwdwuu", "|one two"),
        ("|one two", "dwu<c-r>", "|two"),
        ("|one", "iab<esc>u", "|one"),
        ("|one", "ccnew<esc>u", "|one"),
        # visual
        ("|one two", "vey", "|one two"),
        ("|one two", "veyP", "on|eone two"),
        ("|one two", "ved", "| two"),
        ("one |two", "vbd", "|wo"),
        ("|one two", "vecX<esc>", "|X two"),
        ("|one\ntwo\nthree", "Vjd", "|three"),
        ("|one two", "viwU", "|ONE two"),
        ("o|ne two", "v$d", "|o"),
        ("|one two", "vlo<esc>x", "|ne two"),
        ("|one\ntwo", "VjJ", "one| two"),
        ("|one two", "verX", "|XXX two"),
        ("|one two", "yiwwviwp", "one on|e"),
        ("|abcdef", "vld.", "|ef"),
    ],
)
def test_keys_change_a_text_as_in_vi(before: str, keys: str, after: str) -> None:
    typist = Typist(before.replace("|", ""), before.index("|"))
    assert typist.type(keys).shown == after


def test_leaving_the_text_up_or_down_is_told_but_not_by_an_operator_or_a_count() -> None:
    assert Typist("one").type("jk").wants == ["down", "up"]
    assert Typist("one").type("djdk2jvjk").wants == []


def test_what_is_pending_shows_until_it_is_complete() -> None:
    typist = Typist("one two")
    assert typist.type("2d").vim.pending == "2d"
    assert typist.type("i").vim.pending == "2di"
    assert typist.type("w").vim.pending == ""
    typist.type("d")
    assert typist.vim.escape() and typist.vim.pending == ""
    assert not typist.vim.escape()


def test_keys_that_are_no_command_change_nothing_and_begin_anew() -> None:
    typist = Typist("one two")
    assert typist.type("dz").shown == "|one two"
    assert typist.type("x").shown == "|ne two"
    assert typist.vim.press("f1", "ne two", 0) is None


@pytest.mark.parametrize(
    ("keys", "command"),
    [
        ("2d3w", Command("w", 6, "d")),
        ("0", Command("0")),
        ("10l", Command("l", 10)),
        ("dfx", Command("f", None, "d", "x")),
        ("gUiw", Command("iw", None, "gU")),
        ("guu", Command("lines", None, "gu")),
        ("gugu", Command("lines", None, "gu")),
        ('"ayy', Command("lines", None, "y", register="a")),
        ('2"b3dw', Command("w", 6, "d", register="b")),
        (">>", Command("lines", None, ">")),
        ('"', Unfinished.PARTIAL),
        ('"é', Unfinished.UNKNOWN),
        ("d", Unfinished.PARTIAL),
        ("2", Unfinished.PARTIAL),
        ("g", Unfinished.PARTIAL),
        ("ciq", Unfinished.UNKNOWN),
        ("Q", Unfinished.UNKNOWN),
    ],
)
def test_commands_are_read_from_keys(keys: str, command: Command | Unfinished) -> None:
    assert read_command(list(keys)) == command


def test_whatever_is_typed_the_cursor_stays_in_the_text_and_all_can_be_undone() -> None:
    source = random.Random(7)
    for _ in range(300):
        typist = Typist(TEXT, source.randrange(len(TEXT)))
        for key in source.choices(ALL_KEYS, k=40):
            typist._press(key)
            assert 0 <= typist.cursor <= len(typist.text)
            if typist.vim.mode is VimMode.NORMAL and typist.text[typist.cursor : typist.cursor + 1] == "\n":
                assert typist.cursor == 0 or typist.text[typist.cursor - 1] == "\n"  # only on an empty line
        typist.type("<esc><esc>")
        typist.type("u" * 60)
        assert typist.text == TEXT


def test_a_large_text_is_edited_at_once() -> None:
    text = "some words (in brackets)\n" * 2_000
    typist = Typist(text, len(text) // 2)
    typist.type("ggdGuGciwnew<esc>viwygg9999w%}dap.u")
    assert len(typist.text) > len(text) // 2
