"""Calls in this process, on the running event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping

from fugu_lite.engines.contract import Lane, R, T


class LocalEngine:
    """One coroutine per slot pulls the lane's next call, so that memory follows the bound and not the plan."""

    async def run(
        self, lanes: Mapping[str, Lane[T]], work: Callable[[T], Awaitable[R]], deliver: Callable[[R], None]
    ) -> None:
        """See `Engine.run`.

        Raises:
            ExceptionGroup: what `work` or `deliver` raised.
        """
        async with asyncio.TaskGroup() as group:
            for name, lane in lanes.items():
                calls = iter(lane.calls)
                for slot in range(lane.limit):
                    group.create_task(_slot(calls, work, deliver), name=f"{name}-{slot}")


async def _slot(calls: Iterator[T], work: Callable[[T], Awaitable[R]], deliver: Callable[[R], None]) -> None:
    for call in calls:
        deliver(await work(call))
        await asyncio.sleep(0)  # work that never waits must still let the other lanes run
