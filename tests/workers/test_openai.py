import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Json
from fugu_lite.errors import CallError, SpecError
from fugu_lite.workers import WorkerSpec
from fugu_lite.workers.openai import OpenAIWorker, api_root, usd
from tests.workers.faulty_server import Faulty, faulty_server, free_port

pytestmark = pytest.mark.anyio
CANARY = "sk-canary-93715-do-not-leak"
ASK = ChatRequest.of("Hi")


@pytest.fixture
async def server() -> AsyncIterator[Faulty]:
    async with faulty_server() as running:
        yield running


def worker(server: Faulty | str, model: str = "ok", **fields: Any) -> OpenAIWorker:
    url = server if isinstance(server, str) else server.url
    spec = {"id": "w", "type": "openai_compatible", "model": model, "base_url": url, "timeout_s": 5.0} | fields
    return OpenAIWorker(WorkerSpec.parse(spec))


async def failed(made: OpenAIWorker, stream: bool = False) -> CallError:
    """Return the error of one call."""
    with pytest.raises(CallError) as caught:
        await (collected(made) if stream else made.complete(ASK))
    await made.aclose()
    return caught.value


async def collected(made: OpenAIWorker, into: list[Json] | None = None) -> list[Json]:
    chunks = [] if into is None else into
    async for piece in made.stream(ASK):
        chunks.append(piece)
    return chunks


def text_of(chunks: list[Json]) -> str:
    return "".join(piece["choices"][0]["delta"].get("content") or "" for piece in chunks)


@pytest.mark.parametrize(
    ("model", "kind", "status", "retry_after_s"),
    [
        ("429", "rate_limit", 429, None),
        ("429-seconds", "rate_limit", 429, 7.0),
        ("429-ms", "rate_limit", 429, 1.5),
        ("429-nonsense", "rate_limit", 429, None),
        ("500", "server", 500, None),
        ("503-html", "server", 503, None),
        ("400", "client", 400, None),
        ("400-filter", "refused", 400, None),
        ("401", "auth", 401, None),
        ("403", "auth", 403, None),
        ("403-moderation", "refused", 403, None),
        ("402", "unavailable", 402, None),
        ("404", "unavailable", 404, None),
        ("404-named", "unavailable", 404, None),
        ("429-quota", "unavailable", 429, None),
        ("413", "context", 413, None),
        ("400-context", "context", 400, None),
        ("400-context-local", "context", 400, None),
        ("422", "client", 422, None),
        ("408", "timeout", 408, None),
        ("302", "unavailable", 302, None),
        ("empty-choices", "malformed", 200, None),
        ("no-choices", "malformed", 200, None),
        ("null-choices", "malformed", 200, None),
        ("no-message", "malformed", 200, None),
        ("list", "malformed", 200, None),
        ("malformed", "malformed", 200, None),
        ("html", "malformed", 200, None),
        ("no-body", "malformed", 200, None),
        ("error-body", "server", 502, None),
        ("error-429", "rate_limit", 429, None),
        ("error-word", "rate_limit", 200, None),
        ("error-text", "server", 200, None),
        ("error-400", "client", 400, None),
        ("error-402", "unavailable", 402, None),
        ("error-context", "context", 200, None),
        ("error-401", "auth", 401, None),
        ("choice-error", "server", 503, None),
        ("filtered", "refused", 200, None),
        ("refusal", "refused", 200, None),
        ("reset", "connect", None, None),
        ("reset-later", "connect", None, None),
    ],
)
async def test_every_fault_has_its_kind(
    server: Faulty, model: str, kind: str, status: int | None, retry_after_s: float | None
) -> None:
    error = await failed(worker(server, model))
    assert (error.kind, error.http_status, error.retry_after_s) == (kind, status, retry_after_s)
    assert error.message


async def test_a_date_in_retry_after_is_counted_from_now(server: Faulty) -> None:
    error = await failed(worker(server, "429-date"))
    assert error.retry_after_s is not None
    assert error.retry_after_s > 1e9


async def test_the_servers_message_is_kept(server: Faulty) -> None:
    assert "no such parameter" in str(await failed(worker(server, "400")))


async def test_refused_connection_is_a_connect_fault() -> None:
    error = await failed(worker(f"http://127.0.0.1:{free_port()}"))
    assert (error.kind, error.retryable) == ("connect", True)


@pytest.mark.parametrize("stream", [False, True])
async def test_silence_is_a_timeout(server: Faulty, stream: bool) -> None:
    error = await failed(worker(server, "stall", timeout_s=0.15), stream)
    assert error.kind == "timeout"
    assert "0.15 s" in error.message


async def test_a_whole_answer(server: Faulty) -> None:
    made = worker(server)
    answer = await made.complete(ASK)
    await made.aclose()
    assert (answer.text, answer.finish_reason, answer.served_model) == ("Hello, wörld", "stop", "served-1")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (10, 4)
    assert answer.cost_usd is None
    assert answer.latency_s is not None
    assert 0 < answer.latency_s < 5


@pytest.mark.parametrize("model", ["empty", "null"])
async def test_empty_text_is_an_answer_not_an_error(server: Faulty, model: str) -> None:
    made = worker(server, model)
    answer = await made.complete(ASK)
    await made.aclose()
    assert (answer.text, answer.finish_reason) == ("", "stop")


async def test_tool_calls_survive(server: Faulty) -> None:
    made = worker(server, "tool")
    answer = await made.complete(ASK)
    await made.aclose()
    assert answer.message["tool_calls"] == [{"id": "t", "type": "function"}]


async def test_cost_comes_from_the_price_when_the_server_is_silent(server: Faulty) -> None:
    made = worker(server, price={"input_per_million": 100.0, "output_per_million": 1000.0})
    answer = await made.complete(ASK)
    await made.aclose()
    assert answer.cost_usd == pytest.approx(10 * 100e-6 + 4 * 1000e-6)


async def test_what_is_sent(server: Faulty) -> None:
    made = worker(server, max_tokens=50)
    nested = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    request = ChatRequest.of("Hi", temperature=0.7, domain="code", fugu_lite={"x": 1}, stream=True, tools=[nested])
    await made.complete(request.replaced(stream_options={"include_usage": True}, unknown=None))
    await made.aclose()
    assert server.requests == [
        {
            "messages": [{"role": "user", "content": "Hi"}],
            "model": "ok",
            "temperature": 0.7,
            "top_p": 1.0,
            "max_tokens": 50,
            "tools": [nested],
            "unknown": None,
        }
    ]
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize(("fields", "sent"), [({}, None), ({"reasoning_effort": "low"}, "low")])
async def test_reasoning_effort_is_sent_only_when_set(server: Faulty, fields: Json, sent: str | None) -> None:
    made = worker(server, **fields)
    await made.complete(ASK)
    await made.aclose()
    assert server.requests[0].get("reasoning_effort") == sent


async def test_a_body_that_is_not_json_is_the_clients_fault(server: Faulty) -> None:
    made = worker(server)
    with pytest.raises(CallError, match="client: the request cannot be written"):
        await made.complete(ASK.replaced(odd={1, 2}))
    assert server.requests == []


@pytest.mark.parametrize("model", ["ok", "bytes", "no-done", "no-newline"])
async def test_streams_are_read_whatever_their_split(server: Faulty, model: str) -> None:
    made = worker(server, model)
    chunks = await collected(made)
    await made.aclose()
    assert text_of(chunks) == "Hello, wörld"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert server.requests[0]["stream"] is True


@pytest.mark.parametrize(
    ("model", "kind", "status", "seen"),
    [
        ("cut", "malformed", None, 1),
        ("done-only", "malformed", None, 1),
        ("nothing", "malformed", None, 0),
        ("error-first", "server", 502, 0),
        ("error-later", "server", 502, 1),
        ("error-event", "rate_limit", 429, 1),
        ("error-finish", "server", 200, 1),
        ("bad-frame", "malformed", 200, 1),
        ("reset", "connect", None, 0),
        ("reset-later", "connect", None, 1),
        ("error-body", "server", 502, 0),
        ("empty", "malformed", None, 0),
        ("429-seconds", "rate_limit", 429, 0),
        ("html", "malformed", None, 0),
    ],
)
async def test_broken_streams_raise(server: Faulty, model: str, kind: str, status: int | None, seen: int) -> None:
    made, chunks = worker(server, model), list[Json]()
    with pytest.raises(CallError) as caught:
        await collected(made, chunks)
    await made.aclose()
    assert (caught.value.kind, caught.value.http_status, len(chunks)) == (kind, status, seen)


async def test_leaving_a_stream_ends_the_call(server: Faulty) -> None:
    made = worker(server, "stall")
    stream = made.stream(ASK)
    await anext(stream)
    assert server.open_streams == 1
    await stream.aclose()  # type: ignore[attr-defined]
    for _ in range(100):
        if server.open_streams == 0:
            break
        await asyncio.sleep(0.01)
    assert server.open_streams == 0
    await made.aclose()


async def test_a_missing_key_names_the_variable(server: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    error = await failed(worker(server, api_key_env="SOME_KEY"))
    assert (error.kind, "SOME_KEY is not set" in error.message) == ("auth", True)
    assert server.requests == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", ["echo-key", "echo-key-200", "500", "reset", "malformed"])
async def test_the_key_is_sent_and_never_told(
    server: Faulty, monkeypatch: pytest.MonkeyPatch, model: str, stream: bool
) -> None:
    monkeypatch.setenv("SOME_KEY", f" {CANARY}\n")
    error = await failed(worker(server, model, api_key_env="SOME_KEY"), stream)
    assert server.headers[0]["Authorization"] == f"Bearer {CANARY}"
    assert CANARY not in f"{error!r} {error} {error.__cause__!r}"
    assert "93715" not in f"{error!r} {error}"


async def test_a_key_with_control_characters_is_refused_unseen(server: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "abc\r\nX-Evil: 1")
    error = await failed(worker(server, api_key_env="SOME_KEY"))
    assert error.kind == "auth"
    assert "Evil" not in str(error)


async def test_a_closed_worker_opens_again(server: Faulty) -> None:
    made = worker(server)
    await made.complete(ASK)
    await made.aclose()
    await made.aclose()
    assert (await made.complete(ASK)).text
    await made.aclose()


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://host:8000/", "http://host:8000/v1"),
        ("http://host:8000/v1/", "http://host:8000/v1"),
        ("https://host/api/v1", "https://host/api/v1"),
        ("https://host/openai", "https://host/openai"),
        ("https://host/v1/chat/completions", "https://host/v1"),
    ],
)
def test_base_urls(given: str, root: str) -> None:
    assert api_root(given, "w") == root


@pytest.mark.parametrize("given", [None, "", "host:8000", "ftp://host", "http://u:p@host/v1", "http://host/v1?k=1"])
def test_unusable_base_urls(given: str | None) -> None:
    with pytest.raises(SpecError, match="w: "):
        api_root(given, "w")


def test_an_entry_without_model_or_with_a_typo_is_refused() -> None:
    with pytest.raises(SpecError, match="has no model"):
        worker("http://h", model="")
    with pytest.raises(SpecError, match="did you mean 'send_seed'"):
        worker("http://h", options={"send_sed": True})


@pytest.mark.parametrize(
    ("value", "amount"),
    [(0, 0.0), (0.5, 0.5), (-1, None), ("0.5", None), (True, None), (None, None), (float("nan"), None)],
)
def test_amounts(value: object, amount: float | None) -> None:
    assert usd(value) == amount
