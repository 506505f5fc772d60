"""Asking again, and not asking too fast. The only retry loop of the package."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import numpy as np

from fugu_lite.errors import CallError

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[object]]
OnRetry = Callable[[int, CallError, float], object]

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
LONGEST_RETRY_AFTER_S = 120.0  # a server that asks for more is not waited for any longer than this


async def with_retries(
    call: Callable[[], Awaitable[T]],
    retries: int = 3,
    *,
    sleep: Sleep = asyncio.sleep,
    rng: np.random.Generator | None = None,
    on_retry: OnRetry | None = None,
) -> T:
    """Return what `call` returns, asking again after failures that may pass.

    Args:
        call: makes one try.
        retries: further tries after the first.
        sleep: waits that many seconds.
        rng: spreads the waits; a fresh generator when None.
        on_retry: told (number of the failed try from 1, its error, seconds to wait) before each further try.

    Raises:
        CallError: of the last try, or the first that is not `retryable`.
    """
    rng = np.random.default_rng() if rng is None else rng
    for tried in range(1, retries + 1):
        try:
            return await call()
        except CallError as error:
            if not error.retryable:
                raise
            wait_s = delay_s(tried, error.retry_after_s, rng)
            if on_retry is not None:
                on_retry(tried, error, wait_s)
        await sleep(wait_s)
    return await call()


def delay_s(tried: int, retry_after_s: float | None, rng: np.random.Generator) -> float:
    """Return the wait before the next try: exponential with full jitter, or what the server asked for.

    Without `retry_after_s` it is uniform in [0, min(30, 0.5 * 2^(tried - 1))) seconds; with it, that many seconds (at
    most 120) plus up to half a second, so that callers told the same time do not return together.
    """
    if retry_after_s is not None:
        return min(retry_after_s, LONGEST_RETRY_AFTER_S) + float(rng.uniform(0, FIRST_WAIT_S))
    ceiling = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(tried - 1, 32))
    return float(rng.uniform(0, ceiling))


class RateLimiter:
    """Spaces starts evenly, first come first served; never more than one start per interval, so there are no bursts.

    Args:
        requests_per_minute: starts per 60 s; None does not limit.
        clock: seconds that never run backwards.
        sleep: waits that many seconds.
    """

    def __init__(
        self,
        requests_per_minute: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        if requests_per_minute is not None and requests_per_minute <= 0:
            raise ValueError(f"requests_per_minute must be above 0, found {requests_per_minute}")
        self.interval_s = 60.0 / requests_per_minute if requests_per_minute is not None else 0.0
        self._clock, self._sleep = clock, sleep
        self._next_s = float("-inf")

    async def acquire(self) -> None:
        """Wait for this caller's turn. Turns are given out on entry; one whose caller is cancelled stays unused."""
        now = self._clock()
        turn = max(now, self._next_s)
        self._next_s = turn + self.interval_s
        if turn > now:
            await self._sleep(turn - now)
