"""RouterBench: one wide row per sample, a column per model; published as a pickle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from fugu_lite.datasets import _frame_pickle, reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError
from fugu_lite.jsonl import Row
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

COST, RESPONSE = "|total_cost", "|model_response"
KEYS = ("sample_id", "prompt", "eval_name")
NO_MODEL = frozenset({*KEYS, "oracle_model_to_route_to", "split", reading.TASK_ID, "Unnamed: 0", "index"})
PICKLES = (".pkl", ".pickle")


class RouterBench(Format):
    """Columns `sample_id, prompt, eval_name, <model>, <model>|model_response, <model>|total_cost`."""

    kind: ClassVar[str] = "routerbench"
    holds: ClassVar[str] = "a score and a cost per sample and model"
    traps: ClassVar[tuple[str, ...]] = (
        "a pickle can run code: only the names of a pandas table are read, each as an inert stand-in; no pandas needed",
        "prompt is a list written as text, its turns are joined; it is parsed, never evaluated",
        "oracle_model_to_route_to looks like a model and is none",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read a pickle, or the same table as CSV, parquet or JSON lines."""
        for file in reading.files(path, (*PICKLES, ".csv", ".parquet", ".jsonl")):
            models: list[str] | None = None
            for where, row in table(file):
                models = models if models is not None else models_of(row, where)
                self._row(row, models, where, into)

    def _row(self, row: Row, models: list[str], where: str, into: Gathering) -> None:
        turns = reading.texts(reading.needed(row, "prompt", where))
        if len(turns) > 1:
            into.drop("borders between the turns of a prompt (joined)")
        task = Task(
            task_id=row.get(reading.TASK_ID) or reading.needed(row, "sample_id", where),
            prompt="\n\n".join(turns),
            domain=reading.optional(row, "eval_name"),
            split=reading.optional(row, "split"),
        )
        for model in models:
            cost = reading.amount(row, model + COST, where)
            into.put(task, model, Outcome(reading.quality(row, model, where), cost), where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write the wide table as CSV; a missing cell is empty."""
        writing.named(path, ".csv")
        values, notes = writing.scores(matrix)
        ids = matrix.worker_ids
        clash = next((name for name in ids if name in NO_MODEL or "|" in name), None)
        if clash is not None:
            raise DataError("workers", f"{clash!r} cannot be a column of a model", "rename the worker")
        names = (*KEYS, *ids, *(name + COST for name in ids), "split", reading.TASK_ID)
        rows = (
            {
                "sample_id": task.task_id,
                "prompt": repr([writing.text(task)]),
                "eval_name": task.domain,
                **writing.known(matrix, values, i),
                **{name + COST: cost for name, cost in writing.known(matrix, matrix.costs, i).items()},
                "split": task.split,
                reading.TASK_ID: task.task_id,
            }
            for i, task in enumerate(matrix.tasks)
        )
        writing.write_csv(path, names, rows)
        return (*notes, "model responses are not written: a matrix holds none", *writing.left_out(matrix, "latencies"))


def table(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, row) of a table, whatever it is stored in."""
    if file.suffix not in PICKLES:
        yield from reading.rows(file)
        return
    columns = _frame_pickle.columns(file)
    for number, cells in enumerate(zip(*columns.values(), strict=True)):
        yield f"{file} row {number}", dict(zip(columns, cells, strict=True))


def models_of(row: Row, where: str) -> list[str]:
    """Return the columns that are models: those with a response or a cost beside them, or all that are left."""
    beside = [name for name in row if name + COST in row or name + RESPONSE in row]
    found = beside or [name for name in row if name not in NO_MODEL and "|" not in name]
    if not found:
        raise DataError(where, "has no column of a model", f"columns: {', '.join(map(str, row))[:120]}")
    return found
