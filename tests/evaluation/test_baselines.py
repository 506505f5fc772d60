from collections.abc import Callable

import numpy as np
import pytest

from fugu_lite.errors import DataError, MismatchError
from fugu_lite.evaluation import baselines
from fugu_lite.evaluation.policy import Policy
from fugu_lite.rewards.fixed import best_fixed, fixed_utilities
from fugu_lite.rewards.matrix import RewardMatrix

Build = Callable[..., RewardMatrix]
NAN = float("nan")


def picks(policy: Policy, matrix: RewardMatrix) -> str:
    assert policy.picks is not None
    return "".join(matrix.worker_ids[int(pick)] for pick in policy.picks)


def test_a_worker_measured_on_easy_rows_only_does_not_look_better(build: Build) -> None:
    """Plain means are .5 and .5; but in the one row that both answered, b got half of what a got."""
    found = fixed_utilities(build([[1, 0.5], [0, NAN]], "ab").rewards)
    assert found.tolist() == pytest.approx([0.5, 0.125])


def test_one_lucky_cell_is_no_candidate(build: Build) -> None:
    matrix = build([[0.5, 1.0]] + [[0.5, NAN]] * 9, "ab")
    assert np.isnan(fixed_utilities(matrix.rewards)[1])
    assert best_fixed(matrix) == "a"


def test_best_fixed_breaks_ties_by_name_whatever_the_column_order(build: Build) -> None:
    assert best_fixed(build([[1, 0, 0.2], [0, 1, 0.2]], "zma")) == "m"
    with pytest.raises(DataError, match="no reward"):
        best_fixed(build([[NAN, NAN]], "ab"))


def test_only_train_and_validation_rows_may_be_fitted(build: Build) -> None:
    matrix = build([[1], [2], [3], [4]], "a", [{"split": s} for s in ("train", "validation", "calibration", "test")])
    assert baselines.fit_rows(matrix).rewards[:, 0].tolist() == [1, 2]
    with pytest.raises(DataError, match="no row has split"):
        baselines.fit_rows(matrix.split("test"))


def test_domain_table_sends_unseen_and_unlabelled_rows_to_the_comparator(build: Build, worked: RewardMatrix) -> None:
    asked = build([[0, 0, 0]] * 4, fields=[{"domain": d} for d in ("code", "math", "law", None)])
    assert picks(baselines.domain_table(asked, worked, "b"), asked) == "cabb"


def test_oracle_and_fixed_and_unknown_worker(worked: RewardMatrix) -> None:
    assert picks(baselines.oracle(worked), worked) == "abac"
    assert picks(baselines.fixed(worked, "b"), worked) == "bbbb"
    with pytest.raises(MismatchError, match="'d'"):
        baselines.fixed(worked, "d")


def test_cheapest_needs_a_cost_for_every_worker(build: Build, worked: RewardMatrix) -> None:
    assert baselines.cheapest(worked, worked) is None
    priced = build([[0, 0], [0, 0]], "ab", costs=[[0.3, 0.1], [NAN, 0.2]])
    cheap = baselines.cheapest(priced, priced)
    assert cheap is not None
    assert picks(cheap, priced) == "bb"


def clusters(
    build: Build, split: str, seed: int
) -> tuple[RewardMatrix, np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Half of the rows point up, where a is right; half point right, where b is right."""
    rng = np.random.default_rng(seed)
    side = np.arange(60) % 2
    features = np.eye(2)[side] + rng.normal(0, 0.05, (60, 2))
    return build([[1 - s, s] for s in side], "ab", [{"split": split}] * 60), features


def test_knn_learns_what_neighbours_show(build: Build) -> None:
    train, known = clusters(build, "train", 1)
    test, asked = clusters(build, "test", 2)
    policy = baselines.knn(test, asked, train, known)
    assert picks(policy, test) == "ab" * 30
    assert policy.name == "kNN (k = 20)"


def test_knn_chooses_its_size_on_validation_rows(build: Build) -> None:
    """Two neighbours show the truth; sixty are all rows and show a tie, which goes to the first worker."""
    train, known = clusters(build, "train", 1)
    mixed = build(
        [*train.rewards.tolist(), *train.rewards.tolist()],
        "ab",
        [{"split": "train"}] * 60 + [{"split": "validation"}] * 60,
    )
    policy = baselines.knn(train, known, mixed, np.vstack([known, known]), sizes=(2, 60))
    assert policy.name == "kNN (k = 2)"


def test_knn_never_reads_a_missing_cell_as_zero(build: Build) -> None:
    """b was right wherever it was measured, which is every second row; a was right in 60 %."""
    rewards = [[1.0 if i % 5 < 3 else 0.0, 1.0 if i % 2 else NAN] for i in range(40)]
    fit = build(rewards, "ab", [{"split": "train"}] * 40)
    policy = baselines.knn(fit, np.ones((40, 2)), fit, np.ones((40, 2)), sizes=(40,))
    assert picks(policy, fit) == "b" * 40


def test_standard_names_every_baseline_once(worked: RewardMatrix) -> None:
    features = np.eye(4)
    names = [policy.name for policy in baselines.standard(worked, worked, "a", features, features)]
    assert names == [
        "always a",
        "always b",
        "always c",
        "random",
        "best fixed (a)",
        "best fixed in hindsight",
        "domain table",
        "kNN (k = 4)",
        "k-means table (k = 1)",
        "ridge",
        "logistic",
        "prompt length",
        "oracle",
    ]
    assert "domain table" not in [policy.name for policy in baselines.standard(worked, None, "a")]
