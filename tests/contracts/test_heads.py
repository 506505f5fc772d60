"""What every kind of head promises."""

from dataclasses import replace

import numpy as np
import pytest

from fugu_lite.errors import DataError, MismatchError
from fugu_lite.heads import Head, HeadSpec, Labels, PolicyHead, ValueHead, ValueHeadSpec, registry
from fugu_lite.heads.values import value_kind

WORKERS = ("a", "b", "c")
POLICIES = [HeadSpec(type=name, layer_norm=norm) for name in ("linear", "mlp") for norm in (False, True)]
FAMILIES = [name for name in registry.shipped() if name not in ("linear", "mlp", "extended")]
VALUES = [ValueHeadSpec(type=name) for name in FAMILIES]
SPECS: list[HeadSpec] = [*POLICIES, *VALUES]
FEATURES = np.random.default_rng(0).normal(size=(20, 6))


def fresh(spec: HeadSpec, seed: int = 0) -> PolicyHead:
    kind = registry.get(spec.type)
    assert issubclass(kind, PolicyHead)
    return kind.initial(spec, 6, WORKERS, np.random.default_rng(seed))


def labels(rng: np.random.Generator, rows: int = 60) -> Labels:
    outputs = rng.uniform(size=(rows, 6))
    outputs[rng.uniform(size=outputs.shape) < 0.1] = np.nan
    return Labels(WORKERS, ("reward", "cost_usd"), outputs, tuple("xyz"[i % 3] for i in range(rows)))


def shaken(spec: HeadSpec) -> Head:
    rng = np.random.default_rng(1)
    if isinstance(spec, ValueHeadSpec):
        return value_kind(spec).fit(spec, rng.normal(size=(60, 6)), labels(rng), rng)
    head = fresh(spec)
    return type(head)(head.spec, WORKERS, {k: v + rng.normal(size=v.shape) for k, v in head.parameters.items()})


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_scores_and_probabilities_have_one_column_per_worker(spec: HeadSpec) -> None:
    head = shaken(spec)
    assert head.kind == spec.type
    assert head.scores(FEATURES).shape == head.probabilities(FEATURES).shape == (20, 3)
    np.testing.assert_allclose(head.probabilities(FEATURES).sum(axis=1), 1)
    assert (head.scores(FEATURES).argmax(axis=1) == head.probabilities(FEATURES).argmax(axis=1)).all()


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_head_is_its_spec_and_named_float32_arrays(spec: HeadSpec) -> None:
    head = shaken(spec)
    assert all(value.dtype == np.float32 and value.flags.c_contiguous for value in head.parameters.values())
    again = type(head)(type(head.spec).parse(head.spec.model_dump()), head.worker_ids, dict(head.parameters))
    assert again.scores(FEATURES).tobytes() == head.scores(FEATURES).tobytes()


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_rows_do_not_depend_on_their_neighbours(spec: HeadSpec) -> None:
    head = shaken(spec)
    np.testing.assert_allclose(head.scores(FEATURES[3:4])[0], head.scores(FEATURES)[3], atol=1e-12)


@pytest.mark.parametrize("spec", POLICIES, ids=str)
def test_an_untrained_policy_prefers_nobody_and_its_seed_decides_it(spec: HeadSpec) -> None:
    head = fresh(spec)
    np.testing.assert_allclose(head.probabilities(FEATURES), 1 / 3)
    same, other = fresh(spec), fresh(spec, seed=5)
    assert all((same.parameters[k] == v).all() for k, v in head.parameters.items())
    assert head.kind == "linear" or any((other.parameters[k] != v).any() for k, v in head.parameters.items())


@pytest.mark.parametrize("spec", POLICIES, ids=str)
def test_the_last_layer_of_a_policy_can_be_taken_out_and_put_back(spec: HeadSpec) -> None:
    head = shaken(spec)
    assert isinstance(head, PolicyHead)
    same = head.with_last_layer(head.parameters["W"], head.parameters["b"])
    assert same.scores(FEATURES).tobytes() == head.scores(FEATURES).tobytes()
    np.testing.assert_allclose(
        head.scores(FEATURES), head.hidden(FEATURES) @ head.parameters["W"] + head.parameters["b"]
    )
    zero = head.with_last_layer(np.zeros_like(head.parameters["W"]), head.parameters["b"])
    np.testing.assert_allclose(zero.scores(FEATURES), np.tile(head.parameters["b"], (20, 1)))


@pytest.mark.parametrize("spec", VALUES, ids=lambda spec: spec.type)
def test_a_value_head_predicts_every_target_of_every_worker(spec: ValueHeadSpec) -> None:
    head = shaken(spec)
    assert isinstance(head, ValueHead)
    values = head.values(FEATURES)
    assert list(values) == ["reward", "cost_usd"]
    assert all(v.shape == (20, 3) and np.isfinite(v).all() for v in values.values())
    np.testing.assert_array_equal(values["reward"], head.scores(FEATURES))


@pytest.mark.parametrize("spec", VALUES, ids=lambda spec: spec.type)
def test_a_worker_leaves_by_name_and_the_others_keep_their_values(spec: ValueHeadSpec) -> None:
    head = shaken(spec)
    assert isinstance(head, ValueHead)
    smaller = head.only(["c", "a"])
    assert smaller.worker_ids == ("c", "a")
    for name, values in smaller.values(FEATURES).items():
        np.testing.assert_allclose(values, head.values(FEATURES)[name][:, [2, 0]])
    with pytest.raises(MismatchError, match="no worker 'z'"):
        head.only(["z"])


@pytest.mark.parametrize("spec", VALUES, ids=lambda spec: spec.type)
def test_a_value_head_without_labels_of_domains(spec: ValueHeadSpec) -> None:
    rng = np.random.default_rng(1)
    bare = replace(labels(rng), domains=())
    if spec.type in ("table", "residual"):
        with pytest.raises(DataError, match="no training row has a domain"):
            value_kind(spec).fit(spec, rng.normal(size=(60, 6)), bare, rng)
    else:
        head = value_kind(spec).fit(spec, rng.normal(size=(60, 6)), bare, rng)
        assert head.scores(FEATURES).shape == (20, 3)
