"""A router that reads the wish in the text, and what a benchmark of it needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.rewards.stubs import StubWorker, pool, task

from fugu_lite.benchmark import BenchmarkOptions, BenchmarkResult, run_benchmark
from fugu_lite.checkpoints import Manifest
from fugu_lite.checkpoints.manifest import WorkerEntry
from fugu_lite.embeddings import Embedder, EmbedderSpec
from fugu_lite.embeddings.contract import Features, Progress
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import GradingError
from fugu_lite.heads import HeadSpec
from fugu_lite.heads.linear import LinearHead
from fugu_lite.router import Router
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool

WORKERS = ("alpha", "beta", "gamma")


class WishEmbedder(Embedder):
    """Vector: 1 where the text holds the worker's name. A text with `broken` cannot be embedded."""

    dimension = 3

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        if any("broken" in text for text in texts):
            raise GradingError("stub: no vector for this")
        return np.array([[float(word in text) for word in WORKERS] for text in texts], dtype=np.float32)


def router() -> Router:
    """'alpha' in the text routes to alpha, 'gamma' to gamma, anything else to beta."""
    head = LinearHead(HeadSpec(), WORKERS, {"W": np.eye(3) * 4.0, "b": np.array([0.0, 2.0, 1.0])})
    return Router(WishEmbedder(EmbedderSpec(type="wish")), Normaliser.identity(3), head)


def manifest(comparator: str | None = "beta", name: str = "head-wish", **entries: dict[str, Any]) -> Manifest:
    """A manifest of that router; `entries` add to a worker's entry."""
    return Manifest(
        name=name,
        backbone=EmbedderSpec(type="hashing"),
        fingerprint="f",
        feature_dim=3,
        normalisation="none",
        head=HeadSpec(),
        workers=tuple(WorkerEntry(id=each, **entries.get(each, {})) for each in WORKERS),
        comparator=comparator,
    )


def questions(*prompts: str, **fields: Any) -> list[Task]:
    """Tasks with these prompts; right is to repeat the prompt."""
    return [task(f"q{i:03}", prompt, **fields) for i, prompt in enumerate(prompts)]


async def benchmark(
    workers: Pool, tasks: Sequence[Task], folder: Path, given: Manifest | None = None, **options: Any
) -> BenchmarkResult:
    """Run it with the stub router."""
    parsed = BenchmarkOptions.parse(options)
    return await run_benchmark(given or manifest(), router(), workers, tasks, folder, parsed)


__all__ = ["StubWorker", "benchmark", "manifest", "pool", "questions", "router"]
