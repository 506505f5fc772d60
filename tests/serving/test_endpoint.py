"""The whole way: a request over HTTP, routed by a head, answered by a worker of the mock pool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import numpy as np
import orjson
import pytest

from fugu_lite.dispatch import Dispatcher
from fugu_lite.embeddings import Embedder, EmbedderSpec
from fugu_lite.embeddings.contract import Features, Progress
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.heads import HeadSpec
from fugu_lite.heads.linear import LinearHead
from fugu_lite.router import Router
from fugu_lite.workers import Pool, PoolSpec

Make = Callable[..., Any]
URL = "/v1/chat/completions"
# the request of the Fugu-Lite README
CURL = b'{"model":"fugu-lite","domain":"code","messages":[{"role":"user","content":"Explain this stack trace..."}]}'


class TraceEmbedder(Embedder):
    """Vector: does the text speak of a trace."""

    dimension = 1

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        return np.array([[float("trace" in text)] for text in texts], dtype=np.float32)


@asynccontextmanager
async def endpoint(serving: Make, **faults: Any) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve the pool `math`, `code`, `general`; a text about a trace goes to code, then math."""
    entries = [
        {"id": name, "type": "mock", "options": {"reply": f"{name} here", **faults.get(name, {})}}
        for name in ("math", "code", "general")
    ]
    pool = Pool(PoolSpec.parse({"workers": entries}))
    head = LinearHead(HeadSpec(), tuple(pool), {"W": np.array([[1.0, 3.0, 0.0]]), "b": np.zeros(3)})
    router = Router(TraceEmbedder(EmbedderSpec(type="trace")), Normaliser.identity(1), head)
    dispatcher = Dispatcher(router, pool, head="head-Trace-0123456789")
    async with serving(dispatcher.completers(), resources=[pool, dispatcher]) as client:
        yield client


@pytest.mark.anyio
async def test_the_readme_request(serving: Make) -> None:
    json_type = {"Content-Type": "application/json"}
    async with endpoint(serving) as client, client.post(URL, data=CURL, headers=json_type) as response:
        answer = await response.json()
        assert response.headers["x-fugu-lite-worker"] == "code"
        assert response.headers["x-fugu-lite-head"] == "head-Trace-0123456789"
    assert answer["choices"][0]["message"]["content"] == "code here"
    told = answer["fugu_lite"]
    assert (answer["model"], told["worker_id"], told["domain"]) == ("code", "code", "code")
    assert told["ranking"] == ["code", "math", "general"]
    assert set(told["probabilities"]) == {"math", "code", "general"}
    assert told["cost_usd"] is None  # the mock pool has no prices
    assert told["attempts"] == [{"worker_id": "code", "error": None}]


@pytest.mark.anyio
async def test_fallback_streamed(serving: Make) -> None:
    asked = {**orjson.loads(CURL), "model": "auto", "stream": True}
    async with endpoint(serving, code={"fault": "429"}) as client, client.post(URL, json=asked) as response:
        assert response.headers["x-fugu-lite-worker"] == "math"
        frames = [frame.removeprefix("data: ") for frame in (await response.text()).split("\n\n") if frame]
    assert frames[-1] == "[DONE]"
    chunks = [orjson.loads(frame) for frame in frames[:-1]]
    assert "".join(each["choices"][0]["delta"].get("content") or "" for each in chunks) == "math here"
    attempts = chunks[-1]["fugu_lite"]["attempts"]
    assert [(each["worker_id"], (each["error"] or {}).get("kind")) for each in attempts] == [
        ("code", "rate_limit"),
        ("math", None),
    ]


@pytest.mark.anyio
async def test_a_worker_under_its_own_id_and_a_dead_pool(serving: Make) -> None:
    down = {name: {"fault": "500"} for name in ("math", "code")}
    async with endpoint(serving, **down) as client:
        async with client.post(URL, json={**orjson.loads(CURL), "model": "general"}) as response:
            assert (await response.json())["fugu_lite"]["reason"] == "requested"
        knobs = {"fugu_lite": {"allowed_workers": ["math", "code"]}}
        async with client.post(URL, json={**orjson.loads(CURL), **knobs}) as response:
            assert (response.status, response.headers["x-should-retry"]) == (502, "false")
            message = (await response.json())["error"]["message"]
        assert "code: server (HTTP 500)" in message
        assert "math: server (HTTP 500)" in message


@pytest.mark.anyio
async def test_leaving_frees_the_worker(serving: Make) -> None:
    """Cancelled through server, dispatcher and worker: the next request is answered by a server that is not stuck."""
    slow = {"code": {"sleep": True, "latency_s": 60}}
    async with endpoint(serving, **slow) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.post(URL, json=orjson.loads(CURL)), 0.3)
        async with client.post(URL, json={**orjson.loads(CURL), "model": "math"}) as response:
            assert response.status == 200
        async with client.get("/health") as response:
            assert (await response.json())["status"] == "ok"
