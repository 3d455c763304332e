"""The only importer of google-genai: sends one request with it and gives the answer's events as they were sent.

It is imported late, in a thread: the SDK costs half a second. Why the SDK does not get to read the answer itself: its
models refuse signatures that are not base64, warn on standard error about reasons that they don't know, drop parts
that they don't know, and read the whole of a compressed body at once. So the events pass through it as they are.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
from google import genai
from google.auth import exceptions as auth_errors
from google.genai import errors, types

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.tool import FunctionDeclaration
from core.model.gemini_access import GeminiAccess
from core.model.http_errors import Endpoint, status_error
from core.model.wire import connection_error, events_of, make_client, open_response

# else its warnings go to the terminal
logging.getLogger("google_genai").addHandler(logging.NullHandler())
logging.getLogger("google_genai").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module=r"google\.genai")


class _Events(httpx.AsyncByteStream):
    """An answer's events, each wrapped so that the SDK hands its text through."""

    def __init__(self, owner: Any, response: httpx.Response, endpoint: Endpoint) -> None:
        self._owner = owner
        self._response = response
        self._endpoint = endpoint

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for event in events_of(self._response, self._endpoint):
            part = {"partMetadata": {"event": event}}
            yield b"data: " + json.dumps({"candidates": [{"content": {"parts": [part]}}]}).encode() + b"\n\n"

    async def aclose(self) -> None:
        await self._owner.__aexit__(None, None, None)


class _Transport(httpx.AsyncBaseTransport):
    """What the SDK takes for the network."""

    def __init__(self, client: httpx.AsyncClient, endpoint: Endpoint) -> None:
        self._client = client
        self._endpoint = endpoint

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        owner = open_response(self._client, request, self._endpoint)
        response = await owner.__aenter__()
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=headers, stream=_Events(owner, response, self._endpoint))

    async def aclose(self) -> None:
        await self._client.aclose()


class _Fixed(list[Any]):
    """A list that is its own deep copy: the SDK copies its configuration for each request, the conversation with it."""

    def __deepcopy__(self, memo: Mapping[int, Any]) -> _Fixed:
        return self


class GeminiClient:
    """One connection pool to one endpoint. Its making blocks for some 50 ms: do it in a thread."""

    def __init__(self, access: GeminiAccess, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._url = httpx.URL(access.base_url or "https://generativelanguage.googleapis.com")
        self._http = httpx.AsyncClient(
            transport=_Transport(make_client(loopback=access.is_loopback), endpoint), follow_redirects=False
        )
        self._unused = httpx.Client(verify=False, trust_env=False)  # the SDK would make one that loads certificates
        options = types.HttpOptions(
            base_url=access.base_url or None,
            api_version=access.api_version or ("v1beta1" if access.vertex else "v1beta"),
            httpx_async_client=self._http,
            httpx_client=self._unused,
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        try:
            self._client = genai.Client(
                vertexai=access.vertex,
                api_key=access.api_key or None,
                project=access.project or None,
                location=(access.location or None) if access.project else None,
                http_options=options,
            )
        except (ValueError, auth_errors.GoogleAuthError) as error:
            raise self.error_of(error) from error

    async def events(
        self,
        model: str,
        contents: list[Any],
        system: str = "",
        tools: tuple[FunctionDeclaration, ...] = (),
        *,
        search: bool = False,
    ) -> AsyncIterator[str]:
        """Yield the texts of the answer's events.

        With `search` the model searches the web by itself, and gets no other tools.

        Cancelling the task that waits here closes the connection; closing this iterator alone does not.
        It raises whatever the SDK, httpx and google-auth raise: `error_of` knows them.
        """
        config = _config(model, system, tools, contents, search)
        chunks = await self._client.aio.models.generate_content_stream(model=model, contents="-", config=config)
        async for chunk in chunks:
            yield _event_in(chunk)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()
        self._unused.close()

    def error_of(self, error: Exception) -> ModelError:
        """Return what an error of `events` means."""
        if isinstance(error, ModelError):
            return error
        if isinstance(error, errors.APIError):
            return status_error(self._endpoint, error.code or 0, {}, json.dumps(error.details, default=str).encode())
        if isinstance(error, httpx.HTTPError):
            return connection_error(self._endpoint, self._url, error)
        words = self._endpoint.clean(str(error)) or type(error).__name__
        if isinstance(error, auth_errors.GoogleAuthError):
            hint = "Run 'gcloud auth application-default login', or set GEMINI_API_KEY."
            return ModelError(ModelErrorKind.AUTH, f"No access to {self._endpoint.credential}: {words}", hint)
        logging.getLogger(__name__).error("google-genai failed", exc_info=error)
        return ModelError(
            ModelErrorKind.MALFORMED,
            f"google-genai could not send the request or read the answer: {words}",
            "Ask again.",
        )


def _config(
    model: str, system: str, tools: tuple[FunctionDeclaration, ...], contents: list[Any], search: bool
) -> types.GenerateContentConfig:
    declared = [
        types.FunctionDeclaration(
            name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters)
        )
        for tool in tools
    ]
    offered: list[Any] = [types.Tool(google_search=types.GoogleSearch())] if search else []
    if declared:
        offered.append(types.Tool(function_declarations=declared))
    name = model.rpartition("/")[2]
    thinks = name.startswith(("gemini-2.5-", "gemini-3")) and "image" not in name
    return types.GenerateContentConfig(
        system_instruction=system or None,
        tools=offered or None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,
        thinking_config=types.ThinkingConfig(include_thoughts=True) if thinks else None,
        http_options=types.HttpOptions(extra_body={"contents": _Fixed(contents)}),
    )


def _event_in(chunk: types.GenerateContentResponse) -> str:
    """Return the text that `_Events` put into a chunk."""
    candidate = (chunk.candidates or [types.Candidate()])[0]
    parts = (candidate.content.parts if candidate.content else None) or [types.Part()]
    return str((parts[0].part_metadata or {}).get("event", ""))
