"""An MCP server over HTTP that wants a login, and the authorization server that gives it: both in a thread."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class OAuthServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.valid = ""
        """The access token that counts now."""
        self.refreshable = True
        self.challenges: dict[str, str] = {}
        """By code: what the verifier must hash to (RFC 7636)."""
        self.registered = 0
        self.grants: list[str] = []

    def authorize(self, url: str) -> str:
        """Do what the browser and its user do at the address; return the address that they are sent to."""
        fields = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        code = f"code-{len(self.challenges)}"
        self.challenges[code] = fields["code_challenge"]
        return f"{fields['redirect_uri']}?code={code}&state={fields['state']}"

    def give_tokens(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Return the answer of the token endpoint; none for a refusal."""
        self.grants.append(form["grant_type"])
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            if self.challenges.get(form["code"]) != base64.urlsafe_b64encode(digest).decode().rstrip("="):
                return None
        elif not self.refreshable or not form["refresh_token"].startswith("refresh-"):
            return None
        self.valid = f"access-{len(self.grants)}"
        tokens = {"access_token": self.valid, "refresh_token": f"refresh-{len(self.grants)}"}
        return {**tokens, "token_type": "Bearer", "expires_in": 3600}


class _Requests(BaseHTTPRequestHandler):
    server: OAuthServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = self.server.url
        if self.path.startswith("/.well-known/oauth-protected-resource"):
            self._answer(200, {"resource": f"{url}/mcp", "authorization_servers": [url]})
        elif self.path.startswith("/.well-known/oauth-authorization-server"):
            places = {name: f"{url}/{name.split('_')[0]}" for name in ("token_endpoint", "registration_endpoint")}
            more = {"authorization_endpoint": f"{url}/authorize", "code_challenge_methods_supported": ["S256"]}
            self._answer(200, {"issuer": url, "response_types_supported": ["code"], **places, **more})
        else:
            self._answer(405 if self.path == "/mcp" else 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/registration":
            self.server.registered += 1
            self._answer(201, {**json.loads(body), "client_id": f"client-{self.server.registered}"})
        elif self.path == "/token":
            form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            tokens = self.server.give_tokens(form)
            self._answer(200 if tokens else 400, tokens or {"error": "invalid_grant"})
        elif not self.server.valid or self.headers["authorization"] != f"Bearer {self.server.valid}":
            place = f"{self.server.url}/.well-known/oauth-protected-resource"
            self._answer(401, {}, {"WWW-Authenticate": f'Bearer resource_metadata="{place}"'})
        else:
            self._answer_message(json.loads(body))

    def do_DELETE(self) -> None:
        self._answer(405)

    def _answer_message(self, message: dict[str, Any]) -> None:
        result: dict[str, Any] | None = None
        if message["method"] == "initialize":
            version, info = message["params"]["protocolVersion"], {"name": "o", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        elif message["method"] == "tools/list":
            result = {"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}
        elif message["method"] == "tools/call":
            result = {"content": [{"type": "text", "text": self.headers["authorization"]}]}
        if "id" not in message:
            self._answer(202)
        elif result is None:
            error = {"code": -32601, "message": "Method not found"}
            self._answer(200, {"jsonrpc": "2.0", "id": message["id"], "error": error})
        else:
            self._answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _answer(self, status: int, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def oauth_server() -> Iterator[OAuthServer]:
    server = OAuthServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
