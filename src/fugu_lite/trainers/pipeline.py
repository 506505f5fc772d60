"""From a reward matrix to a checkpoint: split, embed, normalise, fit, save. Each step is the library's own piece."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fugu_lite import checkpoints
from fugu_lite.checkpoints import Checkpoint, Manifest
from fugu_lite.checkpoints.folder import parameters_sha
from fugu_lite.checkpoints.manifest import DataEntry, WorkerEntry, stable_name
from fugu_lite.embeddings import Embedder
from fugu_lite.embeddings.cache import CachedEmbedder
from fugu_lite.embeddings.contract import build
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.rewards.fixed import best_fixed, fixed_order, fixed_utilities
from fugu_lite.rewards.provenance import Provenance
from fugu_lite.runs import Reporter
from fugu_lite.trainers import companions
from fugu_lite.trainers.contract import FitResult, Trainer, TrainerSpec, TrainingSet
from fugu_lite.workers import UtilitySpec

FEW_VALIDATION, FEW_TEST = 50, 100  # the Fugu-Lite README's least useful split sizes


@dataclass(frozen=True)
class Trained:
    """What training leaves behind.

    Attributes:
        folder: the checkpoint.
        manifest: its identity.
        fit: history and kept step.
        best_fixed: validation utility of the best fixed worker; None without validation rows.
        oracle: validation utility of the best worker per row; None without validation rows.
        warnings: what the user should know before trusting it.
    """

    folder: Path
    manifest: Manifest
    fit: FitResult
    best_fixed: float | None
    oracle: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class TrainingJob:
    """One training run, as arguments.

    Attributes:
        method: `sft`, `rl`, `es`, `value` or `auto`: recorded in the manifest.
        trainer: the trainer, configured.
        spec: its spec, recorded in the manifest.
        matrix: all rows; the train and validation splits are used, test is never looked at.
        output: folder of the new checkpoint.
        start: checkpoint whose head is trained further; None starts from scratch.
        cache: folder of the embedding cache.
        utility: weights under which the rewards were computed, when known.
        provenance: who answered under which conditions, when known.
        record: what else the manifest should say of the training, such as the gate's verdict.
    """

    method: str
    trainer: Trainer
    spec: TrainerSpec
    matrix: RewardMatrix
    output: Path
    start: Checkpoint | None = None
    cache: Path | None = None
    utility: UtilitySpec | None = None
    provenance: Provenance = field(default_factory=Provenance)
    record: dict[str, Any] = field(default_factory=dict)


def run(job: TrainingJob, reporter: Reporter) -> Trained:
    """Train a head and write its checkpoint.

    Raises:
        DataError: if there is no usable training row.
        MismatchError: if the start checkpoint has other workers or another backbone than asked for.
    """
    matrix, warnings = _prepared(job)
    train = matrix.split("train")
    validation = matrix.split("validation") if _has(matrix, "validation") else None
    embedder = _embedder(job)
    raw = _embedded(embedder, train, "embed train", reporter)
    normaliser = job.start.normaliser if job.start else _normaliser(job.spec, raw)
    train_set = _training_set(normaliser, raw, train)
    validation_set = None
    if validation is not None:
        held_out = _embedded(embedder, validation, "embed validation", reporter)
        validation_set = _training_set(normaliser, held_out, validation)
    embedder.close()
    fit = job.trainer.fit(train_set, validation_set, job.start.head if job.start else None, reporter)
    if job.start is not None and fit.kept_step == 0:
        reporter.log("nothing better than the start was found on validation: the start is kept")
    parts = companions.of(job.spec, fit.head, train_set, validation_set, job.utility, reporter)
    manifest = parts.recorded(_manifest(job, matrix, embedder, normaliser, fit))
    checkpoints.save(job.output, manifest, fit.head, normaliser, guard=parts.guard, values=parts.values)
    best = None if validation is None else float(np.nanmax(fixed_utilities(validation.rewards)))
    oracle = None if validation is None else float(np.nanmean(np.nanmax(validation.rewards, axis=1)))
    return Trained(job.output, manifest, fit, best, oracle, tuple(warnings))


def _has(matrix: RewardMatrix, split: str) -> bool:
    return any(task.split == split for task in matrix.tasks)


def _prepared(job: TrainingJob) -> tuple[RewardMatrix, list[str]]:
    """Order the columns as the start head has them, drop rows without any reward, and collect warnings."""
    matrix = job.matrix
    if job.start is not None:
        wanted = job.start.manifest.worker_ids
        if set(wanted) != set(matrix.worker_ids):
            raise MismatchError(
                "--checkpoint",
                f"its workers are {', '.join(wanted)}, the matrix has {', '.join(matrix.worker_ids)}",
                "train from scratch, or choose columns with --only-workers",
            )
        matrix = matrix.only(wanted)
    usable = np.asarray(matrix.observed.any(axis=1))
    warnings = list(matrix.notes)
    if not usable.all():
        warnings.append(f"{int((~usable).sum())} rows have no reward at all and are left out")
        matrix = matrix.rows(usable)
    if not _has(matrix, "train"):
        raise DataError("--data", "no row has split 'train'", "assign splits with `fugu-lite split`")
    counts = {name: sum(task.split == name for task in matrix.tasks) for name in ("validation", "test")}
    if not counts["validation"]:
        warnings.append("no validation rows: the last step is kept, and nothing guards against over-fitting")
    elif counts["validation"] < FEW_VALIDATION:
        warnings.append(f"only {counts['validation']} validation rows (at least {FEW_VALIDATION} are useful)")
    if counts["test"] < FEW_TEST:
        warnings.append(f"only {counts['test']} test rows (at least {FEW_TEST} are useful)")
    return matrix, warnings


def _embedder(job: TrainingJob) -> Embedder:
    """Return the embedder; the start checkpoint decides it, and a config that names another one is refused."""
    wanted = job.spec.backbone
    if job.start is not None:
        trained_on = job.start.manifest.backbone
        explicit = {name: getattr(wanted, name) for name in wanted.identity() if name in wanted.model_fields_set}
        differing = [
            f"{k}: {getattr(trained_on, k)!r} there, {v!r} here"
            for k, v in explicit.items()
            if v != getattr(trained_on, k)
        ]
        if differing:
            raise MismatchError(
                "--checkpoint", f"its backbone differs ({'; '.join(differing)})", "give the same backbone in the config"
            )
        wanted = trained_on.model_copy(update={k: getattr(wanted, k) for k in ("device", "dtype", "threads")})
    embedder = build(wanted)
    if job.start is not None and embedder.fingerprint != job.start.manifest.fingerprint:
        raise MismatchError("--checkpoint", "it was trained on other backbone weights than the ones installed")
    return CachedEmbedder(embedder, job.cache) if job.cache is not None else embedder


def _embedded(
    embedder: Embedder, rows: RewardMatrix, stage: str, reporter: Reporter
) -> np.ndarray[Any, np.dtype[np.float32]]:
    return embedder.embed(rows.prompts, lambda done, total: reporter.progress(stage, done, total))


def _normaliser(spec: TrainerSpec, features: np.ndarray[Any, np.dtype[np.float32]]) -> Normaliser:
    return Normaliser.fit(features) if spec.normalise else Normaliser.identity(features.shape[1])


def _training_set(
    normaliser: Normaliser, features: np.ndarray[Any, np.dtype[np.float32]], rows: RewardMatrix
) -> TrainingSet:
    measured = {"quality": rows.qualities, "cost_usd": rows.costs, "latency_s": rows.latencies}
    targets = {name: values for name, values in measured.items() if (~np.isnan(values)).any(axis=0).all()}
    domains = tuple(rows.domains) if any(rows.domains) else ()
    x = normaliser.apply(features).astype(np.float64)
    return TrainingSet(x, rows.rewards, rows.worker_ids, rows.groups, targets, domains)


def data_sha(matrix: RewardMatrix) -> str:
    """Return the sha256 of what a head learns from: prompts, splits, workers and rewards."""
    digest = hashlib.sha256()
    for part in (*matrix.prompts, *(task.split or "" for task in matrix.tasks), *matrix.worker_ids):
        digest.update(part.encode() + b"\0")
    digest.update(np.ascontiguousarray(matrix.rewards).tobytes())
    return digest.hexdigest()


def _manifest(
    job: TrainingJob, matrix: RewardMatrix, embedder: Embedder, normaliser: Normaliser, fit: FitResult
) -> Manifest:
    used = {name: sum(task.split == name for task in matrix.tasks) for name in ("train", "validation")}
    learned = matrix.rows(np.array([task.split in used for task in matrix.tasks]))
    sha = parameters_sha(fit.head, normaliser)
    backbone = embedder.spec.model_copy(update={"device": "auto", "dtype": "auto", "threads": None})
    start = job.start.manifest.name if job.start else None
    served, conditions = job.provenance.served, job.provenance.conditions
    fitted_here = "zscore" if job.spec.normalise else "none"
    return Manifest(
        name=stable_name(backbone, embedder.fingerprint, sha),
        backbone=backbone,
        fingerprint=embedder.fingerprint,
        feature_dim=embedder.dimension,
        normalisation=job.start.manifest.normalisation if job.start else fitted_here,
        head=fit.head.spec,
        workers=tuple(
            WorkerEntry(
                id=name,
                served_model=served.get(name),
                conditions=conditions.get(name),
                sampling=job.provenance.sampling.get(name),
            )
            for name in matrix.worker_ids
        ),
        utility=job.utility,
        comparator=best_fixed(learned),
        fixed_order=fixed_order(learned),
        trainer={
            "method": job.method,
            "spec": job.spec.model_dump(mode="json", exclude={"backbone"}),
            "start": start,
            "kept_step": fit.kept_step,
            **fit.record,
            **job.record,
        },
        data=DataEntry(sha256=data_sha(learned), rows=used),
        graders=job.provenance.graders,
        seed=job.spec.seed,
        metrics={"validation_utility": fit.validation_utility},
    )
