"""Outcomes joined by name: invariants of the gathering."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError
from fugu_lite.tasks import Task
from fugu_lite.workers import UtilitySpec

RECORDS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.none() | st.floats(0, 1)), min_size=1, max_size=30
)
Record = tuple[str, str, float | None]


def gathered(records: list[Record]) -> Gathering:
    into = Gathering()
    for task, worker, quality in records:
        into.put(Task(task_id=task, prompt=task), worker, Outcome(quality), "here")
    return into


@given(records=RECORDS, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_records_is_of_no_consequence(records: list[Record], seed: object) -> None:
    shuffled = list(records)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    cells = []
    for each in (records, shuffled):
        matrix = gathered(each).matrix(UtilitySpec())
        cells.append(
            {}
            if matrix is None
            else {
                (task.task_id, name): round(float(matrix.qualities[i, j]), 9)
                for i, task in enumerate(matrix.tasks)
                for j, name in enumerate(matrix.worker_ids)
                if matrix.observed[i, j]
            }
        )
    assert cells[0] == cells[1]


@given(records=RECORDS)
def test_a_cell_is_the_mean_of_its_grades_and_missing_without_one(records: list[Record]) -> None:
    matrix = gathered(records).matrix(UtilitySpec())
    known = [record for record in records if record[2] is not None]
    assert (matrix is None) == (not known)
    if matrix is None:
        return
    for i, task in enumerate(matrix.tasks):
        for j, name in enumerate(matrix.worker_ids):
            grades = [record[2] for record in known if record[:2] == (task.task_id, name)]
            expected = np.mean([grade for grade in grades if grade is not None]) if grades else np.nan
            np.testing.assert_allclose(matrix.qualities[i, j], expected)


def test_two_names_with_one_id_are_one_worker() -> None:
    into = Gathering({"old": "new"})
    for worker, quality in (("old", 1.0), ("new", 0.0)):
        into.put(Task(task_id="t", prompt="p"), worker, Outcome(quality), "here")
    matrix = into.matrix(UtilitySpec())
    assert matrix is not None
    assert (matrix.worker_ids, matrix.qualities.tolist()) == (("new",), [[0.5]])
    assert (into.renamed, into.averaged()) == ({"old": "new"}, 1)


def test_an_unknown_cost_does_not_enter_the_mean() -> None:
    into = Gathering()
    for cost in (0.25, None, 0.75):
        into.put(Task(task_id="t", prompt="p"), "w", Outcome(1.0, cost), "here")
    matrix = into.matrix(UtilitySpec())
    assert matrix is not None
    assert matrix.costs.tolist() == [[0.5]]


def test_one_id_for_two_texts_is_refused() -> None:
    into = Gathering()
    into.task(Task(task_id="t", prompt="one"), "f:1")
    with pytest.raises(DataError, match=r"f:2.*two prompts"):
        into.task(Task(task_id="t", prompt="two"), "f:2")
