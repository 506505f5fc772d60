"""Avengers-Pro: JSON lines of `{query, records{model: score}, usages{model: {cost}}, dataset, index}`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from fugu_lite import jsonl
from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task


class AvengersPro(Format):
    """One row per query, every model in it."""

    kind: ClassVar[str] = "avengerspro"
    holds: ClassVar[str] = "a score and a cost per query and model"
    traps: ClassVar[tuple[str, ...]] = (
        "a model that cannot do a task (no tools) has no record: missing, not 0",
        "index counts within a data set and repeats between them: the task is data set and query",
        "a model may have a usage and no record, or a record and no usage: joined by name",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder."""
        for file in reading.files(path, (".jsonl", ".json")):
            for where, row in reading.rows(file):
                self._row(row, where, into)

    def _row(self, row: jsonl.Row, where: str, into: Gathering) -> None:
        records, usages = row.get("records"), row.get("usages") or {}
        if not isinstance(records, dict) or not isinstance(usages, dict):
            raise DataError(where, "row has no 'records' object, or its 'usages' is none")
        query, domain = reading.needed(row, "query", where), reading.optional(row, "dataset")
        task = Task(
            task_id=reading.own_id(row, self.kind, domain or "", query),
            prompt=query,
            domain=domain,
            split=reading.optional(row, "split"),
        )
        for _ in usages.keys() - records.keys():
            into.drop("usages without a record")
        for model in records:
            usage = usages.get(model) or {}
            cost, latency = (reading.amount(usage, key, where) for key in ("cost", "latency_s"))
            into.put(task, model, Outcome(reading.quality(records, model, where), cost, latency), where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write one row per task; a missing cell has no record."""
        writing.named(path, ".jsonl")
        values, notes = writing.scores(matrix)
        rows = []
        for i, task in enumerate(matrix.tasks):
            records = writing.known(matrix, values, i)
            costs, times = (writing.known(matrix, each, i) for each in (matrix.costs, matrix.latencies))
            usages = {
                name: {
                    **({"cost": costs[name]} if name in costs else {}),
                    **({"latency_s": times[name]} if name in times else {}),
                }
                for name in records
                if name in costs or name in times
            }
            row = {"query": writing.text(task), "records": records, "usages": usages, "dataset": task.domain or ""}
            split = {"split": task.split} if task.split else {}
            rows.append({**row, "index": i, reading.TASK_ID: task.task_id, **split})
        jsonl.write(path, rows)
        return notes
