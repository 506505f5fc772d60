"""Server-sent events, and ending the work when the client is gone."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from typing import Any

import orjson

from fugu_lite.chat import Json
from fugu_lite.errors import CallError
from fugu_lite.serving.wire import INTERNAL, ApiError, label_headers

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

DONE = b"data: [DONE]\n\n"
SSE_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}

logger = logging.getLogger(__name__)


async def unless_disconnected(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Run `work`; when the client goes away first, cancel it and wait until it has let go of its connection."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_json(send: Send, status: int, data: bytes, headers: dict[str, str]) -> None:
    """Send one whole JSON answer."""
    await _start(send, status, {"content-type": "application/json", "content-length": str(len(data)), **headers})
    await send({"type": "http.response.body", "body": data})


async def send_events(send: Send, chunks: AsyncIterator[Json]) -> None:
    """Send chunks as events. A failure before the first is an ordinary error answer, one after it an error event.

    Raises:
        CallError: before anything was sent.
    """
    first = await anext(chunks, None)
    if first is None:
        raise CallError("empty", "the stream ended without a chunk")
    event = _event(first)
    await _start(send, 200, {**SSE_HEADERS, **label_headers(first)})
    await _send(send, event, more=True)
    finished = _finishes(first)
    try:
        async for chunk in chunks:
            finished = finished or _finishes(chunk)
            await _send(send, _event(chunk), more=True)
        if not finished:
            raise CallError("malformed", "the stream ended without a finish_reason")
    except Exception as error:
        # what was sent stands: another worker's text cannot be spliced in, and [DONE] would call it complete
        await _send(send, _event(told(error).body))
    else:
        await _send(send, DONE)


def told(error: Exception) -> ApiError:
    """Return what the client is told. A defect of ours is logged by type and place: its message may quote a prompt."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, CallError):
        return ApiError.of(error)
    logger.error("%s\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
    return INTERNAL


async def _start(send: Send, status: int, headers: dict[str, str]) -> None:
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _send(send: Send, data: bytes, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})


def _event(body: Json) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"


def _finishes(chunk: Json) -> bool:
    choices = chunk.get("choices")
    return isinstance(choices, list) and any(isinstance(c, dict) and c.get("finish_reason") for c in choices)
