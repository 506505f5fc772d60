"""RouteLLM: right and wrong of two models per prompt (its evals), or battles (its training data)."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from fugu_lite.datasets import reading, writing
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.datasets.preferences import Preference
from fugu_lite.errors import DataError
from fugu_lite.jsonl import Row
from fugu_lite.rewards import RewardMatrix
from fugu_lite.tasks import Task

TIES = frozenset({"tie", "tie (bothbad)", "both_bad", "bothbad"})
NO_MODEL = frozenset({"prompt", "domain", "split", "Unnamed: 0", reading.TASK_ID})
VERDICTS = frozenset({"true", "false", "0", "1", "0.0", "1.0", *reading.ABSENT})


class RouteLLM(Format):
    """CSV `prompt, <model>, <model>` of True and False; battles `{idx, model_a, model_b, winner}`."""

    kind: ClassVar[str] = "routellm"
    holds: ClassVar[str] = "right or wrong of two models per prompt, or battles without any score; no cost"
    traps: ClassVar[tuple[str, ...]] = (
        "a battle says who won, not how good an answer was: kept as preferences, no score is invented",
        "the order of the two models differs between files, and so does their spelling: join them with --rename",
        "prompts repeat within a file: averaged",
    )

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder; a CSV's name is the domain."""
        for file in reading.files(path):
            models: list[str] | None = None
            for where, row in reading.rows(file):
                if "model_a" in row and "model_b" in row:
                    self._battle(row, where, into)
                    continue
                models = models if models is not None else verdicts(row, where, into)
                self._row(row, models, file, where, into)
        if into.preferences:
            into.note("battles are not scores: they are kept as preferences and make no row of the matrix")

    def _row(self, row: Row, models: list[str], file: Path, where: str, into: Gathering) -> None:
        prompt = reading.needed(row, "prompt", where)
        own = reading.TASK_ID in row
        domain = reading.optional(row, "domain") if own else file.name.split(".", 1)[0].removesuffix("_responses")
        split = reading.optional(row, "split")
        task_id = reading.own_id(row, self.kind, domain or "", prompt)
        task = Task(task_id=task_id, prompt=prompt, domain=domain, split=split)
        for model in models:
            into.put(task, model, Outcome(reading.quality(row, model, where)), where)

    def _battle(self, row: Row, where: str, into: Gathering) -> None:
        names = [into.worker(reading.needed(row, key, where)) for key in ("model_a", "model_b")]
        winner = reading.needed(row, "winner", where)
        if winner not in {"model_a", "model_b", *TIES}:
            raise DataError(where, f"winner is {winner!r}", "known: model_a, model_b, tie")
        if names[0] == names[1]:
            into.drop("battles of a worker with itself")
            return
        prompt = asked(row)
        named = next((str(row[key]) for key in ("question_id", "idx", "id") if row.get(key) not in (None, "")), None)
        if prompt is None and named is None:
            raise DataError(where, "has neither a prompt nor an id")
        task_id = reading.own_id(row, self.kind, prompt) if prompt is not None else f"routellm-{named}"
        into.task(Task(task_id=task_id, prompt=prompt), where)
        won = None if winner in TIES else names[winner == "model_b"]
        into.preferences.append(Preference(task_id, names[0], names[1], won))

    def write(self, matrix: RewardMatrix, path: Path) -> tuple[str, ...]:
        """Write the CSV of its evals; a missing cell is empty."""
        writing.named(path, ".csv")
        values, notes = writing.scores(matrix)
        clash = next((name for name in matrix.worker_ids if name in NO_MODEL), None)
        if clash is not None:
            raise DataError("workers", f"{clash!r} cannot be a column of a model", "rename the worker")
        rows = (
            {
                "prompt": writing.text(task),
                **{name: verdict(value) for name, value in writing.known(matrix, values, i).items()},
                "domain": task.domain,
                "split": task.split,
                reading.TASK_ID: task.task_id,
            }
            for i, task in enumerate(matrix.tasks)
        )
        writing.write_csv(path, ("prompt", *matrix.worker_ids, "domain", "split", reading.TASK_ID), rows)
        many = len(matrix.worker_ids) != 2
        told = (f"RouteLLM compares two models, the file has {len(matrix.worker_ids)}",) if many else ()
        return (*notes, *told, *writing.left_out(matrix, "costs", "latencies"))


def verdict(value: float) -> str | float:
    """Return True or False as RouteLLM writes it; a score between them stays a number."""
    return {0.0: "False", 1.0: "True"}.get(value, value)


def verdicts(row: Row, where: str, into: Gathering) -> list[str]:
    """Return the columns that are models: those whose first cell is a verdict or a score; others are texts."""
    reading.needed(row, "prompt", where)
    found = []
    for name, value in row.items():
        if name in NO_MODEL:
            continue
        if str(value).strip().lower() in VERDICTS or is_score(value):
            found.append(name)
        else:
            into.drop(f"column {name!r} (texts)")
    if not found:
        raise DataError(where, "has no column of verdicts", f"columns: {', '.join(row)[:120]}")
    return found


def is_score(value: object) -> bool:
    """Whether a cell reads as a number in [0, 1]."""
    try:
        return 0 <= float(str(value)) <= 1
    except ValueError:
        return False


def asked(row: Row) -> str | None:
    """Return the first user turn of a battle, wherever it stands."""
    for key in ("prompt", "question"):
        if isinstance(row.get(key), str) and row[key].strip():
            return "\n\n".join(reading.texts(row[key]))
    turns = row.get("conversation_a")
    first = turns[0] if isinstance(turns, list) and turns else None
    return first.get("content") if isinstance(first, dict) else None
