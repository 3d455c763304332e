"""Programs whose work is to send or to fetch over the network. What others do on the side is not known here."""

from __future__ import annotations

from collections.abc import Sequence

FETCHERS = frozenset("curl wget http https httpie xh lynx w3m links aria2c gh glab".split())
"""What they print is what others wrote."""
_SENDERS = FETCHERS | frozenset(
    "nc ncat netcat socat ssh scp sftp rsync ftp lftp tftp telnet rclone s3cmd aws gcloud az gsutil mail mailx mutt"
    " sendmail msmtp nslookup dig host ping openssl twine gem irc croc wormhole".split()
)
_SENDING_COMMANDS: dict[str, frozenset[str]] = {
    "git": frozenset("push fetch pull clone remote ls-remote send-email submodule request-pull".split()),
    "npm": frozenset("publish install i ci view".split()),
    "pnpm": frozenset("publish install i add".split()),
    "yarn": frozenset("publish install add npm".split()),
    "pip": frozenset("install download".split()),
    "pip3": frozenset("install download".split()),
    "uv": frozenset("publish pip add".split()),
    "cargo": frozenset("publish install".split()),
    "docker": frozenset("push login".split()),
    "podman": frozenset("push login".split()),
}


def sends(words: Sequence[str]) -> bool:
    """Return whether a command that begins with these words sends something over the network, or may."""
    program = words[0].rsplit("/", 1)[-1]
    commands = _SENDING_COMMANDS.get(program)
    if commands is None:
        return program in _SENDERS
    return len(words) < 2 or words[1].startswith("-") or words[1] in commands


def fetches(words: Sequence[str]) -> bool:
    """Return whether a command prints what comes from the network."""
    return words[0].rsplit("/", 1)[-1] in FETCHERS
