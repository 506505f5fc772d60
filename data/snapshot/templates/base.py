"""Building blocks shared by the domain modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

MAX_DRAWS = 5000
NUMBER = re.compile(r"\d+(?:\.\d+)?")
OPTION_LETTERS = "ABCD"


@dataclass(frozen=True)
class Item:
    """One prompt with its reference answer and the grader that judges replies."""

    prompt: str
    answer: str
    grader: dict[str, Any] = field(hash=False)


Source = Callable[[Random], list[Item]]
Draw = Callable[[Random], Item]
ChoiceRow = tuple[str, str, Sequence[str]]


@dataclass(frozen=True)
class Template:
    """A family of tasks of one shape; its items share one task group."""

    difficulty: str
    tags: tuple[str, ...]
    source: Source
    language: str = "en"

    def items(self, rng: Random) -> list[Item]:
        """The items of this template, fixed by the state of `rng`."""
        return self.source(rng)


def easy(tags: str, source: Source, language: str = "en") -> Template:
    """A template of easy tasks; `tags` are separated by spaces."""
    return Template("easy", tuple(tags.split()), source, language)


def medium(tags: str, source: Source, language: str = "en") -> Template:
    """A template of medium tasks; `tags` are separated by spaces."""
    return Template("medium", tuple(tags.split()), source, language)


def hard(tags: str, source: Source, language: str = "en") -> Template:
    """A template of hard tasks; `tags` are separated by spaces."""
    return Template("hard", tuple(tags.split()), source, language)


def number(prompt: str, value: int) -> Item:
    """An item whose answer is a whole number."""
    grader = {"type": "numeric", "tolerance": 0.0, "relative": False}
    return Item(prompt, str(value), grader)


def word(prompt: str, answer: str, *aliases: str) -> Item:
    """An item whose answer has to occur in the reply."""
    return Item(prompt, answer, _with_aliases("contains", aliases))


def exact(prompt: str, answer: str, *aliases: str) -> Item:
    """An item whose reply has to be the answer and nothing else."""
    return Item(prompt, answer, _with_aliases("exact", aliases))


def letter(prompt: str, answer: str) -> Item:
    """An item answered by one letter, alone or at the end of a short sentence."""
    pattern = rf"(?i)(?:^|\bis\s|[:=]\s?)\W*{re.escape(answer)}\W*$"
    return Item(prompt, answer, {"type": "regex", "pattern": pattern})


def opening(prompt: str, answer: str) -> Item:
    """An item whose reply has to begin with the answer, such as yes or no."""
    pattern = rf"(?i)^\W*{re.escape(answer)}\b"
    return Item(prompt, answer, {"type": "regex", "pattern": pattern})


def choice(rng: Random, question: str, right: str, wrong: Sequence[str], ending: str) -> Item:
    """A multiple-choice item with its options in random order."""
    options = [right, *wrong]
    rng.shuffle(options)
    return choice_in_order(question, options, right, ending)


def choice_in_order(question: str, options: Sequence[str], right: str, ending: str) -> Item:
    """A multiple-choice item with its options in the given order."""
    letters = OPTION_LETTERS[: len(options)]
    lines = [f"{mark}) {text}" for mark, text in zip(letters, options, strict=True)]
    prompt = "\n".join([question, *lines, ending])
    return Item(prompt, letters[options.index(right)], {"type": "choice", "letters": letters})


def drawn(make: Draw, count: int = 5) -> Source:
    """A source that draws `count` different items which do not give their answer away."""

    def source(rng: Random) -> list[Item]:
        found: dict[str, Item] = {}
        for _ in range(MAX_DRAWS):
            item = make(rng)
            if not gives_answer_away(item):
                found.setdefault(item.prompt, item)
            if len(found) == count:
                return list(found.values())
        raise ValueError(f"only {len(found)} of {count} items could be drawn: {list(found)}")

    return source


def listed(items: Iterable[Item]) -> Source:
    """A source that returns the given items."""
    fixed = list(items)
    return lambda _rng: list(fixed)


def words(ending: str, rows: Iterable[tuple[str, ...]]) -> Source:
    """A source of `contains` items from rows of question, answer and aliases."""
    return listed(word(f"{row[0]} {ending}", *row[1:]) for row in rows)


def numbers(ending: str, rows: Iterable[tuple[str, int]]) -> Source:
    """A source of numeric items from rows of question and answer."""
    return listed(number(f"{question} {ending}", value) for question, value in rows)


def choices(ending: str, rows: Sequence[ChoiceRow]) -> Source:
    """A source of multiple-choice items from rows of question, right and wrong options."""
    return lambda rng: [choice(rng, *row, ending) for row in rows]


def stands_in(answer: str, text: str) -> bool:
    """Whether `answer` stands in `text` as whole words, whatever the case."""
    pattern = rf"(?<!\w){re.escape(answer.casefold())}(?!\w)"
    return re.search(pattern, text.casefold()) is not None


def gives_answer_away(item: Item) -> bool:
    """Whether a reply that repeats the prompt could be graded as right."""
    kind = item.grader["type"]
    if kind == "choice":
        return False
    if kind == "numeric":
        value = abs(Decimal(item.answer))
        return any(Decimal(found) == value for found in NUMBER.findall(item.prompt))
    if kind == "regex":
        echoed = re.search(item.grader["pattern"], item.prompt) is not None
        return echoed or (len(item.answer) > 3 and stands_in(item.answer, item.prompt))
    accepted = [item.answer, *item.grader.get("aliases", [])]
    return any(stands_in(answer, item.prompt) for answer in accepted)


def _with_aliases(kind: str, aliases: Sequence[str]) -> dict[str, Any]:
    grader: dict[str, Any] = {"type": kind}
    if aliases:
        grader["aliases"] = list(aliases)
    return grader
