from collections.abc import AsyncIterator
from typing import Any

import pytest

from fugu_lite.chat import ChatRequest, Completion, Json, completion_body
from fugu_lite.errors import CallError
from fugu_lite.workers import Worker, WorkerSpec
from fugu_lite.workers.function import FunctionWorker
from fugu_lite.workers.mock import MockWorker
from fugu_lite.workers.preflight import PreflightReport, preflight

pytestmark = pytest.mark.anyio


async def no_sleep(seconds: float) -> None:
    return None


class Scripted(Worker):
    """Answers the calls in turn from a list; well-behaved where the list says None."""

    def __init__(self, *script: Json | CallError | None, **fields: Any) -> None:
        super().__init__(WorkerSpec.parse({"id": "s", "type": "scripted", "max_concurrency": 1} | fields))
        self.script, self.requests = list(script), list[ChatRequest]()

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        step = self.script.pop(0) if self.script else None
        if isinstance(step, CallError):
            raise step
        tight = request.body["max_tokens"] < 100
        good: Json = {"text": "ready", "used": 16 if tight else 1, "reason": "length" if tight else "stop", "asked": 9}
        facts = good | (step or {})
        usage = {"prompt_tokens": facts["asked"], "completion_tokens": facts["used"]}
        return Completion(completion_body(facts["text"], "m", usage, facts["reason"]), 0.001, 0.5)

    def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        raise NotImplementedError


async def verdicts(worker: Worker, calls: int = 20) -> tuple[PreflightReport, dict[str, bool]]:
    found = await preflight(worker, calls, retries=0, sleep=no_sleep)
    return found, {check.name: check.passed for check in found.checks}


async def test_a_good_worker_passes_with_numbers() -> None:
    worker = Scripted()
    report, checks = await verdicts(worker)
    assert report.passed
    assert all(checks.values())
    assert [(check.count, check.of) for check in report.checks] == [(20, 20), (20, 20), (20, 20), (0, 20)]
    assert (report.calls, report.latency_s) == (20, 0.5)
    assert report.cost_usd == pytest.approx(0.02)
    assert sorted({request.body["max_tokens"] for request in worker.requests}) == [16, 256]
    assert report.to_json()["passed"] is True
    assert report.to_json()["checks"][3]["detail"] == "0.0% empty, must be below 5%"


@pytest.mark.parametrize(
    ("step", "failing"),
    [
        (CallError("server", "down", 500), {"valid completion"}),
        ({"used": 300}, {"max_tokens respected"}),
        ({"used": 256, "reason": "stop"}, {"max_tokens respected"}),
        ({"used": None}, {"max_tokens respected", "usable token counts"}),
        ({"asked": None}, {"usable token counts"}),
        ({"asked": 0}, {"usable token counts"}),
        ({"used": 0}, {"usable token counts"}),
        ({"text": " ", "used": 1}, {"empty rate"}),
    ],
)
async def test_one_bad_call_in_twenty_fails_its_check(step: Json | CallError, failing: set[str]) -> None:
    report, checks = await verdicts(Scripted(step))
    assert {name for name, passed in checks.items() if not passed} == failing
    assert not report.passed


async def test_an_empty_rate_below_five_percent_passes() -> None:
    _, checks = await verdicts(Scripted({"text": "", "used": 1}), calls=21)  # 1 of 21 is 4.8 %
    assert checks["empty rate"]


async def test_thinking_until_the_limit_is_not_an_empty_answer() -> None:
    report, _ = await verdicts(Scripted(None, None, None, {"text": ""}))
    assert report.passed
    assert report.checks[3].of == 19


async def test_a_dead_worker_fails_everything() -> None:
    report, checks = await verdicts(Scripted(*[CallError("auth", "bad key", 401)] * 20))
    assert not any(checks.values())
    assert (report.cost_usd, report.latency_s) == (None, None)
    assert report.checks[0].detail == "20 x auth; first: auth (HTTP 401): bad key"


async def test_passing_failures_are_tried_again() -> None:
    worker = Scripted(CallError("rate_limit", "slow down", 429, 1.0))
    assert (await preflight(worker, 4, sleep=no_sleep)).passed
    assert len(worker.requests) == 5


async def test_the_rate_limit_is_honoured() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    await preflight(Scripted(requests_per_minute=60.0), 3, sleep=sleep)
    assert waits == [pytest.approx(1.0, abs=0.1), pytest.approx(2.0, abs=0.1)]


async def test_the_mock_worker_passes() -> None:
    spec = WorkerSpec.parse({"id": "m", "type": "mock", "options": {"reply": "ready " * 40}})
    assert (await preflight(MockWorker(spec))).passed


async def test_a_function_has_no_tokens_and_passes() -> None:
    spec = WorkerSpec.parse({"id": "calculator", "type": "function", "model": "calculator"})
    report, checks = await verdicts(FunctionWorker(spec))
    assert report.passed, report.checks
    assert len(checks) == 4
    assert [check.detail for check in report.checks[1:3]] == ["not applicable: a function has no tokens"] * 2


async def test_at_least_one_call() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        await preflight(Scripted(), 0)
