"""Flags that several commands share: which matrix, which checkpoint, which cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from fugu_lite import tasks, weights
from fugu_lite.checkpoints import Checkpoint, load
from fugu_lite.rewards import RewardMatrix
from fugu_lite.rewards import matrix as matrices
from fugu_lite.store import checkpoint_folder

STORE = Path("models")


@Parameter(name="*")
@dataclass(frozen=True)
class MatrixSource:
    """Which reward matrix to read.

    Attributes:
        data: reward matrix (.jsonl, .jsonl.gz, .parquet); give it again to read several files as one.
        tasks: tasks file to join prompts, domains and splits from, by task_id.
        only_workers: comma-separated columns to keep.
    """

    data: Annotated[tuple[Path, ...], Parameter(negative=())]
    tasks: Path | None = None
    only_workers: str | None = None

    @property
    def files(self) -> str:
        """The matrix files, for the run's manifest."""
        return ", ".join(str(path) for path in self.data)

    def load(self) -> RewardMatrix:
        """Read and join."""
        known = tasks.load(self.tasks) if self.tasks else None
        return matrices.load(self.data, known).only(names(self.only_workers))


@Parameter(name="*")
@dataclass(frozen=True)
class CheckpointSource:
    """Which checkpoint to use.

    Attributes:
        checkpoint: folder of a checkpoint, or a name or alias of the store.
        store: folder of the store.
    """

    checkpoint: str
    store: Path = STORE

    def load(self) -> Checkpoint:
        """Read it."""
        return load(checkpoint_folder(self.checkpoint, self.store))


@Parameter(name="*")
@dataclass(frozen=True)
class Execution:
    """Where and how the backbone runs; never what it computes.

    Attributes:
        device: auto, cpu or cuda[:n]; unset takes what the configuration says.
        threads: CPU threads; unset takes what the configuration says.
        cache: keep embeddings on disk and reuse them.
    """

    device: str | None = None
    threads: int | None = None
    cache: Annotated[bool, Parameter(negative="--no-cache")] = True

    @property
    def placed(self) -> dict[str, Any]:
        """What the user set, for an embedder spec."""
        return {key: value for key, value in (("device", self.device), ("threads", self.threads)) if value is not None}

    @property
    def cache_folder(self) -> Path | None:
        """Folder of the embedding cache, or None."""
        return weights.folder() / "embeddings" if self.cache else None


def names(comma_separated: str | None) -> tuple[str, ...] | None:
    """Split a comma-separated flag."""
    if comma_separated is None:
        return None
    return tuple(part.strip() for part in comma_separated.split(",") if part.strip())
