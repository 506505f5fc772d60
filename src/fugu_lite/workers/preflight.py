"""Twenty cheap live calls before a worker is trusted with a collection.

Source: the Router Lite guide: a valid completion, the token limit respected rather than silently cut, usable token
counts, fewer than 5 % empty answers.
"""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np

from fugu_lite.chat import ChatRequest, Completion, Json
from fugu_lite.errors import CallError
from fugu_lite.workers.contract import Worker
from fugu_lite.workers.retry import RateLimiter, Sleep, with_retries

TRIVIAL, ROOMY_TOKENS = "Reply with the single word: ready", 256
ENDLESS, TIGHT_TOKENS = "Count from 1 to 500 in words, separated by commas, and leave none out.", 16
HIGHEST_EMPTY_RATE = 0.05
LIMITED, COUNTED = "max_tokens respected", "usable token counts"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what was counted, out of how many, and what that means."""

    name: str
    passed: bool
    count: int
    of: int
    detail: str


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """What the calls to one worker showed.

    Attributes:
        cost_usd: USD of all answers; None when any of them has no known cost.
        latency_s: median seconds per answered call; None when none was answered.
    """

    worker_id: str
    calls: int
    checks: tuple[Check, ...]
    cost_usd: float | None
    latency_s: float | None

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def to_json(self) -> Json:
        """Return plain data, with the verdict."""
        return {**asdict(self), "checks": [asdict(check) for check in self.checks], "passed": self.passed}


@dataclass(frozen=True, slots=True)
class _Probe:
    """One call and its outcome."""

    limit: int
    answer: Completion | None
    error: CallError | None


async def preflight(
    worker: Worker, calls: int = 20, *, retries: int = 3, sleep: Sleep = asyncio.sleep, seed: int = 0
) -> PreflightReport:
    """Try a worker with `calls` small calls, a quarter of them with a limit that is too short for the answer.

    Args:
        worker: whom to try; it is not closed.
        calls: at least 1.
        retries: further tries of a call that failed for a passing reason.
        sleep: waits that many seconds before a further try.
        seed: spreads the waits.
    """
    if calls < 1:
        raise ValueError(f"calls must be at least 1, found {calls}")
    limiter = RateLimiter(worker.spec.requests_per_minute, sleep=sleep)
    room, rng = asyncio.Semaphore(worker.spec.max_concurrency), np.random.default_rng(seed)

    async def probe(number: int) -> _Probe:
        prompt, limit = (ENDLESS, TIGHT_TOKENS) if number % 4 == 3 else (TRIVIAL, ROOMY_TOKENS)
        request = ChatRequest.of(prompt, max_tokens=limit)

        async def once() -> Completion:
            await limiter.acquire()
            return await worker.complete(request)

        async with room:
            try:
                return _Probe(limit, await with_retries(once, retries, sleep=sleep, rng=rng), None)
            except CallError as error:
                return _Probe(limit, None, error)

    probes = await asyncio.gather(*(probe(number) for number in range(calls)))
    return report(worker.id, probes, counts_tokens=worker.spec.type != "function")


def report(worker_id: str, probes: list[_Probe], counts_tokens: bool = True) -> PreflightReport:
    """Judge the outcomes; a worker without tokens, a function, cannot fail the checks on them."""
    answers = [probe.answer for probe in probes if probe.answer is not None]
    costs = [answer.cost_usd for answer in answers]
    known = [cost for cost in costs if cost is not None]
    latencies = [answer.latency_s for answer in answers if answer.latency_s is not None]
    return PreflightReport(
        worker_id,
        len(probes),
        (
            _valid(probes),
            _limited(probes) if counts_tokens else _no_tokens(LIMITED),
            _counted(answers) if counts_tokens else _no_tokens(COUNTED),
            _empty(answers),
        ),
        sum(known) if answers and len(known) == len(costs) else None,
        statistics.median(latencies) if latencies else None,
    )


def _valid(probes: list[_Probe]) -> Check:
    failures = Counter(probe.error.kind for probe in probes if probe.error is not None)
    good = len(probes) - failures.total()
    first = next((str(probe.error) for probe in probes if probe.error is not None), "")
    kinds = ", ".join(f"{count} x {kind}" for kind, count in sorted(failures.items()))
    return Check(
        "valid completion", good == len(probes), good, len(probes), f"{kinds}; first: {first}" if first else ""
    )


def _no_tokens(name: str) -> Check:
    return Check(name, True, 0, 0, "not applicable: a function has no tokens")


def _limited(probes: list[_Probe]) -> Check:
    """Over the limit is wrong, and so is stopping at it without saying `length`. Unknown counts cannot pass."""
    answered = [(probe.limit, probe.answer) for probe in probes if probe.answer is not None]
    over = sum((answer.usage.completion_tokens or 0) > limit for limit, answer in answered)
    silent = sum(
        answer.usage.completion_tokens == limit and answer.finish_reason != "length" for limit, answer in answered
    )
    unknown = sum(answer.usage.completion_tokens is None for _, answer in answered)
    good = len(answered) - over - silent - unknown
    found = f"{over} over the limit, {silent} cut without finish_reason 'length', {unknown} without a count"
    return Check(LIMITED, 0 < len(answered) == good, good, len(answered), found)


def _counted(answers: list[Completion]) -> Check:
    """Usable: a prompt count above 0, and a completion count that is not 0 beside a text."""
    good = sum(
        bool(answer.usage.prompt_tokens)
        and answer.usage.completion_tokens is not None
        and (answer.usage.completion_tokens > 0 or not answer.text)
        for answer in answers
    )
    return Check(COUNTED, 0 < len(answers) == good, good, len(answers), "")


def _empty(answers: list[Completion]) -> Check:
    """Count empty answers; one whose reasoning used up the limit says so and is not an empty answer."""
    counted = [answer for answer in answers if answer.text.strip() or answer.finish_reason != "length"]
    empty = sum(not answer.text.strip() for answer in counted)
    rate = empty / len(counted) if counted else 1.0
    detail = f"{rate:.1%} empty, must be below {HIGHEST_EMPTY_RATE:.0%}" if counted else "no answer to judge"
    return Check("empty rate", rate < HIGHEST_EMPTY_RATE, empty, len(counted), detail)
