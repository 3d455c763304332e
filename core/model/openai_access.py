"""Which OpenAI-compatible server is used, with which key, and where that was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from core.contract.errors import StetError
from core.model.gemini_access import checked_url, is_loopback

KEY_VARIABLE, URL_VARIABLE = "OPENAI_API_KEY", "OPENAI_BASE_URL"
OWN_URL = "https://api.openai.com/v1"
OWN_MODEL = "gpt-5"
"""Of OpenAI's own, where no other is named."""


@dataclass(frozen=True, slots=True)
class OpenAIAccess:
    """How to reach the server."""

    base_url: str = OWN_URL
    """Ends before `/chat/completions`."""
    api_key: str = field(default="", repr=False)
    """Empty for a server that needs none."""

    @property
    def source(self) -> str:
        """What pays, to be told to the user."""
        return KEY_VARIABLE if self.api_key else "no key"

    @property
    def is_own(self) -> bool:
        """Whether it is OpenAI's own server."""
        return self.base_url == OWN_URL

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.base_url)

    @property
    def label(self) -> str:
        """The server, for messages."""
        return "OpenAI" if self.is_own else f"the model server at {urlsplit(self.base_url).netloc.rpartition('@')[2]}"


def openai_access(env: Mapping[str, str]) -> OpenAIAccess | None:
    """Return the access that the environment gives, or none where it names neither a key nor a server.

    Raises:
        StetError: a variable holds what can't be, or a server elsewhere needs a key.
    """
    url = checked_url(env, URL_VARIABLE) or OWN_URL
    key = env.get(KEY_VARIABLE, "").strip()
    if not key.isascii() or (key and not key.isprintable()) or " " in key:
        raise StetError(
            f"{KEY_VARIABLE} holds characters that no key has.",
            f"Set {KEY_VARIABLE} anew; a line break may have got in.",
        )
    if key or is_loopback(url):
        return OpenAIAccess(url, key)
    if url == OWN_URL:
        return None
    raise StetError(
        f"{URL_VARIABLE} names a server that is not on this machine, and {KEY_VARIABLE} is not set.",
        f"Set {KEY_VARIABLE}; for a server that takes any key, to any word.",
    )
