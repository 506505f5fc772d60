"""Call the workers of a ranking one after the other until one answers."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fugu_lite.chat import ChatRequest, Completion, Json, Usage, closing, content_text
from fugu_lite.dispatch.record import Record, as_call_error
from fugu_lite.errors import CallError, FuguLiteError
from fugu_lite.workers import Worker

# any of these, non-empty, is something a client shows or acts on: once it is sent, no other worker may take over
ANSWERS = ("tool_calls", "function_call", "refusal", "reasoning", "reasoning_content", "audio")


async def complete(record: Record, pool: Mapping[str, Worker], request: ChatRequest) -> Completion:
    """Answer whole.

    Raises:
        CallError: the client's fault, or (`ExhaustedError`) nobody answered.
    """
    for worker_id in record.decision.ranking:
        started = time.perf_counter()
        try:
            completion = await pool[worker_id].complete(request)
            _refuse_empty(completion)
        except FuguLiteError as error:
            record.failed(worker_id, error)
            continue
        return record.labelled(worker_id, completion, time.perf_counter() - started)
    raise record.exhausted()


async def stream(record: Record, pool: Mapping[str, Worker], request: ChatRequest) -> AsyncIterator[Json]:
    """Answer in chunks: another worker may take over before the first content, none after it.

    Raises:
        CallError: before the first chunk as in `complete`, or in the middle.
    """
    for worker_id in record.decision.ranking:
        relay = _Relay(record, pool[worker_id], request)
        async with closing(pool[worker_id].stream(request)) as chunks:
            try:
                held = await _until_content(chunks)
            except FuguLiteError as error:
                record.failed(worker_id, error)
                continue
            try:
                async for chunk in relay.run(held, chunks):
                    yield chunk
            except FuguLiteError as error:
                raise as_call_error(error) from None
            return
    raise record.exhausted()


class _Relay:
    """Passes one worker's chunks on, under the worker's id; the first and the last carry the `fugu_lite` object."""

    def __init__(self, record: Record, worker: Worker, request: ChatRequest) -> None:
        self.record, self.worker = record, worker
        options = request.body.get("stream_options")
        self.wants_usage = isinstance(options, dict) and options.get("include_usage") is True
        self.usage: Any = None
        self.served_model: str | None = None
        self.started = time.perf_counter()

    async def run(self, held: list[Json], chunks: AsyncIterator[Json]) -> AsyncIterator[Json]:
        """Yield the chunks. From the first `finish_reason` on, one is kept back: the last must carry the details."""
        first, last, finished = True, None, False
        async for chunk in _chained(held, chunks):
            shown = self._shown(chunk)
            if shown is None:
                continue
            if first and self.record.expose:
                shown["fugu_lite"] = self.record.essentials(self.worker.id)
            first, finished = False, finished or _finishes(chunk)
            if last is not None:
                yield last
            if finished:
                last = shown
            else:
                yield shown
        if last is None:
            raise CallError("malformed", "the stream ended without a finish_reason")
        yield {**last, "fugu_lite": self._details()} if self.record.expose else last

    def _shown(self, chunk: Json) -> Json | None:
        """Return the chunk as the client sees it; None for a usage chunk that the client did not ask for."""
        _refuse_error(chunk)
        self.usage = chunk.get("usage") or self.usage
        self.served_model = chunk.get("model") or self.served_model
        shown = {**chunk, "model": self.worker.id}
        if not self.wants_usage and shown.pop("usage", None) and not chunk.get("choices"):
            return None
        return shown

    def _details(self) -> Json:
        worker_s = time.perf_counter() - self.started
        return self.record.details(self.worker.id, self.served_model, self._cost_usd(), worker_s)

    def _cost_usd(self) -> float | None:
        """Return what the provider charged, or the price of the counted tokens; None when neither is known."""
        charged = self.usage.get("cost") if isinstance(self.usage, dict) else None
        if isinstance(charged, int | float) and not isinstance(charged, bool) and 0 <= charged < math.inf:
            return float(charged)
        return self.worker.spec.price.cost_usd(Usage.of(self.usage))


async def _until_content(chunks: AsyncIterator[Json]) -> list[Json]:
    """Return the chunks up to and including the first that says something."""
    held: list[Json] = []
    async for chunk in chunks:
        _refuse_error(chunk)
        held.append(chunk)
        if any(_says(choice.get("delta")) for choice in _choices(chunk)):
            return held
    raise CallError("empty", "the stream ended without content")


async def _chained(held: list[Json], chunks: AsyncIterator[Json]) -> AsyncIterator[Json]:
    for chunk in held:
        yield chunk
    async for chunk in chunks:
        yield chunk


def _refuse_empty(completion: Completion) -> None:
    choices = _choices(completion.body)
    if not choices:
        raise CallError("malformed", "the answer has no choices")
    if not any(_says(choice.get("message")) for choice in choices):
        raise CallError("empty", f"the answer is empty (finish_reason {completion.finish_reason!r})")


def _refuse_error(chunk: Json) -> None:
    """Some servers answer 200 and put the failure into a frame."""
    error = chunk.get("error")
    if error and not chunk.get("choices"):
        message = error.get("message") if isinstance(error, dict) else error
        raise CallError("server", f"error frame: {message}"[:500])


def _says(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    content = message.get("content")
    # parts other than text (images, audio) count as they are
    said = bool(content_text(content).strip()) or (isinstance(content, list) and any(map(_is_media, content)))
    return said or any(message.get(name) for name in ANSWERS)


def _is_media(part: Any) -> bool:
    return isinstance(part, dict) and "text" not in part


def _finishes(chunk: Json) -> bool:
    return any(choice.get("finish_reason") for choice in _choices(chunk))


def _choices(body: Json) -> list[Json]:
    choices = body.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
