"""A local server that fails as asked: the requested model's name says how. Also answers in OpenRouter's shapes."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = dict[str, Any]
USAGE = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}


def completion(text: str | None = "Hello, wörld", **fields: Any) -> Json:
    """Return a whole answer; `fields` replace its top-level fields."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "served-1",
        "choices": [choice],
        "usage": USAGE,
    } | fields


def chunk(text: str | None, finish_reason: str | None = None) -> Json:
    """Return one piece of a streamed answer."""
    delta = {"content": text} if text is not None else {}
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "served-1", "choices": [choice]}


def frame(value: Any, end: str = "\n\n") -> bytes:
    """Return one server-sent event."""
    return f"data: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}{end}".encode()


WHOLE_STREAM = b"".join(
    [b": waiting\r\n\r\n", frame(chunk("Hel"), "\r\n\r\n"), frame(chunk("lo, wörld")), frame(chunk(None, "stop"))]
)
DONE = frame("[DONE]")
ERROR_BODY = {"error": {"code": 502, "message": "the provider is down", "metadata": {"provider_name": "p"}}}

PLAIN: dict[str, tuple[int, dict[str, str], Any]] = {
    "ok": (200, {}, completion()),
    "429": (429, {}, {"error": {"message": "slow down", "code": 429}}),
    "429-seconds": (429, {"Retry-After": "7"}, {"error": {"message": "slow down"}}),
    "429-ms": (429, {"retry-after-ms": "1500", "Retry-After": "9"}, {"error": {"message": "slow down"}}),
    "429-date": (429, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}, {}),
    "429-nonsense": (429, {"Retry-After": "soon"}, {}),
    "500": (500, {}, {"error": {"message": "broken"}}),
    "503-html": (503, {"Content-Type": "text/html"}, "<h1>down</h1>"),
    "400": (400, {}, {"error": {"message": "no such parameter", "type": "invalid_request_error"}}),
    "400-filter": (400, {}, {"error": {"message": "filtered", "code": "content_filter"}}),
    "401": (401, {}, {"error": {"message": "bad key"}}),
    "403": (403, {}, {"error": "forbidden"}),
    "403-moderation": (403, {}, {"error": {"code": 403, "message": "flagged", "metadata": {"reasons": ["x"]}}}),
    "404": (404, {}, {"detail": "no such model"}),
    "402": (402, {}, {"error": {"message": "no credit left", "code": 402}}),
    "404-named": (404, {}, {"error": {"message": "gone", "type": "invalid_request_error", "code": "model_not_found"}}),
    "413": (413, {}, {}),
    "422": (422, {}, {"error": {"message": "n must be 1"}}),
    "429-quota": (429, {}, {"error": {"message": "pay", "type": "insufficient_quota", "code": None}}),
    "400-context": (400, {}, {"error": {"message": "too long", "code": "context_length_exceeded"}}),
    "400-context-local": (400, {}, {"error": {"code": 400, "message": "x", "type": "exceed_context_size_error"}}),
    "408": (408, {}, {"error": {"message": "late"}}),
    "302": (302, {"Location": "http://127.0.0.1:9/elsewhere"}, ""),
    "empty": (200, {}, completion("")),
    "null": (200, {}, completion(None)),
    "tool": (
        200,
        {},
        completion(
            choices=[
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {"role": "assistant", "content": None, "tool_calls": [{"id": "t", "type": "function"}]},
                }
            ]
        ),
    ),
    "empty-choices": (200, {}, completion(choices=[])),
    "no-choices": (200, {}, {"id": "x"}),
    "null-choices": (200, {}, completion(choices=None)),
    "no-message": (200, {}, completion(choices=[{"index": 0, "finish_reason": "stop"}])),
    "list": (200, {}, []),
    "malformed": (200, {"Content-Type": "application/json"}, '{"choices": [{"mess'),
    "html": (200, {"Content-Type": "text/html"}, "<html>hello</html>"),
    "no-body": (200, {"Content-Type": "application/json"}, ""),
    "error-body": (200, {}, ERROR_BODY),
    "error-429": (200, {}, {"error": {"code": "429", "message": "slow down"}}),
    "error-word": (200, {}, {"error": {"code": "rate_limit_exceeded", "message": "slow down"}}),
    "error-text": (200, {}, {"error": "it broke"}),
    "error-400": (200, {}, {"error": {"code": 400, "message": "bad"}}),
    "error-402": (200, {}, {"error": {"code": 402, "message": "no credit left"}}),
    "error-context": (200, {}, {"error": {"code": "context_length_exceeded", "message": "too long"}}),
    "error-401": (200, {}, {"error": {"code": 401, "message": "bad key"}}),
    "choice-error": (200, {}, completion(choices=[{"error": {"code": 503, "message": "overloaded"}}])),
    "filtered": (
        200,
        {},
        completion(choices=[{"message": {"role": "assistant", "content": ""}, "finish_reason": "content_filter"}]),
    ),
    "refusal": (
        200,
        {},
        completion(choices=[{"message": {"content": None, "refusal": "I cannot"}, "finish_reason": "stop"}]),
    ),
}

STREAMS: dict[str, list[bytes]] = {
    "ok": [WHOLE_STREAM, DONE],
    "bytes": [bytes([byte]) for byte in WHOLE_STREAM + DONE],
    "no-done": [WHOLE_STREAM],
    "no-newline": [WHOLE_STREAM, b"data: [DONE]"],
    "cut": [frame(chunk("Hel"))],
    "done-only": [frame(chunk("Hel")), DONE],
    "nothing": [],
    "error-first": [frame(ERROR_BODY)],
    "error-later": [frame(chunk("Hel")), frame(ERROR_BODY)],
    "error-event": [frame(chunk("Hel")), b'event: error\ndata: {"message": "overloaded", "code": 429}\n\n'],
    "error-finish": [frame(chunk("Hel")), frame(chunk(None, "error"))],
    "bad-frame": [frame(chunk("Hel")), frame("{oops")],
}


@dataclass
class Faulty:
    """A running server: where it is, and what it was asked."""

    url: str
    requests: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: dict[str, Json] = field(default_factory=dict)
    models: Any = None
    open_streams: int = 0

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        model = body["model"]
        if model in self.answers:
            return web.json_response(self.answers[model])
        special = SPECIAL.get(model)
        if special is not None:
            return await special(self, request, bool(body.get("stream")))
        if body.get("stream") and model in STREAMS:
            return await self.streamed(request, STREAMS[model])
        status, headers, answer = PLAIN[model]
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return web.Response(status=status, body=text.encode(), headers={"Content-Type": "application/json"} | headers)

    async def streamed(self, request: web.Request, parts: list[bytes]) -> web.StreamResponse:
        response = await self.opened(request)
        for part in parts:
            await response.write(part)
        return response

    async def opened(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        return response

    async def listed(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        return web.json_response(self.models)


async def _reset(server: Faulty, request: web.Request, stream: bool) -> web.StreamResponse:
    """Break the connection before the first byte of an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def _reset_later(server: Faulty, request: web.Request, stream: bool) -> web.StreamResponse:
    """Break the connection in the middle of an answer."""
    response = await server.opened(request)
    await response.write(frame(chunk("Hel")))
    await asyncio.sleep(0.02)
    assert request.transport is not None
    request.transport.abort()
    return response


async def _stall(server: Faulty, request: web.Request, stream: bool) -> web.StreamResponse:
    """Answer nothing, or fall silent after the first chunk; count how many are waiting."""
    server.open_streams += 1
    try:
        if stream:
            response = await server.opened(request)
            await response.write(frame(chunk("Hel")))
        await asyncio.sleep(30)
    finally:
        server.open_streams -= 1
    return web.Response()


async def _echo_key(server: Faulty, request: web.Request, stream: bool) -> web.StreamResponse:
    """Repeat the caller's key in an error, as some gateways do."""
    message = f"key {request.headers.get('Authorization')} is wrong"
    return web.json_response({"error": {"message": message}}, status=401)


async def _echo_key_body(server: Faulty, request: web.Request, stream: bool) -> web.StreamResponse:
    message = f"key {request.headers.get('Authorization')} is wrong"
    return web.json_response({"error": {"message": message, "code": 401}})


SPECIAL: dict[str, Callable[[Faulty, web.Request, bool], Awaitable[web.StreamResponse]]] = {
    "reset": _reset,
    "reset-later": _reset_later,
    "stall": _stall,
    "echo-key": _echo_key,
    "echo-key-200": _echo_key_body,
}


@asynccontextmanager
async def faulty_server() -> AsyncIterator[Faulty]:
    """Run the server on a free local port; `url` is its root, without `/v1`."""
    port = free_port()
    server = Faulty(f"http://127.0.0.1:{port}")
    app = web.Application()
    for prefix in ("/v1", "/api/v1"):
        app.router.add_post(f"{prefix}/chat/completions", server.chat)
        app.router.add_get(f"{prefix}/models", server.listed)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield server
    finally:
        await runner.cleanup()


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
