"""The betting bound covers, grants nothing to a null more often than its level, and finds what is there."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from fugu_lite.bounds import lower_bound, values_needed
from fugu_lite.errors import InputError

LEVEL, REPEATS = 0.05, 400
MOST = int(binom.ppf(0.999, REPEATS, LEVEL))  # a level kept exactly exceeds this once in 1,000 runs
Draw = np.random.Generator

GAINS = np.array([-1.0, 0.0, 1.0])


def gains(rng: Draw, n: int, mean: float, moved: float = 0.3) -> np.ndarray:
    """0/1 rewards compared: a share `moved` of the rows differs, and the mean gain is `mean`."""
    return rng.choice(GAINS, size=n, p=[(moved - mean) / 2, 1 - moved, (moved + mean) / 2])


@pytest.mark.parametrize("n", [100, 500, 1000])
@pytest.mark.parametrize("moved", [0.02, 0.3, 1.0])
def test_no_gain_is_granted_no_more_often_than_the_level(n: int, moved: float) -> None:
    rng = np.random.default_rng(11)
    granted = sum(lower_bound(gains(rng, n, 0.0, moved), LEVEL) > 0 for _ in range(REPEATS))
    assert granted <= MOST


@pytest.mark.parametrize("mean", [-0.2, 0.25])
def test_the_bound_lies_below_the_mean_as_often_as_it_says(mean: float) -> None:
    rng = np.random.default_rng(12)
    above = sum(lower_bound(gains(rng, 200, mean), LEVEL) > mean for _ in range(REPEATS))
    assert above <= MOST


def test_rare_large_losses_do_not_fool_it() -> None:
    """A mean of 0 made of many small wins and rare losses of 1: where a bootstrap is far too sure."""
    rng = np.random.default_rng(13)
    win = 0.01 / 0.99
    granted = sum(lower_bound(np.where(rng.random(100) < 0.01, -1.0, win), LEVEL) > 0 for _ in range(REPEATS))
    assert granted <= MOST


def test_a_planted_gain_is_found() -> None:
    rng = np.random.default_rng(14)
    found = [lower_bound(gains(rng, 1000, 0.1), LEVEL) for _ in range(50)]
    assert np.mean(np.array(found) > 0) >= 0.9
    assert np.mean(found) > 0.03


def test_it_tightens_with_more_values() -> None:
    rng = np.random.default_rng(15)
    widths = [0.1 - lower_bound(gains(rng, n, 0.1), LEVEL) for n in (200, 2000, 20000)]
    assert widths[0] > widths[1] > widths[2]
    assert widths[2] < 2 * math.sqrt(2 * math.log(20) * 0.29 / 20000)


def test_about_half_are_granted_at_the_number_needed() -> None:
    rng = np.random.default_rng(16)
    needed = values_needed(gains(rng, 100_000, 0.08), LEVEL)
    assert needed is not None
    granted = np.mean([lower_bound(gains(rng, needed, 0.08), LEVEL) > 0 for _ in range(200)])
    assert 0.35 <= granted <= 0.8


def test_edges() -> None:
    assert lower_bound(np.array([]), LEVEL) == -1
    assert lower_bound(np.zeros(500), LEVEL) < 0
    assert lower_bound(-np.ones(50), LEVEL) == pytest.approx(-1)
    assert 0.8 < lower_bound(np.ones(500), LEVEL) < 1
    assert values_needed(np.zeros(5)) is None
    assert values_needed(np.array([])) is None


@pytest.mark.parametrize("values", [[1.5], [-1.2, 0], [math.nan]])
def test_values_outside_are_refused(values: list[float]) -> None:
    with pytest.raises(InputError, match=r"\[-1, 1\]"):
        lower_bound(np.array(values))
    with pytest.raises(InputError, match="level"):
        lower_bound(np.zeros(3), 1.0)
