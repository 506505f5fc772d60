"""BenchGen router data: a tasks file, a rewards file, and the model slugs behind its aliases."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fugu_lite import graders, jsonl
from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError
from fugu_lite.rewards import RewardMatrix
from fugu_lite.rewards.matrix import nullable
from fugu_lite.rewards.utility import best_workers
from fugu_lite.tasks import Task

CLOSE = 1e-6
MILLI = 1e-3
OUTCOMES = frozenset({"agent_order", "calls"})


class BenchGen(Format):
    """`tasks*.jsonl`, `rewards*.jsonl` (rows with `agent_order` and maybe `calls`) and `agents*.json`."""

    kind: ClassVar[str] = "benchgen"
    holds: ClassVar[str] = "mean reward per task and agent; with `calls` also repetitions, statuses, costs and times"
    traps: ClassVar[tuple[str, ...]] = (
        "agent_order may differ from row to row: joined by name",
        "an agent is an alias whose model may change: the slug of agents.json goes into served_model and the notes",
        "mean_reward counts failed calls as 0: where the calls are there, they count, and a failed one is missing",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read a folder, or a rewards file alone (its tasks then have no prompt)."""
        found = reading.files(path, (".jsonl", ".json"))
        slugs = {alias: slug for file in found if file.suffix == ".json" for alias, slug in agents(file).items()}
        listed = [(where, row) for file in found if ".jsonl" in file.name for where, row in reading.rows(file)]
        tasks: dict[str, Task] = {}
        for where, row in listed:
            if not OUTCOMES & row.keys():
                task = task_of(row, where, into)
                if task.task_id in tasks:
                    raise DataError(where, f"task_id {task.task_id!r} appears twice")
                tasks[task.task_id] = task
                into.task(task, where)
        for where, row in listed:
            if OUTCOMES & row.keys():
                task_id = reading.needed(row, "task_id", where)
                if tasks and task_id not in tasks:
                    into.drop("reward rows without a task")
                    continue
                self._row(row, tasks.get(task_id, Task(task_id=task_id)), where, slugs, into)
        for alias in sorted(slugs.keys() & set(into.worker_ids)) if not into.attempts else ():
            into.note(f"{alias} stands for {slugs[alias]}")

    def _row(self, row: jsonl.Row, task: Task, where: str, slugs: dict[str, str], into: Gathering) -> None:
        means = by_agent(row, "mean_reward", where)
        if not row.get("calls"):
            costs, times = (by_agent(row, key, where) for key in ("mean_cost_usd", "mean_latency_s"))
            for name in means:
                cost, seconds = (reading.amount(each, name, where) for each in (costs, times))
                into.put(task, name, Outcome(reading.quality(means, name, where), cost, seconds), where)
            return
        grades: dict[str, list[float]] = {name: [] for name in means}
        for call in row["calls"]:
            name = reading.needed(call, "agent", where)
            outcome = called(call, slugs.get(name), where)
            into.put(task, name, outcome, where)
            if outcome.quality is not None and (outcome.call or {}).get("status") != "error":
                grades.setdefault(name, []).append(outcome.quality)
        for name, value in means.items():
            if value is not None and abs(np.mean(grades[name] or [np.nan]) - value) > CLOSE:
                into.drop("mean rewards that are not the mean of their graded calls (the calls count)")
            elif value is not None and not grades[name]:
                into.drop("mean rewards without a graded call")

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write a folder with `tasks.jsonl` and `rewards.jsonl`."""
        writing.folder(path)
        values, notes = writing.scores(matrix)
        ids, winners = list(matrix.worker_ids), best_workers(values)
        rows: list[dict[str, Any]] = []
        for i, task in enumerate(matrix.tasks):
            best = [name for name, wins in zip(ids, winners[i], strict=True) if wins]
            row = {"task_id": task.task_id, "agent_order": ids, "mean_reward": nullable(values[i])}
            means = {"mean_cost_usd": nullable(matrix.costs[i]), "mean_latency_s": nullable(matrix.latencies[i])}
            rows.append({**row, **means, "best_agents": best, "is_tie": len(best) > 1})
        jsonl.write(path / "rewards.jsonl", rows)
        jsonl.write(path / "tasks.jsonl", [exported(task) for task in matrix.tasks])
        return (*notes, "calls and repetitions are not written: a matrix holds means")


def agents(file: Path) -> dict[str, str]:
    """Return alias -> model slug of an agents file: a list, or a mapping, of objects or of slugs."""
    found = reading.document(file)
    found = found.get("agents", found) if isinstance(found, dict) else found
    pairs: list[tuple[Any, Any]] = []
    if isinstance(found, dict):
        pairs = [(name, each.get("model") if isinstance(each, dict) else each) for name, each in found.items()]
    elif isinstance(found, list):
        pairs = [(one.get("id") or one.get("name"), one.get("model")) for one in found if isinstance(one, dict)]
    return {name: slug for name, slug in pairs if isinstance(name, str) and isinstance(slug, str)}


def by_agent(row: jsonl.Row, key: str, where: str) -> dict[str, Any]:
    """Return agent -> value of a list that stands beside `agent_order`."""
    order, values = row.get("agent_order") or [], row.get(key)
    if values is None:
        return dict.fromkeys(order)
    if not isinstance(order, list) or not isinstance(values, list) or len(values) != len(order):
        raise DataError(where, f"{key!r} and 'agent_order' differ in length")
    if len(set(order)) != len(order):
        raise DataError(where, f"agent_order repeats a name: {order}")
    return dict(zip(order, values, strict=True))


def called(call: jsonl.Row, slug: str | None, where: str) -> Outcome:
    """Return the outcome of one recorded call."""
    error = call.get("error")
    status = "error" if error else "empty" if call.get("empty") else "ok"
    latency = reading.amount(call, "latency_ms", where)
    tokens = {key: reading.count(call.get(key)) for key in ("prompt_tokens", "completion_tokens", "reasoning_tokens")}
    text = {key: call[name] for key, name in (("response", "raw_response"), ("extracted", "extracted")) if name in call}
    fields = {
        **{key: value for key, value in text.items() if isinstance(value, str)},
        "status": status,
        "usage": tokens,
        "served_model": call.get("served_model") or slug,
        "error": {"kind": "server", "message": str(error)} if error else None,
    }
    cost = reading.amount(call, "cost_usd", where)
    return Outcome(reading.quality(call, "correct", where), cost, None if latency is None else latency * MILLI, fields)


def task_of(row: jsonl.Row, where: str, into: Gathering) -> Task:
    """Return a task; a grader that is known here only by name becomes ours, another one is kept beside it."""
    fields = {key: value for key, value in row.items() if key not in {"answer", "grader"}}
    grader = row.get("grader")
    if isinstance(grader, str):
        known = grader in graders.registry.names()
        fields |= {"grader": {"type": grader}} if known else {"benchgen_grader": grader}
        if not known:
            into.drop("graders of other names (kept as benchgen_grader)")
    elif isinstance(grader, dict):
        fields["grader"] = grader
    answer = row.get("reference_answer", row.get("answer"))
    reading.needed(row, "task_id", where)
    try:
        return Task.model_validate({**fields, "reference_answer": answer})
    except ValueError as error:
        raise DataError(where, f"is not a task: {str(error).splitlines()[0]}") from None


def exported(task: Task) -> dict[str, Any]:
    """Return a task row with `answer` beside our own name for it."""
    row = task.model_dump(mode="json", exclude_none=True)
    answer = row.pop("reference_answer", None)
    return {**row, **({"answer": answer} if answer is not None else {})}
