"""The walk up the families: structure that is there is found, structure that is not is not claimed."""

from __future__ import annotations

import numpy as np
import pytest

from fugu_lite import selection
from fugu_lite.errors import InputError, MismatchError
from fugu_lite.heads import HeadSpec
from fugu_lite.runs import Silent
from fugu_lite.selection import AutoSpec, AutoTrainer
from fugu_lite.trainers import TrainerSpec
from fugu_lite.trainers.contract import Array, TrainingSet

WORKERS = ("a", "b", "c")
QUICK = ("fixed", "table", "cluster", "knn", "ridge")
SEEDS = 40


def planted(rows: int, gap: float, seed: int, labelled: bool = True) -> tuple[TrainingSet, Array]:
    """Return rows of three domains, each with its own best worker, and the true success rates."""
    rng = np.random.default_rng(seed)
    domain = rng.integers(0, 3, rows)
    centres = 3 * np.random.default_rng(7).normal(size=(3, 8))
    features = centres[domain] + rng.normal(size=(rows, 8))
    rates = 0.5 + gap * (np.eye(3)[domain] - 1 / 3)
    rewards = (rng.random((rows, 3)) < rates).astype(float)
    names = tuple(f"d{i}" for i in domain) if labelled else ()
    return TrainingSet(features, rewards, WORKERS, [str(i) for i in range(rows)], {}, names), rates


def quick() -> dict[str, TrainerSpec]:
    """Return the layers that fit in milliseconds."""
    found = selection.layers()
    return {name: found[name] for name in QUICK}


def test_planted_domains_are_found_and_most_of_the_gap_is_won() -> None:
    rows, _ = planted(900, 0.45, seed=1)
    fit = AutoTrainer(AutoSpec()).fit(rows.rows(np.arange(600)), rows.rows(np.arange(600, 900)), None, Silent())
    found = fit.record["selection"]
    assert found["chosen"] != "fixed"
    assert [step["layer"] for step in found["layers"]][:2] == ["fixed", "table"]
    fresh, rates = planted(3000, 0.45, seed=2)
    picks = fit.head.scores(fresh.features).argmax(axis=1)
    won, best = rates[np.arange(3000), picks].mean(), rates.max(axis=1).mean()
    floor = rates.mean(axis=0).max()
    assert best - floor >= 0.1
    assert won - floor >= 0.9 * (best - floor)


def test_without_structure_a_layer_is_admitted_no_more_often_than_the_level_allows() -> None:
    admitted = 0
    for seed in range(SEEDS):
        rows, _ = planted(150, 0.0, seed=100 + seed)
        admitted += selection.select(rows, quick(), folds=3, seed=seed).chosen != "fixed"
    assert admitted <= 5  # level .025 one-sided: P(Binomial(40, .05) > 5) is .014


def test_rows_without_domains_skip_the_tables_and_say_so() -> None:
    rows, _ = planted(120, 0.4, seed=3, labelled=False)
    found = selection.select(rows, quick(), folds=3)
    assert found.skipped == {"table": "no row has a domain"}


def test_one_group_cannot_be_cross_fitted() -> None:
    rows, _ = planted(30, 0.4, seed=4)
    alone = TrainingSet(rows.features, rows.rewards, WORKERS, ["same"] * 30)
    with pytest.raises(InputError, match="one group"):
        selection.select(alone, quick())


def test_a_head_of_its_own_is_refused() -> None:
    rows, _ = planted(30, 0.4, seed=5)
    with pytest.raises(MismatchError, match="brings its own"):
        AutoTrainer(AutoSpec(head=HeadSpec(type="mlp"))).fit(rows, None, None, Silent())
