"""The pool file: workers, how their answers are valued, and how they are collected."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import Field, model_validator

from fugu_lite import specs
from fugu_lite.errors import SpecError
from fugu_lite.specs import Spec
from fugu_lite.workers.contract import Worker, WorkerSpec, registry


class UtilitySpec(Spec):
    """Weights w and scales of U = w_q Q - w_c min(C / cost_scale_usd, 5) - w_l min(L / latency_scale_s, 5)."""

    quality_weight: float = Field(1.0, ge=0)
    cost_weight: float = Field(0.0, ge=0)
    latency_weight: float = Field(0.0, ge=0)
    cost_scale_usd: float = Field(0.01, gt=0)
    latency_scale_s: float = Field(30.0, gt=0)
    judge_model: str | None = None


class CollectionSpec(Spec):
    """How `generate` asks: the Router Lite guide's settings."""

    repetitions: int = Field(3, gt=0)
    retries: int = Field(3, ge=0)
    preflight_calls: int = Field(20, gt=0)
    allow_code: bool = False


class PoolSpec(Spec):
    """The whole pool file."""

    workers: tuple[WorkerSpec, ...] = Field(min_length=1)
    reward: UtilitySpec = UtilitySpec()
    collection: CollectionSpec = CollectionSpec()

    @model_validator(mode="after")
    def _unique_ids(self) -> Self:
        ids = [worker.id for worker in self.workers]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"worker id {twice[0]!r} appears twice")
        return self

    @property
    def worker_ids(self) -> tuple[str, ...]:
        """Ids in file order."""
        return tuple(worker.id for worker in self.workers)


class Pool(Mapping[str, Worker]):
    """Live workers by id, in the file's order; an async context manager that closes them.

    Args:
        spec: the pool file's content.
        folder: what relative paths in it are relative to.
    """

    def __init__(self, spec: PoolSpec, folder: Path = Path()) -> None:
        self.spec, self.folder = spec, folder
        self._workers = {entry.id: self._build(entry) for entry in spec.workers}

    @classmethod
    def load(cls, path: Path) -> Pool:
        """Read a pool file.

        Raises:
            SpecError: with the line and the key at fault.
        """
        return cls(specs.load(PoolSpec, path), path.resolve().parent)

    def _build(self, entry: WorkerSpec) -> Worker:
        worker = registry.get(entry.type, f"worker {entry.id!r}")(entry)
        worker.folder = self.folder
        return worker

    def only(self, ids: tuple[str, ...] | None) -> Pool:
        """Return a pool with some of the workers, in file order.

        Raises:
            SpecError: for an unknown id.
        """
        if ids is None:
            return self
        unknown = [name for name in ids if name not in self._workers]
        if unknown:
            raise SpecError("--only-workers", f"no worker {unknown[0]!r}", f"known: {', '.join(self._workers)}")
        kept = tuple(entry for entry in self.spec.workers if entry.id in ids)
        return Pool(self.spec.model_copy(update={"workers": kept}), self.folder)

    def __getitem__(self, worker_id: str) -> Worker:
        return self._workers[worker_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._workers)

    def __len__(self) -> int:
        return len(self._workers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every worker, also when one of them fails to close."""
        await asyncio.gather(*(worker.aclose() for worker in self._workers.values()), return_exceptions=True)
