"""Streams: who may take over and when, and what the first and the last chunk carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Completer, Json
from fugu_lite.dispatch import Dispatcher
from fugu_lite.errors import CallError, ExhaustedError, MissingExtraError
from fugu_lite.router import Router

Make = Callable[..., Any]
USAGE = {"prompt_tokens": 10, "completion_tokens": 4}
PRICE = {"input_per_million": 1.0, "output_per_million": 10.0}


def request(**fields: Any) -> ChatRequest:
    return ChatRequest.of("alpha", model="fugu-lite", stream=True, **fields)


def pool_of(worker: Make, chunk: Make, **answers: Any) -> dict[str, Any]:
    def told(name: str) -> list[Json]:
        return [chunk({"role": "assistant", "content": ""}), chunk({"content": f"I am {name}"}), chunk({}, "stop")]

    return {name: worker(name, answers.get(name, told(name)), PRICE) for name in ("alpha", "beta", "gamma")}


async def collected(dispatcher: Completer, asked: ChatRequest, seen: list[Json] | None = None) -> list[Json]:
    seen = [] if seen is None else seen
    async for chunk in dispatcher.stream(asked):
        seen.append(chunk)
    return seen


def text(chunks: list[Json]) -> str:
    return "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])


@pytest.mark.anyio
async def test_chunks_pass_under_the_workers_id(worker: Make, router: Router, chunk: Make) -> None:
    pool = pool_of(worker, chunk)
    chunks = await collected(Dispatcher(router, pool, head="h"), request(domain="code"))
    assert text(chunks) == "I am alpha"
    assert {each["model"] for each in chunks} == {"alpha"}
    assert chunks[0]["fugu_lite"] == {"worker_id": "alpha", "reason": "head", "head": "h"}
    assert "fugu_lite" not in chunks[1]
    last = chunks[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["fugu_lite"]["attempts"] == [{"worker_id": "alpha", "error": None}]
    assert last["fugu_lite"]["served_model"] == "provider/model-1"
    assert last["fugu_lite"]["cost_usd"] is None  # no usage was reported
    assert pool["alpha"].seen == [{"model": "fugu-lite", "stream": True, "messages": request().messages}]


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.anyio
async def test_usage_is_shown_only_when_asked_for(worker: Make, router: Router, chunk: Make, asked: bool) -> None:
    counted = {**chunk(), "choices": [], "usage": USAGE}
    pool = pool_of(worker, chunk, alpha=[chunk({"content": "hi"}), chunk({}, "stop"), counted])
    options = {"stream_options": {"include_usage": True}} if asked else {}
    chunks = await collected(Dispatcher(router, pool), request(**options))
    assert len(chunks) == 2 + asked
    assert [each["usage"] for each in chunks if "usage" in each] == ([USAGE] if asked else [])
    # 10 tokens at 1 USD + 4 tokens at 10 USD, per million
    assert chunks[-1]["fugu_lite"]["cost_usd"] == pytest.approx(50e-6)
    assert "cost_usd" not in chunks[0]["fugu_lite"]


@pytest.mark.anyio
async def test_what_the_provider_charged_counts_before_the_price(worker: Make, router: Router, chunk: Make) -> None:
    pool = pool_of(worker, chunk, alpha=[chunk({"content": "hi"}, "stop", usage={**USAGE, "cost": 0.5})])
    chunks = await collected(Dispatcher(router, pool), request())
    assert len(chunks) == 1
    assert "usage" not in chunks[0]
    assert chunks[0]["fugu_lite"]["cost_usd"] == 0.5


@pytest.mark.parametrize(
    "broken",
    [
        [CallError("connect", "refused")],
        [MissingExtraError("local models", "local")],
        [{"error": {"message": "overloaded"}}],
        [],
        ["role", "stop"],
        ["role", CallError("timeout", "stalled")],
    ],
)
@pytest.mark.anyio
async def test_before_content_another_worker_takes_over(
    worker: Make, router: Router, chunk: Make, broken: list[Any]
) -> None:
    named = {"role": chunk({"role": "assistant", "content": ""}), "stop": chunk({}, "stop")}
    answers = [named[each] if isinstance(each, str) else each for each in broken]
    pool = pool_of(worker, chunk, alpha=answers)
    chunks = await collected(Dispatcher(router, pool), request())
    assert text(chunks) == "I am beta"
    assert {each["model"] for each in chunks} == {"beta"}
    assert [each["worker_id"] for each in chunks[-1]["fugu_lite"]["attempts"]] == ["alpha", "beta"]
    assert pool["alpha"].closed


@pytest.mark.parametrize("failure", [CallError("connect", "reset"), {"error": {"message": "died"}}, None])
@pytest.mark.parametrize("delta", [{"content": "I am"}, {"tool_calls": [{"index": 0}]}, {"reasoning": "hm"}])
@pytest.mark.anyio
async def test_after_content_nobody_is_spliced_in(
    worker: Make, router: Router, chunk: Make, failure: Any, delta: Json
) -> None:
    pool = pool_of(worker, chunk, alpha=[chunk(delta), *([failure] if failure else [])])
    seen: list[Json] = []
    with pytest.raises(CallError) as caught:
        await collected(Dispatcher(router, pool), request(), seen)
    assert not isinstance(caught.value, ExhaustedError)
    assert [each["choices"][0]["delta"] for each in seen] == [delta]
    assert not pool["beta"].seen


@pytest.mark.anyio
async def test_when_all_fail_before_content_the_error_names_them(worker: Make, router: Router, chunk: Make) -> None:
    down = [CallError("rate_limit", "slow down", 429)]
    pool = pool_of(worker, chunk, alpha=down, beta=down, gamma=down)
    with pytest.raises(ExhaustedError) as caught:
        await collected(Dispatcher(router, pool), request())
    assert (caught.value.kind, len(caught.value.attempts)) == ("rate_limit", 3)


@pytest.mark.anyio
async def test_the_clients_own_fault_is_passed_through(worker: Make, router: Router, chunk: Make) -> None:
    pool = pool_of(worker, chunk, alpha=[CallError("client", "bad schema", 400)])
    with pytest.raises(CallError, match="bad schema"):
        await collected(Dispatcher(router, pool), request())
    assert not pool["beta"].seen


@pytest.mark.anyio
async def test_two_choices_may_end_apart(worker: Make, router: Router, chunk: Make) -> None:
    def part(index: int, delta: Json, finish: str | None = None) -> Json:
        return {**chunk(), "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}

    answers = [part(0, {"content": "a"}), part(0, {}, "stop"), part(1, {"content": "b"}), part(1, {}, "length")]
    chunks = await collected(Dispatcher(router, pool_of(worker, chunk, alpha=answers)), request())
    assert [each["choices"] for each in chunks] == [each["choices"] for each in answers]
    assert ["fugu_lite" in each for each in chunks] == [True, False, False, True]


@pytest.mark.anyio
async def test_leaving_early_closes_the_workers_stream(worker: Make, router: Router, chunk: Make) -> None:
    pool = pool_of(worker, chunk)
    chunks: Any = Dispatcher(router, pool).stream(request())
    await anext(chunks)
    await chunks.aclose()
    assert pool["alpha"].closed


@pytest.mark.anyio
async def test_streams_without_the_object(worker: Make, router: Router, chunk: Make) -> None:
    chunks = await collected(Dispatcher(router, pool_of(worker, chunk), expose=False), request())
    assert text(chunks) == "I am alpha"
    assert not any("fugu_lite" in each for each in chunks)


@pytest.mark.anyio
async def test_a_worker_asked_for_by_its_id_streams(worker: Make, router: Router, chunk: Make) -> None:
    direct = Dispatcher(router, pool_of(worker, chunk)).completers()["gamma"]
    chunks = await collected(direct, request())
    assert text(chunks) == "I am gamma"
    assert chunks[0]["fugu_lite"]["reason"] == "requested"
