"""Calls in this process, on the running event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping

from fugu_lite.engines.contract import Lane, R, T

LONGEST_TURN_S = 0.01  # work that never waits lets the other lanes run this often


class LocalEngine:
    """One coroutine per slot pulls the lane's next call, so that memory follows the bound and not the plan."""

    async def run(
        self, lanes: Mapping[str, Lane[T]], work: Callable[[T], Awaitable[R]], deliver: Callable[[R], None]
    ) -> None:
        """See `Engine.run`.

        Raises:
            ExceptionGroup: what `work` or `deliver` raised.
        """
        turn = _Turn()
        async with asyncio.TaskGroup() as group:
            for name, lane in lanes.items():
                calls = iter(lane.calls)
                for slot in range(lane.limit):
                    group.create_task(_slot(calls, work, deliver, turn), name=f"{name}-{slot}")


class _Turn:
    """When the slots of a run last gave way; every call that waits gives way by itself."""

    def __init__(self) -> None:
        self._until_s = time.monotonic() + LONGEST_TURN_S

    def over(self) -> bool:
        """Whether to give way now, which begins the next turn."""
        now = time.monotonic()
        if now < self._until_s:
            return False
        self._until_s = now + LONGEST_TURN_S
        return True


async def _slot(
    calls: Iterator[T], work: Callable[[T], Awaitable[R]], deliver: Callable[[R], None], turn: _Turn
) -> None:
    for call in calls:
        deliver(await work(call))
        if turn.over():
            await asyncio.sleep(0)
