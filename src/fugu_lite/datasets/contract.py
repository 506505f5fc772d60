"""What a foreign format is: how its files become tasks and outcomes, and how a matrix is written back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from fugu_lite.datasets.gathering import Gathering
from fugu_lite.datasets.preferences import Preference
from fugu_lite.errors import DataError, SpecError
from fugu_lite.registry import Registry
from fugu_lite.rewards import Attempt, RewardMatrix
from fugu_lite.specs import Spec
from fugu_lite.tasks import Task
from fugu_lite.workers import UtilitySpec


class ImportOptions(Spec):
    """How to read a foreign file.

    Attributes:
        rename: worker name in the file -> worker id; two names with one id become one worker.
        score: which of several scores of a log is the quality; None takes the only one there is.
        by_served: a call belongs to the model that answered it, where the file says which.
        reward: how the rewards are made of quality, cost and latency.
    """

    rename: Mapping[str, str] = Field(default_factory=dict)
    score: str | None = None
    by_served: bool = False
    reward: UtilitySpec = UtilitySpec()


@dataclass(frozen=True)
class Report:
    """What an import did with the file.

    Attributes:
        records: outcomes that were read, one per task and worker or per call.
        missing: cells of the matrix without a value.
        averaged: cells that are the mean of several grades.
        dropped: why -> how many records or values were not used.
        renamed: name in the file -> worker id.
        notes: what else a reader has to know.
    """

    records: int
    missing: int
    averaged: int
    dropped: dict[str, int]
    renamed: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Imported:
    """A foreign file in our shapes.

    Attributes:
        tasks: every task of the file, graded or not.
        matrix: tasks and workers with a grade; None when the file holds none.
        attempts: one per call; empty where the format keeps no record of a call.
        preferences: battles; empty where the format has none.
    """

    tasks: tuple[Task, ...]
    matrix: RewardMatrix | None
    attempts: tuple[Attempt, ...]
    preferences: tuple[Preference, ...]
    report: Report


class Format(ABC):
    """Base of the formats.

    Attributes:
        kind: its name, and the name of its file.
        holds: what a record of it says.
        traps: what goes wrong when it is read carelessly, and what is done about it.
        not_written: why a matrix cannot be written in it; None = it can.
    """

    kind: ClassVar[str]
    holds: ClassVar[str]
    traps: ClassVar[tuple[str, ...]]
    not_written: ClassVar[str | None] = None

    @abstractmethod
    def read(self, path: Path, into: Gathering) -> None:
        """Put every record of a file or folder into `into`.

        Raises:
            DataError: naming file, line and field.
        """

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write a matrix; return what the format could not hold, in words.

        Raises:
            SpecError: if the format has no place for a matrix.
        """
        raise SpecError("--format", f"{self.kind} cannot be written: {self.not_written}", "choose another format")


registry: Registry[type[Format]] = Registry(
    "dataset format",
    {
        "benchgen": "fugu_lite.datasets.benchgen:BenchGen",
        "routerbench": "fugu_lite.datasets.routerbench:RouterBench",
        "llmrouterbench": "fugu_lite.datasets.llmrouterbench:LLMRouterBench",
        "llmrouter": "fugu_lite.datasets.llmrouter:LLMRouter",
        "embedllm": "fugu_lite.datasets.embedllm:EmbedLLM",
        "routerdc": "fugu_lite.datasets.routerdc:RouterDC",
        "routellm": "fugu_lite.datasets.routellm:RouteLLM",
        "avengerspro": "fugu_lite.datasets.avengerspro:AvengersPro",
        "graphrouter": "fugu_lite.datasets.graphrouter:GraphRouter",
        "nvidia": "fugu_lite.datasets.nvidia:Nvidia",
        "vllm_sr": "fugu_lite.datasets.vllm_sr:VllmSr",
        "routerarena": "fugu_lite.datasets.routerarena:RouterArena",
        "litellm": "fugu_lite.datasets.litellm:LiteLLM",
        "langfuse": "fugu_lite.datasets.langfuse:Langfuse",
        "otel": "fugu_lite.datasets.otel:OpenTelemetry",
    },
    "fugu_lite.dataset_formats",
)


def named(name: str) -> Format:
    """Return a format by name; `vLLM-SR` and `vllm_sr` are the same.

    Raises:
        UnknownKindError: with the nearest known name.
    """
    return registry.get(name.strip().lower().replace("-", "_"), "--format")()


def read(name: str, path: Path, options: ImportOptions | None = None) -> Imported:
    """Read a file or folder of a foreign format.

    Raises:
        DataError: if the path is missing, malformed, or holds no record.
    """
    if not path.exists():
        raise DataError(str(path), "no such file or folder", "check the path")
    chosen, options = named(name), options or ImportOptions()
    into = Gathering(options.rename, options.score, options.by_served)
    chosen.read(path, into)
    if not into.records and not into.preferences:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in into.dropped.items())
        raise DataError(str(path), f"holds no {chosen.kind} record", f"dropped: {reasons}" if reasons else "")
    matrix = into.matrix(options.reward)
    report = Report(
        into.records,
        int((~matrix.observed).sum()) if matrix else 0,
        into.averaged(),
        dict(into.dropped),
        dict(into.renamed),
        into.told(),
    )
    return Imported(into.tasks, matrix, tuple(into.attempts), tuple(into.preferences), report)


__all__ = ["Format", "ImportOptions", "Imported", "Report", "named", "read", "registry"]
