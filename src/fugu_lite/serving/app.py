"""The application: completers by name behind the OpenAI chat protocol. It knows nothing of routing or workers."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import orjson

from fugu_lite.chat import ChatRequest, Completer, Json, Status, closing
from fugu_lite.errors import MissingExtraError
from fugu_lite.serving.stream import Receive, Send, send_events, send_json, told, unless_disconnected
from fugu_lite.serving.wire import (
    ApiError,
    Headers,
    check_content_type,
    check_origin,
    label_headers,
    parse_request,
    read_body,
)

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import Scope
except ImportError:
    raise MissingExtraError("the endpoint", "serve") from None

BODY_LIMIT = 32 * 1024 * 1024


def create_app(
    completers: Mapping[str, Completer],
    *,
    api_keys: frozenset[str] = frozenset(),
    models: Mapping[str, Json] | None = None,
    resources: Sequence[AbstractAsyncContextManager[Any]] = (),
    body_limit: int = BODY_LIMIT,
    public: bool = False,
) -> Starlette:
    """Return the ASGI application.

    Args:
        completers: model name -> who answers.
        api_keys: bearer keys that may use `/v1`; empty lets everybody in.
        models: further fields of some models' entries in `/v1/models`.
        resources: entered when the server starts and left when it stops: pool, dispatcher.
        body_limit: bytes of a request.
        public: without keys, also answer to other names than this machine's and to web pages of other sites.
    """
    endpoints = _Endpoints(completers, api_keys, models or {}, body_limit, public)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for resource in resources:
                await stack.enter_async_context(resource)
            yield

    routes = [
        Route("/v1/chat/completions", _Chat(endpoints), methods=["POST"]),
        Route("/v1/models", endpoints.list_models, methods=["GET"]),
        Route("/v1/models/{name:path}", endpoints.show_model, methods=["GET"]),
        Route("/health", endpoints.health, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={ApiError: _answer, HTTPException: _answer})


class _Endpoints:
    """What the routes share."""

    def __init__(
        self,
        completers: Mapping[str, Completer],
        api_keys: frozenset[str],
        models: Mapping[str, Json],
        limit: int,
        public: bool,
    ) -> None:
        self.completers, self.models, self.limit, self.public = completers, models, limit, public
        self._digests = [_digest(key) for key in api_keys]

    def authorise(self, headers: Headers) -> None:
        """Refuse a request without a known key. Every key is compared, so that the time tells nothing.

        Where no key is set, refuse what did not come from this machine's own programs.
        """
        if not self._digests:
            if not self.public:
                check_origin(headers)
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = _digest(token.strip())
        known = [hmac.compare_digest(given, digest) for digest in self._digests]
        if scheme.lower() != "bearer" or not any(known):
            message = "a known API key is needed: Authorization: Bearer <key>"
            challenge = {"www-authenticate": "Bearer"}
            raise ApiError(401, message, "authentication_error", "invalid_api_key", headers=challenge)

    def completer(self, name: str) -> Completer:
        """Return who answers for a model name."""
        if name not in self.completers:
            message = f"the model {name!r} does not exist; known: {', '.join(self.completers)}"
            raise ApiError(404, message, code="model_not_found", param="model")
        return self.completers[name]

    def entry(self, name: str) -> Json:
        """Return one entry of the list of models."""
        return {"id": name, "object": "model", "created": 0, "owned_by": "fugu-lite", **self.models.get(name, {})}

    async def list_models(self, request: Request) -> Response:
        """GET /v1/models."""
        self.authorise(request.headers)
        return _json({"object": "list", "data": [self.entry(name) for name in self.completers]})

    async def show_model(self, request: Request) -> Response:
        """GET /v1/models/{name}."""
        self.authorise(request.headers)
        name = request.path_params["name"]
        self.completer(name)
        return _json(self.entry(name))

    async def health(self, _: Request) -> Response:
        """GET /health: always 200 while the process answers; `status` says whether it is whole."""
        found = {name: each.status() for name, each in self.completers.items() if isinstance(each, Status)}
        whole = all(status.get("ready") is True for status in found.values())
        return _json({"status": "ok" if whole else "degraded", "models": list(self.completers), "completers": found})


class _Chat:
    """POST /v1/chat/completions, as plain ASGI: a wrapped `receive` would hide that the client is gone."""

    def __init__(self, endpoints: _Endpoints) -> None:
        self.endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            self.endpoints.authorise(headers)
            check_content_type(headers)
            request = parse_request(await read_body(headers, _body(receive), self.endpoints.limit))
            completer = self.endpoints.completer(request.body["model"])
        except _Gone:
            return
        except ApiError as error:
            await send_json(send, error.status, orjson.dumps(error.body), error.headers)
        else:
            await unless_disconnected(receive, _answered(completer, request, send))


async def _answered(completer: Completer, request: ChatRequest, send: Send) -> None:
    """Answer in the way that the client asked for; nothing was sent yet when an error comes here."""
    try:
        if request.stream:
            async with closing(completer.stream(request)) as chunks:
                await send_events(send, chunks)
            return
        body = (await completer.complete(request)).body
        data, status, headers = orjson.dumps(body), 200, label_headers(body)
    except Exception as error:
        problem = told(error)
        data, status, headers = orjson.dumps(problem.body), problem.status, problem.headers
    await send_json(send, status, data, headers)


class _Gone(Exception):
    """The client left while it was still sending."""


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        yield message.get("body", b"")
        more = message.get("more_body", False)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _json(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, "application/json")


async def _answer(request: Request, error: Exception) -> Response:
    """Give the errors of routes and of the router (404, 405) the one shape."""
    if isinstance(error, HTTPException):
        message = f"{request.method} {request.url.path}: {error.detail}"
        error = ApiError(
            error.status_code, message, code="not_found" if error.status_code == 404 else None, headers=error.headers
        )
    problem = told(error)
    return _json(problem.body, problem.status, problem.headers)
