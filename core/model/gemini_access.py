"""Which Gemini endpoint is used, with which key, and where that was found. Imports no SDK."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from core.contract.errors import StetError

KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""The first that is set wins: GOOGLE_API_KEY also serves other Google services."""
_VERTEX_SWITCHES = ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")


@dataclass(frozen=True, slots=True)
class GeminiAccess:
    """How to reach Gemini."""

    source: str
    """The variable or account that pays: told to the user."""
    api_key: str = field(default="", repr=False)
    vertex: bool = False
    project: str = ""
    location: str = ""
    base_url: str = ""
    """Empty for Google's own."""
    api_version: str = ""

    @property
    def is_loopback(self) -> bool:
        """Return whether the endpoint is on this machine: no proxy stands in between then."""
        return is_loopback(self.base_url)


def is_loopback(url: str) -> bool:
    """Return whether a URL names this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def gemini_access(env: Mapping[str, str]) -> GeminiAccess | None:
    """Return the access that the environment gives, or none where it gives no key.

    Raises:
        StetError: a variable holds what can't be.
    """
    vertex = any(env.get(name, "").lower() in ("1", "true") for name in _VERTEX_SWITCHES)
    found = next(((name, env[name].strip()) for name in KEY_VARIABLES if env.get(name, "").strip()), None)
    base_url = checked_url(env, "GOOGLE_VERTEX_BASE_URL" if vertex else "GOOGLE_GEMINI_BASE_URL")
    version = env.get("GOOGLE_GENAI_API_VERSION", "").strip()
    project, location = env.get("GOOGLE_CLOUD_PROJECT", ""), env.get("GOOGLE_CLOUD_LOCATION", "")
    if vertex and project:
        source = f"Google Cloud project {project}"
        return GeminiAccess(source, "", True, project, location or "global", base_url, version)
    if found is None:
        if vertex:
            raise StetError(
                f"{' or '.join(_VERTEX_SWITCHES)} asks for Vertex AI, but there is no project.",
                "Set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION), or GOOGLE_API_KEY.",
            )
        return None
    name, key = found
    if not key.isascii() or not key.isprintable() or " " in key:
        raise StetError(f"{name} holds characters that no key has.", f"Set {name} anew; a line break may have got in.")
    return GeminiAccess(name, key, vertex, base_url=base_url, api_version=version)


def checked_url(env: Mapping[str, str], name: str) -> str:
    """Return the address that a variable holds, without a slash at its end; empty where it is not set.

    Raises:
        StetError: it is none.
    """
    url = env.get(name, "").strip()
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise StetError(f"{name} is no address of a server: {url!r}.", "Write it as https://HOST[:PORT].")
    return url.rstrip("/")
