import asyncio

import numpy as np
import pytest

from fugu_lite.errors import CallError
from fugu_lite.workers.retry import RateLimiter, delay_s, with_retries

pytestmark = pytest.mark.anyio


class Flaky:
    """Fails with the given errors, then answers; records its waits instead of sleeping."""

    def __init__(self, *errors: CallError) -> None:
        self.errors, self.calls, self.waits = list(errors), 0, list[float]()

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("kind", ["connect", "timeout", "rate_limit", "server", "empty", "malformed"])
async def test_passing_failures_are_tried_again(kind: str) -> None:
    call = Flaky(CallError(kind, "x"), CallError(kind, "y"))
    assert await with_retries(call, 2, sleep=call.sleep, rng=rng()) == "answer"
    assert (call.calls, len(call.waits)) == (3, 2)


@pytest.mark.parametrize("kind", ["client", "auth", "refused"])
async def test_lasting_failures_are_not(kind: str) -> None:
    call = Flaky(CallError(kind, "x"))
    with pytest.raises(CallError, match=kind):
        await with_retries(call, 3, sleep=call.sleep, rng=rng())
    assert (call.calls, call.waits) == (1, [])


async def test_the_last_error_is_raised() -> None:
    call = Flaky(CallError("server", "first"), CallError("timeout", "second"))
    with pytest.raises(CallError, match="second"):
        await with_retries(call, 1, sleep=call.sleep, rng=rng())
    assert call.calls == 2


async def test_no_retries_means_one_call() -> None:
    call = Flaky(CallError("server", "x"))
    with pytest.raises(CallError):
        await with_retries(call, 0, sleep=call.sleep)
    assert call.calls == 1


async def test_each_retry_is_told() -> None:
    told: list[tuple[int, str, float]] = []
    call = Flaky(CallError("server", "a"), CallError("rate_limit", "b", 429, 3.0))
    await with_retries(
        call, 3, sleep=call.sleep, rng=rng(), on_retry=lambda n, error, s: told.append((n, error.kind, s))
    )
    assert [(number, kind) for number, kind, _ in told] == [(1, "server"), (2, "rate_limit")]
    assert [wait for _, _, wait in told] == call.waits
    assert 3.0 <= call.waits[1] <= 3.5


async def test_other_errors_pass_through() -> None:
    async def broken() -> str:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        await with_retries(broken, 3)


@pytest.mark.parametrize(("tried", "ceiling"), [(1, 0.5), (2, 1.0), (5, 8.0), (7, 30.0), (5000, 30.0)])
def test_waits_are_jittered_below_a_doubling_ceiling(tried: int, ceiling: float) -> None:
    generator = rng()
    waits = [delay_s(tried, None, generator) for _ in range(400)]
    assert 0 <= min(waits) < 0.05 * ceiling
    assert 0.95 * ceiling < max(waits) <= ceiling


def test_what_the_server_asks_is_capped() -> None:
    assert 120 <= delay_s(1, 86_400.0, rng()) <= 120.5
    assert 0 <= delay_s(4, 0.0, rng()) <= 0.5


class Clock:
    """Time that passes only when someone sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


async def test_starts_are_spaced() -> None:
    clock = Clock()
    limiter = RateLimiter(30, clock, clock.sleep)
    starts = []
    for _ in range(4):
        await limiter.acquire()
        starts.append(clock.now - 100)
    assert starts == [0, 2, 4, 6]
    clock.now += 60  # idle time is not saved up
    await limiter.acquire()
    await limiter.acquire()
    assert clock.now - 100 == 68


async def test_turns_are_given_in_order() -> None:
    clock, order = Clock(), list[int]()
    limiter = RateLimiter(60, clock, clock.sleep)

    async def one(number: int) -> None:
        await limiter.acquire()
        order.append(number)

    await asyncio.gather(*(one(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert clock.now - 100 == 4


async def test_without_a_rate_nobody_waits() -> None:
    clock = Clock()
    limiter = RateLimiter(None, clock, clock.sleep)
    for _ in range(100):
        await limiter.acquire()
    assert clock.now == 100


def test_a_rate_must_be_positive() -> None:
    with pytest.raises(ValueError, match="above 0"):
        RateLimiter(0)
