"""The search of `train-es` as one safetensors file: written after every generation, read back bit for bit."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from cmaes import SepCMA
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from fugu_lite import jsonl
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.heads import PolicyHead
from fugu_lite.trainers.contract import TrainerSpec, TrainingSet

if TYPE_CHECKING:
    from fugu_lite.trainers.es import Search

Key = tuple[float, float]
VECTORS = ("_mean", "_C", "_p_sigma", "_pc")
FREE = {"generations", "patience", "state", "resume", "seeds", "seed", "backbone", "normalise"}


def fingerprint(
    spec: TrainerSpec, seed: int, train: TrainingSet, validation: TrainingSet | None, head: PolicyHead
) -> str:
    """Return a hash of all that decides the numbers: settings, seed, rows and start (hex, 16 characters)."""
    digest = hashlib.sha256(orjson.dumps([spec.model_dump(mode="json", exclude=FREE), seed, head.worker_ids]))
    arrays: list[NDArray[Any]] = [head.parameters[name] for name in sorted(head.parameters)]
    for rows in (train, validation):
        arrays += [rows.features, rows.rewards] if rows is not None else []
    for array in arrays:
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def save(search: Search, path: Path, identity: str) -> None:
    """Replace the state file atomically."""
    vectors = {name.strip("_"): np.asarray(getattr(search.optimiser, name)) for name in VECTORS}
    document = {
        "fingerprint": identity,
        "sigma": float(search.optimiser._sigma),
        "generation": search.optimiser.generation,
        "kept_step": search.kept_step,
        "key": search.key,
        "history": search.history,
    }
    metadata = {"search": orjson.dumps(document).decode()}
    jsonl.write_bytes(path, to_bytes({**vectors, "kept_mean": search.kept_mean}, metadata))


def load(search: Search, path: Path, identity: str) -> None:
    """Put a saved search back.

    Raises:
        DataError: if the file is not a state of train-es.
        MismatchError: if it belongs to other settings, rows or start.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            document = orjson.loads(file.metadata()["search"])
            vectors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, KeyError, TypeError, orjson.JSONDecodeError) as error:
        raise DataError(str(path), f"not a train-es state ({error})", "delete it, or run without --resume") from None
    if document["fingerprint"] != identity:
        raise MismatchError(
            str(path), "belongs to other settings, rows or start", "restore them, or run without --resume"
        )
    restore(search.optimiser, vectors, document["sigma"], document["generation"])
    search.history, search.kept_step, search.kept_mean = (
        document["history"],
        document["kept_step"],
        vectors["kept_mean"],
    )
    search.key = (document["key"][0], document["key"][1])


def restore(optimiser: SepCMA, vectors: dict[str, Any], sigma: float, generation: int) -> None:
    """Set what SepCMA changes from one generation to the next; it has no public way to be restored.

    Mean, diagonal covariance, the two evolution paths, step size and generation number are all of it. The square root
    of the covariance is a cache, and the history of fitness values only feeds `should_stop`, which is not asked: a
    greedy fitness is a staircase on which equal values are normal.
    """
    for name in VECTORS:
        setattr(optimiser, name, vectors[name.strip("_")].copy())
    optimiser._sigma, optimiser._g, optimiser._D = sigma, generation, None
