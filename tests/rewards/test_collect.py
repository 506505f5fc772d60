"""Collection: exact statuses, nothing asked twice, nothing silently replaced."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.rewards.stubs import StubWorker, entry, pool, task

from fugu_lite import jsonl
from fugu_lite.errors import DataError, LockedError, MismatchError, MissingWeightsError, SpecError
from fugu_lite.rewards import CollectOptions, collect, dry_run
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.rewards.matrix import load
from fugu_lite.runs import Silent
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool

RESUME = CollectOptions(resume=True)


class Heard(Silent):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.counts: list[tuple[int, int | None]] = []

    def log(self, message: str, **fields: Any) -> None:
        self.messages.append(message)

    def progress(self, stage: str, done: int, total: int | None, **fields: Any) -> None:
        self.counts.append((done, total))


def stub(workers: Pool, name: str) -> StubWorker:
    worker = workers[name]
    assert isinstance(worker, StubWorker)
    return worker


def stored(output: Path) -> dict[tuple[str, str, int], Attempt]:
    return log.latest(log.read(log.path_beside(output)))


@pytest.mark.anyio
async def test_every_cell_is_asked_once_and_graded(tmp_path: Path) -> None:
    output, tasks, heard = tmp_path / "r.jsonl", [task("t1"), task("t2")], Heard()
    workers = pool(entry("good", cost_usd=0.5, latency_s=2.0), entry("bad", lie=True), repetitions=2)
    summary = await collect(workers, tasks, output, reporter=heard)
    assert (summary.status, summary.planned, summary.done, summary.left, summary.rows) == ("complete", 8, 8, 0, 2)
    assert sorted(stub(workers, "good").asked) == ["say t1", "say t1", "say t2", "say t2"]
    assert (summary.spent_usd, summary.unknown_costs) == (2.0, 4)
    assert any("reports no cost" in message for message in heard.messages)
    assert heard.counts[-1] == (8, 8)
    matrix = load(output)
    assert matrix.worker_ids == ("good", "bad")
    assert matrix.rewards.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert matrix.costs[0, 0] == 0.5
    assert matrix.costs[0, 1] != matrix.costs[0, 1]  # unknown, not zero
    assert matrix.latencies[:, 0].tolist() == [2.0, 2.0]


@pytest.mark.anyio
async def test_an_attempt_holds_the_facts(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("a", cost_usd=0.25)), [task("t1")], output)
    attempt = stored(output)["t1", "a", 0]
    assert (attempt.status, attempt.quality, attempt.response, attempt.extracted) == ("ok", 1.0, "say t1", "say t1")
    assert (attempt.finish_reason, attempt.served_model, attempt.provider) == ("stop", "stub-1", "here")
    assert attempt.usage == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "reasoning_tokens": None,
        "cached_tokens": None,
    }
    assert attempt.latency_s is not None
    assert attempt.started_at is not None
    assert attempt.started_at.endswith("+00:00")
    assert attempt.grader is not None
    assert (attempt.grader["type"], attempt.grader["version"]) == ("echo", 1)


@pytest.mark.parametrize(
    ("prompt", "status", "quality"),
    [
        ("fail rate_limit", "error", None),
        ("fail server", "error", None),
        ("fail timeout", "error", None),
        ("fail connect", "error", None),
        ("fail malformed", "error", None),
        ("fail client", "error", None),
        ("fail auth", "error", None),
        ("fail empty", "empty", None),
        ("fail refused", "refused", None),
        ("boom", "error", None),
        ("empty", "empty", None),  # no token was generated: the provider's failure
        ("silent", "empty", 0.0),  # tokens were spent and nothing was said: the worker's doing
        ("cut short", "truncated", 1.0),
        ("filtered", "refused", None),
        ("undecided", "ok", None),
        ("fine", "ok", 1.0),
    ],
)
@pytest.mark.anyio
async def test_statuses_are_exact_and_no_failure_is_zero(
    tmp_path: Path, prompt: str, status: str, quality: float | None
) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("a")), [task("t1", prompt)], output)
    attempt = stored(output)["t1", "a", 0]
    assert (attempt.status, attempt.quality) == (status, quality)
    assert jsonl.read_rows(output)[0]["rewards"] == [quality]
    if status == "error":
        assert attempt.error is not None
        assert attempt.error["kind"] == ("internal" if prompt == "boom" else prompt.split()[1])
        assert attempt.response is None


@pytest.mark.anyio
async def test_an_ungradable_answer_says_why_and_is_counted(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    summary = await collect(pool(entry("a")), [task("t1", "undecided")], output)
    assert summary.counts["a"]["ungraded"] == 1
    assert (stored(output)["t1", "a", 0].model_extra or {})["grader_error"] == "stub: cannot decide"


@pytest.mark.anyio
async def test_a_slow_call_times_out(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("a", sleep=30, timeout_s=0.01)), [task("t1")], output)
    error = stored(output)["t1", "a", 0].error
    assert error is not None
    assert (error["kind"], error["message"]) == ("timeout", "no answer within 0.01 s")


@pytest.mark.anyio
async def test_a_passing_failure_is_tried_again(tmp_path: Path) -> None:
    workers = pool(entry("a"), retries=1)
    await collect(workers, [task("t1", "fail server"), task("t2", "fail client")], tmp_path / "r.jsonl")
    assert sorted(stub(workers, "a").asked) == ["fail client", "fail server", "fail server"]


@pytest.mark.anyio
async def test_resume_asks_only_what_failed(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task("t1"), task("t2")]
    first = await collect(pool(entry("a"), entry("b", fail="server")), tasks, output)
    assert (first.status, first.left, first.rows) == ("incomplete", 2, 2)
    assert jsonl.read_rows(output)[0]["rewards"] == [1.0, None]
    workers = pool(entry("a"), entry("b"))
    second = await collect(workers, tasks, output, RESUME)
    assert (second.status, second.planned, stub(workers, "a").asked) == ("complete", 2, [])
    assert [row["rewards"] for row in jsonl.read_rows(output)] == [[1.0, 1.0], [1.0, 1.0]]
    third = await collect(pool(entry("a"), entry("b")), tasks, output, RESUME)
    assert (third.status, third.planned) == ("complete", 0)


@pytest.mark.anyio
async def test_more_repetitions_workers_and_tasks_may_be_added(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("a")), [task("t1")], output)
    workers = pool(entry("a"), entry("b"), repetitions=2)
    summary = await collect(workers, [task("t1"), task("t2")], output, RESUME)
    assert (summary.planned, summary.rows) == (7, 2)
    fewer = pool(entry("a"), entry("b"))
    with pytest.raises(MismatchError, match="holds 2 repetitions, but 1 are asked for"):
        await collect(fewer, [task("t1"), task("t2")], output, RESUME)


@pytest.mark.anyio
async def test_an_output_that_exists_is_not_touched(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    output.write_text("precious\n")
    with pytest.raises(SpecError, match=r"already exists; add --resume to continue it, or name another --output"):
        await collect(pool(entry("a")), [task("t1")], output)
    assert output.read_text() == "precious\n"
    with pytest.raises(SpecError, match=r"does not end in \.jsonl"):
        await collect(pool(entry("a")), [task("t1")], tmp_path / "r.parquet")


@pytest.mark.anyio
async def test_other_conditions_are_refused_by_name(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("a")), [task("t1")], output)
    with pytest.raises(MismatchError, match=r"worker 'a' .*temperature was 0\.1, is 0\.7"):
        await collect(pool(entry("a", temperature=0.7)), [task("t1")], output, RESUME)
    with pytest.raises(MismatchError, match="task 't1' was asked with another prompt"):
        await collect(pool(entry("a")), [task("t1", "say more")], output, RESUME)
    changed = task("t1", grader={"type": "echo", "strict": True})
    with pytest.raises(MismatchError, match=r"task 't1' was graded with another grader \(digest differs\)"):
        await collect(pool(entry("a")), [changed], output, RESUME)


@pytest.mark.anyio
async def test_one_writer_at_a_time(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    with log.AttemptLog(log.path_beside(output)):
        with pytest.raises(LockedError):
            await collect(pool(entry("a")), [task("t1")], output)


@pytest.mark.anyio
async def test_tasks_that_cannot_be_graded_are_refused_before_the_first_call(tmp_path: Path) -> None:
    workers, output = pool(entry("a")), tmp_path / "r.jsonl"
    bad = [task("t1"), task("t2", grader={"type": "ecko"}), task("t3", reference_answer=None)]
    with pytest.raises(DataError, match=r"did you mean 'echo'\?.*and 1 more"):
        await collect(workers, bad, output)
    assert stub(workers, "a").asked == []
    assert not os.listdir(tmp_path)  # noqa: PTH208


@pytest.mark.anyio
async def test_spending_stops_at_the_limit_and_resumes(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task(f"t{i}") for i in range(10)]
    workers = pool(entry("a", cost_usd=0.25, max_concurrency=1))
    summary = await collect(workers, tasks, output, CollectOptions(max_cost_usd=1.0))
    assert (summary.status, summary.done, summary.left, summary.spent_usd) == ("budget", 4, 6, 1.0)
    assert len(load(output)) == 4
    assert (await collect(workers, tasks, output, RESUME)).status == "complete"
    assert len(stub(workers, "a").asked) == 10


@pytest.mark.anyio
async def test_the_limit_counts_what_is_in_flight(tmp_path: Path) -> None:
    price = {"input_per_million": 0.0, "output_per_million": 1_000_000.0}
    workers = pool(entry("a", cost_usd=10.0, max_concurrency=8, sleep=0.01, price=price, max_tokens=10))
    tasks = [task(f"t{i}") for i in range(10)]
    summary = await collect(workers, tasks, tmp_path / "r.jsonl", CollectOptions(max_cost_usd=35.0))
    assert summary.spent_usd == 30.0  # three calls at 10 tokens x 1 USD; a fourth in flight would pass the limit


@pytest.mark.anyio
async def test_concurrency_and_rate_are_bounded_per_worker(tmp_path: Path) -> None:
    tasks = [task(f"t{i}") for i in range(6)]
    workers = pool(entry("a", sleep=0.005, max_concurrency=2), entry("b", sleep=0.005, requests_per_minute=1200))
    begun = time.monotonic()
    await collect(workers, tasks, tmp_path / "r.jsonl")
    assert stub(workers, "a").most == 2
    assert time.monotonic() - begun >= 5 * 60 / 1200  # six starts, 50 ms apart


@pytest.mark.anyio
async def test_a_worker_that_only_fails_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    output, tasks, heard = tmp_path / "r.jsonl", [task(f"t{i}") for i in range(50)], Heard()
    workers = pool(entry("dead", fail="auth", max_concurrency=1), entry("a"), preflight_calls=5)
    summary = await collect(workers, tasks, output, reporter=heard)
    assert len(stub(workers, "dead").asked) == 5
    assert summary.stopped_workers == {"dead": "5 calls in a row failed: auth: stub: auth"}
    assert (summary.status, summary.left, summary.rows) == ("incomplete", 50, 50)
    assert load(output).rewards[:, 1].tolist() == [1.0] * 50
    assert any("'dead' is not asked any more" in message for message in heard.messages)


@pytest.mark.anyio
async def test_cancelling_keeps_what_is_done(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task("t1"), task("t2")]
    workers = pool(entry("a", max_concurrency=1), entry("b", max_concurrency=1, sleep=30))
    run = asyncio.ensure_future(collect(workers, tasks, output))
    while len(stub(workers, "a").asked) < 2:  # noqa: ASYNC110 - the stub has no event to wait for
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.02)
    run.cancel()
    summary = await run
    assert (summary.status, summary.done, summary.left, summary.rows) == ("cancelled", 2, 2, 0)
    assert sorted(stored(output)) == [("t1", "a", 0), ("t2", "a", 0)]


@pytest.mark.anyio
async def test_limit_takes_the_first_tasks_and_resume_keeps_their_rows(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task(f"t{i}") for i in range(4)]
    first = await collect(pool(entry("a")), tasks, output, CollectOptions(limit=2))
    assert (first.planned, first.rows) == (2, 2)
    await collect(pool(entry("a")), tasks, output, RESUME)
    assert [row["task_id"] for row in jsonl.read_rows(output)] == ["t0", "t1", "t2", "t3"]
    await collect(pool(entry("a")), tasks, output, CollectOptions(limit=1, resume=True))
    assert len(jsonl.read_rows(output)) == 4


@pytest.mark.anyio
async def test_seeds_differ_between_repetitions_and_repeat_between_runs(tmp_path: Path) -> None:
    seen = []
    for name in ("one", "two"):
        workers = pool(entry("a", send_seed=True), entry("b"), repetitions=3)
        await collect(workers, [task("t1")], tmp_path / f"{name}.jsonl")
        seen.append(sorted(stub(workers, "a").seeds))
        assert stub(workers, "b").seeds == [None] * 3
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 3


@pytest.mark.anyio
async def test_chat_messages_are_sent_as_they_are(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "say hi"}]
    chat = Task(task_id="c", messages=messages, reference_answer="hi", grader={"type": "echo"})
    workers = pool(entry("a"))
    await collect(workers, [chat], tmp_path / "r.jsonl")
    assert stub(workers, "a").asked == ["say hi"]


def test_a_judge_must_be_a_worker_of_the_pool(tmp_path: Path) -> None:
    judged = task("t1", grader={"type": "llm_judge", "rubric": "is it polite?"})
    workers = pool(entry("a"), reward={"judge_model": "nobody"})
    with pytest.raises(SpecError, match=r"reward\.judge_model: names 'nobody'.*workers: a"):
        asyncio.run(collect(workers, [judged], tmp_path / "r.jsonl"))


def test_dry_run_counts_calls_and_money(tmp_path: Path) -> None:
    price = {"input_per_million": 2.0, "output_per_million": 4.0}
    workers = pool(entry("a", price=price, requests_per_minute=60), entry("b"), repetitions=3)
    tasks = [task("t1", "x" * 400), task("t2", "x" * 400, grader={"type": "llm_judge"})]
    first, second = dry_run(workers, tasks)
    assert (first.calls, first.judge_calls, first.prompt_tokens, first.completion_tokens) == (6, 3, 600, 1536)
    assert first.cost_usd == pytest.approx((600 * 2 + 1536 * 4) / 1e6)
    assert (first.seconds, second.cost_usd, second.seconds) == (6.0, None, None)
    assert dry_run(workers, tasks, CollectOptions(limit=1, only_workers=("b",)))[0].calls == 3
    with pytest.raises(SpecError, match="no worker 'c'"):
        dry_run(workers, tasks, CollectOptions(only_workers=("c",)))


def test_dry_run_estimates_the_judge(tmp_path: Path) -> None:
    price = {"input_per_million": 1.0, "output_per_million": 1.0}
    workers = pool(entry("a"), entry("j", price=price), reward={"judge_model": "j"}, repetitions=2)
    judged = task("t1", "x" * 400, grader={"type": "llm_judge"})
    judge = dry_run(workers, [judged], CollectOptions(only_workers=("a",)))[-1]
    assert (judge.worker_id, judge.calls, judge.prompt_tokens, judge.completion_tokens) == ("j (judge)", 2, 712, 512)
    assert judge.cost_usd == pytest.approx(1224 / 1e6)


@pytest.mark.anyio
async def test_what_a_worker_lacks_is_said_before_the_first_call(tmp_path: Path) -> None:
    workers = pool(entry("a"), entry("b", bare=True))
    with pytest.raises(MissingWeightsError, match="fugu-lite weights fetch"):
        await collect(workers, [task("t1")], tmp_path / "r.jsonl")
    assert stub(workers, "a").asked == []
    only = CollectOptions(only_workers=("a",))  # nothing that was not asked was left behind
    assert (await collect(workers, [task("t1")], tmp_path / "r.jsonl", only)).status == "complete"


@pytest.mark.anyio
async def test_a_worker_that_does_not_start_does_not_stop_the_others(tmp_path: Path) -> None:
    heard = Heard()
    workers = pool(entry("a"), entry("b", away=True, fail="connect"))
    summary = await collect(workers, [task("t1")], tmp_path / "r.jsonl", reporter=heard)
    assert (summary.status, summary.never_answered) == ("incomplete", ("b",))
    assert summary.last_errors == {"b": "connect: stub: connect"}
    assert "worker 'b' does not start: connect: stub: nobody there" in heard.messages


@pytest.mark.anyio
async def test_an_empty_body_is_asked_again_and_an_empty_answer_is_not(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task("t1", "empty"), task("t2", "silent")]
    first = await collect(pool(entry("a")), tasks, output)
    assert (first.status, first.left, first.counts["a"]["empty"]) == ("incomplete", 1, 2)
    workers = pool(entry("a"))
    await collect(workers, tasks, output, RESUME)
    assert stub(workers, "a").asked == ["empty"]


@pytest.mark.anyio
async def test_a_selection_that_drops_rows_or_columns_is_refused(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task("t1"), task("t2")]
    await collect(pool(entry("a"), entry("b")), tasks, output)
    before = output.read_bytes()
    with pytest.raises(MismatchError, match=r"holds attempts of task 't2', which .*--split .*another --output"):
        await collect(pool(entry("a"), entry("b")), tasks[:1], output, RESUME)
    only = CollectOptions(resume=True, only_workers=("a",))
    with pytest.raises(MismatchError, match="holds attempts of worker 'b'"):
        await collect(pool(entry("a"), entry("b")), tasks, output, only)
    with pytest.raises(MismatchError, match="holds attempts of worker 'b'"):
        dry_run(pool(entry("a"), entry("b")), tasks, only, output)
    assert output.read_bytes() == before


@pytest.mark.anyio
async def test_a_limit_keeps_the_rows_past_it_when_a_worker_is_added(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task(f"t{i}") for i in range(3)]
    await collect(pool(entry("a")), tasks, output)
    await collect(pool(entry("a"), entry("b")), tasks, output, CollectOptions(resume=True, limit=1))
    assert [row["rewards"] for row in jsonl.read_rows(output)] == [[1.0, 1.0], [1.0, None], [1.0, None]]


@pytest.mark.anyio
async def test_a_worker_that_was_given_up_sets_no_money_aside(tmp_path: Path) -> None:
    price = {"input_per_million": 0.0, "output_per_million": 1_000_000.0}
    tasks = [task(f"t{i}") for i in range(4)]
    dead = entry("dead", fail="auth", price=price, max_tokens=10, max_concurrency=1)
    alive = entry("a", cost_usd=10.0, price=price, max_tokens=10, max_concurrency=1, sleep=0.01)
    workers = pool(dead, alive, preflight_calls=1)
    summary = await collect(workers, tasks, tmp_path / "r.jsonl", CollectOptions(max_cost_usd=40.0))
    assert (summary.spent_usd, len(stub(workers, "dead").asked)) == (40.0, 1)
