"""Splits: whole groups, balanced strata, the same outcome in any order, and honest warnings."""

import random
import time
from collections import Counter, defaultdict

import pytest

from fugu_lite.errors import SpecError
from fugu_lite.splits import assign, near_duplicates, warnings_for
from fugu_lite.tasks import Task

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("rna", "lto", "mi", "ske", "und")]


def sentence(seed: int, length: int = 12) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def make(count: int, groups: int = 0) -> list[Task]:
    return [
        Task(
            task_id=f"t{n:05d}",
            prompt=sentence(n),
            domain=("math", "code")[n % 2],
            difficulty=("easy", "hard")[n // 2 % 2],
            task_group=f"g{n % groups}" if groups else None,
        )
        for n in range(count)
    ]


def test_shares_are_met_in_every_stratum() -> None:
    tasks = assign(make(400))
    strata: dict[tuple[str | None, str | None], Counter[str | None]] = defaultdict(Counter)
    for task in tasks:
        strata[task.domain, task.difficulty][task.split] += 1
    for counts in strata.values():
        assert counts == {"train": 60, "validation": 15, "test": 25}


def test_small_strata_still_add_up() -> None:
    tasks = [Task(task_id=f"t{n}", prompt=sentence(n), domain=f"d{n // 2}") for n in range(200)]
    counts = Counter(task.split for task in assign(tasks))
    assert counts == {"train": 120, "validation": 30, "test": 50}


def test_the_order_does_not_matter_and_the_seed_does() -> None:
    tasks = make(300, groups=60)
    shuffled = random.Random(1).sample(tasks, len(tasks))
    chosen = {task.task_id: task.split for task in assign(tasks, seed=3)}
    assert {task.task_id: task.split for task in assign(shuffled, seed=3)} == chosen
    assert [task.task_id for task in assign(shuffled)] == [task.task_id for task in shuffled]
    assert {task.task_id: task.split for task in assign(tasks, seed=4)} != chosen


def test_groups_stay_whole() -> None:
    places = defaultdict(set)
    for task in assign(make(300, groups=45)):
        places[task.group].add(task.split)
    assert all(len(splits) == 1 for splits in places.values())


def test_near_duplicates_stay_together() -> None:
    tasks = make(100)
    twins = [task.model_copy(update={"task_id": f"z{task.task_id}", "prompt": f"{task.prompt}?"}) for task in tasks]
    split = {task.task_id: task.split for task in assign([*tasks, *twins])}
    assert all(split[task.task_id] == split[f"z{task.task_id}"] for task in tasks)


@pytest.mark.parametrize("shares", [{}, {"train": 0.5}, {"train": 1.5, "test": -0.5}, {"train": 1.0, "test": 0.0}])
def test_shares_must_sum_to_one(shares: dict[str, float]) -> None:
    with pytest.raises(SpecError, match="sum to 1"):
        assign(make(4), shares)


def test_near_duplicates_are_found_across_splits_only() -> None:
    base = "A train leaves the station at noon and travels for three hours at sixty miles an hour."
    tasks = [
        Task(task_id="a", prompt=base, split="train"),
        Task(task_id="b", prompt=f"  {base.upper()} ", split="test"),
        Task(task_id="c", prompt=base.replace("noon", "nine"), split="test"),
        Task(task_id="d", prompt="Name the largest planet of the solar system.", split="test"),
        Task(task_id="e", prompt=base + ".", split="train"),
    ]
    found = {frozenset((one.task_id, two.task_id)) for one, two in near_duplicates(tasks)}
    assert frozenset("ab") in found
    assert any("c" in pair for pair in found)
    assert not any("d" in pair for pair in found)
    assert frozenset("ae") not in found


def test_warnings_say_what_is_wrong() -> None:
    leak = Task(task_id="leak", prompt="Paris is the capital. What is it?", reference_answer="Paris", split="train")
    torn = [Task(task_id=f"x{s}", prompt=sentence(len(s)), split=s, task_group="g") for s in ("train", "test")]
    found = "\n".join(warnings_for([leak, *torn, leak.model_copy(update={"task_id": "twin", "split": "test"})]))
    assert "'validation' holds 0 tasks" in found
    assert "'test' holds 2 tasks" in found
    assert "2 prompts hold their own answer: leak, twin" in found
    assert "1 task groups stand in several splits: g" in found
    assert "1 pairs of nearly the same prompt stand in different splits: leak ~ twin" in found


def test_good_splits_have_no_warnings() -> None:
    assert warnings_for(assign(make(500))) == []


def test_many_tasks_take_seconds() -> None:
    tasks = make(12_000)
    begin = time.process_time()
    assert Counter(task.split for task in assign(tasks)) == {"train": 7200, "validation": 1800, "test": 3000}
    assert time.process_time() - begin < 15


def test_one_template_filled_many_times_is_not_quadratic() -> None:
    tasks = [Task(task_id=f"t{n}", prompt=f"What is the sum of all the numbers up to {n}?") for n in range(3_000)]
    begin = time.process_time()
    assert len(assign(tasks)) == 3_000
    assert time.process_time() - begin < 10
