"""The gate: planted headroom is found, its absence is not taken for it, few rows decide nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fugu_lite import gate, jsonl
from fugu_lite.checkpoints import read_manifest
from fugu_lite.cli._sources import MatrixSource
from fugu_lite.cli._terminal import Shown
from fugu_lite.cli.gate import gate as command
from fugu_lite.cli.train import train_value
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.errors import DataError, InputError
from fugu_lite.heads import ValueHeadSpec
from fugu_lite.rewards import RewardMatrix, matrix
from fugu_lite.rewards.headroom import Array, crossfitted_oracle, naive_oracle
from fugu_lite.tasks import Task
from fugu_lite.trainers.values import ValueSpec

WORKERS = ("a", "b", "c")


def rows(rates: Array, seed: int, repetitions: int = 1) -> tuple[RewardMatrix, Array]:
    """Return a matrix of coin flips at (tasks, workers) rates, and its repetitions."""
    rng = np.random.default_rng(seed)
    answers = (rng.random((*rates.shape, repetitions)) < rates[:, :, None]).astype(float)
    best = rates.argmax(axis=1)
    tasks = tuple(
        Task(task_id=str(i), prompt=f"question {i}", domain=f"d{best[i]}", split="train") for i in range(len(rates))
    )
    unknown = np.full(rates.shape, np.nan)
    means = answers.mean(axis=2)
    return RewardMatrix(tasks, WORKERS, means, means, unknown, unknown), answers


def by_domain(count: int, gap: float) -> Array:
    """Return rates of three domains, each with its own best worker."""
    return np.asarray(0.4 + gap * np.eye(3)[np.arange(count) % 3])


@pytest.mark.parametrize("repetitions", [1, 3])
def test_planted_headroom_is_go(repetitions: int) -> None:
    found, answers = rows(by_domain(600, 0.4), seed=1, repetitions=repetitions)
    result = gate.judge(found, repeated=answers)
    assert result.verdict == "GO"
    assert result.achievable.mean >= 0.1
    assert result.rows_needed is not None
    assert result.rows_needed < 600
    assert result.rows_cost_usd is None  # no price is known


def test_one_worker_that_is_always_best_is_stop() -> None:
    rates = np.tile([0.95, 0.3, 0.3], (3000, 1))
    result = gate.judge(rows(rates, seed=2)[0])
    assert result.verdict == "STOP"
    assert result.achievable.high < 0.01


def test_without_headroom_go_is_no_more_frequent_than_its_level() -> None:
    verdicts = [gate.judge(rows(by_domain(200, 0.0), seed=100 + i)[0], seed=i).verdict for i in range(40)]
    assert verdicts.count("GO") <= 4  # one-sided .025: P(Binomial(40, .025) > 4) is below .005


def test_crossfit_is_below_and_naive_above_the_truth() -> None:
    rates = np.random.default_rng(3).uniform(0.2, 0.8, size=(2000, 3))
    answers = rows(rates, seed=4, repetitions=3)[1]
    truth = rates.max(axis=1).mean()
    assert crossfitted_oracle(answers).mean() <= truth + 0.01
    assert naive_oracle(answers).mean() >= truth - 0.01


def test_few_rows_are_unknown() -> None:
    assert gate.judge(rows(by_domain(60, 0.5), seed=5)[0]).verdict == "UNKNOWN"


def test_one_worker_leaves_no_choice() -> None:
    found = rows(by_domain(120, 0.4), seed=6)[0]
    with pytest.raises(DataError, match="nothing to choose"):
        gate.judge(found.only(("a",)))


def test_strict_exits_on_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rewards.jsonl"
    jsonl.write(path, rows(np.tile([0.95, 0.3, 0.3], (3000, 1)), seed=2)[0].to_rows())
    command(MatrixSource((path,)))
    with pytest.raises(SystemExit, match="1"):
        command(MatrixSource((path,)), strict=True)
    assert "STOP" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["rewards.schema.example.jsonl", "snapshot/rewards.jsonl"])
def test_the_shipped_matrices_are_not_stopped(name: str) -> None:
    path = Path(__file__).resolve().parents[1] / "data" / name
    assert gate.judge(matrix.load((path,))).verdict != "STOP"


def test_training_refuses_a_stop_and_records_that_it_was_forced(tmp_path: Path) -> None:
    path = tmp_path / "rewards.jsonl"
    jsonl.write(path, rows(np.tile([0.95, 0.3, 0.3], (3000, 1)), seed=2)[0].to_rows())
    spec = ValueSpec(head=ValueHeadSpec(type="fixed"), backbone=EmbedderSpec(type="hashing", dimension=8), guard="off")
    shown = Shown(runs=tmp_path / "runs")
    with pytest.raises(InputError, match="STOP"):
        train_value(MatrixSource((path,)), output=tmp_path / "head", spec=spec, shown=shown)
    train_value(MatrixSource((path,)), output=tmp_path / "head", spec=spec, force=True, shown=shown)
    kept = read_manifest(tmp_path / "head").trainer["gate"]
    assert (kept["verdict"], kept["forced"]) == ("STOP", True)
