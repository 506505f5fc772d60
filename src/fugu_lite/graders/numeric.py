"""`{"type": "numeric"}`: the answer is a number within a tolerance of the reference."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from pydantic import Field

from fugu_lite.errors import GradingError
from fugu_lite.graders._answers import explicit, last_number, stated_number, visible
from fugu_lite.graders._numbers import Number
from fugu_lite.graders.contract import Grade, Grader
from fugu_lite.tasks import Task


class Numeric(Grader):
    """Compare numbers exactly, or within `tolerance` (absolute, or a share of the reference when `relative`).

    Attributes:
        aliases: other numbers that are right as well.
    """

    kind: ClassVar[str] = "numeric"
    tolerance: float = Field(0.0, ge=0, allow_inf_nan=False)
    relative: bool = False
    aliases: tuple[str | int | float, ...] = ()

    def check(self, task: Task) -> None:
        """Refuse a task whose reference answer or alias is not a number."""
        self._accepted(task)

    def grade(self, response: str, task: Task) -> Grade:
        """Judge the number that the response gives as its answer."""
        accepted = self._accepted(task)
        number, how = read_number(response)
        if number is None:
            return Grade(0.0, None, how)
        right = any(self._close(number.value, reference) for reference in accepted)
        return Grade(float(right), number.text, f"{how} {'equals' if right else 'differs from'} the reference")

    def _close(self, value: Fraction, reference: Fraction) -> bool:
        margin = Fraction(self.tolerance) * (abs(reference) if self.relative else 1)
        return abs(value - reference) <= margin

    def _accepted(self, task: Task) -> list[Fraction]:
        super().check(task)
        return [_reference(value, task) for value in (task.reference_answer, *self.aliases)]


def read_number(response: str) -> tuple[Number | None, str]:
    """Return the response's number and where it stood, or None and why there is none."""
    text = visible(response)
    marked = explicit(text)
    if marked is not None:
        number = stated_number(marked.text)
        if number is not None:
            return number, f"{marked.how} answer"
        if marked.how != "labelled" or last_number(marked.text) is not None:
            return None, f"{marked.how} answer states no single number"
    number = last_number(text)
    return (number, "last number") if number is not None else (None, "no number in the response")


def _reference(value: Any, task: Task) -> Fraction:
    number = stated_number(str(value)) if isinstance(value, str | int | float) else None
    if number is None or isinstance(value, bool):
        raise GradingError(f"task {task.task_id!r}: grader 'numeric' needs a number as reference, found {value!r:.80}")
    return number.value
