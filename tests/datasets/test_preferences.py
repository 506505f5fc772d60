"""Bradley and Terry on battles."""

from __future__ import annotations

import numpy as np
import pytest

from fugu_lite.datasets.preferences import Preference, record, strengths


def battle(a: str, b: str, winner: str | None) -> Preference:
    return Preference("t", a, b, winner)


def test_two_workers_differ_by_the_log_odds() -> None:
    found = strengths([battle("a", "b", "a")] * 3 + [battle("b", "a", "b")])
    assert found["a"] is not None
    assert found["b"] is not None
    assert found["a"] - found["b"] == pytest.approx(np.log(3))
    assert found["a"] + found["b"] == pytest.approx(0)


def test_a_tie_is_half_a_win_for_both() -> None:
    assert strengths([battle("a", "b", None)]) == pytest.approx({"a": 0.0, "b": 0.0})


def test_who_won_or_lost_everything_has_no_finite_strength() -> None:
    found = strengths([battle("a", "b", "a"), battle("b", "c", "b"), battle("a", "c", "a")])
    assert (found["a"], found["c"]) == (None, None)
    assert strengths([]) == {}


def test_a_planted_order_is_found() -> None:
    rng = np.random.default_rng(0)
    true = {"a": 1.0, "b": 0.0, "c": -1.0}
    battles = []
    for _ in range(3000):
        one, two = rng.choice(list(true), size=2, replace=False)
        wins = rng.random() < 1 / (1 + np.exp(true[two] - true[one]))
        battles.append(battle(one, two, one if wins else two))
    found = strengths(battles)
    for name, strength in true.items():
        assert found[name] == pytest.approx(strength, abs=0.15)


def test_the_record() -> None:
    battles = [battle("a", "b", "a"), battle("a", "b", None)]
    assert record(battles) == {
        "a": {"battles": 2, "wins": 1, "ties": 1},
        "b": {"battles": 2, "wins": 0, "ties": 1},
    }
