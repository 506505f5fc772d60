"""Chat requests and completions: thin wrappers around the raw JSON, so that unknown fields survive untouched.

`Completer` is the one protocol that joins call, route and orchestrate: a worker is one, the dispatcher is one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat-completions request; `body` is the client's JSON object and is never changed in place."""

    body: Json

    @classmethod
    def of(cls, prompt: str | Sequence[Mapping[str, Any]], **fields: Any) -> ChatRequest:
        """Build a request from a prompt text or from chat messages."""
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [dict(m) for m in prompt]
        return cls({"messages": messages, **fields})

    @property
    def messages(self) -> list[Json]:
        """The messages as given."""
        messages: list[Json] = self.body.get("messages") or []
        return messages

    @property
    def stream(self) -> bool:
        """Whether the client asked for server-sent events."""
        return bool(self.body.get("stream"))

    def replaced(self, **fields: Any) -> ChatRequest:
        """Return a copy with some top-level fields set."""
        return ChatRequest({**self.body, **fields})

    def last_user_text(self) -> str:
        """Return the text of the last user turn, empty when there is none."""
        return next((content_text(m.get("content")) for m in reversed(self.messages) if m.get("role") == "user"), "")


def content_text(content: Any) -> str:
    """Flatten message content to text: a string, None (empty) or a list of parts of which the text parts count."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (
            part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict)
        )
        return "\n".join(part for part in parts if isinstance(part, str))
    return str(content)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider reported them; None means not reported, never zero."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None

    @classmethod
    def of(cls, usage: Any) -> Usage:
        """Read an OpenAI-shaped usage object; unusable values become None."""
        usage = usage if isinstance(usage, Mapping) else {}
        spent, read = usage.get("completion_tokens_details"), usage.get("prompt_tokens_details")
        return cls(
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
            _count(spent.get("reasoning_tokens")) if isinstance(spent, Mapping) else None,
            _count(read.get("cached_tokens")) if isinstance(read, Mapping) else None,
        )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer.

    Attributes:
        body: the raw `chat.completion` object.
        cost_usd: USD for this call; None when unknown.
        latency_s: wall seconds from sending to the last byte.
        ttft_s: seconds to the first content, for streamed calls.
        provider: who served it, when the answer says so.
        details: what a dispatcher adds (the `fugu_lite` object); empty for a plain worker.
    """

    body: Json
    cost_usd: float | None = None
    latency_s: float | None = None
    ttft_s: float | None = None
    provider: str | None = None
    details: Json = field(default_factory=dict)

    @property
    def message(self) -> Json:
        """The first choice's message; empty when the answer has none."""
        choices = self.body.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        return message if isinstance(message, dict) else {}

    @property
    def text(self) -> str:
        """The first choice's text, empty for a tool call or an empty answer."""
        return content_text(self.message.get("content"))

    @property
    def finish_reason(self) -> str | None:
        """Why the first choice ended: `stop`, `length`, `tool_calls`, `content_filter`."""
        choices = self.body.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        return first.get("finish_reason") if isinstance(first, dict) else None

    @property
    def usage(self) -> Usage:
        """Token counts."""
        return Usage.of(self.body.get("usage"))

    @property
    def served_model(self) -> str | None:
        """The model that the server says answered."""
        model = self.body.get("model")
        return model if isinstance(model, str) else None


def completion_body(text: str, model: str, usage: Mapping[str, Any] | None = None, finish_reason: str = "stop") -> Json:
    """Return a minimal `chat.completion` object for workers that make their own (mock, function)."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    body: Json = {
        "id": "chatcmpl-local",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
    }
    return {**body, "usage": dict(usage)} if usage is not None else body


@asynccontextmanager
async def closing(chunks: AsyncIterator[Json]) -> AsyncIterator[AsyncIterator[Json]]:
    """Close a generator as soon as it is left, so that its connection is released."""
    try:
        yield chunks
    finally:
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()


@runtime_checkable
class Completer(Protocol):
    """Anything that answers a chat request."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer whole.

        Raises:
            CallError: when no answer could be had.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Answer as `chat.completion.chunk` objects, the last one with a `finish_reason`.

        Raises:
            CallError: before the first chunk, or in the middle of the stream.
        """
        ...


@runtime_checkable
class Status(Protocol):
    """What `/health` and `/ready` ask of a completer that can be degraded."""

    def status(self) -> Json:
        """Return a JSON object with at least `ready: bool`."""
        ...
