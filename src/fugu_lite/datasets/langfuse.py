"""Langfuse: observations, with the scores of an export beside them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import ClassVar

from fugu_lite.datasets import _logs, reading
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.jsonl import Row

NAMES = {  # the field of the export -> those of the public API
    "trace_id": ("traceId",),
    "observation_id": ("observationId",),
    "provided_model_name": ("providedModelName", "model"),
    "start_time": ("startTime",),
    "end_time": ("endTime",),
    "total_cost": ("totalCost", "calculatedTotalCost", "calculated_total_cost"),
    "cost_details": ("costDetails",),
    "usage_details": ("usageDetails",),
    "status_message": ("statusMessage",),
    "data_type": ("dataType",),
}
Scores = dict[str, dict[str, list[float]]]


class Langfuse(Format):
    """Rows of `observations` (or `observations_v2`) and `scores`, as the export or the public API write them."""

    kind: ClassVar[str] = "langfuse"
    holds: ClassVar[str] = (
        "one generation per row: model, cost, tokens, times, texts; scores by name, where there are any"
    )
    traps: ClassVar[tuple[str, ...]] = (
        "a trace has spans and events that are no model call: only generations are read",
        "a score belongs to an observation or to a whole trace: a trace's counts only if the trace has one generation",
        "several scores have several meanings: one is taken as quality only if it is the only one, or named by --score",
        "input and output are JSON written as text: parsed, never evaluated",
        "cost 0 means a model without a price: unknown",
    )
    not_written: ClassVar[str | None] = "a log records calls, not a matrix"

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder."""
        calls: list[tuple[str, Row]] = []
        scores: Scores = defaultdict(lambda: defaultdict(list))
        for file in reading.files(path):
            for where, row in reading.rows(file):
                row = unified(row)
                if str(row.get("type") or "").upper() == "GENERATION":
                    calls.append((where, row))
                elif "value" in row and "name" in row:
                    scored(row, where, scores, into)
                else:
                    into.drop("rows that are no generation (spans, events, traces)")
        name = _logs.chosen_score(dict.fromkeys(scores, 0.0), into)
        if not scores:
            into.note(_logs.UNGRADED)
        generations: dict[str, int] = defaultdict(int)
        for _, row in calls:
            generations[str(row.get("trace_id"))] += 1
        for target in scores[name] if name is not None else ():
            if target.startswith("trace ") and generations[target.removeprefix("trace ")] > 1:
                into.drop("scores of traces with several generations")
        for where, row in calls:
            alone = generations[str(row.get("trace_id"))] == 1
            grade = grade_of(row, scores[name], alone) if name is not None else None
            self._call(row, grade, where, into)

    def _call(self, row: Row, grade: float | None, where: str, into: Gathering) -> None:
        asked = _logs.messages_of(row.get("input"))
        worker = reading.optional(row, "provided_model_name")
        if asked is None or worker is None:
            into.drop("generations without an input or a model")
            return
        failed = str(row.get("level") or "").upper() == "ERROR"
        answer = _logs.answer_of(row.get("output"))
        usage = _logs.parsed(row.get("usage_details"))
        usage = usage if isinstance(usage, dict) else {}
        call = {
            "status": _logs.status_of(answer, failed),
            "response": answer,
            "usage": _logs.usage_of(usage.get("input"), usage.get("output")),
            "error": {"kind": "server", "message": str(row.get("status_message") or "error")} if failed else None,
            "started_at": str(row["start_time"]) if row.get("start_time") else None,
        }
        took = _logs.lasted(row.get("start_time"), row.get("end_time"), where)
        outcome = Outcome(grade, None if failed else cost_of(row, where), took, call)
        into.put(_logs.task_of(self.kind, asked), worker, outcome, where)


def unified(row: Row) -> Row:
    """Return the row under the field names of the export."""
    return {
        **row,
        **{name: row[other] for name, others in NAMES.items() for other in others if name not in row and other in row},
    }


def cost_of(row: Row, where: str) -> float | None:
    """Return USD; None when no price was known."""
    details = _logs.parsed(row.get("cost_details"))
    if row.get("total_cost") is None and isinstance(details, dict):
        return reading.amount(details, "total", where, zero_is_unknown=True)
    return reading.amount(row, "total_cost", where, zero_is_unknown=True)


def scored(row: Row, where: str, scores: Scores, into: Gathering) -> None:
    """Take a score in, by name and by what it judges; categories and numbers outside [0, 1] are no quality."""
    kind = str(row.get("data_type") or "NUMERIC").upper()
    value = reading.number(row, "value", where) if kind in {"NUMERIC", "BOOLEAN"} else None
    if value is None or not 0 <= value <= 1:
        into.drop(f"scores {row['name']!r} that are no number in [0, 1]")
        return
    target = f"observation {row['observation_id']}" if row.get("observation_id") else f"trace {row.get('trace_id')}"
    scores[str(row["name"])][target].append(value)


def grade_of(row: Row, found: dict[str, list[float]], alone: bool) -> float | None:
    """Return the mean of the scores of a generation, or of its trace when it is the only one there."""
    values = found.get(f"observation {row.get('id')}")
    if not values and alone:
        values = found.get(f"trace {row.get('trace_id')}")
    return sum(values) / len(values) if values else None
