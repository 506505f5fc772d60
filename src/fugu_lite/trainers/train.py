"""`fugu_lite.train`: the whole of a `train-*` command as one call; the spec's class is the method."""

from __future__ import annotations

from pathlib import Path

from fugu_lite.checkpoints import Checkpoint
from fugu_lite.errors import UnknownKindError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.runs import Reporter, Silent
from fugu_lite.trainers.bandit import BanditSpec, BanditTrainer
from fugu_lite.trainers.contract import Trainer, TrainerSpec
from fugu_lite.trainers.es import EsSpec, EsTrainer
from fugu_lite.trainers.pipeline import Trained, TrainingJob, run
from fugu_lite.trainers.sft import SftSpec, SftTrainer
from fugu_lite.trainers.values import ValueSpec, ValueTrainer
from fugu_lite.workers import UtilitySpec


def train(
    matrix: RewardMatrix,
    output: Path,
    spec: TrainerSpec | None = None,
    *,
    start: Checkpoint | None = None,
    cache: Path | None = None,
    utility: UtilitySpec | None = None,
    reporter: Reporter | None = None,
) -> Trained:
    """Train a head on the train rows, choose by the validation rows, and write a checkpoint.

    Args:
        matrix: measured rewards of all splits; test rows are never looked at.
        output: folder of the checkpoint; a head that stands there is replaced.
        spec: `SftSpec`, `BanditSpec`, `EsSpec` or `ValueSpec`; None is `SftSpec()`.
        start: checkpoint whose head is trained further.
        cache: folder of the embedding cache; None embeds anew.
        utility: weights behind the rewards, for the manifest.
        reporter: told about progress.

    Raises:
        DataError: if there is no usable training row.
        MismatchError: if `start` has other workers or another backbone.
    """
    method, trainer = method_of(spec := spec or SftSpec())
    job = TrainingJob(method, trainer, spec, matrix, output, start, cache, utility)
    return run(job, reporter or Silent())


def method_of(spec: TrainerSpec) -> tuple[str, Trainer]:
    """Return the name of a spec's method, as manifests record it, and its trainer.

    Raises:
        UnknownKindError: for a spec of no method.
    """
    match spec:
        case SftSpec():
            return "sft", SftTrainer(spec)
        case BanditSpec():
            return "rl", BanditTrainer(spec)
        case EsSpec():
            return "es", EsTrainer(spec)
        case ValueSpec():
            return "value", ValueTrainer(spec)
    fix = "give SftSpec, BanditSpec, EsSpec or ValueSpec"
    raise UnknownKindError("train", f"no method for a {type(spec).__name__}", fix)
