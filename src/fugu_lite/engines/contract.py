"""What an engine is: it maps an async function over lanes of calls, each lane with its own bound."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Lane(Generic[T]):
    """The calls of one worker: consumed lazily, in order, at most `limit` at once.

    Attributes:
        calls: what is to be done; an iterator that ends early stops the lane.
        limit: calls in flight, at least 1.
    """

    calls: Iterable[T]
    limit: int


class Engine(Protocol):
    """Where many calls run."""

    async def run(
        self, lanes: Mapping[str, Lane[T]], work: Callable[[T], Awaitable[R]], deliver: Callable[[R], None]
    ) -> None:
        """Do every call of every lane and hand each result to `deliver` as it finishes.

        Lanes do not wait for each other. When the caller is cancelled, or `work` or `deliver` raises, the calls in
        flight are cancelled and awaited before the exception leaves.
        """
        ...
