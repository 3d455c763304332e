"""Where the tokens of a server lie; apart, so that they can be taken away without loading anything."""

from __future__ import annotations

import hashlib
from pathlib import Path


def token_file(state: Path, server: str) -> Path:
    """Return the file of a server's tokens in our state folder."""
    return state / f"login-{hashlib.sha256(server.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}.json"


def forget_login(state: Path, server: str) -> bool:
    """Take the tokens of a server away; returns whether there were any. Blocks."""
    path = token_file(state, server)
    if not path.exists():
        return False
    path.unlink()
    return True
