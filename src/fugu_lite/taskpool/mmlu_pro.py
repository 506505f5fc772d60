"""`mmlu_pro`: up to ten options.

Published as parquet: question_id, question, options, answer (letter), answer_index, cot_content, category, src. The
validation split holds the few-shot examples.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import ClassVar

from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, text, texts, unusable

NOTE = "its publishers state different licences in different places"


class MmluPro(Source):
    """Graded by letter; the padding option `N/A` is dropped where nothing after it is real."""

    kind: ClassVar[str] = "mmlu_pro"
    facts: ClassVar[Facts] = Facts("TIGER-Lab/MMLU-Pro", "unverified", None, "knowledge", NOTE)
    splits: ClassVar[tuple[str, ...]] = ("test",)

    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """By its columns."""
        return {"question", "options", "answer", "answer_index", "category"} <= row.keys()

    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a row; letter and index have to agree."""
        options = list(texts(row, "options"))
        while options and options[-1].upper() == "N/A":
            options.pop()
        letter, index = text(row, "answer"), row.get("answer_index")
        if not isinstance(index, int) or not 0 <= index < len(options) or asking.LETTERS[index] != letter:
            raise unusable("the answer's letter and index disagree")
        return Item(text(row, "question"), letter, tuple(options), row.get("category"))

    def draft(self, item: Item) -> Draft:
        """Ask for the letter."""
        return replace(asking.choice(item), difficulty="hard")
