"""The dispatcher: a completer that routes each request, calls the chosen worker and falls back to the next."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from fugu_lite.chat import ChatRequest, Completer, Completion, Json, closing
from fugu_lite.dispatch import fallback
from fugu_lite.dispatch.knobs import Knobs, split_knobs
from fugu_lite.dispatch.record import Record
from fugu_lite.errors import CallError, FuguLiteError, MismatchError
from fugu_lite.router import Decision, Router
from fugu_lite.workers import Worker

logger = logging.getLogger(__name__)


class Dispatcher:
    """Routes, calls, falls back. An async context manager: entering warms the backbone up.

    The pool belongs to the caller, who closes it.

    Args:
        router: chooses a worker for the last user turn.
        pool: live workers by id; every worker of the head must be in it.
        timeout_s: seconds one routing decision may take, waiting for its turn included.
        expose: whether answers carry the `fugu_lite` object in their body.
        head: stable name of the checkpoint, for the records.
        comparator: the best fixed worker: who answers when the backbone cannot embed the request.

    Raises:
        MismatchError: if the pool lacks a worker of the head, or the comparator is not one of them.
    """

    def __init__(
        self,
        router: Router,
        pool: Mapping[str, Worker],
        *,
        timeout_s: float = 10.0,
        expose: bool = True,
        head: str | None = None,
        comparator: str | None = None,
    ) -> None:
        missing = [name for name in router.worker_ids if name not in pool]
        if missing:
            known = f"the pool has {', '.join(pool)}"
            raise MismatchError("dispatcher", f"the head routes to {missing[0]!r}, which the pool lacks", known)
        if comparator is not None and comparator not in router.worker_ids:
            raise MismatchError("dispatcher", f"the comparator {comparator!r} is not a worker of the head")
        self.router, self.pool = router, pool
        self.timeout_s, self.expose = timeout_s, expose
        self.head, self.comparator = head, comparator
        # one thread: the backbone uses all cores by itself, and decisions must not block the event loop
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fugu-lite-route")
        self._routing_error: str | None = None

    async def decide(self, request: ChatRequest) -> Decision:
        """Choose a worker without calling it.

        Raises:
            CallError: for unusable knobs, or if routing fails and there is no comparator.
        """
        knobs, _ = split_knobs(request, self.router.worker_ids)
        return (await self._route(request, knobs)).decision

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer whole. Raises `CallError`."""
        knobs, inner = split_knobs(request, self.router.worker_ids)
        return await fallback.complete(await self._route(request, knobs), self.pool, inner)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Answer in chunks; the first and the last carry the `fugu_lite` object. Raises `CallError`."""
        knobs, inner = split_knobs(request, self.router.worker_ids)
        record = await self._route(request, knobs)
        async with closing(fallback.stream(record, self.pool, inner)) as answer:
            async for chunk in answer:
                yield chunk

    def completers(self) -> dict[str, Completer]:
        """Return what a server offers: `fugu-lite`, its alias `auto`, and every worker under its own id."""
        workers: dict[str, Completer] = {name: Direct(worker, self.expose) for name, worker in self.pool.items()}
        return {**workers, "fugu-lite": self, "auto": self}

    def status(self) -> Json:
        """Return whether requests are routed by the head; without it they go to the comparator, if there is one."""
        return {
            "ready": self._routing_error is None or self.comparator is not None,
            "routing_error": self._routing_error,
            "head": self.head,
            "comparator": self.comparator,
            "workers": list(self.pool),
        }

    async def start(self) -> None:
        """Load the backbone, so that the first request does not wait for it; a failure shows in `status`."""
        await self._decision("", None, None)

    async def aclose(self) -> None:
        """Stop the routing thread; safe to call twice."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _route(self, request: ChatRequest, knobs: Knobs) -> Record:
        """Decide, by the head or without it."""
        started = time.perf_counter()
        decision = await self._decision(request.last_user_text(), knobs.allowed_workers, self.timeout_s)
        error = None
        if decision is None:
            error = self._routing_error
            decision = self._without_head(knobs.allowed_workers)
        elapsed = time.perf_counter() - started
        return Record(decision, self.expose, self.head, knobs.domain, elapsed, error)

    async def _decision(self, text: str, allowed: tuple[str, ...] | None, timeout_s: float | None) -> Decision | None:
        """Return the head's decision; None when the backbone fails or is too slow, whatever it raises."""
        loop = asyncio.get_running_loop()
        try:
            future = loop.run_in_executor(self._thread, self.router.decide, text, allowed)
            decision = await asyncio.wait_for(future, timeout_s)
        except Exception as error:
            # a foreign error's message may quote the prompt, so only its type is kept
            told = f": {error}" if isinstance(error, FuguLiteError) else ""
            self._routing_error = f"{type(error).__name__}{told}"
            logger.warning("routing failed, %s", self._routing_error)
            return None
        self._routing_error = None
        return decision

    def _without_head(self, allowed: tuple[str, ...] | None) -> Decision:
        """Return the best fixed worker, then the others in the head's order; never a random one."""
        if self.comparator is None or (allowed is not None and self.comparator not in allowed):
            why = "no comparator is set" if self.comparator is None else "the comparator is not allowed"
            raise CallError("server", f"embedding_unavailable ({self._routing_error}) and {why}")
        others = (name for name in self.router.worker_ids if allowed is None or name in allowed)
        ranking = (self.comparator, *(name for name in others if name != self.comparator))
        return Decision(self.comparator, {}, ranking, "embedding_unavailable")


class Direct:
    """A worker asked for by its id: no routing and no fallback, but the same knobs and record as a routed call."""

    def __init__(self, worker: Worker, expose: bool = True) -> None:
        self.worker, self.expose = worker, expose

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer whole. Raises `CallError`."""
        record, inner = self._record(request)
        return await fallback.complete(record, {self.worker.id: self.worker}, inner)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Answer in chunks. Raises `CallError`."""
        record, inner = self._record(request)
        async with closing(fallback.stream(record, {self.worker.id: self.worker}, inner)) as answer:
            async for chunk in answer:
                yield chunk

    def _record(self, request: ChatRequest) -> tuple[Record, ChatRequest]:
        knobs, inner = split_knobs(request, (self.worker.id,))
        return Record(
            Decision(self.worker.id, {}, (self.worker.id,), "requested"), self.expose, None, knobs.domain
        ), inner
