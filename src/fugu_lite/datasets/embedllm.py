"""EmbedLLM: one CSV row per prompt and model, `label` says whether the answer was right."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

COLUMNS = ("prompt_id", "model_id", "category_id", "label", "model_name", "category", "prompt", reading.TASK_ID)


class EmbedLLM(Format):
    """Columns `prompt_id, model_id, category_id, label, model_name, category, prompt`."""

    kind: ClassVar[str] = "embedllm"
    holds: ClassVar[str] = "right or wrong per prompt and model; no cost, no latency"
    traps: ClassVar[tuple[str, ...]] = (
        "model_id is ranked per file, so it stands for another model in another split: only model_name is used",
        "a pair that stands twice is averaged (EmbedLLM's code keeps the highest label)",
        "a missing pair stays missing (EmbedLLM's code reads it as wrong)",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read train.csv, val.csv and test.csv, or one of them; the split is the file's name."""
        for file in reading.files(path, (".csv", ".parquet")):
            if not (path.is_dir() and file.name.startswith("question_order")):
                self._file(file, into)

    def _file(self, file: Path, into: Gathering) -> None:
        for where, row in reading.rows(file):
            prompt_id = str(row.get("prompt_id", "")).strip()
            task = Task(
                task_id=row.get(reading.TASK_ID) or (f"embedllm-{prompt_id}" if prompt_id else ""),
                prompt=reading.needed(row, "prompt", where),
                domain=reading.optional(row, "category"),
                split=reading.split_of(file),
            )
            if not task.task_id:
                task = task.model_copy(update={"task_id": reading.own_id(row, self.kind, task.text)})
            outcome = Outcome(reading.quality(row, "label", where))
            into.put(task, reading.needed(row, "model_name", where), outcome, where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write one CSV; ids are positions in the sorted names."""
        writing.named(path, ".csv")
        values, notes = writing.scores(matrix)
        models = sorted(matrix.worker_ids)
        categories = sorted(set(matrix.domains))
        rows = (
            {
                "prompt_id": i,
                "model_id": models.index(name),
                "category_id": categories.index(task.domain or ""),
                "label": score,
                "model_name": name,
                "category": task.domain,
                "prompt": writing.text(task),
                reading.TASK_ID: task.task_id,
            }
            for i, task, name, score, _, _ in writing.cells(matrix, values)
        )
        writing.write_csv(path, COLUMNS, rows)
        missing = int((values != values).sum())
        told = (f"{missing} missing cells have no row; EmbedLLM's code will read them as wrong",) if missing else ()
        return (*notes, *told, *writing.left_out(matrix, "costs", "latencies", "split"))
