"""MCP servers that behave badly, and old ones: `python mcp_rogue.py BEHAVIOUR`. Plain JSON-RPC: they start at once."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any

BEHAVIOUR = sys.argv[1]
WRITING = threading.Lock()
ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
LISTED: dict[str, list[dict[str, Any]]] = {
    "schemas": [
        ECHO,
        {"name": "remote", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/s"}}}},
        {"name": "wrong", "inputSchema": {"type": "object", "properties": {"a": {"type": "intger"}}}},
        {"name": "odd name!", "inputSchema": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}},
                                              "$defs": {"T": {"type": "integer"}}}},
        {"name": "x" * 200, "inputSchema": {"type": "object"}, "description": "y" * 50_000},
    ],
}  # fmt: skip


def send(message: dict[str, Any]) -> None:
    """Write a message at one go, or at least without another one in between."""
    data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    with WRITING:
        while data:
            data = data[os.write(1, data) :]


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a request; none for an unknown method."""
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            capabilities = {"tools": {"listChanged": True}}
            return {
                "protocolVersion": version,
                "capabilities": capabilities,
                "serverInfo": {"name": "r", "version": "1"},
            }
        case "tools/list" if BEHAVIOUR == "pages":
            return {"tools": [ECHO], "nextCursor": "again"}
        case "tools/list" if BEHAVIOUR == "invalid_list":
            return {"tools": "none"}
        case "tools/list":
            return {"tools": LISTED.get(BEHAVIOUR, [ECHO])}
        case "tools/call" if BEHAVIOUR == "hang_call":
            return wait_for_ever()
        case "tools/call" if BEHAVIOUR == "invalid_result":
            return {"content": [{"type": "nonsense"}]}
        case "tools/call" if BEHAVIOUR == "huge":
            return {"content": [{"type": "text", "text": "x" * 40_000_000}]}
        case "tools/call" if BEHAVIOUR == "bad_image":
            return {"content": [{"type": "image", "mimeType": "image/png", "data": "!!"}]}
        case "tools/call":
            return {"content": [{"type": "text", "text": request["params"]["arguments"].get("text", "")}]}
    return None


def wait_for_ever() -> Any:
    while True:
        time.sleep(60)


def flood() -> None:
    """Do what a flooding server does once the connection stands."""
    while BEHAVIOUR == "flood_notes":
        send({"method": "notifications/tools/list_changed"})
    while BEHAVIOUR == "flood_errors":
        os.write(2, b"blah " * 10_000)


def begin() -> None:
    """Do what happens before anything is read."""
    match BEHAVIOUR:
        case "crash":
            print("missing \x1b[31mconfiguration", file=sys.stderr)
            sys.exit(3)
        case "hang" | "hang_call":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if BEHAVIOUR == "hang":
                wait_for_ever()
        case "nonsense":
            while True:
                print("Welcome to my server!")
        case "line":
            while True:
                sys.stdout.write("x" * 1_000_000)
        case "greeting":
            print("Welcome!\n\n{}", flush=True)


begin()
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] == "server/discover" and BEHAVIOUR == "silent":
        continue
    if request["method"] == "server/discover" and BEHAVIOUR == "exits":
        sys.exit(1)
    result = answer(request)
    if result is None:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
    else:
        send({"id": request["id"], "result": result})
    if request["method"] == "tools/list" and threading.active_count() == 1:
        threading.Thread(target=flood, daemon=True).start()
