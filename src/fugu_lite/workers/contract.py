"""What a worker is: an entry of the pool file and a completer that honours it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from fugu_lite.chat import ChatRequest, Completion, Json, Usage
from fugu_lite.registry import Registry
from fugu_lite.specs import Spec


class Price(Spec):
    """USD per million tokens at a date. Unknown stays None and is never taken for free."""

    input_per_million: float | None = Field(None, ge=0)
    output_per_million: float | None = Field(None, ge=0)
    cached_input_per_million: float | None = Field(None, ge=0)
    date: str | None = None

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the price of a call; None when a price or a count is unknown.

        Completion tokens include reasoning tokens, as providers bill them; cached prompt tokens use their own price
        when there is one.
        """
        if self.input_per_million is None or self.output_per_million is None:
            return None
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = usage.cached_tokens or 0
        cached_price = self.cached_input_per_million
        if cached_price is None:
            cached_price = self.input_per_million
        fresh = max(usage.prompt_tokens - cached, 0)
        micro = (
            fresh * self.input_per_million + cached * cached_price + usage.completion_tokens * self.output_per_million
        )
        return micro / 1e6


class Capabilities(Spec):
    """What a worker can take; used to leave it out of requests that it cannot serve."""

    tools: bool = True
    json_schema: bool = True
    vision: bool = False
    context_tokens: int | None = Field(None, gt=0)


class Turn(Spec):
    """One worked example put before the user's messages."""

    user: str
    assistant: str


SAMPLING = ("max_tokens", "temperature", "top_p", "reasoning_effort")
SHAPES_ANSWERS = ("type", "model", "mode", "system", "examples", "stop", *SAMPLING)
EXECUTION_OPTIONS = frozenset({"threads", "slots", "start_timeout_s", "fault", "sleep", "send_seed"})


class WorkerSpec(Spec):
    """One entry of `workers:` in the pool file. Defaults are those of the Router Lite guide.

    Attributes:
        model: what the server calls the model; for `local`, a weights name or a path relative to the pool file.
        api_key_env: name of the environment variable that holds the key; the key itself never stands in a file.
        system: instruction put first when the request has no system message of its own.
        examples: worked examples put before the request (for base models).
        options: settings of one kind only: mock (`skills`, `latency_s`, `seed`, `fault`), function (`name`), local
            (`threads`, `context_tokens`, `chat_template`).
    """

    id: str = Field(min_length=1, max_length=128)
    type: str
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    role: str | None = None
    mode: str | None = None
    system: str | None = None
    examples: tuple[Turn, ...] = ()
    stop: tuple[str, ...] = ()
    max_tokens: int = Field(4096, gt=0)
    temperature: float = Field(0.1, ge=0, le=2)
    top_p: float = Field(1.0, gt=0, le=1)
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = "minimal"
    timeout_s: float = Field(180.0, gt=0)
    max_concurrency: int = Field(8, gt=0)
    requests_per_minute: float | None = Field(None, gt=0)
    price: Price = Price()
    capabilities: Capabilities = Capabilities()
    options: dict[str, Any] = Field(default_factory=dict)

    def conditions(self) -> Json:
        """Return what shapes an answer: everything except identity, transport, rate, price and how fast it runs."""
        kept = self.model_dump(mode="json", include=set(SHAPES_ANSWERS))
        return {**kept, "options": {key: value for key, value in self.options.items() if key not in EXECUTION_OPTIONS}}


class Worker(ABC):
    """A completer with a pool entry. Opens what it needs on the first call; `aclose` releases it.

    Attributes:
        keeps_time: whether `complete` ends by itself after `timeout_s`; callers bound the others.
        folder: what relative paths in the entry are relative to; a pool sets it to the folder of its file.
    """

    keeps_time: ClassVar[bool] = False
    folder: Path = Path()

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec

    @property
    def id(self) -> str:
        """The worker's name in the pool."""
        return self.spec.id

    def prepared(self, request: ChatRequest) -> ChatRequest:
        """Return the request with the pool entry's defaults filled in; what the client set stays as it is."""
        spec, body = self.spec, dict(request.body)
        messages = list(request.messages)
        if spec.examples:
            shown = [
                m
                for turn in spec.examples
                for m in (_message("user", turn.user), _message("assistant", turn.assistant))
            ]
            messages = shown + messages
        if spec.system and not any(m.get("role") in ("system", "developer") for m in messages):
            messages = [_message("system", spec.system), *messages]
        if "max_completion_tokens" not in body:
            body.setdefault("max_tokens", spec.max_tokens)
        body.setdefault("temperature", spec.temperature)
        body.setdefault("top_p", spec.top_p)
        if spec.stop:
            body.setdefault("stop", list(spec.stop))
        return ChatRequest({**body, "messages": messages})

    @abstractmethod
    async def complete(self, request: ChatRequest) -> Completion:
        """Answer whole. Raises `CallError`."""

    @abstractmethod
    def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Answer as `chat.completion.chunk` objects. Raises `CallError`."""

    async def start(self) -> None:  # noqa: B027 - optional hook
        """Open connections or start the model; optional, `complete` does it when needed."""

    async def aclose(self) -> None:  # noqa: B027 - optional hook
        """Release connections and child processes; safe to call twice."""


def _message(role: str, content: str) -> Json:
    return {"role": role, "content": content}


registry: Registry[type[Worker]] = Registry(
    "worker",
    {
        "openrouter": "fugu_lite.workers.openrouter:OpenRouterWorker",
        "openai_compatible": "fugu_lite.workers.openai:OpenAIWorker",
        "local": "fugu_lite.workers.local:LocalWorker",
        "function": "fugu_lite.workers.function:FunctionWorker",
        "mock": "fugu_lite.workers.mock:MockWorker",
    },
    "fugu_lite.workers",
)
