"""Whole answers, models, health, keys, and the one shape of every error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fugu_lite.chat import Json, completion_body
from fugu_lite.errors import CallError, ExhaustedError

Make = Callable[..., Any]
URL = "/v1/chat/completions"
JSON = {"Content-Type": "application/json; charset=utf-8"}
TIMEOUT = CallError("timeout", "no answer in time")
LIMITED = CallError("rate_limit", "slow down", 429, retry_after_s=6.6)
LABELS = {"worker_id": "code", "reason": "head", "head": "head-Hash-0123456789"}


def body(**fields: Any) -> Json:
    return {"model": "fugu-lite", "messages": [{"role": "user", "content": "hi"}], **fields}


@pytest.mark.anyio
async def test_the_answer_comes_back_as_the_completer_gave_it(serving: Make, stub: Make) -> None:
    answer = {**completion_body("2 < 3 ✓", "code"), "fugu_lite": LABELS, "unknown": [None, {"x": 1.5}]}
    completer = stub(answer)
    async with serving({"fugu-lite": completer}) as client, client.post(URL, json=body()) as response:
        assert response.status == 200
        assert await response.json() == answer
        assert response.headers["x-fugu-lite-worker"] == "code"
        assert response.headers["x-fugu-lite-reason"] == "head"
        assert response.headers["x-fugu-lite-head"] == "head-Hash-0123456789"


@pytest.mark.anyio
async def test_the_completer_sees_the_request_as_it_was(serving: Make, stub: Make) -> None:
    sent = body(
        tools=[{"type": "function", "function": {"name": "f", "parameters": {"a": {"b": [{"c": None}]}}}}],
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "ü"}]},
            {"role": "assistant", "content": None, "tool_calls": []},
        ],
        seed=None,
        domain="code",
        fugu_lite={"allowed_workers": ["a"]},
        never_heard_of={"x": [1, 2.5, None]},
    )
    completer = stub("ok")
    async with serving({"fugu-lite": completer}) as client, client.post(URL, json=sent) as response:
        assert response.status == 200
    assert completer.seen == [sent]


@pytest.mark.anyio
async def test_header_values_cannot_break_out(serving: Make, stub: Make) -> None:
    answer = {**completion_body("x", "m"), "fugu_lite": {**LABELS, "worker_id": "a\r\nx-evil: 1 ü"}}
    async with serving({"fugu-lite": stub(answer)}) as client, client.post(URL, json=body()) as response:
        assert response.headers["x-fugu-lite-worker"] == "a%0D%0Ax-evil: 1 %C3%BC"
        assert "x-evil" not in response.headers


@pytest.mark.parametrize(
    ("sent", "param", "message"),
    [
        (b"{", None, "not valid JSON"),
        (b"\xff", None, "not valid JSON"),
        (b"[1]", None, "must be a JSON object, found a list"),
        (b"{}", "model", "'model' must be a model name, found nothing"),
        (b'{"model": 3}', "model", "found a number"),
        (b'{"model": "fugu-lite"}', "messages", "'messages' must be a non-empty list of messages, found nothing"),
        (b'{"model": "fugu-lite", "messages": null}', "messages", "found null"),
        (b'{"model": "fugu-lite", "messages": []}', "messages", "found a list that is empty"),
        (b'{"model": "fugu-lite", "messages": "hi"}', "messages", "found a string"),
        (b'{"model": "fugu-lite", "messages": [{"role": "user"}, {}]}', "messages[1]", "an object with a 'role'"),
        (b'{"model": "fugu-lite", "messages": [{"role": "user"}], "stream": 1}', "stream", "true or false"),
    ],
)
@pytest.mark.anyio
async def test_a_request_that_cannot_be_read_is_told_why(
    serving: Make, stub: Make, sent: bytes, param: str | None, message: str
) -> None:
    completer = stub("never")
    async with serving({"fugu-lite": completer}) as client, client.post(URL, data=sent, headers=JSON) as response:
        assert response.status == 400
        error = (await response.json())["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert message in error["message"]
    assert not completer.seen


@pytest.mark.parametrize(
    ("error", "status", "type_"),
    [
        (CallError("client", "bad schema", 422), 422, "invalid_request_error"),
        (CallError("client", "bad schema", 404), 404, "invalid_request_error"),
        (CallError("client", "bad schema"), 400, "invalid_request_error"),
        (CallError("context", "too long", 400), 400, "invalid_request_error"),
        (CallError("unavailable", "no credit", 402), 502, "upstream_error"),
        (CallError("auth", "key refused", 401), 502, "upstream_error"),
        (CallError("connect", "no route"), 502, "upstream_error"),
        (CallError("server", "boom", 500), 502, "upstream_error"),
        (CallError("malformed", "no JSON", 200), 502, "upstream_error"),
        (CallError("refused", "no", 403), 502, "upstream_error"),
        (CallError("empty", "nothing"), 502, "upstream_error"),
        (TIMEOUT, 504, "upstream_error"),
        (LIMITED, 429, "rate_limit_error"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.anyio
async def test_failed_calls_have_their_status(
    serving: Make, stub: Make, error: CallError, status: int, type_: str, stream: bool
) -> None:
    async with serving({"fugu-lite": stub(error)}) as client, client.post(URL, json=body(stream=stream)) as response:
        assert response.status == status
        assert response.content_type == "application/json"
        told = (await response.json())["error"]
        assert told == {"message": error.message, "type": type_, "param": None, "code": error.kind}
        assert response.headers.get("retry-after") == ("7" if error is LIMITED else None)
        assert "x-should-retry" not in response.headers


@pytest.mark.parametrize(("errors", "status"), [([LIMITED, LIMITED], 429), ([TIMEOUT], 504), ([LIMITED, TIMEOUT], 502)])
@pytest.mark.anyio
async def test_exhausted_workers_should_not_be_retried(
    serving: Make, stub: Make, errors: list[CallError], status: int
) -> None:
    error = ExhaustedError([(f"w{i}", each) for i, each in enumerate(errors)])
    async with serving({"fugu-lite": stub(error)}) as client, client.post(URL, json=body()) as response:
        assert response.status == status
        assert response.headers["x-should-retry"] == "false"
        assert response.headers.get("retry-after") == ("7" if LIMITED in errors else None)
        assert "w0: " in (await response.json())["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.anyio
async def test_a_defect_is_a_500_without_its_message(
    serving: Make, stub: Make, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    completer = stub(KeyError("the secret prompt"))
    async with serving({"fugu-lite": completer}) as client, client.post(URL, json=body(stream=stream)) as response:
        assert response.status == 500
        assert (await response.json())["error"]["code"] == "internal_error"
    assert "KeyError" in caplog.text
    assert "secret prompt" not in caplog.text


@pytest.mark.anyio
async def test_unknown_names_and_paths_are_404(serving: Make, stub: Make) -> None:
    async with serving({"fugu-lite": stub("x")}) as client:
        async with client.post(URL, json=body(model="gpt-9")) as response:
            error = (await response.json())["error"]
            assert (response.status, error["code"], error["param"]) == (404, "model_not_found", "model")
            assert "'gpt-9' does not exist; known: fugu-lite" in error["message"]
        async with client.get("/v1/nothing") as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "not_found")
        async with client.get(URL) as response:
            assert (response.status, (await response.json())["error"]["type"]) == (405, "invalid_request_error")
            assert "POST" in response.headers["allow"]


@pytest.mark.anyio
async def test_models_are_listed(serving: Make, stub: Make) -> None:
    completers = {"fugu-lite": stub("x"), "org/worker": stub("y")}
    async with serving(completers, models={"org/worker": {"owned_by": "org"}}) as client:
        async with client.get("/v1/models") as response:
            listed = await response.json()
        assert listed["object"] == "list"
        assert [(each["id"], each["object"], each["owned_by"]) for each in listed["data"]] == [
            ("fugu-lite", "model", "fugu-lite"),
            ("org/worker", "model", "org"),
        ]
        async with client.get("/v1/models/org/worker") as response:
            assert await response.json() == listed["data"][1]
        async with client.get("/v1/models/none") as response:
            assert (response.status, (await response.json())["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(("ready", "status"), [(True, "ok"), (False, "degraded")])
@pytest.mark.anyio
async def test_health_asks_who_can_be_degraded(serving: Make, stub: Make, ready: bool, status: str) -> None:
    routed = stub("x")
    routed.status = lambda: {"ready": ready}
    async with serving({"fugu-lite": routed, "w": stub("y")}, api_keys=frozenset({"k"})) as client:
        async with client.get("/health") as response:
            assert response.status == 200
            told = await response.json()
    assert told == {"status": status, "models": ["fugu-lite", "w"], "completers": {"fugu-lite": {"ready": ready}}}


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("Bearer wrong", 401),
        ("Basic second-key", 401),
        ("Bearer", 401),
        ("Bearer ключ", 401),
        ("Bearer second-key", 200),
        ("bearer  first-key", 200),
    ],
)
@pytest.mark.anyio
async def test_keys_are_asked_for(serving: Make, stub: Make, header: str | None, status: int) -> None:
    keys = frozenset({"first-key", "second-key"})
    headers = {} if header is None else {"Authorization": header}
    async with serving({"fugu-lite": stub("x")}, api_keys=keys) as client:
        async with client.post(URL, json=body(), headers=headers) as response:
            assert response.status == status
            if status == 401:
                assert (await response.json())["error"]["code"] == "invalid_api_key"
                assert response.headers["www-authenticate"] == "Bearer"
        async with client.get("/v1/models", headers=headers) as response:
            assert response.status == status


@pytest.mark.anyio
async def test_without_keys_any_bearer_is_accepted(serving: Make, stub: Make) -> None:
    async with serving({"fugu-lite": stub("x")}) as client:
        async with client.post(URL, json=body(), headers={"Authorization": "Bearer anything"}) as response:
            assert response.status == 200


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.anyio
async def test_a_body_over_the_limit_is_refused(serving: Make, stub: Make, declared: bool) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b" " * 600

    completer = stub("never")
    async with serving({"fugu-lite": completer}, body_limit=2000) as client:
        async with client.post(URL, data=b" " * 2400 if declared else parts(), headers=JSON) as response:
            assert response.status == 413
            assert (await response.json())["error"]["code"] == "request_too_large"
    assert not completer.seen


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.anyio
async def test_a_client_that_leaves_cancels_the_call(serving: Make, stub: Make, stream: bool) -> None:
    completer = stub(30.0, "never")
    async with serving({"fugu-lite": completer}) as client:
        asking = asyncio.ensure_future(client.post(URL, json=body(stream=stream)))
        await asyncio.wait_for(completer.started.wait(), 5)
        asking.cancel()
        await asyncio.wait_for(completer.cancelled.wait(), 1)
        assert completer.cancelled.is_set()


@pytest.mark.anyio
async def test_resources_live_as_long_as_the_server(serving: Make, stub: Make) -> None:
    events = []

    @asynccontextmanager
    async def resource(name: str) -> AsyncIterator[None]:
        events.append(f"{name} opened")
        yield
        events.append(f"{name} closed")

    async with serving({"fugu-lite": stub("x")}, resources=[resource("pool"), resource("router")]) as client:
        async with client.get("/health") as response:
            assert response.status == 200
        assert events == ["pool opened", "router opened"]
    assert events[2:] == ["router closed", "pool closed"]


@pytest.mark.parametrize("type_", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
@pytest.mark.anyio
async def test_a_body_must_say_that_it_is_json(serving: Make, stub: Make, type_: str) -> None:
    completer, headers = stub("never"), {"Content-Type": type_}
    async with serving({"fugu-lite": completer}) as client:
        async with client.post(URL, data=b'{"model": "fugu-lite"}', headers=headers) as response:
            assert response.status == 415
            error = (await response.json())["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert "must be application/json" in error["message"]
    assert not completer.seen


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Host": "evil.example:8080"}, 403),
        ({"Host": "192.168.1.7"}, 403),
        ({"Host": "[nonsense"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "http://[::1]:3000", "Host": "[::1]:8080"}, 200),
        ({"Host": "LOCALHOST:8080"}, 200),
    ],
)
@pytest.mark.anyio
async def test_web_pages_cannot_use_a_server_without_a_key(
    serving: Make, stub: Make, headers: dict[str, str], status: int
) -> None:
    async with serving({"fugu-lite": stub("ok")}) as client:
        async with client.post(URL, json=body(), headers=headers) as response:
            assert response.status == status
            told = await response.json()
            assert status == 200 or set(told["error"]) == {"message", "type", "param", "code"}
        async with client.get("/v1/models", headers=headers) as response:
            assert response.status == status


@pytest.mark.parametrize("options", [{"api_keys": frozenset({"k"})}, {"public": True}])
@pytest.mark.anyio
async def test_a_key_or_the_word_lets_other_origins_in(serving: Make, stub: Make, options: dict[str, Any]) -> None:
    headers = {"Origin": "https://app.example", "Host": "box.example", "Authorization": "Bearer k"}
    async with serving({"fugu-lite": stub("ok")}, **options) as client:
        async with client.post(URL, json=body(), headers=headers) as response:
            assert response.status == 200
