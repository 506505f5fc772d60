"""From a matrix to a checkpoint: what is learned, what is written, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fugu_lite import checkpoints
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.errors import DataError, MismatchError, UnknownKindError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task
from fugu_lite.trainers import TrainerSpec
from fugu_lite.trainers.bandit import BanditSpec
from fugu_lite.trainers.es import EsSpec
from fugu_lite.trainers.pipeline import Trained, data_sha
from fugu_lite.trainers.sft import SftSpec
from fugu_lite.trainers.train import train

HASHING = EmbedderSpec(type="hashing", dimension=64)
ES = EsSpec(backbone=HASHING, generations=12)
TOPICS = {"math": "add the numbers", "code": "write a function", "poet": "sing of the sea"}
COUNTS = {"train": 36, "validation": 18, "test": 18}


def planted(counts: dict[str, int] = COUNTS, workers: tuple[str, ...] = tuple(TOPICS)) -> RewardMatrix:
    """A matrix in which the topic's own worker gets 1 and the others .2."""
    tasks, rewards = [], []
    for split, count in counts.items():
        for i in range(count):
            topic = list(TOPICS)[i % 3]
            row = {"task_id": f"{split}-{i}", "prompt": f"{TOPICS[topic]} {split} {i}", "domain": topic, "split": split}
            tasks.append(Task.model_validate(row))
            rewards.append([1.0 if worker == topic else 0.2 for worker in workers])
    values = np.array(rewards)
    unknown = np.full_like(values, np.nan)
    return RewardMatrix(tuple(tasks), workers, values, values, unknown, unknown)


def routed(trained: Trained, matrix: RewardMatrix) -> float:
    router = checkpoints.load(trained.folder).router()
    test = matrix.split("test")
    picks = [router.worker_ids.index(router.decide(prompt).worker_id) for prompt in test.prompts]
    return float(test.only(router.worker_ids).rewards[np.arange(len(picks)), picks].mean())


@pytest.mark.parametrize(
    ("method", "spec"),
    [
        ("sft", SftSpec(backbone=HASHING, epochs=30, learning_rate=0.05)),
        ("rl", BanditSpec(backbone=HASHING, epochs=30, learning_rate=0.05)),
        ("es", ES),
    ],
)
def test_a_planted_signal_is_found(tmp_path: Path, method: str, spec: TrainerSpec) -> None:
    matrix = planted()
    trained = train(matrix, tmp_path / "head", spec)
    assert routed(trained, matrix) > 0.9  # any fixed worker gets 1.4 / 3
    assert trained.best_fixed == pytest.approx(1.4 / 3)
    assert trained.oracle == 1.0
    manifest = trained.manifest
    assert manifest.trainer["method"] == method
    assert manifest.worker_ids == matrix.worker_ids
    assert manifest.data is not None
    assert manifest.data.rows == {"train": 36, "validation": 18}
    assert (manifest.seed, manifest.normalisation, manifest.comparator) == (42, "zscore", "code")
    assert checkpoints.load(trained.folder).manifest == manifest


def test_the_same_training_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        train(planted(), tmp_path / name, ES, cache=tmp_path / "cache" if name == "two" else None)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two


def test_test_rows_are_never_looked_at(tmp_path: Path) -> None:
    matrix = planted()
    poisoned = matrix.rewards.copy()
    poisoned[[task.split == "test" for task in matrix.tasks]] = np.inf
    other = RewardMatrix(matrix.tasks, matrix.worker_ids, poisoned, poisoned, matrix.costs, matrix.latencies)
    assert train(other, tmp_path / "a", ES).manifest == train(matrix, tmp_path / "b", ES).manifest


def test_a_start_decides_order_and_backbone(tmp_path: Path) -> None:
    start = checkpoints.load(train(planted(), tmp_path / "start", ES).folder)
    permuted = planted(workers=("poet", "math", "code"))
    trained = train(permuted, tmp_path / "next", EsSpec(generations=2), start=start)
    assert trained.manifest.worker_ids == start.manifest.worker_ids
    assert trained.manifest.backbone == start.manifest.backbone
    assert trained.manifest.trainer["start"] == start.manifest.name
    assert np.array_equal(checkpoints.load(trained.folder).normaliser.mean, start.normaliser.mean)


def test_a_start_with_other_workers_or_backbone_is_refused(tmp_path: Path) -> None:
    start = checkpoints.load(train(planted(), tmp_path / "start", ES).folder)
    with pytest.raises(
        MismatchError, match=r"--checkpoint: its workers are math, code, poet, the matrix has math, code"
    ):
        train(planted(workers=("math", "code")), tmp_path / "x", ES, start=start)
    other = EsSpec(backbone=EmbedderSpec(type="hashing", dimension=32, transcript="role"))
    with pytest.raises(MismatchError, match=r"dimension: 64 there, 32 here") as refused:
        train(planted(), tmp_path / "x", other, start=start)
    assert "transcript: 'plain' there, 'role' here" in str(refused.value)
    assert not (tmp_path / "x").exists()


def test_rows_without_any_reward_are_dropped_and_counted(tmp_path: Path) -> None:
    matrix = planted()
    holes = matrix.rewards.copy()
    holes[[0, 4]] = np.nan  # whole rows
    holes[7, 0] = np.nan  # one cell
    other = RewardMatrix(matrix.tasks, matrix.worker_ids, holes, holes, matrix.costs, matrix.latencies)
    trained = train(other, tmp_path / "head", ES)
    assert "2 rows have no reward at all and are left out" in trained.warnings
    assert trained.manifest.data is not None
    assert trained.manifest.data.rows["train"] == 34
    assert routed(trained, matrix) > 0.9


@pytest.mark.parametrize(
    ("counts", "warnings"),
    [
        ({"train": 9, "validation": 50, "test": 100}, []),
        (
            {"train": 9, "validation": 49, "test": 99},
            [
                "only 49 validation rows (at least 50 are useful)",
                "only 99 test rows (at least 100 are useful)",
            ],
        ),
        (
            {"train": 9},
            [
                "no validation rows: the last step is kept, and nothing guards against over-fitting",
                "only 0 test rows (at least 100 are useful)",
            ],
        ),
    ],
)
def test_small_splits_are_warned_about(tmp_path: Path, counts: dict[str, int], warnings: list[str]) -> None:
    trained = train(planted(counts), tmp_path / "head", EsSpec(backbone=HASHING, generations=1))
    assert list(trained.warnings) == warnings
    assert (trained.best_fixed is None) == ("validation" not in counts)


def test_no_training_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no row has split 'train'; assign splits with `fugu-lite split`"):
        train(planted({"test": 9}), tmp_path / "head", ES)
    matrix = planted({"train": 3, "test": 9})
    holes = np.where([[task.split == "train"] for task in matrix.tasks], np.nan, matrix.rewards)
    with pytest.raises(DataError, match="no row has split 'train'"):
        train(
            RewardMatrix(matrix.tasks, matrix.worker_ids, holes, holes, matrix.costs, matrix.latencies),
            tmp_path / "head",
            ES,
        )
    assert not (tmp_path / "head").exists()


def test_the_data_hash_sees_prompts_splits_and_rewards() -> None:
    matrix = planted()
    changed: list[Callable[[Any], Any]] = [
        lambda m: m.only(("code", "math", "poet")),
        lambda m: m.rows(range(len(m) - 1)),
        lambda m: RewardMatrix(m.tasks, m.worker_ids, m.rewards * 0.5, m.qualities, m.costs, m.latencies),
    ]
    hashes = {data_sha(matrix), *(data_sha(change(matrix)) for change in changed)}
    assert len(hashes) == 4
    assert data_sha(planted()) == data_sha(matrix)


def test_a_spec_without_a_method_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownKindError, match="no method for a TrainerSpec"):
        train(planted(), tmp_path / "head", TrainerSpec(backbone=HASHING))
