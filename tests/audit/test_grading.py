"""Second opinions: planted faults are found, right grades are left in peace, a person's marks are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fugu_lite import jsonl
from fugu_lite.audit import draw, error_rates, opinions, pairs, read_marks, write_template
from fugu_lite.audit.inspection import inspect
from fugu_lite.errors import DataError
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.tasks import Task
from tests.audit.conftest import attempt, number_task

Stored = Callable[[list[Task], list[Attempt]], Path]


def test_a_grade_that_two_graders_contradict_is_found() -> None:
    found, skipped = opinions([attempt("a", "Answer: 42", 0.0), attempt("b", "Answer: 7", 1.0)], [
        number_task("a"), number_task("b"),
    ])  # fmt: skip
    assert [opinion.against for opinion in found] == [("exact", "contains", "again"), ("contains", "again")]
    assert not skipped


def test_right_grades_are_left_in_peace() -> None:
    tasks = [number_task("a"), number_task("b"), number_task("c")]
    answers = [
        attempt("a", "It is 6 times 7, so the answer is 42.", 1.0),  # `exact` says wrong, which is no evidence
        attempt("b", "Answer: 17", 0.0),
        attempt("c", "42", 1.0),
    ]
    found, _ = opinions(answers, tasks)
    assert [opinion.against for opinion in found] == [(), (), ()]
    assert {pair.second: pair.only_own for pair in pairs(found)} == {"exact": None, "contains": 0, "again": 0}
    assert [how for how, _ in draw(found, 2, np.random.default_rng(0))] == ["random"]


def test_letters_are_read_as_letters_where_the_prompt_has_options() -> None:
    prompt = "Which is a fruit?\nA. stone\nB. pear\nC. iron"
    task = Task(task_id="a", prompt=prompt, reference_answer="B", grader={"type": "exact"})
    found, _ = opinions([attempt("a", "Clearly option B is the one that grows on trees.", 0.0)], [task])
    assert found[0].others == {"choice": True, "again": False}
    assert found[0].against == ("choice",)


def test_answers_without_a_second_opinion_are_counted_by_reason() -> None:
    tasks = [
        number_task("a"),
        Task(task_id="b", prompt="?", grader={"type": "regex", "pattern": "x"}),
        number_task("c"),
    ]
    answers = [attempt("a", " ", 0.0), attempt("b", "x", 1.0), attempt("c", "42", None), attempt("lost", "42", 1.0)]
    found, skipped = opinions(answers, tasks)
    assert found == []
    assert skipped == Counter(
        {"no answer": 1, "no other grader can read the reference": 1, "not graded": 1, "no task in the tasks file": 1}
    )


def planted() -> tuple[list[Task], list[Attempt]]:
    tasks = [number_task(f"t{n:03d}") for n in range(100)]
    wrong = {f"t{n:03d}" for n in range(0, 100, 10)}
    answers = [attempt(task.task_id, "Answer: 42", 0.0 if task.task_id in wrong else 1.0) for task in tasks]
    return tasks, answers


def test_the_sample_is_half_random_half_disagreement_and_seeded() -> None:
    tasks, answers = planted()
    found, _ = opinions(answers, tasks)
    drawn = draw(found, 10, np.random.default_rng(3))
    assert Counter(how for how, _ in drawn) == {"random": 5, "disagreement": 5}
    assert all(opinion.against for how, opinion in drawn if how == "disagreement")
    names = [opinion.task.task_id for _, opinion in drawn]
    assert len(set(names)) == 10
    assert names == [opinion.task.task_id for _, opinion in draw(found, 10, np.random.default_rng(3))]


def test_marks_give_error_rates(tmp_path: Path) -> None:
    tasks, answers = planted()
    found, _ = opinions(answers, tasks)
    path = tmp_path / "marks.jsonl"
    write_template(path, draw(found, 20, np.random.default_rng(0)))
    rows = read_marks(path)
    assert [row["mark"] for row in rows] == [""] * len(rows)
    assert error_rates(rows) == []
    jsonl.write(path, [row | {"mark": "right"} for row in rows])
    rates = {(rate.drawn, rate.grader): rate for rate in error_rates(read_marks(path))}
    own, contains = rates["disagreement", "numeric"], rates["disagreement", "contains"]
    n = own.errors.n
    assert n >= 8  # ten were planted, of which the random half may have taken some
    assert (own.errors.mean, own.false_right, own.false_wrong) == (1.0, 0, n)
    assert (contains.errors.mean, contains.errors.low) == (0.0, 0.0)
    assert contains.errors.high == pytest.approx(1.96**2 / (n + 1.96**2), abs=1e-3)  # Wilson, none of n


def test_a_mark_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "marks.jsonl"
    jsonl.write(path, [{"grades": {"numeric": True}, "mark": "yes"}])
    with pytest.raises(DataError, match=r"marks.jsonl:1: mark 'yes'"):
        read_marks(path)
    jsonl.write(path, [{"task_id": "a"}])
    with pytest.raises(DataError, match="no row of a mark file"):
        read_marks(path)


def test_a_clean_set_reports_nothing(stored: Stored) -> None:
    tasks = [number_task(f"t{n}", str(1000 + n), prompt=f"{n} {'word ' * n}?", split="train") for n in range(1, 9)]
    answers = [attempt(task.task_id, f"Answer: {task.reference_answer}", 1.0, "w", k) for task in tasks for k in (0, 1)]
    found = inspect(stored(tasks, answers), None)
    assert (found.disagreements, found.leaks, found.duplicates, found.notes) == (0, [], [], [])
    assert [rate.unstable for rate in found.flips] == [0]


def test_leaks_and_duplicates_across_splits_are_found(stored: Stored) -> None:
    same = "A farmer has seventeen sheep and buys four more at the market. How many sheep are there now?"
    tasks = [
        number_task("a", "21", prompt=same, split="train"),
        number_task("b", "21", prompt=same.replace("four", "Four"), split="test"),
        number_task("c", "1234", prompt="What is 1234, as a number?", split="train"),
    ]
    found = inspect(stored(tasks, [attempt("a", "21", 1.0)]), None)
    assert [task.task_id for task in found.leaks] == ["c"]
    assert [(a.task_id, b.task_id) for a, b in found.duplicates] == [("a", "b")]


def test_without_tasks_graders_are_not_compared_and_that_is_said(stored: Stored) -> None:
    data = stored([number_task("a")], [attempt("a", "Answer: 42", 0.0)])
    (data.parent / "tasks.jsonl").unlink()
    found = inspect(data, None)
    assert found.opinions == []
    assert any("--tasks" in note for note in found.notes)
    (data.parent / "rewards.attempts.jsonl").unlink()
    with pytest.raises(DataError, match="attempts"):
        inspect(data, None)
