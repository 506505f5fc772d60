"""Flip rates: worked by hand, with intervals that resample groups."""

import math

import numpy as np
import pytest

from fugu_lite.audit import flip_rates
from tests.audit.conftest import attempt


def test_the_rate_is_the_share_of_pairs_that_differ() -> None:
    grades = {"a": (1.0, 1.0, 0.0), "b": (1.0, 1.0, 1.0)}  # a: 2 of 3 pairs differ, b: none
    answers = [attempt(task, "x", q, repetition=k) for task, row in grades.items() for k, q in enumerate(row)]
    (rate,) = flip_rates(answers, {}, np.random.default_rng(0))
    assert rate.rate.mean == pytest.approx(2 / 6)
    assert (rate.tasks, rate.unstable) == (2, 1)


def test_planted_flips_are_found_with_an_interval_that_holds_them() -> None:
    rng = np.random.default_rng(5)
    answers = []
    for n in range(400):
        answers += [attempt(f"t{n}", "x", 1.0, "stable", k) for k in (0, 1)]
        answers += [attempt(f"t{n}", "x", float(rng.random() < 0.5), "coin", k) for k in (0, 1)]
    stable, coin = flip_rates(answers, {}, np.random.default_rng(0))
    assert coin.rate.low < 0.5 < coin.rate.high
    assert coin.rate.high - coin.rate.low < 0.12
    assert (stable.rate.mean, stable.rate.low) == (0.0, 0.0)
    assert 0 < stable.rate.high < 0.01  # none of 400 seen; not "never"


def test_one_repetition_says_nothing() -> None:
    answers = [attempt("a", "x", 1.0), attempt("b", "x", None), attempt("b", "x", 0.0, repetition=1)]
    (rate,) = flip_rates(answers, {}, np.random.default_rng(0))
    assert math.isnan(rate.rate.mean)
    assert rate.tasks == 0


def test_groups_widen_the_interval() -> None:
    answers, groups = [], {}
    for n in range(200):
        flips = n // 10 % 2 == 0  # whole groups of ten flip or do not
        answers += [attempt(f"t{n}", "x", 1.0), attempt(f"t{n}", "x", 0.0 if flips else 1.0, repetition=1)]
        groups[f"t{n}"] = f"g{n // 10}"
    (alone,) = flip_rates(answers, {}, np.random.default_rng(0))
    (grouped,) = flip_rates(answers, groups, np.random.default_rng(0))
    assert grouped.rate.high - grouped.rate.low > 2 * (alone.rate.high - alone.rate.low)
