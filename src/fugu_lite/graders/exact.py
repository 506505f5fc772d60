"""`{"type": "exact"}`: the response, or the answer it marks, is the reference."""

from __future__ import annotations

from typing import ClassVar

from fugu_lite.graders._answers import boxed, fold, labelled, tagged, trim, visible
from fugu_lite.graders.contract import Grade, Grader
from fugu_lite.tasks import Task


class Exact(Grader):
    """Compare texts after trimming quotes, emphasis and final punctuation, and collapsing white space.

    Attributes:
        case_sensitive: compare letters as they are; otherwise caseless.
        aliases: other texts that are right as well.
    """

    kind: ClassVar[str] = "exact"
    case_sensitive: bool = False
    aliases: tuple[str, ...] = ()

    def grade(self, response: str, task: Task) -> Grade:
        """Judge the whole response first, then its tagged, boxed or labelled answer."""
        self.check(task)
        accepted = {self._normal(str(value)) for value in (task.reference_answer, *self.aliases)}
        text = visible(response)
        marked = next((answer for step in (tagged, boxed, labelled) if (answer := step(text))), None)
        for candidate in (text, marked):
            if candidate and candidate.strip() and self._normal(candidate) in accepted:
                return Grade(1.0, trim(candidate), "equals the reference")
        return Grade(0.0, trim(marked if marked is not None else text) or None, "differs from the reference")

    def _normal(self, text: str) -> str:
        trimmed = trim(text)
        return " ".join(trimmed.split()) if self.case_sensitive else fold(trimmed)
