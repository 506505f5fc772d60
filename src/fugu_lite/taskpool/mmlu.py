"""`mmlu`: four options, 57 subjects.

Published as parquet (question, subject, choices, answer as 0 to 3) and as one CSV without a header per subject
(`astronomy_test.csv`: question, four options, letter).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import ClassVar

from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, text, texts, unusable

CSV_COLUMNS = ("question", "A", "B", "C", "D", "answer")


class Mmlu(Source):
    """Graded by letter."""

    kind: ClassVar[str] = "mmlu"
    facts: ClassVar[Facts] = Facts("cais/mmlu", "MIT", True, "knowledge")
    splits: ClassVar[tuple[str, ...]] = ("test", "validation")

    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """By its columns; the auxiliary training rows come from other sets."""
        if any("auxiliary" in part for part in path.parts):
            return False
        return {"question", "subject", "choices", "answer"} <= row.keys() or row.keys() == set(CSV_COLUMNS)

    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a row; a CSV's subject is in its name."""
        if "choices" not in row:
            subject = re.sub(r"_(?:test|val|dev)$", "", path.name.split(".")[0])
            options = tuple(text(row, name) for name in "ABCD")
            return Item(text(row, "question"), text(row, "answer"), options, subject)
        index = row["answer"]
        options = texts(row, "choices")
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(options):
            raise unusable("the answer is not the position of a choice")
        return Item(text(row, "question"), asking.LETTERS[index], options, row.get("subject"))

    def draft(self, item: Item) -> Draft:
        """Ask for the letter."""
        return replace(asking.choice(item), difficulty="medium")
