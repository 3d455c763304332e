"""The names of the MCP SDK that we use: the one module that imports it. It is heavy: load it late, and in a thread."""

from __future__ import annotations

from mcp import Client, MCPError, types
from mcp.client.auth import OAuthClientProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.message import SessionMessage
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

__all__ = [
    "HANDSHAKE_PROTOCOL_VERSIONS",
    "AuthorizationCodeResult",
    "Client",
    "ListenNotSupportedError",
    "MCPError",
    "OAuthClientInformationFull",
    "OAuthClientMetadata",
    "OAuthClientProvider",
    "OAuthMetadata",
    "OAuthToken",
    "ProtectedResourceMetadata",
    "Server",
    "SessionMessage",
    "SubscriptionLost",
    "sse_client",
    "stdio_server",
    "streamable_http_client",
    "types",
]
