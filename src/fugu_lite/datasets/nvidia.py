"""NVIDIA LLM Router: a JSON list with a score per model, or the CSV that `model-router collect` writes."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from fugu_lite import jsonl
from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError, SpecError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

COLUMNS = ("question", "model", "isCorrect", "output_tokens", reading.TASK_ID)


class Nvidia(Format):
    """JSON `{idx, prompt, answer, images, model_scores{}}`; CSV `question, model, isCorrect, output_tokens`."""

    kind: ClassVar[str] = "nvidia"
    holds: ClassVar[str] = "a score per prompt and model (JSON), or right and wrong with output tokens (CSV); no cost"
    traps: ClassVar[tuple[str, ...]] = (
        "a row with images is answered by models that see them: it gets the tag `vision`, the images are not copied",
        "collect's default judge is the majority of the pool, not a reference: such grades are no ground truth",
        "output tokens are no cost and are not read",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder; both shapes, by their fields."""
        for file in reading.files(path):
            for where, row in reading.rows(file):
                if "model_scores" in row:
                    self._scores(row, where, into)
                else:
                    self._collected(row, where, reading.split_of(file), into)

    def _scores(self, row: jsonl.Row, where: str, into: Gathering) -> None:
        prompt, scores = reading.needed(row, "prompt", where), row["model_scores"]
        if not isinstance(scores, dict):
            raise DataError(where, "'model_scores' is not an object")
        images = row.get("images")
        task = Task(
            task_id=reading.own_id(row, self.kind, prompt, str(row.get("idx")) if images else ""),
            prompt=prompt,
            domain=reading.optional(row, "domain"),
            reference_answer=row.get("answer"),
            split=reading.optional(row, "split"),
            tags=["vision"] if images else [],
        )
        if images:
            into.drop("images (their rows are tagged `vision`)")
        for model in scores:
            into.put(task, model, Outcome(reading.quality(scores, model, where)), where)

    def _collected(self, row: jsonl.Row, where: str, split: str | None, into: Gathering) -> None:
        question = reading.needed(row, "question", where)
        task = Task(task_id=reading.own_id(row, self.kind, question, ""), prompt=question, split=split)
        if reading.number(row, "output_tokens", where) is not None:
            into.drop("output token counts")
        outcome = Outcome(reading.quality(row, "isCorrect", where))
        into.put(task, reading.needed(row, "model", where), outcome, where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write the JSON list, or the CSV when the file is named so and every score is 0 or 1."""
        writing.named(path, ".json", ".csv")
        values, notes = writing.scores(matrix)
        if path.suffix == ".csv":
            return (*notes, *self._csv(matrix, values, path))
        rows = [
            {
                "idx": i,
                "prompt": writing.text(task),
                "answer": task.reference_answer,
                "images": [],
                "model_scores": writing.known(matrix, values, i),
                reading.TASK_ID: task.task_id,
                **({"domain": task.domain} if task.domain else {}),
                **({"split": task.split} if task.split else {}),
            }
            for i, task in enumerate(matrix.tasks)
        ]
        jsonl.write_json(path, rows)
        return (*notes, *writing.left_out(matrix, "costs", "latencies"))

    def _csv(self, matrix: RewardMatrix, values: writing.Array, path: Path) -> tuple[str, ...]:
        if not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
            raise SpecError(
                "--output", "isCorrect holds 0 and 1 only, and some scores lie between", "name a .json file"
            )
        rows = (
            {
                "question": writing.text(task),
                "model": name,
                "isCorrect": int(score),
                "output_tokens": None,
                reading.TASK_ID: task.task_id,
            }
            for _, task, name, score, _, _ in writing.cells(matrix, values)
        )
        writing.write_csv(path, COLUMNS, rows)
        domains = ("the format has no place for domains",) if any(matrix.domains) else ()
        told = ("output_tokens is empty: it is not known",)
        return (*told, *domains, *writing.left_out(matrix, "costs", "latencies", "split"))
