"""Secrets never survive the funnel, everything else does, and JSON stays JSON."""

from __future__ import annotations

import json
import string
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.redaction import MARK, Redactor

ALNUM = string.ascii_letters + string.digits


def body(length: int, letters: str = ALNUM) -> str:
    """Return made-up key material, so that no sample is a key that anyone's scanner would know."""
    return "".join(letters[(7 * i + 3) % len(letters)] for i in range(length))


HEXADECIMAL = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + string.digits
SAMPLES = {
    "google": ("AIza" + body(35), ""),
    "google oauth": ("ya29." + body(60), ""),
    "google client": ("GOCSPX-" + body(28), ""),
    "openai": ("sk-proj-" + body(48), ""),
    "openai old": ("sk-" + body(48), ""),
    "anthropic": ("sk-ant-api03-" + body(90), ""),
    "groq": ("gsk_" + body(52), ""),
    "xai": ("xai-" + body(80), ""),
    "hugging face": ("hf_" + body(34), ""),
    "replicate": ("r8_" + body(37), ""),
    "github": ("ghp_" + body(36), ""),
    "github server": ("ghs_" + body(36), ""),
    "github fine": ("github_pat_" + body(60), ""),
    "gitlab": ("glpat-" + body(20), ""),
    "aws id": ("AKIA" + body(16, CAPITALS), ""),
    "aws secret": (body(40), "aws_secret_access_key = {}"),
    "aws secret json": (body(40), '"AWS_SECRET_ACCESS_KEY": "{}"'),
    "azure": (body(86), "AccountName=x;AccountKey={};"),
    "digitalocean": ("dop_v1_" + body(64, HEXADECIMAL), ""),
    "databricks": ("dapi" + body(32, HEXADECIMAL), ""),
    "vault": ("hvs." + body(30), ""),
    "slack": ("xoxb-" + body(40), ""),
    "slack app": ("xapp-1-" + body(40), ""),
    "slack hook": (body(24) + "/" + body(24), "https://hooks.slack.com/services/{}"),
    "stripe": ("sk_live_" + body(24), ""),
    "stripe hook": ("whsec_" + body(32), ""),
    "npm": ("npm_" + body(36), ""),
    "pypi": ("pypi-AgEI" + body(60), ""),
    "sendgrid": ("SG." + body(22) + "." + body(43), ""),
    "shopify": ("shpat_" + body(32, HEXADECIMAL), ""),
    "docker": ("dckr_pat_" + body(27), ""),
    "tailscale": ("tskey-auth-" + body(30), ""),
    "linear": ("lin_api_" + body(40), ""),
    "age": ("AGE-SECRET-KEY-1" + body(58, CAPITALS), ""),
    "telegram": ("123456789:AA" + body(33), ""),
    "jwt": ("eyJ" + body(30) + ".eyJ" + body(60) + "." + body(43), ""),
    "pem": (
        "\n".join(body(64) for _ in range(20)),
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    ),
    "pem cut off": ("\n".join(body(64) for _ in range(3)), "-----BEGIN PRIVATE KEY-----\n{}"),
    "bearer": (body(30), "Authorization: Bearer {}"),
    "basic": (body(24), "authorization: basic {}=="),
    "url": ("hunter2.x", "postgres://me:{}@db.example/x"),
    "url without user": ("hunter2", "redis://:{}@localhost"),
    "password": ("hunter2hunter", "password={}"),
    "password yaml": ("hunter2-hunter", "  DB_PASSWORD: {}"),
    "password json": ("hunter2hunter", '"password": "{}"'),
    "secret": ("s3cretvalue", "client_secret = '{}'"),
    "token": ("a1b2c3d4e5", "TOKEN={}"),
    "api key": ("a1b2c3d4e5", 'api-key: "{}"'),
}
REDACT = Redactor()


@pytest.mark.parametrize("name", SAMPLES)
@given(before=st.text(max_size=12), after=st.text(max_size=12))
def test_no_shape_survives_in_any_surroundings(name: str, before: str, after: str) -> None:
    secret, frame = SAMPLES[name]
    framed = (frame or "{}").replace("{}", secret)
    if frame:  # what follows an unmarked value at once belongs to it
        after = "\n" + after
    text = before + framed + after
    cleaned = REDACT(text)
    assert secret not in cleaned
    assert MARK in cleaned
    assert REDACT(cleaned) == cleaned
    for ascii_only in (True, False):
        line = json.dumps({"text": text}, ensure_ascii=ascii_only)
        assert REDACT(line) != line, "the quick look at a record's line would miss it"


@pytest.mark.parametrize(
    "text",
    [
        "password = get_password(user1234)",
        "password: str | None = None",
        "token = tokens[index1234]",
        "token: CancellationToken",
        "max_tokens = 100000000",
        "secret_key = os.environ['SECRET_KEY_1']",
        "a task-management-system-for-everyone and risk-assessment-2024-something-long",
        "https://example.com:8080/path@1.2.3 and git@github.com:owner/name.git",
        "ssh://git@example.com/owner/name",
        "basic internationalization, the bearer of responsibilities",
        "-----BEGIN PUBLIC KEY-----\n" + body(64) + "\n-----END PUBLIC KEY-----",
        "def api_key(self) -> str: ...",
        "sha256:" + body(64, HEXADECIMAL),
        "passwords are never kept; tokens: 123456",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert REDACT(text) == text


@given(st.text())
def test_any_text_stays_text_that_json_can_carry(text: str) -> None:
    cleaned = REDACT(text)
    assert json.loads(json.dumps(cleaned)) == cleaned
    assert REDACT(cleaned) == cleaned


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=12, max_size=40).filter(lambda v: v not in MARK),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_known_values_never_survive(value: str, before: str, after: str) -> None:
    redact = Redactor([value])
    text = before + value + after
    assert value not in redact(text)
    for ascii_only in (True, False):
        line = json.dumps(text, ensure_ascii=ascii_only)
        assert redact(line) != line


def test_values_of_the_environment_are_known_by_their_names() -> None:
    redact = Redactor.from_environment(
        {
            "GEMINI_API_KEY": "gemini-test-value",
            "GITHUB_TOKEN": "tokenvalue1",
            "DB_PASSWORD": 'pass"word\\1',
            "MY_KEY": "required",
            "SHORT_KEY": "abc",
            "HOME": "/home/someone",
            "KEYBOARD": "querty-layout",
            "ODD_TOKEN": "redacted",
        }
    )
    text = 'gemini-test-value, tokenvalue1, pass"word\\1; required abc /home/someone querty-layout redacted'
    assert redact(text) == f"{MARK}, {MARK}, {MARK}; required abc /home/someone querty-layout redacted"
    assert redact(json.dumps('pass"word\\1')) == json.dumps(MARK)


def test_what_stands_around_a_value_is_kept() -> None:
    assert REDACT("x://me:hunter2@host/p?q") == f"x://me:{MARK}@host/p?q"
    assert REDACT('{"password": "hunter2hunter", "n": 1}') == f'{{"password": "{MARK}", "n": 1}}'


def test_long_text_takes_a_time_that_grows_with_its_length_alone() -> None:
    """Twice the text may not take four times as long; the worst pieces of every pattern are repeated."""
    pieces = ["password=" + "a1" * 100 + "(", "://" + "a" * 100, "eyJ" + "a" * 50 + ".", "sk-", "bearer " + "a" * 40]
    pieces += ["-----BEGIN PRIVATE KEY-----", "token: ", "12345678", "AIza", "secret" * 3, "authorization" + " " * 9]

    def measure(times: int) -> float:
        text = "".join(pieces) * times
        start = time.process_time()
        REDACT(text)
        return time.process_time() - start

    measure(10)
    small = min(measure(100) for _ in range(3))
    large = min(measure(400) for _ in range(3))
    assert large < 12 * small + 0.05


PHRASE = "correct horse\nbattery staple 7"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join([body(64), body(64), body(40)])
    + "\n-----END RSA PRIVATE KEY-----\n"
)


@pytest.mark.parametrize("secret", [*SAMPLES.values(), PEM, PHRASE])
@settings(max_examples=25)
@given(data=st.data())
def test_no_secret_survives_in_pieces(secret: str, data: st.DataObject) -> None:
    redact = Redactor([PHRASE])
    text = f"See key {secret} and\nthen password: {secret} or {secret}."
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=20))
    written, held = "", ""
    for start, stop in pairwise(sorted({0, *cuts, len(text)})):
        held += text[start:stop]
        settled = redact.settled(held)
        written += redact(held[:settled])
        held = held[settled:]
    assert written + redact(held) == redact(text)


def test_ordinary_text_is_hardly_held_back() -> None:
    text = "The quick brown fox jumps over the lazy dog, and nothing of it is held back but the last wor"
    assert REDACT.settled(text) == text.rindex(" ") + 1
    assert REDACT.settled("") == 0
    assert REDACT.settled("line\n") == 5
