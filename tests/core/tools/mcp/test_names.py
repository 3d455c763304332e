"""Names of servers and tools on the wire: valid, unique, the same every time, and never ambiguous."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from core.tools.mcp.names import LONGEST, server_prefixes, tool_names

VALID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
TEXTS = st.lists(st.text(max_size=80), unique=True, max_size=12)


def test_plain_names_stay_as_they_are() -> None:
    assert server_prefixes(["git", "my-server"]) == {"git": "git", "my-server": "my-server"}
    assert tool_names("git", ["log", "a_b", "_x"]) == {"log": "git__log", "a_b": "git__a_b", "_x": "git___x"}


def test_names_that_would_meet_are_told_apart() -> None:
    names = tool_names("s", ["a.b", "a_b", "a b"])
    assert names["a_b"] == "s__a_b"
    assert len(set(names.values())) == 3
    prefixes = server_prefixes(["a b", "a_b", "a__b"])
    assert prefixes["a_b"] == "a_b" and len(set(prefixes.values())) == 3


def test_long_names_keep_their_server() -> None:
    names = tool_names("server", ["x" * 128, "x" * 129])
    assert all(name.startswith("server__xxx") and len(name) <= LONGEST for name in names.values())
    assert len(set(names.values())) == 2


@given(TEXTS, TEXTS)
def test_any_names_become_valid_unique_and_unambiguous(servers: list[str], tools: list[str]) -> None:
    prefixes = server_prefixes(servers)
    assert len(set(prefixes.values())) == len(servers)
    assert prefixes == server_prefixes(reversed(servers))
    full: dict[str, tuple[str, str]] = {}
    for server, prefix in prefixes.items():
        for tool, name in tool_names(prefix, tools).items():
            assert VALID.fullmatch(name) and name.split("__", 1)[0] == prefix
            full[name] = (server, tool)
    assert len(full) == len(servers) * len(tools)
