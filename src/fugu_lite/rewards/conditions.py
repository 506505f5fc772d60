"""Under which conditions answers were had: two files of attempts mix only when these agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from fugu_lite import graders, jsonl
from fugu_lite.chat import Json
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.graders import Grader
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.rewards.build import Cells
from fugu_lite.rewards.plan import prompt_sha
from fugu_lite.specs import digest_of
from fugu_lite.tasks import Task
from fugu_lite.workers import WorkerSpec

ANOTHER_OUTPUT = "choose another --output, or restore them"


def grader_facts(task: Task, grader: Grader) -> Json:
    """Return what an attempt records of its grader: type, version, and a hash of options and reference answer."""
    return {
        "type": (task.grader or {}).get("type"),
        "version": grader.version,
        "digest": digest_of([task.grader, task.reference_answer]),
    }


def path_beside(output: Path) -> Path:
    """Return where the conditions of a matrix file are written: `rewards.jsonl` -> `rewards.conditions.json`."""
    return output.with_name(f"{output.name.removesuffix('.jsonl')}.conditions.json")


def record(output: Path, specs: Iterable[WorkerSpec]) -> None:
    """Write the workers' conditions beside the matrix, keeping those of workers that are not asked this time."""
    kept = {**recorded(output), **{spec.id: spec.conditions() for spec in specs}}
    jsonl.write_json(path_beside(output), kept)


def recorded(output: Path) -> dict[str, Any]:
    """Read the conditions beside a matrix, worker by worker; empty when there are none."""
    path = path_beside(output)
    if not path.is_file():
        return {}
    try:
        return dict(orjson.loads(path.read_bytes()))
    except (orjson.JSONDecodeError, ValueError):
        raise DataError(str(path), "is not a JSON object", "delete it: it is written anew") from None


def restore(output: Path, tasks: Sequence[Task], specs: Sequence[WorkerSpec], repetitions: int) -> Cells:
    """Read the attempts that exist and check that more may be added under the present conditions.

    Raises:
        MismatchError: naming worker or task, and what differs or would vanish from the matrix.
    """
    path = log.path_beside(output)
    cells = Cells(tasks, [spec.id for spec in specs], repetitions)
    check = _Check(path, tasks, specs, recorded(output))
    outside: dict[str, None] = {}
    for attempt in log.read(path) if path.exists() else ():
        if cells.put(attempt) is None:
            outside |= dict.fromkeys(check.unknown(attempt))
        elif attempt.answered:
            check(attempt)
    _refuse(path, list(outside))
    if cells.repetitions > repetitions:
        found = f"holds {cells.repetitions} repetitions, but {repetitions} are asked for"
        raise MismatchError(str(path), found, f"use --repetitions {cells.repetitions} or another --output")
    check.graders()
    return cells


def _refuse(path: Path, outside: Sequence[str]) -> None:
    """Refuse a selection that leaves out what the output holds: its rows and columns would vanish from the matrix."""
    if outside:
        more = f" and {len(outside) - 3} more" if len(outside) > 3 else ""
        found = f"holds attempts of {', '.join(outside[:3])}{more}, which this selection leaves out of the matrix"
        fix = "give the same --tasks, --split and --only-workers as before (more is fine), or another --output"
        raise MismatchError(str(path), found, fix)


class _Check:
    """Compares stored attempts with what the same call would be today."""

    def __init__(
        self, path: Path, tasks: Sequence[Task], specs: Sequence[WorkerSpec], recorded: Mapping[str, Any]
    ) -> None:
        self.path, self.recorded = path, recorded
        self.tasks = {task.task_id: task for task in tasks}
        self.specs = {spec.id: spec for spec in specs}
        self.hashes = {spec.id: digest_of(spec.conditions()) for spec in specs}
        self._graded: dict[str, Json] = {}  # the last line of a task wins: a regrade comes later in the file

    def __call__(self, attempt: Attempt) -> None:
        spec, task = self.specs[attempt.worker_id], self.tasks[attempt.task_id]
        if attempt.conditions is not None and attempt.conditions != self.hashes[spec.id]:
            found = f"worker {spec.id!r} answered under other conditions: {self._difference(spec)}"
            raise MismatchError(str(self.path), found, ANOTHER_OUTPUT)
        stored = (attempt.model_extra or {}).get("prompt_sha")
        if stored is not None and stored != prompt_sha(task):
            found = f"task {task.task_id!r} was asked with another prompt"
            raise MismatchError(str(self.path), found, "give the changed task a new task_id, or use another --output")
        if attempt.grader is not None:
            self._graded[attempt.task_id] = attempt.grader

    def unknown(self, attempt: Attempt) -> list[str]:
        """Name the attempt's task and worker, as far as they are not among those of this run."""
        task = [] if attempt.task_id in self.tasks else [f"task {attempt.task_id!r}"]
        return task + ([] if attempt.worker_id in self.specs else [f"worker {attempt.worker_id!r}"])

    def _difference(self, spec: WorkerSpec) -> str:
        """Name the fields that differ, as far as the recorded conditions tell."""
        before, now = self.recorded.get(spec.id), spec.conditions()
        if not isinstance(before, dict):
            return "the recorded hash differs"
        names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
        return ", ".join(f"{name} was {before.get(name)!r}, is {now.get(name)!r}" for name in names) or "unknown"

    def graders(self) -> None:
        """Refuse grades of another grader, version or reference answer."""
        for task_id, stored in self._graded.items():
            task = self.tasks[task_id]
            current = grader_facts(task, graders.build(task.grader, f"task {task_id!r}"))
            names = [name for name in stored if stored[name] != current.get(name)]
            if names:
                found = f"task {task_id!r} was graded with another grader ({', '.join(sorted(names))} differs)"
                raise MismatchError(str(self.path), found, "run `fugu-lite regrade` first, or use another --output")
