"""The public matrices and the texts for shift, as arrays: rewards, costs, labels, one feature matrix per encoder."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from fugu_lite.cli._sources import Execution
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.embeddings.cache import CachedEmbedder
from fugu_lite.embeddings.contract import build
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import DataError
from fugu_lite.trainers.contract import Array, TrainingSet

SMOLLM2 = EmbedderSpec()
MINILM = EmbedderSpec(type="minilm", backbone="minilm")
ENCODERS: dict[str, tuple[EmbedderSpec, ...]] = {
    "smollm2": (SMOLLM2,),
    "minilm": (MINILM,),
    "joined": (SMOLLM2, MINILM),
}
CHAT8 = (
    "gpt-4o-2024-05-13",
    "gemini-1.5-pro-002",
    "gemini-1.5-flash-002",
    "Meta-Llama-3_1-70B-Instruct",
    "Meta-Llama-3_1-8B-Instruct",
    "jamba-1.5-large",
    "mathstral-7B",
    "Phi-3-mini-4k-instruct",
)


@dataclass(frozen=True)
class Matrix:
    """One set.

    Attributes:
        prompts, domains, splits: per row.
        worker_ids: columns of `rewards` and `costs`.
        costs: USD; None = the set has none.
    """

    name: str
    prompts: list[str]
    domains: list[str]
    splits: NDArray[np.str_]
    worker_ids: tuple[str, ...]
    rewards: Array
    costs: Array | None

    def __len__(self) -> int:
        return len(self.prompts)

    def rows(self, index: NDArray[Any]) -> Matrix:
        """Return some rows, by mask."""
        kept = np.flatnonzero(index)
        costs = None if self.costs is None else self.costs[kept]
        prompts, domains = ([values[i] for i in kept] for values in (self.prompts, self.domains))
        return Matrix(self.name, prompts, domains, self.splits[kept], self.worker_ids, self.rewards[kept], costs)

    def training_set(self, features: Array, index: NDArray[np.intp], normaliser: Normaliser) -> TrainingSet:
        """Return rows with normalised features; rows with the same prompt form a group."""
        targets = {} if self.costs is None else {"quality": self.rewards[index], "cost_usd": self.costs[index]}
        return TrainingSet(
            normaliser.apply(features[index]).astype(np.float64),
            self.rewards[index],
            self.worker_ids,
            [self.prompts[i] for i in index],
            targets,
            tuple(self.domains[i] for i in index),
        )


def lines(path: Path) -> list[dict[str, Any]]:
    """Read a gzipped JSON Lines file."""
    if not path.is_file():
        raise DataError(str(path), "no such file", "give the folder of the public matrices with --data")
    with gzip.open(path) as stream:
        return [orjson.loads(line) for line in stream if line.strip()]


def load(data: Path, name: str) -> Matrix:
    """Read one set as its protocol has it: `mmlu_pro` for the pool chat8, `routellm2` without contaminated rows."""
    tasks, rewards = lines(data / name / "tasks.jsonl.gz"), lines(data / name / "rewards.jsonl.gz")
    workers = tuple(rewards[0]["worker_ids"])
    kept = [workers.index(worker) for worker in (CHAT8 if name == "mmlu_pro" else workers)]
    by_subject = name == "routellm2"
    matrix = Matrix(
        name,
        [task["prompt"] for task in tasks],
        [task["tags"][0] if by_subject else task["domain"] for task in tasks],
        np.array([task["split"] for task in tasks]),
        tuple(workers[i] for i in kept),
        np.array([row["rewards"] for row in rewards], dtype=np.float64)[:, kept],
        np.array([row["costs"] for row in rewards], dtype=np.float64)[:, kept] if "costs" in rewards[0] else None,
    )
    return matrix.rows(matrix.splits != "contaminated")


def languages(data: Path) -> dict[str, list[str]]:
    """Return language -> school questions in it, Turkish among them."""
    found: dict[str, list[str]] = {}
    for name in ("exams_tr", "exams_other_langs_test"):
        for task in lines(data / "tasksets" / f"{name}.jsonl.gz"):
            tag = next(tag for tag in task["tags"] if tag.startswith("lang:"))
            found.setdefault(tag.removeprefix("lang:"), []).append(task["prompt"])
    return found


def embedded(encoder: str, prompts: Sequence[str], told: Callable[[str], None] = print) -> Array:
    """Return (texts, dimension) raw features, from the embedding cache where they are there."""
    parts = []
    for spec in ENCODERS[encoder]:
        embedder = CachedEmbedder(build(spec), Execution().cache_folder)
        told(f"{encoder}: {len(prompts)} texts")
        parts.append(embedder.embed(list(prompts)))
        embedder.close()
    return np.concatenate(parts, axis=1).astype(np.float64)
