"""Server-sent events as a client library reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import orjson
import pytest

from fugu_lite.chat import Json
from fugu_lite.errors import CallError

Make = Callable[..., Any]
URL = "/v1/chat/completions"
ASKED = {"model": "fugu-lite", "stream": True, "messages": [{"role": "user", "content": "hi"}]}


async def events(response: aiohttp.ClientResponse) -> list[Any]:
    """Read the events as the openai client does: frames end with an empty line, `[DONE]` stays a string."""
    assert response.content_type == "text/event-stream"
    raw = await response.read()
    assert raw.endswith(b"\n\n")
    found: list[Any] = []
    for frame in raw.decode().removesuffix("\n\n").split("\n\n"):
        (line,) = frame.split("\n")
        name, _, data = line.partition(": ")
        assert name == "data"
        found.append(data if data == "[DONE]" else orjson.loads(data))
    return found


@pytest.mark.anyio
async def test_chunks_then_done(serving: Make, stub: Make, chunk: Make) -> None:
    labels = {"worker_id": "code", "reason": "head", "head": "h1"}
    sent = [chunk("two\n\nlines ü", fugu_lite=labels), chunk("!"), chunk(None, "stop", fugu_lite={"attempts": []})]
    async with serving({"fugu-lite": stub(*sent)}) as client, client.post(URL, json=ASKED) as response:
        assert await events(response) == [*sent, "[DONE]"]
        assert response.headers["x-fugu-lite-worker"] == "code"
        assert response.headers["x-fugu-lite-reason"] == "head"
        assert response.headers["x-fugu-lite-head"] == "h1"
        assert response.headers["cache-control"] == "no-cache"


@pytest.mark.anyio
async def test_chunks_arrive_as_they_are_made(serving: Make, stub: Make, chunk: Make) -> None:
    completer = stub(chunk("first"), 30.0, chunk(None, "stop"))
    async with serving({"fugu-lite": completer}) as client, client.post(URL, json=ASKED) as response:
        line = await asyncio.wait_for(response.content.readline(), 5)
        assert orjson.loads(line.removeprefix(b"data: "))["choices"][0]["delta"] == {"content": "first"}
        response.close()
        await asyncio.wait_for(completer.cancelled.wait(), 1)  # the client left in the middle


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (CallError("connect", "reset by peer"), "connect"),
        (CallError("rate_limit", "slow down", 429), "rate_limit"),
        (ValueError("a secret prompt"), "internal_error"),
        (None, "malformed"),  # the completer stops without a finish_reason
    ],
)
@pytest.mark.anyio
async def test_a_failure_in_the_middle_is_one_error_and_no_done(
    serving: Make, stub: Make, chunk: Make, failure: Exception | None, code: str
) -> None:
    completer = stub(chunk("I am"), *([failure] if failure else []))
    async with serving({"fugu-lite": completer}) as client, client.post(URL, json=ASKED) as response:
        assert response.status == 200
        first, last = await events(response)
    assert first == chunk("I am")
    assert set(last) == {"error"}
    assert last["error"]["code"] == code
    assert "secret" not in last["error"]["message"]


@pytest.mark.anyio
async def test_a_stream_without_chunks_is_an_error(serving: Make, stub: Make) -> None:
    async with serving({"fugu-lite": stub()}) as client, client.post(URL, json=ASKED) as response:
        assert response.status == 502
        assert (await response.json())["error"]["code"] == "empty"


@pytest.mark.anyio
async def test_many_clients_at_once(serving: Make, stub: Make, chunk: Make) -> None:
    sent: list[Json] = [chunk(str(i)) for i in range(50)] + [chunk(None, "stop")]
    async with serving({"fugu-lite": stub(*sent)}) as client:

        async def one() -> list[Any]:
            async with client.post(URL, json=ASKED) as response:
                return await events(response)

        assert await asyncio.gather(*(one() for _ in range(20))) == [[*sent, "[DONE]"]] * 20
