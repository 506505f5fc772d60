"""RouterArena: a router's predictions (JSON), or the cached results of single models (JSON lines)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from fugu_lite.datasets import reading
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError
from fugu_lite.jsonl import Row
from fugu_lite.tasks import Task

INDEX = ("global index", "global_index")


class RouterArena(Format):
    """`{global index, prompt, prediction, generated_result, cost, accuracy}` or `{global_index, llm_selected, ...}`."""

    kind: ClassVar[str] = "routerarena"
    holds: ClassVar[str] = "the score, cost and answer of the model that a router chose, or of one model per file"
    traps: ClassVar[tuple[str, ...]] = (
        "a prediction file knows the chosen model only: partial feedback, the other cells are missing",
        "failed rows were scored 0: a row without an answer, or with success false, has no grade here",
        "cost 0 or null means that no tokens were recorded, not that the call was free: unknown",
        "a retired slug may have been answered by another model at the old price: join them with --rename, or not",
    )
    not_written: ClassVar[str | None] = "a prediction file belongs to one router's choices, not to a matrix"

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder; configurations and price lists in it are left out."""
        for file in reading.files(path, (".json", ".jsonl")):
            for where, row in reading.rows(file):
                index = next((row[key] for key in INDEX if row.get(key) is not None), None)
                if index is None:
                    into.drop("objects without a global index (configurations, prices)")
                elif "evaluation_result" in row or "llm_selected" in row:
                    self._cached(row, str(index), where, into)
                else:
                    self._prediction(row, str(index), where, into)

    def _prediction(self, row: Row, index: str, where: str, into: Gathering) -> None:
        result = row.get("generated_result")
        result = result if isinstance(result, dict) else {"generated_answer": result}
        call = called(result, reading.optional(row, "served_model"))
        score = reading.quality(row, "accuracy", where)
        cost = reading.amount(row, "cost", where, zero_is_unknown=True)
        task = task_of(index, reading.needed(row, "prompt", where), row.get("ground_truth"))
        into.put(task, reading.needed(row, "prediction", where), Outcome(score, cost, None, call), where)

    def _cached(self, row: Row, index: str, where: str, into: Gathering) -> None:
        judged = row.get("evaluation_result") or {}
        if not isinstance(judged, dict):
            raise DataError(where, "'evaluation_result' is not an object")
        score = reading.quality(judged, "score", where)
        cost = reading.amount(judged, "inference_cost", where, zero_is_unknown=True)
        task = task_of(index, reading.needed(row, "question", where), judged.get("ground_truth"))
        call = called(row, reading.optional(row, "served_model"))
        into.put(task, reading.needed(row, "llm_selected", where), Outcome(score, cost, None, call), where)


def task_of(index: str, prompt: str, reference: Any) -> Task:
    """Return the task of a global index such as `AIME_112`, whose head is the data set."""
    return Task(task_id=index, prompt=prompt, domain=index.rpartition("_")[0] or None, reference_answer=reference)


def called(result: Row, served: str | None) -> dict[str, Any]:
    """Return the fields of the attempt: an answer that is not there was never given, unless its call succeeded."""
    answer, error = result.get("generated_answer"), result.get("error")
    text = answer if isinstance(answer, str) else None
    success = result.get("success")
    failed = success is False or bool(error) or (not text and success is not True)
    tokens = result.get("token_usage")
    usage = tokens if isinstance(tokens, dict) else {}
    return {
        "status": "error" if failed else "ok" if text else "empty",
        "response": text,
        "provider": result.get("provider") if isinstance(result.get("provider"), str) else None,
        "served_model": served,
        "usage": {
            "prompt_tokens": reading.count(usage.get("input_tokens")) or None,
            "completion_tokens": reading.count(usage.get("output_tokens")) or None,
        },
        "error": {"kind": "server", "message": str(error or "no answer was recorded")} if failed else None,
    }
