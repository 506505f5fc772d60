"""The three trainers on real public outcomes: better than the best fixed worker, with the interval above zero."""

from pathlib import Path

import numpy as np
import pytest

from fugu_lite import checkpoints, tasks, weights
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.evaluation import Evaluation, Policy, evaluate
from fugu_lite.evaluation.baselines import fit_rows
from fugu_lite.rewards import RewardMatrix
from fugu_lite.rewards import matrix as matrices
from fugu_lite.runs import Silent
from fugu_lite.trainers import Trainer, TrainerSpec
from fugu_lite.trainers.bandit import BanditSpec, BanditTrainer
from fugu_lite.trainers.es import EsSpec, EsTrainer
from fugu_lite.trainers.pipeline import TrainingJob, run
from fugu_lite.trainers.sft import SftSpec, SftTrainer

HASHED = EmbedderSpec(type="hashing", dimension=1024)


@pytest.fixture(scope="session")
def llmrouter9(shared_data: Path) -> RewardMatrix:
    folder = shared_data / "llmrouter9"
    return matrices.load(folder / "rewards.jsonl.gz", tasks.load(folder / "tasks.jsonl.gz"))


def trained_and_judged(
    backbone: EmbedderSpec, matrix: RewardMatrix, folder: Path, cache: Path | None
) -> list[Evaluation]:
    """SFT from scratch, then bandit RL from it, then evolution from that; each judged on the test split."""
    sft, rl, es = SftSpec(backbone=backbone), BanditSpec(backbone=backbone), EsSpec(backbone=backbone)
    stages: list[tuple[str, Trainer, TrainerSpec]] = [
        ("sft", SftTrainer(sft), sft),
        ("rl", BanditTrainer(rl), rl),
        ("es", EsTrainer(es), es),
    ]
    start, found, test = None, [], matrix.split("test")
    for name, trainer, spec in stages:
        run(TrainingJob(name, trainer, spec, matrix, folder / name, start, cache), Silent())
        start = checkpoints.load(folder / name)
        router = start.router(cache)
        policy = Policy.from_probabilities(name, matrix.worker_ids, router.probabilities(test.prompts))
        found.append(evaluate(policy, test, None, np.random.default_rng(0), fit=fit_rows(matrix)))
    return found


def test_every_trainer_beats_best_fixed_on_llmrouter9_with_hashed_words(
    llmrouter9: RewardMatrix, tmp_path: Path
) -> None:
    for judged in trained_and_judged(HASHED, llmrouter9, tmp_path, tmp_path / "cache"):
        assert judged.comparison.n_rows == 1418
        assert judged.comparison.verdict == "better", (judged.policy, judged.comparison.gain)
        assert judged.comparison.gain_low is not None
        assert judged.comparison.gain_low > 0


@pytest.mark.slow
@pytest.mark.weights
def test_every_trainer_beats_best_fixed_on_llmrouter9_with_the_embedded_backbone(
    llmrouter9: RewardMatrix, tmp_path: Path
) -> None:
    cache = weights.folder() / "embeddings"
    for judged in trained_and_judged(EmbedderSpec(), llmrouter9, tmp_path, cache):
        assert judged.comparison.verdict == "better", (judged.policy, judged.comparison.gain)
