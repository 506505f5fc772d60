"""Answers with planted faults, and a matrix file with attempts and tasks beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fugu_lite import jsonl
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.tasks import Task

Answer = tuple[str, str, float | None]  # task id, response, stored quality


def number_task(task_id: str, answer: str = "42", **more: Any) -> Task:
    """A task that asks for a number."""
    prompt = more.pop("prompt", f"Question number {task_id}: what is the answer to everything?")
    return Task(task_id=task_id, prompt=prompt, reference_answer=answer, grader={"type": "numeric"}, **more)


def attempt(
    task_id: str, response: str | None, quality: float | None, worker: str = "w", repetition: int = 0
) -> Attempt:
    """One stored answer."""
    return Attempt(
        task_id=task_id, worker_id=worker, repetition=repetition, status="ok", quality=quality, response=response,
        grader={"type": "numeric"},
    )  # fmt: skip


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[list[Task], list[Attempt]], Path]:
    """Write a matrix with its attempts and tasks beside it; return the matrix file."""

    def write(tasks: list[Task], attempts: list[Attempt]) -> Path:
        workers = sorted({one.worker_id for one in attempts})
        rows = [
            {"task_id": task.task_id, "prompt": task.prompt, "split": task.split, "worker_ids": workers}
            | {"rewards": [0.0] * len(workers)}
            for task in tasks
        ]
        jsonl.write(tmp_path / "rewards.jsonl", rows)
        jsonl.write(tmp_path / "rewards.attempts.jsonl", [one.model_dump(mode="json") for one in attempts])
        jsonl.write(tmp_path / "tasks.jsonl", [task.model_dump(mode="json") for task in tasks])
        return tmp_path / "rewards.jsonl"

    return write
