"""A real server on a free port, and completers that do what they are told."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import aiohttp
import pytest
import uvicorn

from fugu_lite.chat import ChatRequest, Completion, Json, completion_body
from fugu_lite.serving import create_app


class StubCompleter:
    """Sends its answers; an exception is raised, a number is a pause in seconds."""

    def __init__(self, *answers: Any) -> None:
        self.answers: Sequence[Any] = answers
        self.seen = list[Json]()
        self.started, self.cancelled = asyncio.Event(), asyncio.Event()

    async def complete(self, request: ChatRequest) -> Completion:
        body = [each async for each in self._run(request)][-1]
        return Completion(completion_body(body, "provider/model-1") if isinstance(body, str) else body)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        async for each in self._run(request):
            yield each

    async def _run(self, request: ChatRequest) -> AsyncIterator[Any]:
        self.seen.append(request.body)
        self.started.set()
        try:
            for answer in self.answers:
                if isinstance(answer, Exception):
                    raise answer
                if isinstance(answer, float):
                    await asyncio.sleep(answer)
                else:
                    yield answer
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@asynccontextmanager
async def _serving(completers: Any, **options: Any) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve and yield a client of it."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(completers, **options), log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    running = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{listener.getsockname()[1]}") as session:
            yield session
    finally:
        server.should_exit = True
        await running


@pytest.fixture
def serving() -> Callable[..., AbstractAsyncContextManager[aiohttp.ClientSession]]:
    return _serving


@pytest.fixture
def stub() -> Callable[..., StubCompleter]:
    return StubCompleter


@pytest.fixture
def chunk() -> Callable[..., Json]:
    """Return a `chat.completion.chunk` with one choice."""

    def make(content: str | None = None, finish: str | None = None, **fields: Any) -> Json:
        delta = {} if content is None else {"content": content}
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        body = {"id": "c1", "object": "chat.completion.chunk", "model": "provider/model-1", "choices": [choice]}
        return {**body, **fields}

    return make
