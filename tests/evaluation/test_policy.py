import numpy as np
import pytest

from fugu_lite.errors import MismatchError
from fugu_lite.evaluation.policy import Policy, expected, outcomes


def test_equal_scores_go_to_the_first_worker_by_name() -> None:
    policy = Policy.greedy("p", ("z", "a", "m"), np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]))
    assert policy.picks is not None
    assert policy.picks.tolist() == [1, 2]
    assert policy.probabilities.tolist() == [[0, 1, 0], [0, 0, 1]]


def test_columns_are_matched_by_name() -> None:
    policy = Policy.from_probabilities("p", ("a", "b", "c"), np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]]))
    moved = policy.aligned(("c", "a", "b"))
    assert moved.picks is not None
    assert moved.picks.tolist() == [0, 1]
    assert moved.probabilities.tolist() == [[0.7, 0.1, 0.2], [0.1, 0.6, 0.3]]
    with pytest.raises(MismatchError, match="routes to"):
        policy.aligned(("a", "b", "d"))


def test_a_missing_pick_is_nan_and_never_another_worker() -> None:
    policy = Policy.greedy("p", ("a", "b"), np.array([[1.0, 0.0], [0.0, 1.0]]))
    rewards = np.array([[np.nan, 1.0], [0.0, 0.5]])
    got = outcomes(policy.weights(~np.isnan(rewards)), rewards)
    assert np.isnan(got[0])
    assert got[1] == 0.5


def test_an_expectation_is_over_the_measured_workers() -> None:
    rewards = np.array([[1.0, 0.0, np.nan], [np.nan, np.nan, np.nan], [0.0, 0.3, 0.6]])
    got = expected(np.array([[0.5, 0.25, 0.25]] * 3), rewards)
    assert got[0] == pytest.approx(2 / 3)
    assert np.isnan(got[1])
    assert got[2] == pytest.approx(0.225)


@pytest.mark.parametrize(
    ("probabilities", "picks"),
    [
        ([[0.5, 0.5, 0.0]], None),
        ([[-0.1, 1.1]], None),
        ([[np.nan, 1.0]], None),
        ([[0.5, 0.5]], [0, 1]),
    ],
)
def test_impossible_policies_are_refused(probabilities: list[list[float]], picks: list[int] | None) -> None:
    with pytest.raises(MismatchError, match="odd"):
        Policy("odd", ("a", "b"), np.array(probabilities), None if picks is None else np.array(picks, dtype=np.intp))
