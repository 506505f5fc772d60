"""Attempts to matrix, by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rewards.stubs import task

from fugu_lite.errors import DataError
from fugu_lite.rewards import Attempt, matrix_from_attempts, rebuild
from fugu_lite.rewards.attempts import AttemptLog
from fugu_lite.rewards.build import cells_of
from fugu_lite.workers import UtilitySpec

PLAIN = UtilitySpec()


def attempt(task_id: str, worker_id: str, repetition: int, quality: float | None, **fields: Any) -> Attempt:
    row = {"task_id": task_id, "worker_id": worker_id, "repetition": repetition, "quality": quality, "status": "ok"}
    return Attempt.model_validate({**row, **fields})


def test_cells_are_means_over_what_is_known() -> None:
    attempts = [
        attempt("t1", "a", 0, 1.0, cost_usd=0.01, latency_s=2.0),
        attempt("t1", "a", 1, 0.0, cost_usd=None, latency_s=4.0),
        attempt("t1", "a", 2, None, status="error"),
        attempt("t1", "b", 0, None, status="error"),
        attempt("t2", "b", 0, 0.5),
        attempt("elsewhere", "a", 0, 1.0),
    ]
    matrix = matrix_from_attempts(attempts, [task("t1"), task("t2"), task("never asked")], ["a", "b"], PLAIN)
    assert [row.task_id for row in matrix.tasks] == ["t1", "t2"]
    np.testing.assert_array_equal(matrix.qualities, [[0.5, np.nan], [np.nan, 0.5]])
    np.testing.assert_array_equal(matrix.costs, [[0.01, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(matrix.latencies, [[3.0, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(matrix.rewards, matrix.qualities)
    assert matrix.notes == ("1 attempts belong to tasks or workers that are not in this matrix",)


def test_a_later_attempt_replaces_an_earlier_one() -> None:
    attempts = [attempt("t1", "a", 0, 0.0), attempt("t1", "a", 0, 1.0), attempt("t1", "a", 1, 1.0)]
    assert matrix_from_attempts(attempts, [task("t1")], ["a"], PLAIN).qualities.tolist() == [[1.0]]


def test_counts_tell_statuses_and_answers_without_a_grade() -> None:
    attempts = [
        attempt("t1", "a", 0, 1.0),
        attempt("t1", "a", 1, None),
        attempt("t1", "a", 2, 0.0, status="empty"),
        attempt("t1", "a", 3, None, status="error"),
    ]
    counts = cells_of(attempts, [task("t1")], ["a"]).counts()["a"]
    assert counts == {"ok": 2, "empty": 1, "error": 1, "refused": 0, "truncated": 0, "ungraded": 1}


def test_flip_rate_counts_pairs_of_repetitions() -> None:
    grades: dict[str, list[float | None]] = {
        "t1": [1.0, 1.0, 0.0],
        "t2": [1.0, 1.0, None],
    }
    attempts = [attempt(name, "a", r, q) for name, qualities in grades.items() for r, q in enumerate(qualities)]
    rates = cells_of(attempts, [task("t1"), task("t2")], ["a", "b"]).flip_rates()
    # t1: two of three pairs differ; t2: none of one
    assert rates == {"a": 0.5, "b": None}


def test_another_utility_needs_no_call(tmp_path: Path) -> None:
    path = tmp_path / "r.attempts.jsonl"
    with AttemptLog(path) as log:
        log.append(attempt("t1", "b", 0, 1.0, cost_usd=0.02, latency_s=15.0))
        log.append(attempt("t1", "a", 0, 1.0, cost_usd=None, latency_s=15.0))
    matrix = rebuild(path, [task("t1")], UtilitySpec(cost_weight=0.1, latency_weight=0.2))
    assert matrix.worker_ids == ("b", "a")
    assert matrix.rewards[0, 0] == pytest.approx(1 - 0.1 * 2 - 0.2 * 0.5)
    assert np.isnan(matrix.rewards[0, 1])  # an unknown price is not a price of zero
    with pytest.raises(DataError, match="holds no graded attempt"):
        rebuild(path, [task("t2")], PLAIN)


def test_an_empty_body_of_the_provider_is_open_again() -> None:
    failed = {"kind": "empty", "http_status": None, "message": "nothing"}
    attempts = [
        attempt("t1", "a", 0, None, status="empty", error=failed),
        attempt("t1", "a", 1, 0.0, status="empty"),
        attempt("t1", "b", 0, None, status="refused"),
    ]
    cells = cells_of(attempts, [task("t1")], ["a", "b"])
    assert cells.answered().tolist() == [[[False, True], [True, False]]]


@given(st.permutations(range(6)))
def test_the_order_of_different_keys_does_not_matter(order: list[int]) -> None:
    attempts = [attempt(f"t{i % 2}", "a", i // 2, i / 8) for i in range(6)]
    tasks = [task("t0"), task("t1")]
    expected = matrix_from_attempts(attempts, tasks, ["a"], PLAIN)
    shuffled = matrix_from_attempts([attempts[i] for i in order], tasks, ["a"], PLAIN)
    np.testing.assert_array_equal(shuffled.qualities, expected.qualities)
