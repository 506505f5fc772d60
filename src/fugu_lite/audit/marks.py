"""A person's marks: a file to fill in, and what it says about every grader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fugu_lite import jsonl
from fugu_lite.audit.grading import Opinion
from fugu_lite.errors import DataError
from fugu_lite.intervals import Interval, wilson
from fugu_lite.jsonl import Row

MARKS = ("right", "wrong", "unsure", "")


@dataclass(frozen=True)
class ErrorRate:
    """How often a grader contradicts the person.

    Attributes:
        drawn: `random` (the rate of the data) or `disagreement` (a rate among chosen cases, no more).
        errors: share of marked answers on which the grader is wrong, with its Wilson interval.
        false_right: answers that the grader calls right and the person wrong.
        false_wrong: the reverse.
    """

    grader: str
    drawn: str
    errors: Interval
    false_right: int
    false_wrong: int


def template(drawn: Sequence[tuple[str, Opinion]]) -> list[Row]:
    """Return one row per drawn answer, with an empty `mark`."""
    return [
        {
            "task_id": opinion.task.task_id,
            "worker_id": opinion.attempt.worker_id,
            "repetition": opinion.attempt.repetition,
            "drawn": how,
            "prompt": opinion.task.text,
            "reference_answer": opinion.task.reference_answer,
            "response": opinion.attempt.response,
            "grades": {opinion.own: opinion.own_right, **opinion.others},
            "mark": "",
        }
        for how, opinion in drawn
    ]


def write_template(path: Path, drawn: Sequence[tuple[str, Opinion]]) -> None:
    """Write the file to fill in: `right`, `wrong` or `unsure` in every `mark`."""
    jsonl.write(path, template(drawn))


def read_marks(path: Path) -> list[Row]:
    """Read the file back.

    Raises:
        DataError: for a mark that is none, or a row that is not of such a file.
    """
    rows = []
    for number, row in jsonl.read(path):
        if not isinstance(row.get("grades"), dict) or "mark" not in row:
            raise DataError(f"{path}:{number}", "is no row of a mark file", "name a new file to have one written")
        if row["mark"] not in MARKS:
            raise DataError(f"{path}:{number}", f"mark {row['mark']!r}", "write right, wrong, unsure or leave it empty")
        rows.append(row)
    return rows


def error_rates(rows: Iterable[Row]) -> list[ErrorRate]:
    """Return the error rates of all graders from the rows marked `right` or `wrong`; by draw, then by grader."""
    seen: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)
    for row in rows:
        if row["mark"] in ("right", "wrong"):
            for grader, said in row["grades"].items():
                seen[str(row.get("drawn", "random")), grader].append((bool(said), row["mark"] == "right"))
    return [_rate(grader, how, seen[how, grader]) for how, grader in sorted(seen, key=lambda key: (-len(key[0]), key))]


def _rate(grader: str, drawn: str, verdicts: Sequence[tuple[bool, bool]]) -> ErrorRate:
    false_right = sum(said and not truth for said, truth in verdicts)
    false_wrong = sum(truth and not said for said, truth in verdicts)
    return ErrorRate(grader, drawn, wilson(false_right + false_wrong, len(verdicts)), false_right, false_wrong)


def progress(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how far the marking is."""
    return {
        "rows": len(rows),
        "marked": sum(row["mark"] in ("right", "wrong") for row in rows),
        "unsure": sum(row["mark"] == "unsure" for row in rows),
    }
