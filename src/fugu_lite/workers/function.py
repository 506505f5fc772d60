"""Type `function`: a registered Python callable as a worker, e.g. the calculator.

A pool file can only name what is registered, by a package's entry point or by running code; it never holds a path.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from fugu_lite.chat import ChatRequest, Completion, Json, Usage, completion_body
from fugu_lite.errors import CallError, SpecError
from fugu_lite.registry import Registry
from fugu_lite.specs import Spec
from fugu_lite.workers.contract import Worker, WorkerSpec

Function = Callable[[list[Json]], str | Awaitable[str]]

functions: Registry[Function] = Registry(
    "function", {"calculator": "fugu_lite.workers.calculator:calculator"}, "fugu_lite.functions"
)


class FunctionOptions(Spec):
    """The `options` of a function worker; `name` may stand in `model` instead."""

    name: str | None = None


class FunctionWorker(Worker):
    """A worker that is a function of the messages. A plain function runs in a thread, a coroutine function here.

    A time-out abandons a plain function's thread, since threads cannot be stopped. Token counts are unknown, so the
    cost is 0 when both prices are 0, and unknown otherwise.

    Raises:
        SpecError: if no function is named.
        UnknownKindError: if it is not registered.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        super().__init__(spec)
        name = FunctionOptions.parse(spec.options, f"worker {spec.id!r} options").name or spec.model
        if not name:
            raise SpecError(f"worker {spec.id!r}", "names no function", f"set model: {functions.names()[0]}")
        self.name = name
        self._function = functions.get(name, f"worker {spec.id!r}")

    async def complete(self, request: ChatRequest) -> Completion:
        """Call the function.

        Raises:
            CallError: `timeout`; `server` if it raised; `malformed` if it returned no text; `empty` for empty text.
        """
        started = time.perf_counter()
        text = await self._answer(self.prepared(request).messages)
        return Completion(completion_body(text, self.name), self._cost(), time.perf_counter() - started)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Answer as one content chunk and a closing one."""
        text = await self._answer(self.prepared(request).messages)
        yield self._chunk({"role": "assistant", "content": text}, None)
        yield self._chunk({}, "stop")

    async def _answer(self, messages: list[Json]) -> str:
        try:
            async with asyncio.timeout(self.spec.timeout_s):
                text = await self._called(messages)
        except TimeoutError:
            raise CallError("timeout", f"function {self.name!r} took over {self.spec.timeout_s:g} s") from None
        except Exception as error:  # the prompt may stand in the message, so only the type is told
            raise CallError("server", f"function {self.name!r} raised {type(error).__name__}") from error
        if not isinstance(text, str):
            raise CallError("malformed", f"function {self.name!r} returned {type(text).__name__}, not text")
        if not text.strip():
            raise CallError("empty", f"function {self.name!r} returned no text")
        return text

    async def _called(self, messages: list[Json]) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(messages)
        result = await asyncio.to_thread(self._function, messages)
        return await result if inspect.isawaitable(result) else result

    def _cost(self) -> float | None:
        price = self.spec.price
        if price.input_per_million == 0 and price.output_per_million == 0:
            return 0.0
        return price.cost_usd(Usage())

    def _chunk(self, delta: Json, finish_reason: str | None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {
            "id": "chatcmpl-local",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.name,
            "choices": [choice],
        }
