"""`gsm8k`: grade-school word problems.

Published as jsonl or parquet: question, answer (a worked solution that ends with `#### 72`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import ClassVar

from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, text, unusable


class Gsm8k(Source):
    """The number after `####` is the reference."""

    kind: ClassVar[str] = "gsm8k"
    facts: ClassVar[Facts] = Facts("openai/gsm8k", "MIT", True, "math")

    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """By the mark in the answer; the `socratic` variant asks the same questions."""
        plain = row.keys() == {"question", "answer"} and "####" in str(row["answer"])
        return plain and not any("socratic" in part for part in path.parts)

    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a row."""
        solution = text(row, "answer")
        if "####" not in solution:
            raise unusable("no '####' in the answer")
        return Item(text(row, "question"), solution.rsplit("####", 1)[1].strip())

    def draft(self, item: Item) -> Draft:
        """Ask for the number."""
        return replace(asking.number(item), difficulty="easy")
