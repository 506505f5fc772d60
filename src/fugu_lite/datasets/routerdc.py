"""RouterDC: a JSON list of `{question, scores{model}, cluster_id}`."""

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


class RouterDC(Format):
    """One file per data set, e.g. `gsm8k-train.json`."""

    kind: ClassVar[str] = "routerdc"
    holds: ClassVar[str] = "a score per question and model, often the mean of n answers; no cost, no latency"
    traps: ClassVar[tuple[str, ...]] = (
        "its own code reads scores by position: here they are read by name, whatever their order",
        "cluster_id is not a domain and is not read; the file's name is the domain",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every JSON file of a folder; `train` or `test` in a file's name is the split."""
        for file in reading.files(path, (".json", ".jsonl")):
            for where, row in reading.rows(file):
                self._row(row, where, file, into)

    def _row(self, row: jsonl.Row, where: str, file: Path, into: Gathering) -> None:
        question, scores = reading.needed(row, "question", where), row.get("scores")
        if not isinstance(scores, dict) or not scores:
            raise DataError(where, "row has no 'scores' object")
        domain = reading.optional(row, "domain") or reading.SPLIT.sub("", file.name.split(".", 1)[0]) or None
        task = Task(
            task_id=reading.own_id(row, self.kind, domain or "", question),
            prompt=question,
            domain=domain,
            split=reading.optional(row, "split") or reading.split_of(file),
        )
        for model in scores:
            into.put(task, model, Outcome(reading.quality(scores, model, where)), where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write the complete rows; a row with a missing cell would shift the others under other models."""
        writing.named(path, ".json")
        values, notes = writing.scores(matrix)
        complete = [len(writing.known(matrix, values, i)) == len(matrix.worker_ids) for i in range(len(matrix))]
        rows = [
            {
                "question": writing.text(task),
                "scores": writing.known(matrix, values, i),
                reading.TASK_ID: task.task_id,
                **({"domain": task.domain} if task.domain else {}),
                **({"split": task.split} if task.split else {}),
            }
            for i, task in enumerate(matrix.tasks)
            if complete[i]
        ]
        jsonl.write_json(path, rows)
        lost = complete.count(False)
        told = (f"{lost} rows with a missing cell are left out: RouterDC reads scores by position",) if lost else ()
        cluster = ("cluster_id is not written: RouterDC's own clustering step makes it",)
        return (*notes, *told, *cluster, *writing.left_out(matrix, "costs", "latencies"))
