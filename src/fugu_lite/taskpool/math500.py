"""`math500`: 500 problems of the MATH test set, with answers in LaTeX.

Published as `test.jsonl`: problem, solution, answer, subject, level (1 to 5), unique_id.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar

from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, text

DIFFICULTY = {1: "easy", 2: "easy", 3: "medium", 4: "hard", 5: "hard"}


class Math500(Source):
    """Graded as mathematics, so that equal expressions count as equal."""

    kind: ClassVar[str] = "math500"
    facts: ClassVar[Facts] = Facts("HuggingFaceH4/MATH-500", "MIT", True, "math")

    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """By its columns, which no other set has."""
        return {"problem", "answer", "subject", "level", "unique_id"} <= row.keys()

    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a row; the level gives the difficulty."""
        level = str(row.get("level") or "").removeprefix("Level ").strip()
        difficulty = DIFFICULTY.get(int(level)) if level.isdigit() else None
        return Item(text(row, "problem"), text(row, "answer"), (), row.get("subject"), difficulty)

    def draft(self, item: Item) -> Draft:
        """Ask for a boxed expression."""
        return asking.mathematics(item)
