from collections.abc import AsyncIterator
from typing import Any

import pytest

from fugu_lite.errors import CallError, SpecError
from fugu_lite.workers.catalogue import list_models, per_million
from tests.workers.faulty_server import Faulty, faulty_server, free_port

pytestmark = pytest.mark.anyio
MODELS = {
    "data": [
        {
            "id": "qwen/qwen3-8b",
            "name": "Qwen: Qwen3 8B",
            "context_length": 40960,
            "pricing": {"prompt": "0.00000005", "completion": "0.0000004", "request": "0"},
        },
        {"id": "vendor/other:free", "name": "Other (free)", "pricing": {"prompt": "0", "completion": "0"}},
        {"id": "auto", "name": "Auto", "context_length": None, "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "qwen/bare"},
        {"name": "no id"},
    ]
}


@pytest.fixture
async def server() -> AsyncIterator[Faulty]:
    async with faulty_server() as running:
        running.models = MODELS
        yield running


async def test_the_documented_list(server: Faulty) -> None:
    models = await list_models(f"{server.url}/api/v1")
    assert [model.id for model in models] == ["qwen/qwen3-8b", "vendor/other:free", "auto", "qwen/bare"]
    assert models[0].to_json() == {
        "id": "qwen/qwen3-8b",
        "name": "Qwen: Qwen3 8B",
        "context_tokens": 40960,
        "input_per_million": 0.05,
        "output_per_million": 0.4,
    }
    assert (models[1].input_per_million, models[2].input_per_million, models[3].name) == (0.0, None, None)


@pytest.mark.parametrize(
    ("contains", "limit", "ids"),
    [("qwen", None, 2), ("QWEN", 1, 1), ("(free", None, 1), ("nothing", None, 0), ("", 3, 3), ("", 0, 0)],
)
async def test_filter_and_limit(server: Faulty, contains: str, limit: int | None, ids: int) -> None:
    assert len(await list_models(server.url, contains, limit)) == ids


async def test_the_key_is_sent_only_when_given(server: Faulty) -> None:
    await list_models(server.url)
    await list_models(server.url, key="secret")
    assert [headers.get("Authorization") for headers in server.headers] == [None, "Bearer secret"]


async def test_without_network_the_error_says_where() -> None:
    with pytest.raises(CallError, match=r"connect: cannot list models from http://127\.0\.0\.1:.*check the network"):
        await list_models(f"http://127.0.0.1:{free_port()}")


@pytest.mark.parametrize("answer", [{"data": None}, {}, [], {"error": "x"}])
async def test_other_answers_are_malformed(server: Faulty, answer: Any) -> None:
    server.models = answer
    with pytest.raises(CallError, match="malformed"):
        await list_models(server.url)


async def test_a_wrong_path_is_told(server: Faulty) -> None:
    with pytest.raises(CallError, match="HTTP 404"):
        await list_models(f"{server.url}/elsewhere")


async def test_an_unusable_address_is_told() -> None:
    with pytest.raises(SpecError, match="--base-url"):
        await list_models("openrouter.ai")


@pytest.mark.parametrize(
    ("price", "found"), [("0.000001", 1.0), (0.000002, 2.0), ("x", None), (None, None), ("NaN", None), (True, None)]
)
def test_prices(price: object, found: float | None) -> None:
    assert per_million(price) == found
