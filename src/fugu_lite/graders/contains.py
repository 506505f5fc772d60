"""`{"type": "contains"}`: the reference stands in the response as whole words."""

from __future__ import annotations

import re
from typing import ClassVar

from fugu_lite.errors import GradingError
from fugu_lite.graders._answers import fold, visible
from fugu_lite.graders.contract import Grade, Grader
from fugu_lite.tasks import Task


class Contains(Grader):
    """Look for the reference, caseless and bounded by words.

    Attributes:
        aliases: texts any of which is right in place of the reference.
        any: of a list of references one is enough; otherwise all must stand in the response.
    """

    kind: ClassVar[str] = "contains"
    aliases: tuple[str, ...] = ()
    any: bool = False

    def check(self, task: Task) -> None:
        """Refuse a task without a reference, or with an empty one."""
        super().check(task)
        wanted = self._wanted(task)
        if not wanted or not all(fold(text) for text in (*wanted, *self.aliases)):
            raise GradingError(f"task {task.task_id!r}: grader 'contains' needs a reference that is not empty")

    def grade(self, response: str, task: Task) -> Grade:
        """Judge whether the wanted texts stand in the response."""
        self.check(task)
        text = fold(visible(response))
        alias = next((alias for alias in self.aliases if stands_in(alias, text)), None)
        if alias is not None:
            return Grade(1.0, alias, "holds an alias")
        wanted = self._wanted(task)
        present = [reference for reference in wanted if stands_in(reference, text)]
        right = bool(present) if self.any else len(present) == len(wanted)
        found = ", ".join(present) or None
        return Grade(float(right), found, f"holds {len(present)} of {len(wanted)} references")

    @staticmethod
    def _wanted(task: Task) -> list[str]:
        reference = task.reference_answer
        return [str(part) for part in reference] if isinstance(reference, list) else [str(reference)]


def stands_in(reference: str, folded: str) -> bool:
    """Whether `reference` stands in already folded text as whole words; `5` does not stand in `3.5` or `5,000`."""
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(fold(reference))}(?!\w)(?![.,]\d)"
    return re.search(pattern, folded) is not None
