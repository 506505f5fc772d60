"""Contamination: planted copies are found by the right test, and clean sets stay clean."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from fugu_lite import jsonl, tasks
from fugu_lite.audit import compare
from fugu_lite.tasks import Task

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("rna", "lto", "mi", "ske", "und")]


def sentence(seed: int, length: int = 30) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def made(prefix: str, seeds: range, ending: str = "") -> list[Task]:
    return [Task(task_id=f"{prefix}{n}", prompt=sentence(n) + ending, reference_answer=str(n)) for n in seeds]


def test_clean_sets_have_no_match() -> None:
    found = compare(made("a", range(100)), made("b", range(1000, 1100)))
    assert found.matches == ()
    assert (found.train_tasks, found.benchmark_tasks, found.shared_answers) == (100, 100, 0)


def test_each_kind_of_copy_is_found() -> None:
    train = [
        *made("a", range(50)),
        Task(task_id="same", prompt=f"  {sentence(2000).upper()} ", reference_answer="right"),
        Task(task_id="near", prompt=f"{sentence(2001)}!", reference_answer="other"),
        Task(task_id="within", prompt=f"{sentence(60, 40)} {sentence(2002)} {sentence(61, 40)}"),
    ]
    benchmark = [
        *made("b", range(1000, 1050)),
        Task(task_id="q1", prompt=sentence(2000), reference_answer="Right"),
        Task(task_id="q2", prompt=sentence(2001), reference_answer="mine"),
        Task(task_id="q3", prompt=sentence(2002), reference_answer="mine"),
    ]
    found = compare(train, benchmark)
    told = [(m.benchmark.task_id, m.train.task_id, m.kind, m.overlap, m.same_answer) for m in found.matches]
    assert told == [
        ("q1", "same", "exact", 1.0, True),
        ("q2", "near", "near", 1.0, False),
        ("q3", "within", "overlap", 1.0, None),
    ]


def test_half_of_the_stretches_is_the_threshold() -> None:
    head, tail, other = sentence(1, 20), sentence(2, 20), sentence(3, 20)
    benchmark = [Task(task_id="q", prompt=f"{head} {tail}")]  # 40 words, 33 stretches of 8; 13 lie in the head
    (match,) = compare([Task(task_id="t", prompt=f"{head} {other}")], benchmark, threshold=0.3).matches
    assert match.overlap == pytest.approx(13 / 33)
    assert compare([Task(task_id="t", prompt=f"{head} {other}")], benchmark).matches == ()


def test_a_shared_instruction_is_no_contamination() -> None:
    ending = ". Please reason step by step, and put your final answer within a box, then stop writing at once"
    train = [Task(task_id=f"a{n}", prompt=sentence(n, 6) + ending) for n in range(100)]
    benchmark = [Task(task_id=f"b{n}", prompt=sentence(1000 + n, 6) + ending) for n in range(100)]
    overlaps = [match for match in compare(train, benchmark).matches if match.kind == "overlap"]
    assert overlaps == []


def test_short_prompts_are_compared_as_a_whole_and_counted() -> None:
    found = compare([Task(task_id="t", prompt="2 + 2?")], [Task(task_id="q", prompt="2 + 2?")])
    assert [(match.kind, match.overlap) for match in found.matches] == [("exact", None)]
    assert found.too_short == 1


def test_long_answers_that_coincide_are_counted() -> None:
    answer = "the treaty of Westphalia in 1648"
    train = [Task(task_id="t", prompt=sentence(1), reference_answer=answer)]
    benchmark = [
        Task(task_id="q", prompt=sentence(2), reference_answer=answer.upper()),
        Task(task_id="r", prompt=sentence(3), reference_answer="72"),
    ]
    found = compare(train, benchmark)
    assert (found.shared_answers, found.long_answers, found.matches) == (1, 1, ())


def test_time_grows_with_the_words_not_with_the_pairs() -> None:
    start = time.perf_counter()
    compare(made("a", range(4000)), made("b", range(10_000, 11_000)))
    assert time.perf_counter() - start < 60


def test_public_sets(shared_data: Path) -> None:
    folder = shared_data / "tasksets"
    if not folder.is_dir():
        pytest.skip("the public task sets (../shared/data/tasksets) are not here")
    math500 = tasks.load(folder / "math500.jsonl.gz")
    assert compare(tasks.load(folder / "exams_tr.jsonl.gz"), math500).matches == ()
    planted = [math500[7].model_copy(update={"task_id": "planted"})]
    found = compare([*tasks.load(folder / "xquad_tr.jsonl.gz"), *planted], math500)
    assert [match.benchmark.task_id for match in found.matches] == [math500[7].task_id]


def test_matrix_rows_are_tasks_too(tmp_path: Path) -> None:
    row = {"task_id": "t", "prompt": sentence(1), "worker_ids": ["w"], "rewards": [1.0]}
    jsonl.write(tmp_path / "rewards.jsonl", [row])
    assert len(compare(tasks.load(tmp_path / "rewards.jsonl"), made("q", range(1, 2))).matches) == 1
