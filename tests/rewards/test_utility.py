"""U = w_q Q - w_c min(C / C0, 5) - w_l min(L / L0, 5), by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.rewards import utility
from fugu_lite.rewards.utility import best_workers
from fugu_lite.workers import UtilitySpec

SPEC = UtilitySpec(quality_weight=2.0, cost_weight=0.5, latency_weight=0.1, cost_scale_usd=0.01, latency_scale_s=30.0)


@pytest.mark.parametrize(
    ("quality", "cost", "latency", "expected"),
    [
        (1.0, 0.0, 0.0, 2.0),
        (1.0, 0.01, 30.0, 2.0 - 0.5 - 0.1),
        (0.5, 0.02, 15.0, 1.0 - 1.0 - 0.05),
        (1.0, 1.0, 0.0, 2.0 - 2.5),  # 100 scales count as 5
        (1.0, 0.05, 150.0, 2.0 - 2.5 - 0.5),  # exactly at both caps
        (0.0, 9.0, 9000.0, -3.0),
    ],
)
def test_by_hand(quality: float, cost: float, latency: float, expected: float) -> None:
    value = utility(SPEC, np.array([[quality]]), np.array([[cost]]), np.array([[latency]]))
    assert value[0, 0] == pytest.approx(expected)


def test_unknown_is_missing_only_where_it_is_weighted() -> None:
    one, nan = np.array([[1.0]]), np.array([[np.nan]])
    assert np.isnan(utility(SPEC, nan, one, one))
    assert np.isnan(utility(SPEC, one, nan, one))
    assert np.isnan(utility(SPEC, one, one, nan))
    assert utility(UtilitySpec(), one, nan, nan) == 1.0
    assert np.isnan(utility(UtilitySpec(), nan, one, one))


@given(st.floats(0, 1), st.floats(0, 1e6), st.floats(0, 1e6))
def test_bounds(quality: float, cost: float, latency: float) -> None:
    value = float(utility(SPEC, np.array(quality), np.array(cost), np.array(latency)))
    assert -3.0 - 1e-12 <= value <= 2.0


def test_ties_are_explicit_and_missing_never_wins() -> None:
    rewards = np.array([[1.0, 1.0, 0.5], [np.nan, -1.0, np.nan], [np.nan, np.nan, np.nan], [0.3, 0.1 + 0.2, 0.0]])
    assert best_workers(rewards).tolist() == [
        [True, True, False],
        [False, True, False],
        [False, False, False],
        [True, True, False],
    ]
