"""What every kind of head promises."""

import numpy as np
import pytest

from fugu_lite.heads import Head, HeadSpec, PolicyHead, registry

WORKERS = ("a", "b", "c")
SPECS = [HeadSpec(type=name, layer_norm=norm) for name in registry.shipped() for norm in (False, True)]
FEATURES = np.random.default_rng(0).normal(size=(20, 6))


def fresh(spec: HeadSpec, seed: int = 0) -> Head:
    return registry.get(spec.type).initial(spec, 6, WORKERS, np.random.default_rng(seed))


def shaken(spec: HeadSpec) -> Head:
    head, rng = fresh(spec), np.random.default_rng(1)
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
    again = type(head)(HeadSpec.parse(head.spec.model_dump()), head.worker_ids, dict(head.parameters))
    assert again.scores(FEATURES).tobytes() == head.scores(FEATURES).tobytes()


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_rows_do_not_depend_on_their_neighbours(spec: HeadSpec) -> None:
    head = shaken(spec)
    np.testing.assert_allclose(head.scores(FEATURES[3:4])[0], head.scores(FEATURES)[3], atol=1e-12)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_an_untrained_policy_prefers_nobody_and_its_seed_decides_it(spec: HeadSpec) -> None:
    head = fresh(spec)
    np.testing.assert_allclose(head.probabilities(FEATURES), 1 / 3)
    same, other = fresh(spec), fresh(spec, seed=5)
    assert all((same.parameters[k] == v).all() for k, v in head.parameters.items())
    assert head.kind == "linear" or any((other.parameters[k] != v).any() for k, v in head.parameters.items())


@pytest.mark.parametrize("spec", SPECS, ids=str)
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
