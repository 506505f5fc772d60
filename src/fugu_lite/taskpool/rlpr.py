"""`rlpr`: general reasoning prompts with reference answers, of which only some can be checked.

Published as parquet: data_source, prompt (chat messages), ability, reward_model {ground_truth, style}, extra_info. Most
reference answers are words, sentences or tables; a text comparison calls right answers wrong, so those rows are left
out. What stays has a number and nothing else, or the letter of an option in the prompt.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any, ClassVar

from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking
from fugu_lite.taskpool.contract import Draft, Facts, Item, Source, text, unusable

ROUNDING = 0.01  # share of the reference; references with decimals were rounded to unknown places
DIFFICULTY = {
    "primary school": "easy",
    "junior high school": "easy",
    "senior high school": "medium",
    "university": "hard",
    "phd": "hard",
}
FREE = "free-form answer: no grader can be trusted with it"
_TEMPLATE = re.compile(r"User:\s*(.*?)\s*Assistant:", re.DOTALL)


class Rlpr(Source):
    """Numbers and letters only."""

    kind: ClassVar[str] = "rlpr"
    facts: ClassVar[Facts] = Facts("openbmb/RLPR-Train-Dataset", "Apache-2.0", True, "reasoning")
    splits: ClassVar[tuple[str, ...]] = ("train", "test")

    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """By its columns and its name: the columns are those of every set for the same trainer."""
        return {"prompt", "reward_model"} <= row.keys() and "rlpr" in str(path)

    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a row: the last user turn is the question."""
        model = row.get("reward_model")
        answer = text(model, "ground_truth") if isinstance(model, dict) else ""
        extra = row.get("extra_info")
        level = str(extra.get("difficulty") or "").casefold() if isinstance(extra, dict) else ""
        question, options = asking.split_options(_question(row.get("prompt")))
        subject = row.get("ability")
        return Item(question, answer, options, subject if isinstance(subject, str) else None, DIFFICULTY.get(level))

    def draft(self, item: Item) -> Draft:
        """Ask for a number or a letter; anything else cannot be checked."""
        if item.options and re.fullmatch(r"\(?[A-Z]\)?\.?", item.answer):
            return asking.choice(item)
        if item.options or not asking.is_number(item.answer.strip("$ ")):
            raise unusable(FREE)
        return asking.number(item, ROUNDING)


def _question(prompt: Any) -> str:
    """Return the last user turn, without the wrapping of base-model templates."""
    if isinstance(prompt, list):
        turns = [turn.get("content") for turn in prompt if isinstance(turn, dict) and turn.get("role") == "user"]
        prompt = turns[-1] if turns else None
    if not isinstance(prompt, str) or not prompt.strip():
        raise unusable("no user turn in the prompt")
    wrapped = _TEMPLATE.search(prompt)
    return wrapped[1] if wrapped else prompt.strip()
