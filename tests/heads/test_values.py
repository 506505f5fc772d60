"""Families of values, against cells worked by hand, and against a planted signal."""

from collections.abc import Sequence

import numpy as np
import pytest

from fugu_lite.errors import DataError, MismatchError
from fugu_lite.heads import HeadSpec, Labels, ValueHead, ValueHeadSpec, knn
from fugu_lite.heads.average import AverageHead
from fugu_lite.heads.cluster import ClusterHead, nearest
from fugu_lite.heads.domains import DomainModel
from fugu_lite.heads.extended import ExtendedHead
from fugu_lite.heads.fixed import FixedHead
from fugu_lite.heads.knn import KnnHead
from fugu_lite.heads.logistic import LogisticHead
from fugu_lite.heads.residual import ResidualHead
from fugu_lite.heads.ridge import RidgeHead
from fugu_lite.heads.table import TableHead
from fugu_lite.heads.values import by_pattern, cell_means, value_kind
from fugu_lite.trainers.simulate import Planted, planted

NAN = float("nan")
RNG = np.random.default_rng(0)
FAMILIES = [TableHead, ClusterHead, KnnHead, RidgeHead, LogisticHead, ResidualHead, AverageHead]


def labels(
    outputs: Sequence[Sequence[float]], domains: tuple[str, ...] = (), workers: tuple[str, ...] = ("a", "b")
) -> Labels:
    return Labels(workers, ("reward",), np.array(outputs), domains)


def test_cell_means_are_shrunk_towards_the_mean_of_all_rows() -> None:
    outputs = np.array([[1.0], [1.0], [0.0], [NAN]])
    # overall mean 2/3; cell 0 has two rows of 1, cell 1 one row of 0 and one that was not measured
    means = cell_means(outputs, np.array([0, 0, 1, 1]), 3, prior_rows=1.0)
    np.testing.assert_allclose(means[:, 0], [(2 + 2 / 3) / 3, (0 + 2 / 3) / 2, 2 / 3])


def test_columns_measured_on_the_same_rows_are_solved_together() -> None:
    outputs = np.array([[1.0, 2.0, NAN], [1.0, NAN, 3.0], [1.0, 2.0, NAN]])
    found = {tuple(columns): rows.tolist() for rows, columns in by_pattern(outputs)}
    assert found == {(0,): [True, True, True], (1,): [True, False, True], (2,): [False, True, False]}


def test_fixed_is_the_mean_of_what_was_measured() -> None:
    head = FixedHead.fit(ValueHeadSpec(type="fixed"), np.zeros((3, 2)), labels([[1, 0], [0, NAN], [0.5, 1]]), RNG)
    np.testing.assert_allclose(head.scores(np.ones((2, 2))), [[0.5, 0.5]] * 2)


def test_ridge_solves_its_normal_equation() -> None:
    x = np.array([[-1.0], [0.0], [1.0]])
    head = RidgeHead.fit(ValueHeadSpec(type="ridge", penalty=1 / 3), x, labels([[0, 1], [1, 1], [2, 1]]), RNG)
    # X'X/n = 2/3, X'y/n = 2/3: slope (2/3) / (2/3 + 1/3) = 2/3 around the mean 1
    np.testing.assert_allclose(head.scores(np.array([[3.0]])), [[1 + 2.0, 1.0]], rtol=1e-6)


def test_logistic_matches_the_log_odds_and_keeps_the_range_of_its_labels() -> None:
    x = np.array([[0.0]] * 4)
    spec = ValueHeadSpec(type="logistic", penalty=0.1)
    head = LogisticHead.fit(spec, x, labels([[1, 10], [1, 20], [1, 20], [0, 10]]), RNG)
    np.testing.assert_allclose(head.scores(np.array([[0.0]])), [[0.75, 15.0]], rtol=1e-3)
    steep = LogisticHead.fit(spec, np.array([[-9.0], [9.0]]), labels([[0, 10], [1, 20]]), RNG)
    far = steep.scores(np.array([[1e4], [-1e4]]))
    np.testing.assert_allclose(far, [[1, 20], [0, 10]], atol=1e-6)


def test_knn_takes_the_mean_of_measured_neighbours_by_angle() -> None:
    x = np.array([[1.0, 0.0], [5.0, 0.1], [0.0, 1.0], [0.1, 2.0]])
    told = labels([[1, 0], [0, 0], [0, NAN], [0, NAN]])
    head = KnnHead.fit(ValueHeadSpec(type="knn", neighbours=2), x, told, RNG)
    np.testing.assert_allclose(head.scores(np.array([[9.0, 0.0]])), [[0.5, 0.0]])
    np.testing.assert_allclose(head.scores(np.array([[0.0, 3.0]])), [[0.0, 0.0]])  # b: the mean over all rows


def test_clusters_are_tables_of_the_nearest_centre() -> None:
    x = np.concatenate([RNG.normal(-5, 0.1, (40, 2)), RNG.normal(5, 0.1, (40, 2))])
    told = labels([[1, 0]] * 40 + [[0, 1]] * 40)
    head = ClusterHead.fit(ValueHeadSpec(type="cluster", clusters=2, seeds=3), x, told, np.random.default_rng(0))
    assert head.parameters["centres"].shape == (3, 2, 2)
    # 40 rows of 1 and a prior of 8 rows of .5
    np.testing.assert_allclose(head.scores(np.array([[-5.0, -5.0]])), [[44 / 48, 4 / 48]], rtol=1e-6)
    assert nearest(np.array([[0.9, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])).tolist() == [1]


def test_a_table_predicts_the_domain_or_takes_the_label() -> None:
    x = np.concatenate([np.full((20, 1), -3.0), np.full((20, 1), 3.0)]) + RNG.normal(0, 0.1, (40, 1))
    told = labels([[1, 0]] * 20 + [[0, 1]] * 20, ("law",) * 20 + ("math",) * 20)
    head = TableHead.fit(ValueHeadSpec(type="table", soft=False), x, told, RNG)
    assert head.spec.domains == ("law", "math")
    asked = np.array([[-3.0], [3.0]])
    assert head.scores(asked).argmax(axis=1).tolist() == [0, 1]
    assert head.scores(asked, ["math", "law"]).argmax(axis=1).tolist() == [0, 1]  # labels are not for this head
    given = TableHead.fit(ValueHeadSpec(type="table", soft=False, domain="given"), x, told, RNG)
    assert given.scores(asked, ["math", None]).argmax(axis=1).tolist() == [1, 1]
    assert given.scores(asked, ["never seen", "law"]).argmax(axis=1).tolist() == [0, 0]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_domain_model_tells_domains_apart(count: int) -> None:
    names = ("", "x", "y", "z")[1 : count + 1]
    x = np.concatenate([np.eye(3)[[i]] * 5 + RNG.normal(0, 0.2, (30, 3)) for i in range(count)])
    told = [name for name in names for _ in range(30)]
    model = DomainModel.fit(x, told)
    assert model.names == names
    found = [model.names[i] for i in model.probabilities(x).argmax(axis=1)]
    assert found == told
    far = model.entropy(np.zeros((1, 3)))[0]
    assert far >= model.entropy(x[:1])[0]
    assert far <= np.log(count) + 1e-9


def learned(kind: type[ValueHead], sample: Planted) -> ValueHead:
    domain = (sample.features @ sample.directions).argmax(axis=1)
    told = Labels(("w0", "w1", "w2", "w3"), ("reward",), sample.rewards, tuple(f"d{i}" for i in domain))
    spec = kind.candidates(ValueHeadSpec(type=kind.kind), len(sample.rewards))[0]
    return kind.fit(spec, sample.features, told, np.random.default_rng(5))


@pytest.mark.parametrize("kind", FAMILIES, ids=lambda kind: kind.kind)
def test_every_family_finds_a_planted_signal_and_none_without_it(kind: type[ValueHead]) -> None:
    rng = np.random.default_rng(7)
    sample = planted(rng, 1500)
    fresh = planted(rng, 4000, directions=sample.directions)
    assert fresh.captured(learned(kind, sample).scores(fresh.features)) >= 0.9
    lost = learned(kind, sample.shuffled(rng)).scores(fresh.features)
    even = fresh.value(np.zeros_like(lost))
    assert abs(fresh.value(lost) - even) < 0.05  # any worker is as good as another


def test_the_average_is_the_mean_of_its_members() -> None:
    sample = planted(np.random.default_rng(1), 200)
    spec = ValueHeadSpec(members=(ValueHeadSpec(type="ridge"), ValueHeadSpec(type="fixed")))
    told = Labels(("w0", "w1", "w2", "w3"), ("reward",), sample.rewards)
    head = AverageHead.fit(spec, sample.features, told, RNG)
    parts = [value_kind(member).fit(member, sample.features, told, RNG) for member in spec.members]
    wanted = (parts[0].scores(sample.features) + parts[1].scores(sample.features)) / 2
    np.testing.assert_allclose(head.scores(sample.features), wanted, rtol=1e-6)


def test_a_policy_kind_is_refused_by_name() -> None:
    with pytest.raises(MismatchError, match="'linear' is a policy"):
        value_kind(HeadSpec(type="linear"))


@pytest.mark.parametrize("kind", [RidgeHead, KnnHead, TableHead, AverageHead], ids=lambda kind: kind.kind)
def test_a_new_worker_joins_from_fifty_probes(kind: type[ValueHead]) -> None:
    """With fifty probes the pool of four is worth within two points of a head retrained on all rows."""
    losses = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        sample = planted(rng, 1500, gap=0.2)
        fresh = planted(rng, 4000, gap=0.2, directions=sample.directions)
        whole = learned(kind, sample)
        known = whole.only(["w0", "w1", "w2"])
        probes = planted(rng, 50, gap=0.2, directions=sample.directions)
        joined = ExtendedHead.join(
            known, "w3", probes.features, {"reward": probes.rewards[:, 3]}, sample.features[:300], rng
        )
        assert joined.worker_ids == ("w0", "w1", "w2", "w3")
        np.testing.assert_allclose(joined.scores(fresh.features)[:, :3], known.scores(fresh.features))
        losses.append(fresh.value(whole.scores(fresh.features)) - fresh.value(joined.scores(fresh.features)))
    assert np.mean(losses) <= 0.02


def test_what_a_new_worker_needs() -> None:
    sample = planted(np.random.default_rng(3), 300)
    head = learned(RidgeHead, sample)
    rewards = {"reward": sample.rewards[:, 0]}
    with pytest.raises(MismatchError, match="'w1' is already a worker"):
        ExtendedHead.join(head, "w1", sample.features, rewards, sample.features, RNG)
    with pytest.raises(DataError, match="19 of 19 rows have a reward of 'new'; at least 20"):
        ExtendedHead.join(head, "new", sample.features[:19], {"reward": sample.rewards[:19, 0]}, sample.features, RNG)
    joined = ExtendedHead.join(head, "new", sample.features, rewards, sample.features, RNG)
    assert joined.only(["w1", "w0"]).worker_ids == ("w1", "w0")
    with pytest.raises(MismatchError, match="mask workers at request time"):
        joined.only(["new", "w0"])


def test_neighbours_are_the_same_however_few_rows_are_compared_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    asked, points = (rng.normal(size=(size, 16)).astype(np.float32) for size in (50, 300))
    whole = np.sort(knn.most_similar(asked, points, 7), axis=1)
    monkeypatch.setattr(knn, "CELLS", 1000)
    assert (np.sort(knn.most_similar(asked, points, 7), axis=1) == whole).all()
