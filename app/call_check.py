"""What policy says of a call of a tool, without making it: for `stet policy check` and `/permissions check`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.contract.errors import StetError
from core.contract.tool import Kind
from core.contract.visible import make_visible_line
from core.policy.decision import Decision
from core.policy.engine import PolicyEngine
from core.tools.declarative import BaseToolInvocation
from core.tools.mcp.names import SEPARATOR
from core.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class CheckedCall:
    decision: Decision
    about: str
    """What tool it is, or that there is none of that name."""
    origin: str = ""
    """Where the tool comes from; empty for one that is not known."""


def read_arguments(text: str) -> dict[str, Any]:
    """Return a call's arguments.

    Raises:
        StetError: they are no JSON object.
    """
    try:
        args = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StetError(f"The arguments are not JSON: {error}") from None
    if not isinstance(args, dict):
        raise StetError(f"The arguments must be a JSON object, not {type(args).__name__}.")
    return args


def check_call(
    policy: PolicyEngine, registry: ToolRegistry, servers: Mapping[str, str], name: str, args: Mapping[str, Any]
) -> CheckedCall:
    """Decide on a call. Blocks: it looks at names on the disk.

    Args:
        servers: the MCP servers by what their tools' names begin with; they need not run.

    Raises:
        StetError: the arguments are none for this tool.
    """
    tool = registry.find(name)
    if tool is not None:
        invocation = tool.build(args)
        own = invocation.kind if isinstance(invocation, BaseToolInvocation) else None
        kind, origin = own or tool.kind, registry.origin(tool.name)
        paths = [location.path for location in invocation.tool_locations()]
        decision = policy.check(tool.rule_name, args, kind, paths)
        return CheckedCall(decision, f"{tool.name}, of kind {kind}, {make_visible_line(origin)}", origin)
    decision = policy.check(name, args, Kind.OTHER)
    server = servers.get(name.partition(SEPARATOR)[0]) if SEPARATOR in name else None
    if server is not None:
        shown = make_visible_line(server)
        about = f"of the MCP server {shown}, which was not asked whether it has this tool"
        return CheckedCall(decision, about, f"MCP server {server}")
    near = ", ".join(registry.nearest(name))
    about = f"there is none of the name {make_visible_line(name)!r}; decided as for one that nothing is known of"
    return CheckedCall(decision, f"{about} (nearest: {near})" if near else about)
