"""Workers without a model: the same question gets the same answer, in every run and on every machine."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

import orjson
from pydantic import Field, field_validator

from fugu_lite.chat import ChatRequest, Completion, Json, completion_body, content_text
from fugu_lite.errors import CallError
from fugu_lite.specs import Spec
from fugu_lite.workers.contract import Worker, WorkerSpec

Fault = Literal[
    "429", "429-retry-after", "500", "timeout", "reset", "empty", "empty-choices", "error-body", "malformed", "stall"
]
FAULTS: Mapping[str, CallError] = {
    "429": CallError("rate_limit", "mock: too many requests", 429),
    "429-retry-after": CallError("rate_limit", "mock: too many requests", 429, retry_after_s=1.0),
    "500": CallError("server", "mock: internal error", 500),
    "timeout": CallError("timeout", "mock: no answer in time"),
    "stall": CallError("timeout", "mock: the stream fell silent"),
    "reset": CallError("connect", "mock: connection reset"),
    "empty-choices": CallError("malformed", "mock: the answer has no choices", 200),
    "error-body": CallError("server", "mock: the generation failed", 200),
    "malformed": CallError("malformed", "mock: the answer is not JSON", 200),
}


class MockOptions(Spec):
    """`options:` of a mock worker.

    Attributes:
        skills: domain -> probability that the worker knows the answer; a domain not named counts as 0.
        book: domain -> prompt -> right answer. The mock knows only what stands here; it never sees a task's
            reference answer.
        reply: what it says to a prompt outside the book; by default it repeats the question's start.
        seed: another seed, another pattern of mistakes.
        latency_s: reported as each call's latency, and waited for when `sleep` is true.
        fault: a kind of failure for every call, or kinds with probabilities, e.g. `{"429": 0.2, reset: 0.1}`.
    """

    skills: dict[str, float] = Field(default_factory=dict)
    book: dict[str, dict[str, str]] = Field(default_factory=dict)
    reply: str | None = None
    seed: int = 0
    latency_s: float = Field(0.0, ge=0)
    sleep: bool = False
    fault: dict[Fault, float] = Field(default_factory=dict)

    @field_validator("fault", mode="before")
    @classmethod
    def _always(cls, value: Any) -> Any:
        """Read a single kind as one that always strikes; YAML reads `429` as a number."""
        return {str(name): rate for name, rate in value.items()} if isinstance(value, dict) else {str(value): 1.0}


class MockWorker(Worker):
    """An expert with a book of answers and a known rate of mistakes, for docs, tests and demonstrations.

    On a prompt that stands in the book under domain d it answers right with probability `skills[d]` and otherwise
    gives a wrong answer of the same sort. The draw is a hash of seed, worker id, prompt and the request's `seed`
    field, so repetitions differ only when the request says which one it is. Tokens are words. Failures are drawn anew
    for each call of the same prompt, so that a retry can succeed; the answer that comes then is the same.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        super().__init__(spec)
        self.options = MockOptions.parse(spec.options, f"worker {spec.id!r}, options")
        pages = self.options.book.items()
        self._domains = {_normal(prompt): domain for domain, page in pages for prompt in page}
        self._answers = {_normal(prompt): answer for _, page in pages for prompt, answer in page.items()}
        self._calls: Counter[str] = Counter()

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer from the book, at once or after `latency_s`."""
        fault = self._fault(request)
        await self._wait(fault)
        if fault is not None and fault in FAULTS:
            raise _copy(FAULTS[fault])
        body = self._body(request, "" if fault == "empty" else self.answer(request))
        answer = Completion(body, latency_s=self.options.latency_s, provider="mock")
        return Completion(
            body,
            cost_usd=self.spec.price.cost_usd(answer.usage),
            latency_s=answer.latency_s,
            provider=answer.provider,
        )

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Answer word by word; `stall` strikes after the first word, every other failure before it."""
        fault = self._fault(request)
        await self._wait(fault)
        if fault is not None and fault in FAULTS and fault != "stall":
            raise _copy(FAULTS[fault])
        body = self._body(request, "" if fault == "empty" else self.answer(request))
        whole = Completion(body)
        yield _chunk(body, {"role": "assistant"})
        for word in _words(whole.text):
            yield _chunk(body, {"content": word})
            if fault == "stall":
                raise _copy(FAULTS[fault])
        yield {**_chunk(body, {}, whole.finish_reason), "usage": body["usage"]}

    def answer(self, request: ChatRequest) -> str:
        """Return the text that this request gets when nothing fails."""
        prompt = _normal(request.last_user_text())
        domain = self._domains.get(prompt)
        if domain is None:
            return self.options.reply or f"[{self.id}] mock answer to: {prompt[:80]}"
        right, nonce = self._answers[prompt], request.body.get("seed")
        if self._draw("answer", prompt, nonce) < self.options.skills.get(domain, 0.0):
            return right
        return wrong_answer(right, list(self.options.book[domain].values()), self._draw("wrong", prompt, nonce))

    def _body(self, request: ChatRequest, text: str) -> Json:
        """Wrap a text, cut at the request's token limit."""
        sent = self.prepared(request)
        limit = sent.body.get("max_completion_tokens", sent.body.get("max_tokens"))
        words = _words(text)
        cut = isinstance(limit, int) and len(words) > limit
        words = words[:limit] if cut else words
        asked = sum(len(content_text(message.get("content")).split()) for message in sent.messages)
        usage = {"prompt_tokens": asked, "completion_tokens": len(words), "total_tokens": asked + len(words)}
        return completion_body("".join(words), self.spec.model or self.id, usage, "length" if cut else "stop")

    def _fault(self, request: ChatRequest) -> str | None:
        """Draw this call's failure; None when it succeeds."""
        if not self.options.fault:
            return None
        prompt, nonce = _normal(request.last_user_text()), request.body.get("seed")
        name = f"{prompt}\n{nonce}"
        self._calls[name] += 1
        left = self._draw("fault", prompt, [nonce, self._calls[name]])
        for fault, rate in self.options.fault.items():
            left -= rate
            if left < 0:
                return fault
        return None

    async def _wait(self, fault: str | None) -> None:
        if self.options.sleep:
            await asyncio.sleep(self.spec.timeout_s if fault == "timeout" else self.options.latency_s)

    def _draw(self, *what: Any) -> float:
        """Return a number in [0, 1) that depends on nothing but its arguments, the seed and the worker."""
        named = orjson.dumps([self.options.seed, self.id, *what])
        return int.from_bytes(hashlib.sha256(named).digest()[:8]) / 2**64


def wrong_answer(right: str, others: list[str], draw: float) -> str:
    """Return a plausible answer other than `right`: a number nearby, or another answer from the same page.

    Args:
        right: the answer not to give.
        others: answers to choose from.
        draw: chooses among them, in [0, 1).
    """
    if right.lstrip("-").isdecimal():
        return str(int(right) + 1 + int(draw * 9))
    usable = sorted(other for other in set(others) if not _overlap(right, other))
    return usable[int(draw * len(usable))] if usable else "I do not know."


def _overlap(one: str, two: str) -> bool:
    one, two = one.casefold(), two.casefold()
    return one in two or two in one


def _normal(prompt: str) -> str:
    return " ".join(prompt.split())


def _words(text: str) -> list[str]:
    """Split a text after its spaces, so that joining gives it back."""
    return text.replace(" ", " \0").split("\0") if text else []


def _chunk(body: Json, delta: Json, finish_reason: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    kept = {name: body[name] for name in ("id", "created", "model")}
    return {**kept, "object": "chat.completion.chunk", "choices": [choice]}


def _copy(error: CallError) -> CallError:
    """Return a fresh error: a raised one collects tracebacks, so the table's own is never raised."""
    return CallError(error.kind, error.message, error.http_status, error.retry_after_s)
