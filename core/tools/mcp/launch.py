"""What a server is started with: its directory, its environment, its headers; and whether its settings make sense."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.contract.errors import StetError
from core.settings.models import McpServerSettings

PASSED_ON = (
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "TMPDIR", "TZ",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
)  # fmt: skip
"""Variables that every server gets; others, keys above all, only where its settings name them."""

_VARIABLE = re.compile(r"\$(?:\$|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


@dataclass(frozen=True, slots=True)
class McpSurroundings:
    """What all servers of a session share."""

    environment: Mapping[str, str]
    """Ours."""
    directory: Path
    """Where servers without a `cwd` run."""
    roots: tuple[Path, ...]
    """The workspace: servers are told of it."""
    logs: Path | None
    """A folder of ours for what they write to standard error."""
    state: Path | None
    """A folder of ours for tokens, and for how each server was reached."""
    version: str = ""
    """Ours, for the handshake."""


def check_server(settings: McpServerSettings) -> None:
    """Raise `StetError` where a server can't be started by its settings."""
    if bool(settings.command) == bool(settings.url):
        raise StetError(
            "its settings name " + ("both a command and a url" if settings.url else "no command and no url")
        )
    if settings.url and not re.match(r"https?://[^/\s]", settings.url):
        raise StetError(f"its url {settings.url!r} is no http or https address")


def server_environment(settings: McpServerSettings, ours: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server that is a program."""
    passed = {name: value for name, value in ours.items() if name in PASSED_ON or name.startswith("LC_")}
    return {**passed, "STET": "1", **expand(settings.env, ours, "env")}


def expand(values: Mapping[str, str], ours: Mapping[str, str], where: str) -> dict[str, str]:
    """Return values with `$NAME` and `${NAME}` replaced by our variables; `$$` is a dollar sign.

    Raises:
        StetError: a variable that is not set.
    """

    def replace(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name is None:
            return "$"
        if name not in ours:
            raise StetError(f"{where} needs the variable {name}, which is not set", "Set it before you start stet.")
        return ours[name]

    return {key: _VARIABLE.sub(replace, value) for key, value in values.items()}
