"""Encodings: what is read is written back byte for byte, and nothing that can't be written is replaced."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.encoding import decode, is_binary

SAMPLES = {
    "cp1252": "Der Bär läuft über die Straße, „so schön“ war es für 5 €.\n" * 4,
    "cp1251": "Съешь же ещё этих мягких французских булок, да выпей чаю.\n" * 4,
    "koi8_r": "Съешь же ещё этих мягких французских булок, да выпей чаю.\n" * 4,
    "cp932": "吾輩は猫である。名前はまだ無い。どこで生れたか頓と見當がつかぬ。\n" * 4,
    "euc_jp": "吾輩は猫である。名前はまだ無い。どこで生れたか頓と見當がつかぬ。\n" * 4,
    "gb18030": "我是一只猫。我还没有名字。我不知道我是在哪里出生的。\n" * 4,
    "big5": "我是一隻貓。我還沒有名字。我不知道我是在哪裡出生的。\n" * 4,
    "euc_kr": "나는 고양이다. 이름은 아직 없다. 어디서 태어났는지 모른다.\n" * 4,
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_legacy_encodings_are_found(encoding: str) -> None:
    text = SAMPLES[encoding]
    file = decode(text.encode(encoding))
    assert file.text == text
    assert file.encode(text + text) == (text + text).encode(encoding)


@pytest.mark.parametrize(
    ("bom", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_marks_are_kept_and_not_part_of_the_text(bom: bytes, codec: str) -> None:
    data = bom + "hi ü 𝄞\r\n".encode(codec)
    file = decode(data)
    assert file.text == "hi ü 𝄞\r\n"
    assert file.bom == bom
    assert file.encode("neu ß") == bom + "neu ß".encode(codec)


@settings(max_examples=400, deadline=None)
@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from([b"a", b"\r\n", b"\n", b"\xe4", b"\xff", b"\xe2\x82\xac"])).map(b"".join)
)
def test_bytes_come_back_unchanged(data: bytes) -> None:
    if is_binary(data):
        with pytest.raises(ToolFailure) as caught:
            decode(data)
        assert caught.value.type is ToolErrorType.BINARY_FILE
        return
    file = decode(data)
    assert file.encode(file.text) == data


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8, codecs.BOM_UTF32_LE]),
    st.binary(max_size=80),
)
def test_marked_files_come_back_unchanged_or_count_as_binary(bom: bytes, body: bytes) -> None:
    if not is_binary(bom + body):
        file = decode(bom + body)
        assert file.encode(file.text) == bom + body


def test_a_character_that_the_encoding_lacks_is_refused() -> None:
    file = decode("schöne Grüße aus Köln, überall Bäume\n".encode("cp1252"))
    with pytest.raises(ToolFailure, match=r"U\+65E5 in line 2") as caught:
        file.encode("eins\nzwei 日本\n")
    assert caught.value.type is ToolErrorType.ENCODING_FAILURE


def test_utf8_with_a_bad_byte_stays_utf8() -> None:
    data = "schöne Grüße aus Köln ".encode() + b"\xff\n"
    file = decode(data)
    assert file.text.startswith("schöne Grüße")
    assert file.encode(file.text) == data


@pytest.mark.parametrize("data", [b"a\0b", b"\x01\x02\x03\x04 text", b"\x89PNG\r\n\x1a\n"])
def test_binary_is_seen(data: bytes) -> None:
    assert is_binary(data)


@pytest.mark.parametrize("data", [b"", b"\x1b[31mred\x1b[0m\n", b"page\x0cfeed\n", "hé".encode("utf-16")])
def test_text_with_control_characters_or_a_mark_is_text(data: bytes) -> None:
    assert not is_binary(data)


def test_the_frequent_line_ending_is_named() -> None:
    assert decode(b"a\r\nb\r\nc\n").line_ending == "\r\n"
    assert decode(b"a\rb\rc").line_ending == "\r"
    assert decode(b"none").line_ending == "\n"


@pytest.mark.parametrize("text", ["café naïve\n", "Müller\n", "señor, año\n", "x = 'é'\n"])
def test_a_few_accents_are_western(text: str) -> None:
    assert decode(text.encode("latin-1")).text == text


def test_another_alphabet_is_seen() -> None:
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю\n"
    assert decode(text.encode("cp1251")).text == text
