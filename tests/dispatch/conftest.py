"""Stub workers and a router that reads the wish in the text: 'alpha' routes to alpha, anything else to beta."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import numpy as np
import pytest

from fugu_lite.chat import ChatRequest, Completion, Json, completion_body
from fugu_lite.embeddings import Embedder, EmbedderSpec
from fugu_lite.embeddings.contract import Features, Progress
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.heads import HeadSpec
from fugu_lite.heads.linear import LinearHead
from fugu_lite.router import Router
from fugu_lite.workers import Worker, WorkerSpec


class WishEmbedder(Embedder):
    """Vector: 1 where the text holds the word."""

    failure: Exception | None = None
    dimension = 3

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        if self.failure is not None:
            raise self.failure
        rows = [[float(word in text) for word in ("alpha", "beta", "gamma")] for text in texts]
        return np.array(rows, dtype=np.float32)


class StubWorker(Worker):
    """Answers what it is told, raises what it is given, keeps what it saw."""

    def __init__(self, worker_id: str, answers: Sequence[Any], price: Json | None = None) -> None:
        super().__init__(WorkerSpec.parse({"id": worker_id, "type": "stub", "price": price or {}}))
        self.answers, self.seen = list(answers), list[Json]()
        self.closed = self.cancelled = False

    async def complete(self, request: ChatRequest) -> Completion:
        self.seen.append(request.body)
        answer = self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return Completion(completion_body(answer, "provider/model-1"), cost_usd=0.25, provider="stub")
        return Completion(answer)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        self.seen.append(request.body)
        try:
            for answer in self.answers:
                if isinstance(answer, Exception):
                    raise answer
                yield answer
        except (GeneratorExit, asyncio.CancelledError):
            self.cancelled = True
            raise
        finally:
            self.closed = True


@pytest.fixture
def worker() -> Callable[..., StubWorker]:
    return StubWorker


@pytest.fixture
def router() -> Router:
    spec = HeadSpec()
    parameters = {"W": np.eye(3) * 4.0, "b": np.array([0.0, 2.0, 1.0])}
    head = LinearHead(spec, ("alpha", "beta", "gamma"), parameters)
    return Router(WishEmbedder(EmbedderSpec(type="wish")), Normaliser.identity(3), head)


@pytest.fixture
def chunk() -> Callable[..., Json]:
    """Return a `chat.completion.chunk` with one choice."""

    def make(delta: Json | None = None, finish: str | None = None, **fields: Any) -> Json:
        choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
        body = {"id": "c1", "object": "chat.completion.chunk", "model": "provider/model-1", "choices": [choice]}
        return {**body, **fields}

    return make
