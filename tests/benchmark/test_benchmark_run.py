"""A live run: who is asked what, what is counted as wrong and what as missing, and what a second run asks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.benchmark.stubs import benchmark, manifest, pool, questions, router
from tests.rewards.stubs import entry

from fugu_lite import jsonl
from fugu_lite.benchmark import BenchmarkOptions, run_benchmark
from fugu_lite.chat import ChatRequest, Completion
from fugu_lite.errors import MismatchError, MissingWeightsError, SpecError
from fugu_lite.rewards import attempts as log
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool, PoolSpec
from fugu_lite.workers.mock import MockWorker

pytestmark = pytest.mark.anyio


def workers(count_file: Path | None = None, **changes: dict[str, Any]) -> Pool:
    """alpha and gamma answer right, beta answers wrong; `changes` add to a worker's entry."""
    common: dict[str, Any] = {"cost_usd": 0.001, "latency_s": 0.5}
    if count_file is not None:
        common["count_file"] = str(count_file)
    given = {"alpha": {}, "beta": {"lie": True}, "gamma": {}}
    return pool(*(entry(name, **{**common, **given[name], **changes.get(name, {})}) for name in given))


def asked(count_file: Path) -> Counter[str]:
    """How often each worker was asked."""
    lines = count_file.read_text().splitlines() if count_file.exists() else []
    return Counter(line.split("|")[0] for line in lines)


async def test_each_question_goes_to_the_picked_worker_and_counts_once(tmp_path: Path) -> None:
    tasks = questions("alpha 1", "alpha 2", "gamma 3", "beta 4", "5")
    result = await benchmark(workers(tmp_path / "n"), tasks, tmp_path / "out")
    assert asked(tmp_path / "n") == {"alpha": 2, "gamma": 1, "beta": 2}
    assert (result.status, result.left) == ("complete", 0)
    overall = result.overall
    assert (overall.correct, overall.graded, overall.questions, overall.missing) == (3, 5, 5, 0)
    assert overall.low == pytest.approx(0.2307, abs=1e-4)  # Wilson, 3 of 5
    assert overall.high == pytest.approx(0.8824, abs=1e-4)
    assert [(row.worker, row.questions, row.score) for row in result.workers] == [
        ("alpha", 2, 1.0),
        ("beta", 2, 0.0),
        ("gamma", 1, 1.0),
    ]
    assert result.cost_usd == pytest.approx(0.005)
    assert result.latency_p50_s == 0.5
    first = result.questions[0]
    assert (first.worker, first.reason, first.status, first.correct) == ("alpha", "head", "ok", True)
    assert sum(first.probabilities.values()) == pytest.approx(1)
    assert first.probabilities["alpha"] == max(first.probabilities.values())


async def test_the_facts_are_in_the_folder(tmp_path: Path) -> None:
    result = await benchmark(workers(), questions("alpha 1", "beta 2"), tmp_path / "out")
    decisions = jsonl.read_rows(tmp_path / "out" / "decisions.jsonl")
    assert {row["task_id"]: row["worker_id"] for row in decisions} == {"q000": "alpha", "q001": "beta"}
    stored = list(log.read(tmp_path / "out" / "attempts.jsonl"))
    assert {(one.task_id, one.worker_id, one.quality) for one in stored} == {("q000", "alpha", 1), ("q001", "beta", 0)}
    metrics = orjson.loads((tmp_path / "out" / "benchmark.json").read_bytes())
    assert metrics == orjson.loads(jsonl.dumps(result.to_json()))
    assert (metrics["score"], metrics["n_questions"], metrics["missing"], metrics["empty"]) == (0.5, 2, 0, 0)
    plan = orjson.loads((tmp_path / "out" / "plan.json").read_bytes())
    assert plan["head"] == "head-wish"
    assert plan["workers"]["alpha"]["timeout_s"] == 30.0


async def test_the_prompt_is_sent_untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ChatRequest] = []

    async def keep(self: MockWorker, request: ChatRequest) -> Completion:
        seen.append(self.prepared(request))
        return await real(self, request)

    real = MockWorker.complete
    monkeypatch.setattr(MockWorker, "complete", keep)
    prompt = "  Hangi seçenek doğrudur? alpha\nA) bir\nB) iki\n\nYalnızca harfi yaz.\n"
    chat = [
        {"role": "system", "content": "Kısa yanıtla."},
        {"role": "user", "content": "merhaba"},
        {"role": "assistant", "content": "selam"},
        {"role": "user", "content": [{"type": "text", "text": "alpha?"}]},
    ]
    graded: dict[str, Any] = {"reference_answer": "A", "grader": {"type": "choice"}}
    tasks = [Task(task_id="p", prompt=prompt, **graded), Task(task_id="m", messages=chat, **graded)]
    mocks = Pool(PoolSpec.parse({"workers": [{"id": name, "type": "mock"} for name in ("alpha", "beta", "gamma")]}))
    result = await benchmark(mocks, tasks, tmp_path / "out", concurrency=1)
    assert [request.messages for request in seen] == [[{"role": "user", "content": prompt}], chat]
    assert [row.worker for row in result.questions] == ["alpha", "alpha"]


async def test_a_failed_call_is_missing_and_never_wrong(tmp_path: Path) -> None:
    tasks = questions("alpha 1", "alpha 2", "gamma 3", "gamma 4")
    away = workers(tmp_path / "n", gamma={"away": True, "fail": "connect"})
    result = await benchmark(away, tasks, tmp_path / "out")
    assert (result.status, result.left) == ("incomplete", 2)
    assert (result.overall.score, result.overall.graded, result.overall.missing) == (1.0, 2, 2)
    assert result.score_if_missing_wrong == 0.5
    assert (result.statuses, result.error_kinds) == ({"ok": 2, "error": 2}, {"connect": 2})
    assert asked(tmp_path / "n") == {"alpha": 2, "gamma": 2}  # no other worker stood in for it
    again = await benchmark(workers(tmp_path / "n"), tasks, tmp_path / "out", resume=True)
    assert (again.status, again.overall.score, again.overall.graded) == ("complete", 1.0, 4)
    assert asked(tmp_path / "n") == {"alpha": 2, "gamma": 4}
    assert len(jsonl.read_rows(tmp_path / "out" / "decisions.jsonl")) == 4


async def test_empties_refusals_and_failures_are_counted_apart(tmp_path: Path) -> None:
    tasks = questions("silent", "empty", "filtered", "cut", "undecided", "fail rate_limit", "boom")
    result = await benchmark(workers(beta={"lie": False}), tasks, tmp_path / "out")
    found = {row.question: (row.status, row.quality) for row in result.questions}
    assert found == {
        "silent": ("empty", 0.0),  # spent tokens and said nothing: its own doing
        "empty": ("error", None),  # a bare body without tokens: the provider's
        "filtered": ("refused", None),
        "cut": ("truncated", 1.0),
        "undecided": ("ungraded", None),
        "fail rate_limit": ("error", None),
        "boom": ("error", None),
    }
    assert result.error_kinds == {"empty": 1, "rate_limit": 1, "internal": 1}
    assert (result.overall.correct, result.overall.graded, result.overall.missing) == (1, 2, 5)
    metrics = result.to_json()
    counts = {name: metrics[name] for name in ("empty", "truncated", "refused", "ungraded", "error", "no_decision")}
    assert counts == {"empty": 1, "truncated": 1, "refused": 1, "ungraded": 1, "error": 3, "no_decision": 0}


async def test_no_decision_is_counted_apart_and_decided_on_resume(tmp_path: Path) -> None:
    tasks = questions("alpha 1", "broken alpha 2")
    result = await benchmark(workers(tmp_path / "n"), tasks, tmp_path / "out", compare="gamma")
    row = result.questions[1]
    assert (row.status, row.worker, row.quality) == ("no_decision", None, None)
    assert row.error == "GradingError: stub: no vector for this"
    assert row.comparator_quality == 1.0
    assert (result.statuses["no_decision"], result.overall.graded, result.left) == (1, 1, 1)
    assert result.comparison is not None
    assert (result.comparison.pairs, result.comparison.left_out) == (1, 1)
    again = await benchmark(workers(tmp_path / "n"), tasks, tmp_path / "out", compare="gamma", resume=True)
    assert again.statuses["no_decision"] == 1
    assert asked(tmp_path / "n") == {"alpha": 1, "gamma": 2}


async def test_a_slow_answer_is_missing_after_the_time_limit(tmp_path: Path) -> None:
    result = await benchmark(
        workers(gamma={"sleep": 5}), questions("gamma 1", "alpha 2"), tmp_path / "out", timeout_s=0.05
    )
    assert result.error_kinds == {"timeout": 1}
    assert result.overall.score == 1.0
    assert result.settings["gamma"]["timeout_s"] == 0.05


async def test_the_comparator_is_asked_every_question_and_the_same_call_counts_for_both(tmp_path: Path) -> None:
    tasks = questions(*(f"alpha {i}" for i in range(6)), *(f"gamma {i}" for i in range(4)), "beta 10", "11")
    result = await benchmark(workers(tmp_path / "n"), tasks, tmp_path / "out", compare="best-fixed")
    assert asked(tmp_path / "n") == {"alpha": 6, "gamma": 4, "beta": 12}
    found = result.comparison
    assert found is not None
    assert (found.comparator, found.pairs, found.same, found.left_out) == ("beta", 12, 2, 0)
    assert found.comparator_score == 0
    assert found.router_score == found.gain == pytest.approx(10 / 12)
    assert found.gain_low is not None
    assert found.gain_low > 0.4
    assert found.verdict == "cannot tell"  # 12 questions are too few to be believed
    assert (found.router_only, found.comparator_only) == (10, 0)
    assert found.mcnemar_p == pytest.approx(2 * 0.5**10)
    assert found.router_cost_usd == pytest.approx(0.012)


async def test_a_planted_gain_is_found_and_none_without_it(tmp_path: Path) -> None:
    tasks = questions(*(f"alpha {i}" for i in range(40)))
    planted = await benchmark(workers(), tasks, tmp_path / "planted", compare="beta")
    assert planted.comparison is not None
    assert (planted.comparison.verdict, planted.comparison.gain) == ("better", 1.0)
    removed = await benchmark(workers(beta={"lie": False}), tasks, tmp_path / "removed", compare="beta")
    assert removed.comparison is not None
    assert (removed.comparison.verdict, removed.comparison.gain) == ("cannot tell", 0.0)
    assert removed.comparison.mcnemar_p == 1.0


async def test_adding_a_comparator_later_asks_only_the_comparator(tmp_path: Path) -> None:
    tasks = questions("alpha 1", "gamma 2", "beta 3")
    await benchmark(workers(tmp_path / "n"), tasks, tmp_path / "out")
    result = await benchmark(workers(tmp_path / "n"), tasks, tmp_path / "out", compare="beta", resume=True)
    assert asked(tmp_path / "n") == {"alpha": 1, "gamma": 1, "beta": 3}
    assert result.comparison is not None
    assert result.comparison.pairs == 3


async def test_a_spending_limit_stops_and_resume_goes_on(tmp_path: Path) -> None:
    tasks = questions(*(f"alpha {i}" for i in range(20)))
    few = {"max_concurrency": 1}
    result = await benchmark(workers(tmp_path / "n", alpha=few), tasks, tmp_path / "out", max_cost_usd=0.005)
    assert result.status == "budget"
    assert asked(tmp_path / "n")["alpha"] == 5
    assert (result.overall.graded, result.statuses["not_asked"]) == (5, 15)
    again = await benchmark(workers(tmp_path / "n", alpha=few), tasks, tmp_path / "out", resume=True)
    assert (again.status, asked(tmp_path / "n")["alpha"]) == ("complete", 20)


async def test_a_worker_that_never_answers_is_given_up(tmp_path: Path) -> None:
    tasks = questions(*(f"gamma {i}" for i in range(60)), "alpha 1")
    result = await benchmark(workers(tmp_path / "n", gamma={"fail": "auth"}), tasks, tmp_path / "out", concurrency=1)
    assert asked(tmp_path / "n") == {"gamma": 20, "alpha": 1}
    assert (result.statuses["error"], result.statuses["not_asked"], result.overall.score) == (20, 40, 1.0)
    assert any("given up" in note for note in result.notes)


async def test_limit_takes_the_first_questions(tmp_path: Path) -> None:
    tasks = questions("alpha 1", "alpha 2", "alpha 3")
    assert (await benchmark(workers(), tasks, tmp_path / "out", limit=2)).overall.questions == 2
    assert (await benchmark(workers(), tasks, tmp_path / "out", resume=True)).overall.questions == 3
    fewer = await benchmark(workers(), tasks, tmp_path / "out", limit=1, resume=True)
    assert fewer.overall.questions == 1
    assert any("2 stored decisions" in note for note in fewer.notes)


async def test_an_existing_folder_needs_resume(tmp_path: Path) -> None:
    tasks = questions("alpha 1")
    await benchmark(workers(), tasks, tmp_path / "out")
    with pytest.raises(SpecError, match="already exists"):
        await benchmark(workers(), tasks, tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match="is a file"):
        await benchmark(workers(), tasks, tmp_path / "file")


async def test_what_is_missing_is_said_before_the_first_call(tmp_path: Path) -> None:
    with pytest.raises(MissingWeightsError):
        await benchmark(workers(tmp_path / "n", gamma={"bare": True}), questions("alpha 1"), tmp_path / "out")
    assert asked(tmp_path / "n") == {}


async def test_resume_refuses_other_heads_prompts_graders_and_conditions(tmp_path: Path) -> None:
    tasks, folder = questions("alpha 1"), tmp_path / "out"
    await benchmark(workers(), tasks, folder)
    with pytest.raises(MismatchError, match="head was 'head-wish', is 'another'"):
        await benchmark(workers(), tasks, folder, manifest(name="another"), resume=True)
    with pytest.raises(MismatchError, match="another prompt"):
        await benchmark(workers(), questions("alpha 2"), folder, resume=True)
    with pytest.raises(MismatchError, match="another grader"):
        await benchmark(workers(), questions("alpha 1", reference_answer="other"), folder, resume=True)
    with pytest.raises(MismatchError, match=r"temperature was 0\.1, is 0\.9"):
        await benchmark(workers(), tasks, folder, resume=True, temperature=0.9)
    assert (await benchmark(workers(), tasks, folder, resume=True)).status == "complete"


async def test_routing_to_one_worker_is_warned_of(tmp_path: Path) -> None:
    result = await benchmark(workers(), questions(*(f"alpha {i}" for i in range(20)), "beta"), tmp_path / "out")
    assert any("20 of 21 questions went to 'alpha'" in note for note in result.notes)


async def test_every_finished_run_is_a_look(tmp_path: Path) -> None:
    tasks, runs = questions("alpha 1"), tmp_path / "runs"
    for number in (1, 2):
        options = BenchmarkOptions(resume=number > 1)
        result = await run_benchmark(manifest(), router(), workers(), tasks, tmp_path / "out", options, runs=runs)
        assert result.looks == number
