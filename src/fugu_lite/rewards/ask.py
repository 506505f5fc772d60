"""One worker as a collection asks it: rate limit, time limit and retries around every call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import numpy as np

from fugu_lite.chat import ChatRequest, Completion, Json
from fugu_lite.errors import CallError, SpecError
from fugu_lite.rewards.answer import came_to_nothing
from fugu_lite.workers import Pool, Worker
from fugu_lite.workers.retry import RateLimiter, with_retries


class Asker:
    """A completer that honours the pool entry's limits. Its random state spreads retries, never answers.

    Args:
        worker: whom to ask.
        retries: further tries after a failure that may pass.
        limit: calls in flight; None leaves the bound to the caller.
        on_retry: called before each further try.
    """

    def __init__(
        self,
        worker: Worker,
        retries: int,
        limit: int | None = None,
        on_retry: Callable[[], None] | None = None,
    ) -> None:
        self.worker, self.retries, self._on_retry = worker, retries, on_retry
        rate = worker.spec.requests_per_minute
        self._limiter = RateLimiter(rate) if rate is not None else None
        self._room = asyncio.Semaphore(limit) if limit is not None else None
        self._rng = np.random.default_rng()

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer whole, with `latency_s` of the try that succeeded.

        Raises:
            CallError: of the last try; any other failure of the worker becomes kind `internal`.
        """
        if self._room is None:
            return await self._patiently(request)
        async with self._room:
            return await self._patiently(request)

    async def _patiently(self, request: ChatRequest) -> Completion:
        def told(*_: object) -> None:
            if self._on_retry is not None:
                self._on_retry()

        return await with_retries(
            lambda: self._once(request), self.retries, sleep=asyncio.sleep, rng=self._rng, on_retry=told
        )

    async def _once(self, request: ChatRequest) -> Completion:
        if self._limiter is not None:
            await self._limiter.acquire()
        limit, begun = self.worker.spec.timeout_s, time.perf_counter()
        try:
            if self.worker.keeps_time:
                completion = await self.worker.complete(request)
            else:
                async with asyncio.timeout(limit):
                    completion = await self.worker.complete(request)
        except TimeoutError:
            raise CallError("timeout", f"no answer within {limit:g} s") from None
        except CallError:
            raise
        except Exception as error:
            raise CallError("internal", f"the worker failed with {type(error).__name__}: {error}") from error
        if came_to_nothing(completion):
            raise CallError("empty", "the answer has no text and no token was generated")
        if completion.latency_s is None:
            completion = replace(completion, latency_s=time.perf_counter() - begun)
        return completion

    def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Stream without limits: collections never do."""
        return self.worker.stream(request)


def judge_of(pool: Pool, retries: int, on_retry: Callable[[], None] | None = None) -> tuple[Asker, str]:
    """Return the pool's judge as it is asked, and the model name to record.

    Raises:
        SpecError: if `reward.judge_model` is not set or names no worker of the pool.
    """
    name = pool.spec.reward.judge_model
    if name is None or name not in pool:
        found = "is not set" if name is None else f"names {name!r}, which is no worker of the pool"
        raise SpecError("reward.judge_model", found, f"some tasks need a judge; workers: {', '.join(pool)}")
    spec = pool[name].spec
    return Asker(pool[name], retries, spec.max_concurrency, on_retry), spec.model or name
