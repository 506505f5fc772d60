import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fugu_lite.errors import InputError
from fugu_lite.intervals import Interval, clopper_pearson, mcnemar_exact, paired_bootstrap, wilson


def test_wilson_of_eight_in_ten() -> None:
    found = wilson(8, 10)
    assert (found.mean, found.n) == (0.8, 10)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=5e-5)


def test_clopper_pearson_of_eight_in_ten() -> None:
    found = clopper_pearson(8, 10)
    assert (found.low, found.high) == pytest.approx((0.4439, 0.9748), abs=5e-5)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_shares_at_the_edges(interval: Callable[[int, int], Interval]) -> None:
    none, every = interval(0, 10), interval(10, 10)
    assert none.low == 0.0
    assert every.high == 1.0
    assert none.high == pytest.approx(1 - every.low)


def test_no_trials_say_nothing() -> None:
    for found in (wilson(0, 0), clopper_pearson(0, 0)):
        assert math.isnan(found.mean)
        assert (found.low, found.high) == (0.0, 1.0)


def test_counts_are_checked() -> None:
    with pytest.raises(InputError, match="11 of 10"):
        wilson(11, 10)
    with pytest.raises(InputError):
        mcnemar_exact(-1, 2)


@given(n=st.integers(1, 40), p=st.floats(0.01, 0.99))
def test_clopper_pearson_never_covers_less_than_it_says(n: int, p: float) -> None:
    covered = 0.0
    for successes in range(n + 1):
        found = clopper_pearson(successes, n)
        if found.low <= p <= found.high:
            covered += math.comb(n, successes) * p**successes * (1 - p) ** (n - successes)
    assert covered >= 0.95 - 1e-9


@pytest.mark.parametrize(
    ("a", "b", "p"), [(1, 6, 16 / 128), (6, 1, 16 / 128), (0, 5, 2 / 32), (3, 3, 1.0), (0, 0, 1.0)]
)
def test_mcnemar_by_hand(a: int, b: int, p: float) -> None:
    assert mcnemar_exact(a, b) == pytest.approx(p)


def test_bootstrap_covers_the_mean_as_often_as_it_says() -> None:
    rng, trials, hits = np.random.default_rng(1), 400, 0
    for _ in range(trials):
        found = paired_bootstrap(rng.choice([-1.0, 0.0, 1.0], 150, p=[0.1, 0.6, 0.3]), None, rng, draws=500)
        hits += found.low <= 0.2 <= found.high
    assert abs(hits / trials - 0.95) < 4 * math.sqrt(0.95 * 0.05 / trials)


def test_clustered_bootstrap_covers_where_the_plain_one_does_not() -> None:
    rng, trials = np.random.default_rng(2), 300
    hits = {"clustered": 0, "plain": 0}
    for _ in range(trials):
        sizes = rng.integers(1, 12, 80)
        groups = np.repeat(np.arange(80), sizes).tolist()
        values = np.repeat(rng.normal(0.1, 1, 80), sizes) + rng.normal(0, 0.2, len(groups))
        for name, clusters in (("clustered", groups), ("plain", None)):
            found = paired_bootstrap(values, clusters, rng, draws=400)
            hits[name] += found.low <= 0.1 <= found.high
    assert abs(hits["clustered"] / trials - 0.94) < 4 * math.sqrt(0.94 * 0.06 / trials)
    assert hits["plain"] / trials < 0.8


def test_unequal_clusters_weigh_what_they_hold() -> None:
    """One cluster of three ones and one of a single zero: the draws are 0, 3/4 and 1, the mean is 3/4."""
    found = paired_bootstrap(np.array([1.0, 1, 1, 0]), ["x", "x", "x", "y"], np.random.default_rng(0))
    assert (found.mean, found.low, found.high, found.n, found.clusters) == (0.75, 0.0, 1.0, 4, 2)


def test_few_and_many_distinct_values_agree() -> None:
    values = np.repeat([-1.0, 0.0, 1.0], [40, 120, 140])
    few = paired_bootstrap(values, None, np.random.default_rng(3), draws=4000)
    noise = np.linspace(-1e-9, 1e-9, len(values))
    many = paired_bootstrap(values + noise, None, np.random.default_rng(4), draws=4000)
    assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=0.01)


def test_bootstrap_ignores_the_order_of_rows_and_repeats_with_the_seed() -> None:
    values = np.random.default_rng(5).normal(size=200)
    first = paired_bootstrap(values, None, np.random.default_rng(6))
    again = paired_bootstrap(values[::-1], None, np.random.default_rng(6))
    assert (first.low, first.high) == pytest.approx((again.low, again.high), abs=1e-12)


@pytest.mark.parametrize(("values", "clusters"), [([], None), ([0.5], None), ([0.5, 1.0], ["one", "one"])])
def test_nothing_to_resample_gives_no_bounds(values: list[float], clusters: list[str] | None) -> None:
    found = paired_bootstrap(np.array(values), clusters, np.random.default_rng(0))
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.verdict == "cannot tell"
    assert found.n == len(values)


def test_missing_or_mislabelled_rows_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        paired_bootstrap(np.array([1.0, np.nan]), None, np.random.default_rng(0))
    with pytest.raises(InputError, match="1 labels for 2"):
        paired_bootstrap(np.array([1.0, 0.0]), ["x"], np.random.default_rng(0))


@pytest.mark.parametrize(
    ("low", "high", "clusters", "verdict"),
    [
        (0.01, 0.1, 20, "better"),
        (-0.1, -0.01, 20, "worse"),
        (-0.1, 0.1, 500, "cannot tell"),
        (0.0, 0.1, 500, "cannot tell"),
        (0.01, 0.1, 19, "cannot tell"),
    ],
)
def test_verdict_needs_an_interval_without_zero_and_enough_clusters(
    low: float, high: float, clusters: int, verdict: str
) -> None:
    assert Interval(0.05, low, high, 1000, clusters).verdict == verdict
