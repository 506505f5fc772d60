"""vLLM Semantic Router: the JSON lines that its benchmark writes and its model selection is trained on."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from fugu_lite import jsonl
from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task


class VllmSr(Format):
    """Rows `{query, ground_truth, category, model_name, performance, response_time}`."""

    kind: ClassVar[str] = "vllm_sr"
    holds: ClassVar[str] = "a score and the seconds of one answer per query and model; no cost"
    traps: ClassVar[tuple[str, ...]] = (
        "a row without performance is missing here (its loader reads it as 0, and without a time as 0 seconds)",
        "its loader reads every category outside its own 14 as `other`; here the category is kept",
        "the same query and model in several rows is averaged",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder."""
        for file in reading.files(path, (".jsonl", ".json")):
            for where, row in reading.rows(file):
                query, category = reading.needed(row, "query", where), reading.optional(row, "category")
                task = Task(
                    task_id=reading.own_id(row, self.kind, category or "", query),
                    prompt=query,
                    domain=category,
                    reference_answer=row.get("ground_truth"),
                    split=reading.optional(row, "split"),
                )
                score = reading.quality(row, "performance", where)
                cost = reading.amount(row, "cost_usd", where)
                seconds = reading.amount(row, "response_time", where, zero_is_unknown=True)
                into.put(task, reading.needed(row, "model_name", where), Outcome(score, cost, seconds), where)

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write one row per cell that has a score."""
        writing.named(path, ".jsonl")
        values, notes = writing.scores(matrix)
        rows = (
            {
                "query": writing.text(task),
                **({"ground_truth": task.reference_answer} if task.reference_answer is not None else {}),
                **({"category": task.domain} if task.domain else {}),
                "model_name": name,
                "performance": score,
                **({"response_time": latency} if latency is not None else {}),
                **({"cost_usd": cost} if cost is not None else {}),
                **({"split": task.split} if task.split else {}),
                reading.TASK_ID: task.task_id,
            }
            for _, task, name, score, cost, latency in writing.cells(matrix, values)
        )
        jsonl.write(path, rows)
        return notes
