"""GraphRouter: one CSV row per query and model, embeddings written out as text."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

COLUMNS = ("task_id", "query", "ground_truth", "metric", "llm", "effect", "cost", "split", reading.TASK_ID)


class GraphRouter(Format):
    """Columns `task_id, query, query_embedding, ground_truth, metric, llm, effect, cost`."""

    kind: ClassVar[str] = "graphrouter"
    holds: ClassVar[str] = "a score per query and model, a cost without a unit, embeddings"
    traps: ClassVar[tuple[str, ...]] = (
        "task_id names the data set, not the task: it becomes the domain",
        "cost is scaled to 0..1 within a data set, so it is no amount of money: not read",
        "embeddings are text in a cell, longer than a CSV reader allows by default: not read",
        "long queries were cut and put in lower case before they were written; they are read as they are",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder."""
        for file in reading.files(path, (".csv", ".parquet")):
            for where, row in reading.rows(file):
                query, domain = reading.needed(row, "query", where), reading.optional(row, "task_id")
                task = Task(
                    task_id=reading.own_id(row, self.kind, domain or "", query),
                    prompt=query,
                    domain=domain,
                    reference_answer=reading.optional(row, "ground_truth"),
                    split=reading.optional(row, "split"),
                )
                outcome = Outcome(reading.quality(row, "effect", where))
                into.put(task, reading.needed(row, "llm", where), outcome, where)
                for name in ("query_embedding", "task_description_embedding"):
                    if row.get(name):
                        into.drop(f"{name} cells")
                if reading.number(row, "cost", where) is not None:
                    into.drop("costs without a unit (scaled to 0..1 per data set)")

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write one row per cell that has a score, costs scaled as GraphRouter scales them."""
        writing.named(path, ".csv")
        values, notes = writing.scores(matrix)
        costs = scaled(matrix, values)
        column = {name: j for j, name in enumerate(matrix.worker_ids)}
        rows = (
            {
                "task_id": task.domain,
                "query": writing.text(task),
                "ground_truth": task.reference_answer,
                "metric": None,
                "llm": name,
                "effect": score,
                "cost": writing.optional(costs[i, column[name]]),
                "split": task.split,
                reading.TASK_ID: task.task_id,
            }
            for i, task, name, score, _, _ in writing.cells(matrix, values)
        )
        writing.write_csv(path, COLUMNS, rows)
        told = ("query_embedding is not written: GraphRouter's own step makes it",)
        money = ("costs are scaled to 0..1 per domain, as GraphRouter expects",) if not np.isnan(costs).all() else ()
        return (*notes, *told, *money, *writing.left_out(matrix, "latencies"))


def scaled(matrix: RewardMatrix, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (tasks, workers) costs scaled to 0..1 within a domain, over the cells that are written; NaN = unknown."""
    costs = np.where(np.isnan(values), np.nan, matrix.costs)
    domains = np.array(matrix.domains)
    for domain in set(matrix.domains):
        rows = domains == domain
        known = costs[rows][~np.isnan(costs[rows])]
        if len(known):
            width = known.max() - known.min()
            costs[rows] = (costs[rows] - known.min()) / (width or 1.0)
    return costs
