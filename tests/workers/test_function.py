"""Function workers: only what is registered runs, and failures are told apart."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Json
from fugu_lite.errors import CallError, SpecError, UnknownKindError
from fugu_lite.workers import Price, WorkerSpec
from fugu_lite.workers.function import Function, FunctionWorker, functions

FREE = Price(input_per_million=0, output_per_million=0, date="2026-01-01")


@pytest.fixture(autouse=True)
def _clean_registry() -> Iterator[None]:
    before = dict(functions._loaded)
    yield
    functions._loaded.clear()
    functions._loaded.update(before)


def worker(function: Any = None, **fields: Any) -> FunctionWorker:
    if function is not None:
        functions.register("probe", function)
    return FunctionWorker(WorkerSpec.model_validate({"id": "f", "type": "function", "model": "probe", **fields}))


def shout(messages: list[Json]) -> str:
    return str(messages[-1]["content"]).upper()


async def shout_later(messages: list[Json]) -> str:
    await asyncio.sleep(0)
    return shout(messages)


@pytest.mark.anyio
@pytest.mark.parametrize("function", [shout, shout_later])
async def test_calls_plain_and_coroutine_functions(function: Function) -> None:
    answer = await worker(function).complete(ChatRequest.of("hello"))
    assert (answer.text, answer.finish_reason, answer.served_model) == ("HELLO", "stop", "probe")
    assert answer.usage.completion_tokens is None
    assert answer.latency_s is not None
    assert answer.latency_s >= 0


@pytest.mark.anyio
async def test_built_in_calculator_by_model_and_by_option() -> None:
    by_model = worker(model="calculator")
    by_option = worker(model=None, options={"name": "calculator"})
    assert [(await w.complete(ChatRequest.of("17 * 23"))).text for w in (by_model, by_option)] == ["Answer: 391"] * 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("price", "cost"), [(Price(), None), (FREE, 0.0), (Price(input_per_million=1, output_per_million=1), None)]
)
async def test_cost_is_known_only_when_the_price_is_zero(price: Price, cost: float | None) -> None:
    answer = await worker(shout, price=price).complete(ChatRequest.of("hi"))
    assert answer.cost_usd == cost


@pytest.mark.anyio
async def test_streams_one_chunk_and_a_closing_one() -> None:
    chunks = [chunk async for chunk in worker(shout).stream(ChatRequest.of("hi"))]
    assert chunks[0]["choices"][0]["delta"]["content"] == "HI"
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, "stop"]


@pytest.mark.parametrize("name", ["os:system", "fugu_lite.workers.calculator:calculator", "./tool.py", "calculatr"])
def test_refuses_what_is_not_registered(name: str) -> None:
    with pytest.raises(UnknownKindError, match="calculator"):
        worker(model=name)


def test_refuses_no_name_and_unknown_options() -> None:
    with pytest.raises(SpecError, match="names no function"):
        worker(model=None)
    with pytest.raises(SpecError, match="path"):
        worker(model="calculator", options={"path": "tool.py"})


def raises(messages: list[Json]) -> str:
    raise KeyError(messages[-1]["content"])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("function", "kind"), [(raises, "server"), (lambda m: 42, "malformed"), (lambda m: "  ", "empty")]
)
async def test_failures_are_call_errors_without_the_prompt(function: Function, kind: str) -> None:
    with pytest.raises(CallError) as failure:
        await worker(function).complete(ChatRequest.of("secret words"))
    assert failure.value.kind == kind
    assert "secret" not in str(failure.value)


def dawdles(messages: list[Json]) -> str:
    time.sleep(0.3)
    return "late"


@pytest.mark.anyio
async def test_a_slow_function_times_out() -> None:
    with pytest.raises(CallError) as failure:
        await worker(dawdles, timeout_s=0.05).complete(ChatRequest.of("hi"))
    assert failure.value.kind == "timeout"
