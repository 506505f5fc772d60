"""Any server that speaks the OpenAI chat-completions protocol: vLLM, llama.cpp, SGLang, a gateway, a vendor."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, ClassVar
from urllib.parse import urlsplit

import aiohttp
import orjson

from fugu_lite import __version__
from fugu_lite.chat import ChatRequest, Completion, Json, Usage
from fugu_lite.errors import CallError, SpecError
from fugu_lite.specs import Spec
from fugu_lite.workers import _http, _sse
from fugu_lite.workers.contract import Worker, WorkerSpec

Sent = AbstractAsyncContextManager[aiohttp.ClientResponse]
OUR_FIELDS = frozenset({"domain", "fugu_lite"})  # meant for the router; a strict server would refuse them
STREAM_FIELDS = frozenset({"stream", "stream_options"})


class HttpOptions(Spec):
    """`options:` of a worker behind HTTP.

    Attributes:
        send_seed: whether a collection sends each repetition's `seed`; off, because some servers refuse the field.
    """

    send_seed: bool = False


class OpenAIWorker(Worker):
    """A worker behind HTTP.

    `base_url` is given with or without the version: `http://host:8000` means `http://host:8000/v1`, and a URL with a
    path is taken as it stands. `reasoning_effort` is sent only when the pool file sets it, because many servers
    refuse the field. `timeout_s` bounds a whole call, and the silence between two pieces of a streamed one.

    Raises:
        SpecError: if the entry lacks `base_url` or `model`, or the URL cannot be used.
    """

    keeps_time: ClassVar[bool] = True
    default_base_url: ClassVar[str | None] = None
    default_api_key_env: ClassVar[str | None] = None

    def __init__(self, spec: WorkerSpec) -> None:
        super().__init__(spec)
        where = f"worker {spec.id!r}"
        if not spec.model:
            raise SpecError(where, "has no model", "set 'model' to the name that the server uses")
        self.options = HttpOptions.parse(spec.options, f"{where}, options")
        self.url = api_root(spec.base_url or self.default_base_url, where) + "/chat/completions"
        self._limit = aiohttp.ClientTimeout(total=spec.timeout_s)
        self.api_key_env = spec.api_key_env or self.default_api_key_env
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer whole; an answer without text is returned as it is, its tool calls kept."""
        started, key = time.perf_counter(), self._key()
        try:
            async with self._post(self.payload(request, stream=False), key, self._limit) as response:
                await _http.refuse(response, key)
                raw, status = await response.read(), response.status
        except (aiohttp.ClientError, OSError) as error:
            raise _http.transport_error(error, self.spec.timeout_s, key) from None
        latency_s = time.perf_counter() - started
        body = _http.checked(_http.parsed(raw, status), status, key)
        provider = body.get("provider")
        return Completion(
            body,
            cost_usd=self.cost_usd(body),
            latency_s=latency_s,
            provider=provider if isinstance(provider, str) else None,
        )

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Yield the server's chunks; a stream that stops before a finish reason is a failure, not an answer."""
        key, finished = self._key(), False
        limit = aiohttp.ClientTimeout(total=None, sock_connect=self.spec.timeout_s, sock_read=self.spec.timeout_s)
        async with self._streamed(self.payload(request, stream=True), key, limit) as response:
            if response.content_type == "application/json":
                body = _http.parsed(await response.read(), response.status)
                error = _http.error_in(body, response.status, key)
                raise error or CallError("malformed", "the server answered whole to a streamed request")
            async for event in _events(response):
                if event.data.strip() == "[DONE]":
                    break
                chunk = _chunk(event, response.status, key)
                finished = finished or bool((_http.first_choice(chunk) or {}).get("finish_reason"))
                yield chunk
        if not finished:
            raise CallError("malformed", "the stream ended without a finish_reason")

    def payload(self, request: ChatRequest, stream: bool) -> Json:
        """Return the JSON object to send: the client's fields, the pool entry's defaults, this worker's model."""
        left_out = OUR_FIELDS if stream else OUR_FIELDS | STREAM_FIELDS
        body = {name: value for name, value in self.prepared(request).body.items() if name not in left_out}
        body["model"] = self.spec.model
        self.add_fields(body)
        return {**body, "stream": True} if stream else body

    def add_fields(self, body: Json) -> None:
        """Add what this kind of server takes beyond the common fields."""
        effort = self.spec.reasoning_effort
        if effort is not None and "reasoning_effort" in self.spec.model_fields_set:
            body.setdefault("reasoning_effort", effort)

    def headers(self) -> dict[str, str]:
        """Return the headers of a call, the key excepted."""
        return {"Content-Type": "application/json", "User-Agent": f"fugu-lite/{__version__}"}

    def cost_usd(self, body: Json) -> float | None:
        """Return USD for an answer or a usage chunk: what the provider says, else the pool's price, else None."""
        usage = body.get("usage")
        reported = usd(usage.get("cost")) if isinstance(usage, dict) else None
        return reported if reported is not None else self.spec.price.cost_usd(Usage.of(usage))

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _key(self) -> str | None:
        """Read the key from the environment, for each call, so that a rotated key counts at once."""
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise CallError("auth", f"environment variable {self.api_key_env} is not set; set it or put it into .env")
        if not (key.isascii() and key.isprintable()):
            raise CallError("auth", f"environment variable {self.api_key_env} holds characters that no key has")
        return key

    def _opened(self) -> aiohttp.ClientSession:
        """Return this loop's session; no cookies are kept, and no proxy or netrc is read from the environment."""
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            self._loop = loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self.spec.max_concurrency), cookie_jar=aiohttp.DummyCookieJar()
            )
        return self._session

    def _post(self, body: Json, key: str | None, limit: aiohttp.ClientTimeout) -> Sent:
        """Return the request, which is sent when the block begins."""
        try:
            data = orjson.dumps(body)
        except TypeError as error:
            raise CallError("client", f"the request cannot be written as JSON: {error}") from None
        headers = self.headers()
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return self._opened().post(self.url, data=data, headers=headers, timeout=limit, allow_redirects=False)

    @asynccontextmanager
    async def _streamed(
        self, body: Json, key: str | None, limit: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send, and turn whatever goes wrong until the block ends into a `CallError`."""
        try:
            async with self._post(body, key, limit) as response:
                await _http.refuse(response, key)
                yield response
        except (aiohttp.ClientError, OSError) as error:
            raise _http.transport_error(error, self.spec.timeout_s, key) from None


def api_root(base_url: str | None, where: str) -> str:
    """Return the URL that `/chat/completions` and `/models` are below; a bare host gets `/v1`.

    Raises:
        SpecError: if there is none, it is not http(s), or it carries credentials or a query.
    """
    if not base_url:
        raise SpecError(where, "has no base_url", "set it, e.g. base_url: http://127.0.0.1:8000/v1")
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SpecError(where, f"base_url {base_url!r} is not an http or https address")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SpecError(where, "base_url carries credentials, a query or a fragment", "name the key by api_key_env")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"


def usd(value: Any) -> float | None:
    """Return a reported amount; None unless it is a finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[_sse.Event]:
    parser = _sse.Parser()
    async for data in response.content.iter_any():
        for event in parser.feed(data):
            yield event
    for event in parser.close():
        yield event


def _chunk(event: _sse.Event, status: int, key: str | None) -> Json:
    """Read one event as a chunk, or raise the error that it reports."""
    body = _http.parsed(event.data.encode(), status)
    error = _http.error_in(body, status, key)
    if error is None and event.name == "error":
        error = _http.reported(body, status, key)
    if error is not None:
        raise error
    return body
