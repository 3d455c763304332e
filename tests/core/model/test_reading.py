"""The parts that read what servers send: events, JSON, compressed bodies, refusals."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.errors import ModelErrorKind
from core.model.event_stream import EventDecoder, EventTooLarge
from core.model.http_errors import Endpoint, retry_after_of, status_error
from core.model.inflate import BodyTooLarge, Inflater
from core.model.strict_json import DEPTH_LIMIT, parse_json, unreadable_in

ENDPOINT = Endpoint("Gemini", "gemini-2.5-pro", "GEMINI_API_KEY", "very-secret")

LINES = st.lists(
    st.sampled_from(
        ["data: a", "data:b", "data:  c", "data", ": x", "event: ping", "id: 1", "odd", "", "", "data: é😀"]
    )
)


def reference(lines: list[str]) -> list[str]:
    """The rules of the standard, over whole lines."""
    events, data, kind = [], list[str](), ""
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data and kind in ("", "message", "error"):
                events.append("\n".join(data))
            data, kind = [], ""
        elif name == "data":
            data.append(value)
        elif name == "event":
            kind = value
    return events


@given(LINES, st.lists(st.sampled_from(["\n", "\r", "\r\n"]), min_size=1), st.lists(st.integers(0, 400)), st.booleans())
def test_events_are_the_same_wherever_the_bytes_are_cut(
    lines: list[str], ends: list[str], cuts: list[int], mark: bool
) -> None:
    lines = [*lines, "data: end", ""]
    text = "".join(line + ends[number % len(ends)] for number, line in enumerate(lines))
    data = b"\xef\xbb\xbf" * mark + text.encode()
    decoder = EventDecoder()
    found: list[str] = []
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    for start, stop in zip(places, places[1:], strict=False):
        found += decoder.feed(data[start:stop])
    if rest := decoder.close():
        found.append(rest)
    joined = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert found == reference(joined)


def test_an_event_without_its_blank_line_is_given_at_the_end() -> None:
    decoder = EventDecoder()
    assert decoder.feed(b"data: a\n\ndata: b\ndata: c") == ["a"]
    assert decoder.close() == "b\nc"
    assert EventDecoder().close() == ""


@pytest.mark.parametrize(
    "junk", [b"x" * 101, b"data: " + b"x" * 101, b"data: xxxxxxxx\n" * 8, b":\n" * 51, b"id: 1\n\n" * 20]
)
def test_what_lies_between_two_events_has_a_limit(junk: bytes) -> None:
    decoder = EventDecoder(limit=100)
    assert [decoder.feed(b"data: a\n\n") for _ in range(50)] == [["a"]] * 50
    with pytest.raises(EventTooLarge):
        decoder.feed(junk)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(JSON)
def test_json_is_read_as_it_is(value: object) -> None:
    text = json.dumps(value)
    assert parse_json(text) == value
    assert unreadable_in(parse_json(text)) == ""


@given(st.text(alphabet='[]{}"\\,:1a ', max_size=300))
def test_any_text_is_json_or_a_value_error(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            parse_json(text)
    else:
        assert parse_json(text) == expected


@pytest.mark.parametrize("depth", [DEPTH_LIMIT, DEPTH_LIMIT + 1, 100_000])
def test_depth(depth: int) -> None:
    value = parse_json('{"a": "[[[", "b": ' + "[" * (depth - 1) + "]" * (depth - 1) + ', "c": "\\"{"}')
    assert (value["a"], value["c"]) == ("[[[", '"{')
    assert bool(unreadable_in(value)) is (depth > DEPTH_LIMIT)
    assert json.loads(json.dumps(value)) == value


@given(st.binary(max_size=5_000), st.integers(1, 300), st.sampled_from(["gzip", "deflate", "", "identity"]))
def test_bodies_are_unpacked_wherever_they_are_cut(body: bytes, size: int, coding: str) -> None:
    packer = {"gzip": zlib.compressobj(wbits=31), "deflate": zlib.compressobj()}.get(coding)
    data = packer.compress(body) + packer.flush() if packer else body
    inflater = Inflater(coding)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert b"".join(piece for chunk in chunks for piece in inflater.feed(chunk)) == body


def test_bodies_have_a_limit_and_come_in_small_pieces() -> None:
    data = zlib.compress(b"x" * 1_000_000)
    assert max(len(piece) for piece in Inflater("deflate").feed(data)) <= 64 * 1024
    with pytest.raises(BodyTooLarge):
        list(Inflater("deflate", limit=999_999).feed(data))
    with pytest.raises(ValueError, match="unknown content coding"):
        Inflater("br")
    with pytest.raises(ValueError, match="broken"):
        list(Inflater("gzip").feed(b"nonsense"))


@given(st.integers(300, 599), st.binary(max_size=300))
def test_any_refusal_becomes_a_message(status: int, body: bytes) -> None:
    error = status_error(ENDPOINT, status, {"location": "https://x"}, body)
    assert error.message
    assert error.hint
    assert "\x1b" not in str(error)


WORDS = ["error", "message", "status", "code", "details", "reason", "retryDelay", "violations"]
REFUSALS = st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(st.sampled_from(WORDS), x)
)


@given(REFUSALS)
def test_any_json_refusal_becomes_a_message(value: object) -> None:
    assert status_error(ENDPOINT, 400, {}, json.dumps(value).encode()).message


def test_keys_never_show() -> None:
    for key in ("very-secret", "AIzaSyA1234567890abcdef", "sk-abcdefghijkl"):
        error = status_error(ENDPOINT, 400, {}, f"bad key {key}, Bearer abc.def".encode())
        assert key not in str(error)
        assert "abc.def" not in str(error)
    assert "very-secret" not in repr(error)


@pytest.mark.parametrize("value", ["", "soon", "-1e", "１２", "nan", "9" * 400, "Wed, 99 Foo 2026 00:00:00 GMT"])
def test_odd_waits_are_ignored(value: str) -> None:
    assert retry_after_of({"retry-after": value}) is None


def test_the_kind_of_a_wait_that_is_too_long_stays() -> None:
    error = status_error(ENDPOINT, 503, {"retry-after": "3600"}, b"")
    assert (error.kind, error.retry_after) == (ModelErrorKind.SERVER, 3600)
    assert "come back after" in error.hint
