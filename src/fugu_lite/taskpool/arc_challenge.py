"""`arc_challenge`: school science questions that simple methods got wrong.

Published as parquet (id, question, choices as texts and labels, answerKey) and as jsonl (id, question as stem and
choices, answerKey). Labels are letters or numbers; they are asked as letters. `ARC-Easy` has the same columns.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, ClassVar

from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, text, unusable


class ArcChallenge(Source):
    """Graded by letter."""

    kind: ClassVar[str] = "arc_challenge"
    facts: ClassVar[Facts] = Facts("allenai/ai2_arc, ARC-Challenge", "CC-BY-SA-4.0", True, "reasoning")

    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """By its columns and its name."""
        return {"id", "question", "answerKey"} <= row.keys() and "challenge" in str(path)

    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a row of either shape."""
        nested = row["question"] if isinstance(row["question"], dict) else None
        choices = nested.get("choices") if nested is not None else row.get("choices")
        labels, options = _labelled(choices)
        key = text(row, "answerKey")
        if labels.count(key) != 1:
            raise unusable("answerKey is not the label of a choice")
        question = text(nested, "stem") if nested is not None else text(row, "question")
        return Item(question, asking.LETTERS[labels.index(key)], options)

    def draft(self, item: Item) -> Draft:
        """Ask for the letter."""
        return replace(asking.choice(item), difficulty="medium")


def _labelled(choices: Any) -> tuple[list[str], tuple[str, ...]]:
    """Return labels and texts of `{"label": [...], "text": [...]}` or of `[{"label", "text"}, ...]`."""
    try:
        if isinstance(choices, dict):
            labels, options = list(choices["label"]), list(choices["text"])
        else:
            labels, options = [part["label"] for part in choices], [part["text"] for part in choices]
    except (KeyError, TypeError):
        raise unusable("choices without labels and texts") from None
    if len(labels) != len(options) or len(labels) > len(asking.LETTERS):
        raise unusable("choices without labels and texts")
    return [str(label) for label in labels], tuple(str(option).strip() for option in options)
