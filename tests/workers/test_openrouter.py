from collections.abc import AsyncIterator
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Completion, Json
from fugu_lite.errors import CallError
from fugu_lite.workers import WorkerSpec
from fugu_lite.workers.openrouter import OpenRouterWorker
from tests.workers.faulty_server import Faulty, completion, faulty_server

pytestmark = pytest.mark.anyio
USAGE = {
    "prompt_tokens": 194,
    "completion_tokens": 120,
    "total_tokens": 314,
    "cost": 0.00095,
    "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 80},
    "cost_details": {"upstream_inference_cost": None},
}


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Faulty]:
    monkeypatch.setenv("OPENROUTER_API_KEY", "test-key")
    async with faulty_server() as running:
        yield running


def worker(server: Faulty, **fields: Any) -> OpenRouterWorker:
    spec = {"id": "w", "type": "openrouter", "model": "vendor/asked", "base_url": f"{server.url}/api/v1"}
    return OpenRouterWorker(WorkerSpec.parse(spec | fields))


async def asked(server: Faulty, usage: Json | None, **fields: Any) -> Completion:
    """Return the answer to one call whose usage object is given."""
    answer = completion("Hi", model="vendor/served", provider="Some Cloud", usage=usage)
    server.answers["vendor/asked"] = answer
    made = worker(server, **fields)
    got = await made.complete(ChatRequest.of("Hi"))
    await made.aclose()
    return got


async def test_the_documented_answer_is_read_whole(server: Faulty) -> None:
    got = await asked(server, USAGE)
    assert (got.cost_usd, got.provider, got.served_model) == (0.00095, "Some Cloud", "vendor/served")
    assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (194, 120)
    assert (got.usage.cached_tokens, got.usage.reasoning_tokens) == (64, 80)


async def test_what_is_sent(server: Faulty) -> None:
    await asked(server, USAGE)
    sent, headers = server.requests[0], server.headers[0]
    assert (sent["model"], sent["usage"], sent["reasoning"]) == (
        "vendor/asked",
        {"include": True},
        {"effort": "minimal"},
    )
    assert (headers["Authorization"], headers["X-Title"]) == ("Bearer test-key", "fugu-lite")
    assert "reasoning_effort" not in sent


async def test_no_effort_and_a_clients_own_reasoning(server: Faulty) -> None:
    await asked(server, USAGE, reasoning_effort=None)
    assert "reasoning" not in server.requests[0]
    made = worker(server)
    await made.complete(ChatRequest.of("Hi", reasoning={"max_tokens": 100}))
    await made.aclose()
    assert server.requests[1]["reasoning"] == {"max_tokens": 100}


async def test_unknown_cost_stays_unknown(server: Faulty) -> None:
    assert (await asked(server, None)).cost_usd is None
    assert (await asked(server, {"prompt_tokens": 5, "completion_tokens": 5})).cost_usd is None
    assert (await asked(server, USAGE | {"cost": None})).cost_usd is None


async def test_a_free_call_costs_nothing(server: Faulty) -> None:
    assert (await asked(server, USAGE | {"cost": 0})).cost_usd == 0.0


async def test_the_price_list_steps_in_without_a_reported_cost(server: Faulty) -> None:
    price = {"input_per_million": 1.0, "output_per_million": 10.0, "cached_input_per_million": 0.5}
    got = await asked(server, {name: value for name, value in USAGE.items() if name != "cost"}, price=price)
    assert got.cost_usd == pytest.approx((130 * 1.0 + 64 * 0.5 + 120 * 10.0) / 1e6)


async def test_the_accounts_own_vendor_key_adds_the_vendors_charge(server: Faulty) -> None:
    own = USAGE | {"is_byok": True, "cost": 0.001, "cost_details": {"upstream_inference_cost": 0.02}}
    assert (await asked(server, own)).cost_usd == pytest.approx(0.021)
    assert (await asked(server, own | {"cost_details": {}})).cost_usd is None


async def test_the_key_variable_has_a_default(server: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY")
    with pytest.raises(CallError, match="OPENROUTER_API_KEY is not set"):
        await worker(server).complete(ChatRequest.of("Hi"))


def test_the_address_has_a_default() -> None:
    made = OpenRouterWorker(WorkerSpec.parse({"id": "w", "type": "openrouter", "model": "m"}))
    assert made.url == "https://openrouter.ai/api/v1/chat/completions"
