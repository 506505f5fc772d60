"""The local engine: bounded, lazy, clean when cancelled."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from fugu_lite.engines import Lane, LocalEngine


@pytest.mark.anyio
async def test_each_lane_keeps_its_own_bound() -> None:
    running, most = Counter[str](), Counter[str]()

    async def work(call: tuple[str, int]) -> tuple[str, int]:
        running[call[0]] += 1
        most[call[0]] = max(most[call[0]], running[call[0]])
        await asyncio.sleep(0.001)
        running[call[0]] -= 1
        return call

    seen: list[tuple[str, int]] = []
    lanes = {name: Lane([(name, i) for i in range(20)], limit) for name, limit in (("a", 3), ("b", 1))}
    await LocalEngine().run(lanes, work, seen.append)
    assert most == {"a": 3, "b": 1}
    assert sorted(seen) == sorted((name, i) for name in "ab" for i in range(20))


@pytest.mark.anyio
async def test_a_slow_lane_does_not_hold_up_a_fast_one() -> None:
    released = asyncio.Event()
    seen: list[str] = []

    async def work(call: str) -> str:
        if call == "slow":
            await released.wait()
        return call

    def deliver(call: str) -> None:
        seen.append(call)
        if seen.count("fast") == 50:
            released.set()

    await LocalEngine().run({"s": Lane(["slow"], 1), "f": Lane(["fast"] * 50, 2)}, work, deliver)
    assert seen == ["fast"] * 50 + ["slow"]


@pytest.mark.anyio
async def test_the_plan_is_consumed_as_it_is_done() -> None:
    drawn = 0
    ahead = 0

    def plan() -> Iterator[int]:
        nonlocal drawn
        for number in range(100_000):
            drawn += 1
            yield number

    async def work(number: int) -> int:
        nonlocal ahead
        ahead = max(ahead, drawn - number)
        if number % 1000 == 0:
            assert len(asyncio.all_tasks()) <= 10
        return number

    done: list[int] = []
    await LocalEngine().run({"a": Lane(plan(), 8)}, work, done.append)
    assert len(done) == 100_000
    assert ahead <= 8


@pytest.mark.anyio
async def test_cancelling_stops_the_calls_in_flight() -> None:
    ended: list[int] = []

    async def work(number: int) -> int:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)
        return number

    done: list[int] = []
    run = asyncio.ensure_future(LocalEngine().run({"a": Lane(range(100), 4)}, work, done.append))
    await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (sorted(ended), done) == ([0, 1, 2, 3], [])


@pytest.mark.anyio
async def test_a_defect_in_the_work_ends_the_run() -> None:
    async def work(number: int) -> int:
        return 1 // (number - 3)

    with pytest.raises(ExceptionGroup) as caught:
        await LocalEngine().run({"a": Lane(range(10), 2)}, work, lambda _: None)
    assert caught.group_contains(ZeroDivisionError)
