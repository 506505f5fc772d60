"""`aime2025_i`, `aime2025_ii`: the two American Invitational Mathematics Examinations of 2025, 15 problems each.

Published as `aime2025-I.jsonl` (question, answer), as one set per examination (problem_idx, problem, answer), or as one
set of 30 in which problem_idx runs on.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import ClassVar

from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, text, unusable

NOTE = "the licence is that of the collection; the problems are the Mathematical Association of America's"
PROBLEMS = 15
OTHER = "a problem of the other examination"
_NAME = re.compile(r"aime[-_ ]?(?:20)?25(?P<rest>.*)")
_ROMAN = re.compile(r"(?<![a-z])i{1,2}(?![a-z])")


class AimeI(Source):
    """Answers are integers from 0 to 999."""

    kind: ClassVar[str] = "aime2025_i"
    facts: ClassVar[Facts] = Facts("AIME 2025 I", "MIT", None, "math", NOTE)
    roman: ClassVar[str] = "i"

    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """By name and columns: the fields are those of many other sets."""
        if "answer" not in row or not row.keys() & {"problem", "question"}:
            return False
        named = _examination(path)
        return named == self.roman or (named == "" and isinstance(row.get("problem_idx"), int))

    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a row; of a set of 30, only this examination's."""
        index = row.get("problem_idx")
        if not _examination(path) and isinstance(index, int) and (index > PROBLEMS) != (self.roman == "ii"):
            raise unusable(OTHER)
        question = text(row, "problem" if "problem" in row else "question")
        answer = str(row.get("answer", "")).strip()
        if not answer.isdigit() or not 0 <= int(answer) <= 999:
            raise unusable("the answer is not an integer from 0 to 999")
        return Item(question, str(int(answer)))

    def draft(self, item: Item) -> Draft:
        """Ask for the number."""
        return replace(asking.number(item), difficulty="hard")


class AimeII(AimeI):
    """The second examination."""

    kind: ClassVar[str] = "aime2025_ii"
    facts: ClassVar[Facts] = Facts("AIME 2025 II", "MIT", None, "math", NOTE)
    roman: ClassVar[str] = "ii"


def _examination(path: PurePosixPath) -> str | None:
    """Return `i` or `ii`; empty for a set of both, None when the path names no AIME of 2025."""
    named = _NAME.search(str(path))
    if named is None:
        return None
    roman = _ROMAN.findall(named["rest"])
    return roman[-1] if roman else ""
