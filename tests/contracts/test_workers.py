"""What every kind of worker keeps. A new kind adds its entry to `OFFLINE`, or says in `ELSEWHERE` what it needs."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Completer
from fugu_lite.workers import Worker, WorkerSpec, registry
from tests.workers.faulty_server import Faulty, faulty_server

pytestmark = pytest.mark.anyio
OFFLINE: dict[str, dict[str, Any]] = {
    "mock": {"options": {"reply": "Hello"}},
    "openai_compatible": {"model": "ok"},
    "openrouter": {"model": "ok", "api_key_env": "CONTRACT_KEY"},
    "function": {"model": "calculator"},
}
ELSEWHERE = {"local": "model weights"}


def test_every_kind_is_held_to_the_contract_or_says_why_not() -> None:
    assert set(registry.shipped()) <= OFFLINE.keys() | ELSEWHERE.keys()


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Faulty]:
    monkeypatch.setenv("CONTRACT_KEY", "test-key")
    async with faulty_server() as running:
        yield running


@pytest.fixture(params=sorted(OFFLINE))
async def worker(request: pytest.FixtureRequest, server: Faulty) -> AsyncIterator[Worker]:
    kind: str = request.param
    entry = {"id": "one", "type": kind, "base_url": server.url} | OFFLINE[kind]
    made = registry.get(kind)(WorkerSpec.parse(entry))
    yield made
    await made.aclose()


ASK = ChatRequest.of("12 * 4", max_tokens=64, domain="math")


async def test_a_worker_is_a_completer_with_its_pool_id(worker: Worker) -> None:
    assert isinstance(worker, Completer)
    assert worker.id == "one"


async def test_it_answers_whole(worker: Worker) -> None:
    answer = await worker.complete(ASK)
    assert answer.text
    assert answer.finish_reason == "stop"
    assert answer.cost_usd is None or answer.cost_usd >= 0
    assert answer.latency_s is not None
    assert answer.latency_s >= 0


async def test_a_stream_ends_with_exactly_one_finish_reason(worker: Worker) -> None:
    chunks = [piece async for piece in worker.stream(ASK)]
    choices = [choice for piece in chunks for choice in piece["choices"]]
    assert "".join(choice["delta"].get("content") or "" for choice in choices)
    assert [choice["finish_reason"] for choice in choices if choice.get("finish_reason")] == ["stop"]
    assert {piece["object"] for piece in chunks} == {"chat.completion.chunk"}


async def test_the_request_is_left_as_it_was(worker: Worker) -> None:
    request = ChatRequest.of([{"role": "user", "content": "12 * 4"}], tools=[], stream=False)
    before = copy.deepcopy(request.body)
    await worker.complete(request)
    assert request.body == before


async def test_closing_is_safe_at_any_time(worker: Worker) -> None:
    await worker.aclose()
    await worker.start()
    assert (await worker.complete(ASK)).text  # a closed worker opens again
    await worker.aclose()
    await worker.aclose()


@pytest.mark.parametrize("kind", sorted(OFFLINE))
async def test_an_unused_worker_closes(kind: str, server: Faulty) -> None:
    made = registry.get(kind)(WorkerSpec.parse({"id": "one", "type": kind, "base_url": server.url} | OFFLINE[kind]))
    await made.aclose()
    assert server.requests == []
