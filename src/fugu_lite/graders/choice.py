"""`{"type": "choice"}`: the response picks the right letter, and only that one."""

from __future__ import annotations

import re
from typing import ClassVar

from pydantic import Field

from fugu_lite.errors import GradingError
from fugu_lite.graders._answers import explicit, visible
from fugu_lite.graders._numbers import strip_markup
from fugu_lite.graders.contract import Grade, Grader
from fugu_lite.tasks import Task

_BEHIND = r"(?=\s*(?:$|[).:,;\]!\n]|[-–—]\s|(?:because|since|is|as|çünkü)(?!\w)|['’]))"
_JOIN = r"\W{0,3}\s*(?:or|and|veya|ve|ya da|/|&|,)\s*\W{0,3}"


class Choice(Grader):
    """Read a letter out of the response; two different letters with equal claim are not an answer.

    Attributes:
        letters: the letters on offer, upper case.
    """

    kind: ClassVar[str] = "choice"
    letters: str = Field("ABCD", pattern=r"^[A-Z]{2,26}$")

    def check(self, task: Task) -> None:
        """Refuse a task whose reference is not one of the letters."""
        self._reference(task)

    def grade(self, response: str, task: Task) -> Grade:
        """Judge the letter that the response settles on."""
        reference = self._reference(task)
        picked = picked_letters(response, self.letters)
        if len(picked) != 1:
            reason = f"ambiguous: {', '.join(sorted(picked))}" if picked else "no letter in the response"
            return Grade(0.0, None, reason)
        (letter,) = picked
        return Grade(float(letter == reference), letter, f"picks {letter}")

    def _reference(self, task: Task) -> str:
        super().check(task)
        letter = str(task.reference_answer).strip(" ().").upper()
        if len(letter) != 1 or letter not in self.letters:
            raise GradingError(
                f"task {task.task_id!r}: grader 'choice' needs one letter of {self.letters} as reference, "
                f"found {task.reference_answer!r:.80}"
            )
        return letter


def picked_letters(response: str, letters: str = "ABCD") -> set[str]:
    """Return the letters that the most explicit kind of statement names: one is an answer, several are a hedge."""
    text = visible(response)
    marked = explicit(text)
    if marked is not None:
        found = _stated(marked.text, letters)
        if found or marked.how != "labelled":
            return found
    cleaned = _clean(text)
    return next((found for pattern in _patterns(letters) if (found := _named(pattern, cleaned))), set())


def _named(pattern: str, text: str) -> set[str]:
    return {letter.upper() for match in re.finditer(pattern, text) for letter in match.groups()}


def _clean(text: str) -> str:
    return re.sub(r"[*_~`#>$]+", "", strip_markup(text)).strip()


def _stated(text: str, letters: str) -> set[str]:
    """Read a short explicit answer: `B`, `(b)`, `B) 42`, `option B`; `A or B` names two."""
    text = _clean(text)
    alone = re.fullmatch(rf"[\s(\[{{\"']*([{letters}])[\s)\]}}\"'.:,!]*", text, re.IGNORECASE)
    if alone:
        return {alone.group(1).upper()}
    several = re.match(rf"\W*([{letters}]){_JOIN}([{letters}])(?!\w)", text)
    if several:
        return set(several.groups())
    lead = r"\W*(?:(?:the\s+)?(?:option|choice|letter|seçenek|şık)\s*)?\W{0,2}"
    named = re.match(rf"{lead}([{letters}])(?!\w){_BEHIND}", text, re.IGNORECASE)
    return {named.group(1)} if named and named.group(1) in letters else set()


def _patterns(letters: str) -> list[str]:
    """Return the kinds of statement, most explicit first, for a response without a marked answer."""
    one, words = f"([{letters}])", "".join(letter for letter in letters if letter not in "AI")
    kinds = [
        rf"\A\W*([{letters.lower()}])\W*\Z",
        rf"(?m)^[\s(\[]*{one}[\s)\].:]*$",
        rf"(?m)^[\s(\[]*{one}[).:\]](?=\s)",
        rf"(?i:option|choice|seçenek|şık)\s*\(?{one}(?!\w)",
        rf"(?<!\w){one}\)?\s+(?i:(?:is|seems|looks)\s+(?:the\s+)?(?:correct|right|best)|seçeneği|şıkkı)",
        rf"[(\[]{one}[)\]]",
        rf"(?<!\w){one}{_JOIN}{one}(?=[.!]?\s*\Z)",
        rf"(?<![\w'’-]){one}(?=[.!]?\s*\Z)",
        rf"(?<!\w){one}{_JOIN}{one}(?!\w)",
    ]
    return [*kinds, rf"(?<![\w'’.-])([{words}])(?![\w-])"] if words else kinds
