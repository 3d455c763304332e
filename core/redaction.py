"""Secrets taken out of text before it is kept: the one funnel of the session record and the log.

Knows nothing of messages: a caller gives it strings, and keeps from it what must stay byte for byte (signatures).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

MARK = "[redacted]"
SHORTEST = 8
"""Characters of a value below which it is too common to be sought."""

_SECRET_NAME = re.compile(r"(?:^|_)(?:(?:API_?)?KEYS?|TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PAT)$", re.IGNORECASE)
_LONGEST_WORD = 12
"""Letters alone up to this length are a word ("required"), no secret."""

_KEY_HEAD = "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----"
_LETTER = r"""[!#%*+./0-9:=?@A-Z^_a-z|~-]"""
_ASSIGNED = (
    r"""\\?["']? {0,4}[=:] {0,4}\\?["']?"""
    rf"(?P<secret>(?={_LETTER}*[0-9])(?={_LETTER}*[A-Za-z]){_LETTER}{{8,200}})(?![(\w.\[{{$<`)])"
)
"""A literal of letters and digits behind `=` or `:`; code such as `token = f(x)` is none."""

# Marker and pattern. A pattern is only tried where its marker (in lower case) occurs, and begins with a letter or a
# small set of letters, so that clean text costs next to nothing. No pattern looks at what stands before it, nor does
# any match a line break or a tab outside of a PEM block: so it also matches in the text's JSON form.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("aiza", r"AIza[\w-]{35}"),  # Google API key
    ("ya29.", r"ya29\.[\w-]{20,500}"),  # Google OAuth
    ("gocspx-", r"GOCSPX-[\w-]{20,60}"),
    ("sk-", r"sk-(?:proj|svcacct|admin|ant-[a-z0-9]{3,8}|or-v1)-[\w-]{20,300}"),  # OpenAI, Anthropic, OpenRouter
    ("sk-", r"sk-[A-Za-z0-9]{32,200}"),
    ("gsk_", r"gsk_[A-Za-z0-9]{40,60}"),  # Groq
    ("xai-", r"xai-[A-Za-z0-9]{60,100}"),
    ("hf_", r"hf_[A-Za-z0-9]{30,40}"),  # Hugging Face
    ("r8_", r"r8_[A-Za-z0-9]{37}"),  # Replicate
    ("gh", r"gh[opsur]_[A-Za-z0-9]{36,255}"),  # GitHub
    ("github_pat_", r"github_pat_\w{22,255}"),
    ("glpat-", r"glpat-[\w-]{20,64}"),  # GitLab
    ("gldt-", r"gldt-[\w-]{20,64}"),
    ("akia", r"AKIA[0-9A-Z]{16}"),  # AWS
    ("asia", r"ASIA[0-9A-Z]{16}"),
    ("aws_secret_access_key", r"[Aa](?i:ws_secret_access_key)[ \"':=\\]{1,8}(?P<secret>[A-Za-z0-9/+]{40})"),
    ("accountkey=", r"AccountKey=(?P<secret>[A-Za-z0-9/+]{40,100}={0,2})"),  # Azure
    ("dop_v1_", r"dop_v1_[0-9a-f]{64}"),  # DigitalOcean
    ("dapi", r"dapi[0-9a-f]{32}"),  # Databricks
    ("hvs.", r"hvs\.[\w-]{24,200}"),  # Vault
    ("xox", r"xox[abeoprs]-[\w-]{10,250}"),  # Slack
    ("xapp-", r"xapp-[\w-]{20,250}"),
    ("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/]{20,120})"),
    ("_live_", r"(?:sk|rk)_live_[A-Za-z0-9]{16,250}"),  # Stripe
    ("whsec_", r"whsec_[A-Za-z0-9+/]{24,100}"),
    ("npm_", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-", r"pypi-AgE[\w-]{50,500}"),
    ("sg.", r"SG\.[\w-]{22}\.[\w-]{43}"),  # SendGrid
    ("shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),  # Shopify
    ("dckr_pat_", r"dckr_pat_[\w-]{20,64}"),
    ("tskey-", r"tskey-[a-z]{1,10}-[\w-]{16,100}"),  # Tailscale
    ("lin_api_", r"lin_api_[A-Za-z0-9]{32,64}"),
    ("age-secret-key-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    (":aa", r"\d{8,10}:AA[\w-]{33}"),  # Telegram
    ("eyj", r"eyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{10,2000}"),  # JWT (RFC 7519)
    ("private key-----", _KEY_HEAD + r"(?P<secret>(?:(?!-----END)[A-Za-z0-9+/=\s\\:,-]){16,20000})"),  # PEM (RFC 7468)
    ("bearer", r"[Bb](?i:earer) {1,4}(?P<secret>(?=[\w.~+/-]*\d)[\w.~+/-]{16,4000}=*)"),  # RFC 6750
    (
        "authorization",
        r"""[Aa](?i:uthorization["': =\\]{1,8}basic) {1,4}(?P<secret>[A-Za-z0-9+/]{8,1000}=*)""",
    ),  # RFC 7617
    ("://", r"://[\w.%+~!$&*=-]{0,100}:(?P<secret>[\w!#%&*+,.;=?^|~\[\]-]{3,200})@"),  # userinfo (RFC 3986)
    ("pass", rf"[Pp](?i:assword|asswd|assphrase){_ASSIGNED}"),
    ("secret", rf"[Ss](?i:ecret(?:_?key)?){_ASSIGNED}"),
    ("token", rf"[Tt](?i:oken){_ASSIGNED}"),
    ("key", rf"[Aa](?i:pi[_-]?key|ccess[_-]?key){_ASSIGNED}"),
)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when a text first has its marker: all at once would delay the first paint."""
    return re.compile(pattern, re.ASCII)


_BLANK = re.compile(r"\s")
_KEYWORD = re.compile(r"bearer|authorization|aws_secret|pass|secret|token|key", re.IGNORECASE)
_KEYWORD_WITHIN = 64
"""Characters between the beginning of such a word and the secret after it, blanks and quotes included, at most."""
_LONGEST_KEY = 24_000
"""Characters of a PEM block."""


class Redactor:
    """Replaces secrets by `[redacted]`: known values wherever they stand, and what has the shape of a key.

    What is done twice is the same as once. Where a text holds a secret, its JSON form is changed, too.

    Args:
        values: secrets to be sought as they are; those under eight characters are left out.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if _is_telling(value) for form in _forms(value)}
        self._values = sorted(forms, key=len, reverse=True)
        self._values_with_blanks = [value for value in self._values if _BLANK.search(value)]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Redactor:
        """Return one that knows the values of the variables whose names speak of secrets."""
        return cls(value for name, value in environment.items() if _SECRET_NAME.search(name))

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        for value in self._values:
            if value in text:
                text = text.replace(value, MARK)
        lowered = text.lower()
        for marker, pattern in _SHAPES:
            if marker in lowered:
                text = _compiled(pattern).sub(_hide, text)
        return text

    def settled(self, text: str) -> int:
        """Return how many characters of a growing text can be redacted by themselves, whatever follows.

        Only PEM blocks and known values hold blanks; before a secret they may stand behind a word that names it.
        """
        end = len(text)
        begun = text.rfind("-----BEGIN")
        if begun >= 0 and "-----END" not in text[begun:] and len(text) - begun < _LONGEST_KEY:
            end = begun
        while end > 0:
            end = 1 + max(text.rfind(blank, 0, end) for blank in " \n\t\r")
            start = self._begins_around(text, end)
            if start < end:
                end = start
            elif not end or text[end - 1] != " " or not _KEYWORD.search(text, max(0, end - _KEYWORD_WITHIN), end):
                return end
            else:
                end -= 1
        return 0

    def _begins_around(self, text: str, end: int) -> int:
        """Return where a known value begins that goes on, or may go on, behind a place; else that place."""
        start = end
        for value in self._values_with_blanks:
            for place in range(max(0, end - len(value) + 1), end):
                if value.startswith(text[place : place + len(value)]):
                    start = min(start, place)
                    break
        return start


def _is_telling(value: str) -> bool:
    is_word = value.isalpha() and len(value) < _LONGEST_WORD
    return len(value) >= SHORTEST and not is_word and value not in MARK


def _forms(value: str) -> Iterable[str]:
    """Return a secret as it stands in plain text and in JSON."""
    import json  # late: most environments hold no secret, and the first paint waits for this module

    return value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]


def _hide(match: re.Match[str]) -> str:
    if "secret" not in match.re.groupindex:
        return MARK
    start, stop = match.span("secret")
    return match[0][: start - match.start()] + MARK + match[0][stop - match.start() :]
