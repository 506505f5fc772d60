"""Whole answers: routing, knobs, fallback, and what the `fugu_lite` object says."""

from __future__ import annotations

import asyncio
import copy
import math
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Completer, Status, completion_body
from fugu_lite.dispatch import Dispatcher
from fugu_lite.errors import CallError, ExhaustedError, MismatchError, MissingWeightsError
from fugu_lite.router import Router

Make = Callable[..., Any]
TIMEOUT = CallError("timeout", "no answer within 180 s")
LIMITED = CallError("rate_limit", "slow down", 429, retry_after_s=7.0)


def pool_of(worker: Make, **answers: Any) -> dict[str, Any]:
    return {name: worker(name, [answers.get(name, f"I am {name}")]) for name in ("alpha", "beta", "gamma")}


def ask(text: str = "alpha, please", **fields: Any) -> ChatRequest:
    return ChatRequest.of(text, model="fugu-lite", **fields)


@pytest.mark.anyio
async def test_the_chosen_worker_answers_under_its_own_id(worker: Make, router: Router) -> None:
    pool = pool_of(worker)
    dispatcher = Dispatcher(router, pool, head="head-Wish-0123456789")
    answer = await dispatcher.complete(ask(domain="code"))
    assert answer.text == "I am alpha"
    assert answer.body["model"] == "alpha"
    told = answer.body["fugu_lite"]
    assert told == answer.details
    assert (told["worker_id"], told["served_model"], told["reason"]) == ("alpha", "provider/model-1", "head")
    assert (told["head"], told["domain"], told["truncated"]) == ("head-Wish-0123456789", "code", False)
    assert told["cost_usd"] == answer.cost_usd == 0.25
    assert told["attempts"] == [{"worker_id": "alpha", "error": None}]
    assert told["ranking"] == ["alpha", "beta", "gamma"]
    # logits 4, 2, 1
    total = math.exp(4) + math.exp(2) + math.exp(1)
    assert told["probabilities"] == pytest.approx(
        {"alpha": math.exp(4) / total, "beta": math.exp(2) / total, "gamma": math.exp(1) / total}
    )
    assert set(told["latency_s"]) == {"route", "worker"}
    assert all(seconds >= 0 for seconds in told["latency_s"].values())
    assert not pool["beta"].seen
    assert not pool["gamma"].seen


@pytest.mark.anyio
async def test_only_the_knobs_are_taken_out_of_the_request(worker: Make, router: Router) -> None:
    parameters = {"type": "object", "properties": {"domain": {"type": ["string", "null"]}, "fugu_lite": {"enum": []}}}
    body = {
        "model": "fugu-lite",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "alpha"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "beta"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}],
        "seed": None,
        "unheard_of": {"nested": [None, 1.5]},
    }
    request = ChatRequest({**body, "domain": "code", "fugu_lite": {"allowed_workers": ["alpha"]}})
    before = copy.deepcopy(request.body)
    pool = pool_of(worker)
    await Dispatcher(router, pool).complete(request)
    assert pool["alpha"].seen == [body]
    assert request.body == before


@pytest.mark.parametrize(
    "error",
    [
        TIMEOUT,
        LIMITED,
        *(CallError(k, "x") for k in ("connect", "auth", "server", "refused", "malformed", "unavailable", "context")),
    ],
)
@pytest.mark.anyio
async def test_another_worker_takes_over(worker: Make, router: Router, error: CallError) -> None:
    answer = await Dispatcher(router, pool_of(worker, alpha=error)).complete(ask())
    assert answer.text == "I am beta"
    told = answer.details["attempts"]
    expected = {"kind": error.kind, "http_status": error.http_status, "message": error.message}
    assert told == [{"worker_id": "alpha", "error": expected}, {"worker_id": "beta", "error": None}]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (completion_body("  \n", "m"), "empty"),
        (completion_body("", "m", finish_reason="content_filter"), "empty"),
        ({"choices": []}, "malformed"),
        ({"object": "chat.completion"}, "malformed"),
    ],
)
@pytest.mark.anyio
async def test_an_empty_answer_is_a_failed_call(worker: Make, router: Router, body: Any, kind: str) -> None:
    answer = await Dispatcher(router, pool_of(worker, alpha=body)).complete(ask())
    assert answer.body["model"] == "beta"
    assert answer.details["attempts"][0]["error"]["kind"] == kind


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "tool_calls": [{"id": "1"}]},
        {"content": "", "reasoning_content": "so far"},
        {"content": None, "refusal": "I will not"},
        {"content": [{"type": "image_url", "image_url": {"url": "data:"}}]},
    ],
)
@pytest.mark.anyio
async def test_an_answer_need_not_be_text(worker: Make, router: Router, message: Any) -> None:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    answer = await Dispatcher(router, pool_of(worker, alpha=body)).complete(ask())
    assert answer.body["model"] == "alpha"
    assert answer.message == message


@pytest.mark.anyio
async def test_the_clients_own_fault_is_passed_through(worker: Make, router: Router) -> None:
    pool = pool_of(worker, alpha=CallError("client", "'temperature' is too hot", 422))
    with pytest.raises(CallError, match="too hot") as caught:
        await Dispatcher(router, pool).complete(ask())
    assert caught.value.http_status == 422
    assert not pool["beta"].seen


@pytest.mark.anyio
async def test_weights_that_are_missing_are_a_failed_call(worker: Make, router: Router) -> None:
    answer = await Dispatcher(router, pool_of(worker, alpha=MissingWeightsError("w", "fetch them"))).complete(ask())
    assert answer.details["attempts"][0]["error"]["kind"] == "server"
    assert "fetch them" in answer.details["attempts"][0]["error"]["message"]


@pytest.mark.anyio
async def test_when_all_fail_the_error_names_every_call(worker: Make, router: Router) -> None:
    with pytest.raises(ExhaustedError) as caught:
        await Dispatcher(router, pool_of(worker, alpha=TIMEOUT, beta=LIMITED, gamma="")).complete(ask())
    error = caught.value
    assert [(name, each.kind) for name, each in error.attempts] == [
        ("alpha", "timeout"),
        ("beta", "rate_limit"),
        ("gamma", "empty"),
    ]
    assert (error.kind, error.retry_after_s, error.retryable) == ("server", 7.0, False)
    assert "beta: rate_limit (HTTP 429): slow down" in str(error)
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.retry_after_s) == (str(error), 7.0)


@pytest.mark.anyio
async def test_allowed_workers_bound_choice_and_fallback(worker: Make, router: Router) -> None:
    request = ask(fugu_lite={"allowed_workers": ["gamma", "beta"]})
    dispatcher = Dispatcher(router, pool_of(worker, beta=TIMEOUT))
    decision = await dispatcher.decide(request)
    assert decision.ranking == ("beta", "gamma")
    assert sum(decision.probabilities.values()) == pytest.approx(1)
    answer = await dispatcher.complete(request)
    assert answer.text == "I am gamma"


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"domain": 3}, "domain must be a string, found int"),
        ({"fugu_lite": []}, "fugu_lite must be an object, found list"),
        ({"fugu_lite": {"allowed": 1}}, "fugu_lite.allowed is not a setting of this version; known: allowed_workers"),
        ({"fugu_lite": {"allowed_workers": []}}, "non-empty list"),
        ({"fugu_lite": {"allowed_workers": "alpha"}}, "non-empty list"),
        ({"fugu_lite": {"allowed_workers": ["delta"]}}, "names 'delta'; known: alpha, beta, gamma"),
        ({"fugu_lite": {"allowed_workers": [{}]}}, "known: alpha"),
    ],
)
@pytest.mark.anyio
async def test_unusable_knobs_are_the_clients_fault(worker: Make, router: Router, knobs: Any, message: str) -> None:
    with pytest.raises(CallError, match=message) as caught:
        await Dispatcher(router, pool_of(worker)).complete(ask(**knobs))
    assert (caught.value.kind, caught.value.http_status) == ("client", 400)


@pytest.mark.anyio
async def test_null_knobs_are_no_knobs(worker: Make, router: Router) -> None:
    pool = pool_of(worker)
    answer = await Dispatcher(router, pool).complete(ask(domain=None, fugu_lite={"allowed_workers": None}))
    assert answer.details["domain"] is None
    assert "fugu_lite" not in pool["alpha"].seen[0]


@pytest.mark.anyio
async def test_without_embedding_the_best_fixed_worker_answers(worker: Make, router: Router) -> None:
    router.embedder.failure = RuntimeError("no memory for 'secret prompt'")  # type: ignore[attr-defined]
    dispatcher = Dispatcher(router, pool_of(worker, gamma=TIMEOUT), comparator="gamma")
    answer = await dispatcher.complete(ask())
    told = answer.details
    assert (told["reason"], told["ranking"]) == ("embedding_unavailable", ["gamma", "alpha", "beta"])
    assert (told["probabilities"], told["worker_id"]) == ({}, "alpha")
    assert told["routing_error"] == "RuntimeError"
    assert dispatcher.status()["ready"] is True
    router.embedder.failure = None  # type: ignore[attr-defined]
    assert (await dispatcher.decide(ask())).reason == "head"
    assert dispatcher.status()["routing_error"] is None


@pytest.mark.parametrize("comparator", [None, "gamma"])
@pytest.mark.anyio
async def test_without_embedding_and_comparator_nobody_is_guessed(
    worker: Make, router: Router, comparator: str | None
) -> None:
    router.embedder.failure = MissingWeightsError("wish", "run weights fetch")  # type: ignore[attr-defined]
    dispatcher = Dispatcher(router, pool_of(worker), comparator=comparator)
    with pytest.raises(CallError, match=r"embedding_unavailable .*weights fetch"):
        await dispatcher.complete(ask(fugu_lite={"allowed_workers": ["alpha"]}))
    assert dispatcher.status()["ready"] is (comparator is not None)


@pytest.mark.anyio
async def test_a_slow_backbone_does_not_hold_the_request(
    worker: Make, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(router, "decide", lambda *_: release.wait(20))
    dispatcher = Dispatcher(router, pool_of(worker), comparator="beta", timeout_s=0.05)
    ticks = 0

    async def count() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    counting = asyncio.ensure_future(count())
    try:
        answer = await dispatcher.complete(ask())
    finally:
        release.set()
        counting.cancel()
        await dispatcher.aclose()
    assert (answer.text, answer.details["reason"]) == ("I am beta", "embedding_unavailable")
    assert ticks >= 1  # the event loop went on meanwhile


@pytest.mark.anyio
async def test_decisions_are_taken_in_one_thread(worker: Make, router: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()
    decide = router.decide

    def spy(text: str, allowed: Any) -> Any:
        threads.add(threading.get_ident())
        return decide(text, allowed)

    monkeypatch.setattr(router, "decide", spy)
    async with Dispatcher(router, pool_of(worker)) as dispatcher:
        await asyncio.gather(*(dispatcher.complete(ask()) for _ in range(8)))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


@pytest.mark.anyio
async def test_the_object_can_be_switched_off(worker: Make, router: Router) -> None:
    answer = await Dispatcher(router, pool_of(worker), expose=False).complete(ask())
    assert "fugu_lite" not in answer.body
    assert answer.details["worker_id"] == answer.body["model"] == "alpha"


@pytest.mark.anyio
async def test_a_worker_can_be_asked_for_by_its_id(worker: Make, router: Router) -> None:
    pool = pool_of(worker, beta=LIMITED)
    completers = Dispatcher(router, pool).completers()
    assert list(completers) == ["alpha", "beta", "gamma", "fugu-lite", "auto"]
    assert completers["auto"] is completers["fugu-lite"]
    answer = await completers["gamma"].complete(ask("alpha", domain="x"))
    assert (answer.text, answer.details["reason"], answer.details["domain"]) == ("I am gamma", "requested", "x")
    with pytest.raises(CallError, match="slow down") as caught:
        await completers["beta"].complete(ask())
    assert not isinstance(caught.value, ExhaustedError)
    with pytest.raises(CallError, match="names 'alpha'"):
        await completers["gamma"].complete(ask(fugu_lite={"allowed_workers": ["alpha"]}))


def test_pool_and_head_must_fit(worker: Make, router: Router) -> None:
    with pytest.raises(MismatchError, match="'beta', which the pool lacks"):
        Dispatcher(router, {"alpha": worker("alpha", ["x"])})
    with pytest.raises(MismatchError, match="comparator 'delta'"):
        Dispatcher(router, pool_of(worker), comparator="delta")


def test_it_is_a_completer_with_a_status(worker: Make, router: Router) -> None:
    dispatcher = Dispatcher(router, pool_of(worker), head="h")
    assert isinstance(dispatcher, Completer)
    assert isinstance(dispatcher, Status)
    assert dispatcher.status()["head"] == "h"
