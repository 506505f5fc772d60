"""The pool: even, without duplicates, split by group, the same for a seed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fugu_lite import jsonl
from fugu_lite.errors import DataError, SpecError
from fugu_lite.taskpool import build, shares_of
from fugu_lite.taskpool.balance import spread, water_fill
from tests.taskpool.conftest import quality

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("rna", "lto", "mi", "ske", "und")]


def sentence(seed: int, length: int = 12) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def pro(n: int, **more: Any) -> dict[str, Any]:
    row = {"question": f"Is it {sentence(n)}?", "options": ["yes", "no"], "answer": "A", "answer_index": 0}
    return {**row, "category": f"c{n % 5}", **more}


def mmlu(n: int, **more: Any) -> dict[str, Any]:
    return {"question": f"Is it {sentence(n)}?", "subject": "s", "choices": ["a", "b", "c", "d"], "answer": 2, **more}


def gsm(n: int, answer: int = 1) -> dict[str, Any]:
    return {"question": f"How many {sentence(n)}?", "answer": f"#### {answer}"}


def test_shares_are_equal_and_what_is_missing_goes_to_the_others() -> None:
    assert water_fill({"a": 10, "b": 10, "c": 10}, 9) == {"a": 3, "b": 3, "c": 3}
    assert water_fill({"a": 1, "b": 10, "c": 10}, 9) == {"a": 1, "b": 4, "c": 4}
    assert water_fill({"a": 1, "b": 2}, 9) == {"a": 1, "b": 2}
    assert sum(water_fill({"a": 10, "b": 10, "c": 10}, 10).values()) == 10


def test_spread_is_even_over_keys_and_does_not_depend_on_the_order() -> None:
    items = [f"{kind}{n:02d}" for kind in "xyz" for n in range(30)]
    chosen = spread(items, 12, (lambda item: item[0],), str, 7)
    assert Counter(item[0] for item in chosen) == {"x": 4, "y": 4, "z": 4}
    assert sorted(spread(items[::-1], 12, (lambda item: item[0],), str, 7)) == sorted(chosen)
    assert sorted(spread(items, 12, (lambda item: item[0],), str, 8)) != sorted(chosen)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three sources: 60 hard and 40 medium knowledge questions, 30 easy sums."""
    jsonl.write(tmp_path / "mmlu_pro_test.jsonl", [pro(n) for n in range(60)])
    jsonl.write(tmp_path / "mmlu_test.jsonl", [mmlu(n) for n in range(100, 140)])
    jsonl.write(tmp_path / "gsm8k_test.jsonl", [gsm(n) for n in range(200, 230)])
    return tmp_path


def test_domains_are_cut_to_the_smallest_and_difficulties_are_even(folder: Path) -> None:
    pool = build(folder, quality)
    assert Counter(task.domain for task in pool.tasks) == {"knowledge": 30, "math": 30}
    assert Counter(task.difficulty for task in pool.tasks) == {"hard": 15, "medium": 15, "easy": 30}
    assert Counter(task.tags[0] for task in pool.tasks if task.tags and task.tags[0] != "s") == {
        f"c{k}": 3 for k in range(5)
    }
    assert Counter(task.split for task in pool.tasks) == {"train": 36, "validation": 9, "test": 15}
    assert any("cut to the 30 tasks of 'math'" in note for note in pool.notes)


def test_a_total_and_a_limit_per_source(folder: Path) -> None:
    pool = build(folder, quality, per_source=20, total=45)
    assert Counter(task.domain for task in pool.tasks) == {"knowledge": 25, "math": 20}
    rows = {row.kind: row for row in pool.sources}
    assert rows["mmlu_pro"].dropped["over the limit per source"] == 40
    assert all(row.read == row.kept + sum(row.dropped.values()) for row in pool.sources)
    assert any("were asked for" in note for note in build(folder, quality, total=500).notes)


def test_the_seed_decides_and_nothing_else(folder: Path) -> None:
    first, again, other = (build(folder, quality, seed=seed).tasks for seed in (1, 1, 2))
    assert first == again
    assert {task.task_id for task in first} != {task.task_id for task in other}


def test_shares_are_kept(folder: Path) -> None:
    pool = build(folder, quality, total=100, shares=shares_of("50,25,25"))
    assert Counter(task.split for task in pool.tasks) == {"train": 50, "validation": 25, "test": 25}


@pytest.mark.parametrize("text", ["60,40", "60,15,26", "60,40,0", "a,b,c", ""])
def test_shares_must_be_three_percentages(text: str) -> None:
    with pytest.raises(SpecError, match="sum to 100"):
        shares_of(text)


def test_duplicates_are_dropped_and_contradictions_are_dropped_whole(tmp_path: Path) -> None:
    rows = [gsm(1, 5), gsm(1, 5), gsm(2, 5), gsm(2, 6), gsm(3)]
    jsonl.write(tmp_path / "gsm8k_test.jsonl", rows)
    pool = build(tmp_path, quality)
    assert [task.task_id for task in pool.tasks] == ["gsm8k/test/000000", "gsm8k/test/000004"]
    (row,) = [row for row in pool.sources if row.read]
    assert row.dropped == {"same prompt with another answer": 2, "duplicate prompt": 1}


def test_the_same_question_with_other_options_stays_in_one_split(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "mmlu_pro_test.jsonl", [pro(n) for n in range(30)])
    jsonl.write(tmp_path / "mmlu_test.jsonl", [mmlu(n) for n in range(30)])
    pool = build(tmp_path, quality)
    groups = {task.task_group for task in pool.tasks}
    assert len(pool.tasks) == 60
    assert len(groups) == 30
    assert len({(task.task_group, task.split) for task in pool.tasks}) == 30
    assert any("30 groups" in note for note in pool.notes)


def test_an_empty_folder_says_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="put local copies of some of these there: aime2025_i"):
        build(tmp_path, quality)
    with pytest.raises(DataError, match="no such folder"):
        build(tmp_path / "none", quality)
