"""Separable CMA-ES: its memory, its resume, its worth against random search, and what it keeps."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cmaes import SepCMA

from fugu_lite.errors import DataError, MismatchError, SpecError, UnknownKindError
from fugu_lite.heads import HeadSpec, PolicyHead
from fugu_lite.heads.linear import LinearHead
from fugu_lite.runs import Silent
from fugu_lite.trainers import FitResult, TrainingSet, es
from fugu_lite.trainers.contract import Array, greedy_utility
from fugu_lite.trainers.es import EsSpec, EsTrainer, Problem, flatten, scaled, unflatten
from fugu_lite.trainers.objectives import Scores, mean_reward, register, worst_group
from fugu_lite.trainers.simulate import planted

RNG = np.random.default_rng(0)
ROWS = planted(RNG, 400, gap=0.2)
CHECK = planted(RNG, 300, gap=0.2, directions=ROWS.directions)


def evolve(start: PolicyHead | None = None, validation: bool = True, **changes: Any) -> FitResult:
    check = CHECK.training_set if validation else None
    return EsTrainer(EsSpec.parse(changes)).fit(ROWS.training_set, check, start, Silent())


def test_the_defaults_are_the_published_ones() -> None:
    spec = EsSpec()
    assert (spec.sigma0, spec.generations, spec.population, spec.seed, spec.head.head_hidden_dim) == (
        0.5,
        60,
        None,
        42,
        0,
    )
    # Five workers on 2,048 features: 10,245 parameters, 4 + floor(3 ln 10,245) = 31 candidates.
    assert SepCMA(mean=np.zeros(10_245), sigma=0.5, population_size=spec.population).population_size == 31


def test_many_candidates_are_scored_as_each_alone_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = ROWS.rewards.copy()
    rewards[np.random.default_rng(1).random(rewards.shape) < 0.3] = np.nan
    problem = Problem(ROWS.features.astype(np.float32), rewards, mean_reward)
    candidates = np.random.default_rng(2).normal(size=(9, 16 * 4 + 4))
    weights, bias = unflatten(candidates, 4)
    alone = [greedy_utility(ROWS.features @ w + b, rewards) for w, b in zip(weights, bias, strict=True)]
    np.testing.assert_allclose(problem.values(candidates), alone, atol=1e-9)
    monkeypatch.setattr(es, "CELLS", 2 * rewards.size)
    np.testing.assert_allclose(problem.values(candidates), alone, atol=1e-9)


def test_the_vector_is_w_row_by_row_then_b() -> None:
    head = LinearHead(HeadSpec(), ("a", "b"), {"W": [[1, 2], [3, 4], [5, 6]], "b": [7, 8]})  # type: ignore[dict-item]
    assert flatten(head).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    weights, bias = unflatten(flatten(head)[None], 2)
    assert weights[0].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert bias[0].tolist() == [7, 8]


def peak_memory(dimension: int) -> int:
    """Return the peak bytes of two generations with 2 workers and `dimension` / 2 features."""
    rng = np.random.default_rng(0)
    rows = TrainingSet(rng.normal(size=(4, dimension // 2)), rng.random((4, 2)), ("a", "b"))
    trainer = EsTrainer(EsSpec(generations=2, population=8))
    tracemalloc.start()
    trainer.fit(rows, None, None, Silent())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_grows_with_the_number_of_parameters_not_its_square() -> None:
    small, large = peak_memory(2_000), peak_memory(20_000)
    assert large < 15 * small
    assert large < 20_000 * 20_000 * 8 / 50  # a full covariance alone would take 3.2 GB


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_beats_random_search_at_equal_evaluations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    train = planted(rng, 1000, gap=0.2)
    held_out = planted(rng, 20_000, gap=0.2, directions=train.directions)
    spec = EsSpec(seed=seed)
    result = EsTrainer(spec).fit(train.training_set, None, None, Silent())
    size = 16 * 4 + 4
    tries = spec.generations * (4 + int(3 * np.log(size)))
    candidates = spec.sigma0 * np.random.default_rng(seed).normal(size=(tries, size))
    problem = Problem(train.features.astype(np.float32), train.rewards, mean_reward)
    values = problem.values(candidates)
    weights, bias = unflatten(candidates[values.argmax()][None], 4)
    assert result.history[-1]["train"] is not None
    assert result.history[-1]["train"] > values.max()
    found = held_out.captured(result.head.scores(held_out.features))
    assert found > held_out.captured(held_out.features @ weights[0] + bias[0]) + 0.1


def test_the_mean_is_kept_not_the_best_sample() -> None:
    result = evolve(generations=8, validation=False)
    last = result.history[-1]
    assert result.kept_step == last["step"] == 8
    assert greedy_utility(result.head.scores(ROWS.features), ROWS.rewards) == pytest.approx(last["train"])
    assert last["best_sample"] != last["train"]


def test_the_held_out_curve_stands_beside_the_train_fit_and_chooses() -> None:
    result = evolve(generations=20)
    assert [entry["step"] for entry in result.history] == list(range(21))
    curve = [entry["validation"] or 0.0 for entry in result.history[1:]]
    assert result.validation_utility == max(curve)
    assert greedy_utility(result.head.scores(CHECK.features), CHECK.rewards) == pytest.approx(max(curve))


def test_a_warm_start_is_scaled_for_the_search_and_back() -> None:
    vector, scale = scaled(np.array([2.0, -2.0, 6.0, -6.0]))
    assert vector.std() == pytest.approx(1)
    np.testing.assert_allclose(vector * scale, [2, -2, 6, -6])
    assert scaled(np.zeros(3))[1] == 1.0
    start = LinearHead(HeadSpec(), ROWS.training_set.worker_ids, {"W": 0.01 * ROWS.directions, "b": np.zeros(4)})
    result = evolve(start, generations=5, sigma0=0.05)
    assert isinstance(result.head, PolicyHead)
    assert result.history[0]["train"] == pytest.approx(greedy_utility(start.scores(ROWS.features), ROWS.rewards))
    assert 0.5 < result.head.parameters["W"].std() / start.parameters["W"].std() < 2


def test_a_warm_start_that_validates_best_is_returned_unchanged() -> None:
    start = LinearHead(HeadSpec(), ROWS.training_set.worker_ids, {"W": ROWS.directions, "b": np.zeros(4)})
    result = evolve(start, generations=3, sigma0=5.0)
    assert result.kept_step == 0
    assert result.head is start


def test_only_the_last_layer_of_an_mlp_changes() -> None:
    result = evolve(generations=3, head={"head_hidden_dim": 6})
    spec = HeadSpec(type="mlp", head_hidden_dim=6)
    assert isinstance(result.head, PolicyHead)
    untrained = type(result.head).initial(spec, 16, result.head.worker_ids, np.random.default_rng(42))
    assert (result.head.parameters["W1"] == untrained.parameters["W1"]).all()
    assert (result.head.parameters["W"] != untrained.parameters["W"]).any()


@pytest.mark.parametrize("validation", [True, False])
def test_a_resumed_search_equals_an_uninterrupted_one(tmp_path: Path, validation: bool) -> None:
    whole = evolve(generations=12, seeds=2, validation=validation)
    state = str(tmp_path / "es.safetensors")
    for generations in (1, 5, 12, 12):
        parts = evolve(generations=generations, seeds=2, state=state, resume=True, validation=validation)
    assert parts.history == whole.history
    assert parts.kept_step == whole.kept_step
    assert {k: v.tobytes() for k, v in parts.head.parameters.items()} == {
        k: v.tobytes() for k, v in whole.head.parameters.items()
    }


def test_a_state_of_other_rows_or_no_state_at_all_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "es.safetensors"
    evolve(generations=2, state=str(state))
    with pytest.raises(MismatchError, match="belongs to other settings, rows or start"):
        evolve(generations=3, state=str(state), resume=True, sigma0=0.1)
    state.write_bytes(b"not a state")
    with pytest.raises(DataError, match="not a train-es state"):
        evolve(generations=3, state=str(state), resume=True)


def test_without_resume_the_search_starts_again(tmp_path: Path) -> None:
    state = str(tmp_path / "es.safetensors")
    first = evolve(generations=3, state=state)
    assert evolve(generations=3, state=state).history == first.history


def test_patience_stops_early() -> None:
    result = evolve(generations=200, patience=4)
    assert len(result.history) == result.kept_step + 5 < 201


def test_the_penalty_holds_the_weights_down() -> None:
    free, held = (evolve(generations=40, l2=l2, validation=False) for l2 in (0.0, 5.0))
    assert np.abs(held.head.parameters["W"]).mean() < np.abs(free.head.parameters["W"]).mean()


def test_a_registered_goal_is_what_evolution_maximises() -> None:
    def prefer_first(scores: Scores, rewards: Array) -> float:
        return float((scores.argmax(axis=1) == 0).mean())

    register("prefer_first", prefer_first)
    result = evolve(objective="prefer_first", generations=20)
    assert (result.head.scores(CHECK.features).argmax(axis=1) == 0).mean() > 0.9
    register("broken", lambda scores, rewards: float("nan"))
    with pytest.raises(SpecError, match="not a finite number"):
        evolve(objective="broken")
    with pytest.raises(UnknownKindError, match="did you mean 'soft_reward'"):
        evolve(objective="soft_rewards")


def test_worst_group_is_raised_by_evolving_it() -> None:
    plain, fair = (evolve(objective=name, validation=False) for name in ("mean_reward", "worst_group"))
    worst = [worst_group(r.head.scores(ROWS.features), ROWS.rewards) for r in (plain, fair)]
    assert worst[1] > worst[0]
