"""Regrading: no call, old lines stay, judges only when asked for."""

from pathlib import Path
from typing import ClassVar

import pytest
from tests.rewards.stubs import entry, pool, task

from fugu_lite import graders
from fugu_lite.errors import DataError
from fugu_lite.graders import Grade, Grader, GradingServices
from fugu_lite.rewards import CollectOptions, collect, rebuild, regrade
from fugu_lite.rewards import attempts as log
from fugu_lite.tasks import Task
from fugu_lite.workers import UtilitySpec


class Verdict(Grader):
    """A judge that needs no model: it counts how often it is asked."""

    kind: ClassVar[str] = "verdict"
    deterministic: ClassVar[bool] = False
    asked: ClassVar[list[str]] = []

    async def grade_with(self, response: str, task: Task, services: GradingServices) -> Grade:
        self.asked.append(response)
        return Grade(0.5, None, "judged", judge={"verdict": "half", "cost_usd": 0.25})


graders.registry.register("verdict", Verdict)


@pytest.mark.anyio
async def test_a_changed_grader_appends_new_grades_and_calls_nobody(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    attempts = log.path_beside(output)
    tasks = [task("t1"), task("t2", "cut off"), task("t3", "fail server"), task("t4", "filtered")]
    await collect(pool(entry("a")), tasks, output)
    before = attempts.read_bytes()

    same = await regrade(attempts, tasks)
    assert (same.read, same.regraded, same.changed) == (4, 2, 0)
    assert attempts.read_bytes() == before

    other = [task("t1", reference_answer="something else"), *tasks[1:]]
    changed = await regrade(attempts, other)
    assert (changed.regraded, changed.changed) == (2, 1)
    assert attempts.read_bytes().startswith(before)
    assert attempts.read_bytes().count(b"\n") == 5
    matrix = rebuild(attempts, other, UtilitySpec())
    assert [(t.task_id, q[0]) for t, q in zip(matrix.tasks, matrix.qualities, strict=True)] == [
        ("t1", 0.0),
        ("t2", 1.0),
    ]

    workers = pool(entry("a"))
    summary = await collect(workers, other, output, CollectOptions(resume=True, limit=2))
    assert summary.planned == 0  # the new grades are in force, so resuming is no longer refused


@pytest.mark.anyio
async def test_an_ungraded_answer_gets_its_grade(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("a")), [task("t1", "undecided")], output)
    summary = await regrade(
        log.path_beside(output), [task("t1", "undecided", grader={"type": "verdict"})], rejudge=True
    )
    assert (summary.regraded, summary.ungraded, summary.judge_cost_usd) == (1, 0, 0.25)
    last = list(log.read(log.path_beside(output)))[-1]
    assert (last.quality, last.response) == (0.5, "undecided")
    assert "grader_error" not in (last.model_extra or {})


@pytest.mark.anyio
async def test_judges_are_asked_only_on_request(tmp_path: Path) -> None:
    output, tasks = tmp_path / "r.jsonl", [task("t1", grader={"type": "verdict"})]
    summary = await collect(pool(entry("a", cost_usd=1.0)), tasks, output)
    assert summary.spent_usd == 1.25  # the judge's cost counts
    Verdict.asked.clear()
    kept = await regrade(log.path_beside(output), tasks)
    assert (kept.judge_calls, kept.regraded, Verdict.asked) == (1, 0, [])
    again = await regrade(log.path_beside(output), tasks, rejudge=True)
    assert (again.judge_calls, again.regraded, Verdict.asked) == (1, 1, ["say t1"])


@pytest.mark.anyio
async def test_attempts_of_unknown_tasks_are_counted(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    await collect(pool(entry("a")), [task("t1")], output)
    assert (await regrade(log.path_beside(output), [task("other")])).no_task == 1
    with pytest.raises(DataError, match="no such file"):
        await regrade(tmp_path / "none.jsonl", [])


@pytest.mark.anyio
async def test_an_answer_that_cannot_be_graded_now_keeps_its_grade(tmp_path: Path) -> None:
    output = tmp_path / "r.jsonl"
    attempts = log.path_beside(output)
    await collect(pool(entry("a")), [task("t1")], output)
    before = attempts.read_bytes()
    code = task("t1", grader={"type": "code", "tests": "assert True"})  # running code is not allowed
    summary = await regrade(attempts, [code])
    assert (summary.ungradable, summary.regraded, summary.changed, summary.ungraded) == (1, 0, 0, 0)
    assert "allow" in (summary.last_error or "")
    assert attempts.read_bytes() == before
    assert rebuild(attempts, [task("t1")], UtilitySpec()).qualities.tolist() == [[1.0]]
