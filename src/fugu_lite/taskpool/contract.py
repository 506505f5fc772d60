"""What a source is: which files are its own, what a published row says, and how such a row is asked and graded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, ClassVar

from fugu_lite.errors import DataError
from fugu_lite.jsonl import Row
from fugu_lite.registry import Registry


@dataclass(frozen=True)
class Facts:
    """What is known about a source as a whole.

    Attributes:
        dataset: the name under which it is published.
        license: of the dataset; `unverified` where its publishers contradict each other or say nothing.
        redistributable: whether the prompts may be passed on; None = not cleared, and `publish` leaves them out.
        note: what a reader has to know before passing them on.
    """

    dataset: str
    license: str
    redistributable: bool | None
    domain: str
    note: str | None = None


@dataclass(frozen=True)
class Item:
    """What a published row says, whatever its shape.

    Attributes:
        question: without the options and without an instruction how to answer.
        answer: reference answer; a letter where there are options.
        options: texts in the order of their letters; empty for an open question.
        difficulty: `easy`, `medium` or `hard`; None = not known.
    """

    question: str
    answer: str
    options: tuple[str, ...] = ()
    subject: str | None = None
    difficulty: str | None = None


@dataclass(frozen=True)
class Draft:
    """An item made ready to be asked.

    Attributes:
        stem: the question alone; equal stems are one group, whatever their options.
        right, wrong: responses that the grader must and must not accept, or the row is not used.
    """

    prompt: str
    stem: str
    reference: str
    grader: dict[str, Any]
    right: str
    wrong: str
    difficulty: str | None = None
    subject: str | None = None


class Source(ABC):
    """Base of the sources.

    Attributes:
        kind: its name, and the first part of its task ids.
        facts: dataset, licence and domain.
        splits: published splits in the order in which they are wanted; the first that is there is used alone, and
            others (few-shot examples, auxiliary training rows) never.
    """

    kind: ClassVar[str]
    facts: ClassVar[Facts]
    splits: ClassVar[tuple[str, ...]] = ("test", "train")

    @abstractmethod
    def claims(self, path: PurePosixPath, row: Row) -> bool:
        """Whether a file is this source's.

        Args:
            path: below the folder of sources, lower case.
            row: the file's first row.
        """

    @abstractmethod
    def item(self, row: Row, path: PurePosixPath) -> Item:
        """Read a published row of the file at `path`.

        Raises:
            DataError: when it cannot be used; `found` is the reason that is counted.
        """

    @abstractmethod
    def draft(self, item: Item) -> Draft:
        """Decide how the item is asked and graded.

        Raises:
            DataError: when no grader can be trusted with it.
        """


def text(row: Row, name: str) -> str:
    """Return a field that must be a text with something in it."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise unusable(f"no {name!r}")
    return value.strip()


def texts(row: Row, name: str) -> tuple[str, ...]:
    """Return a field that must be a list."""
    value = row.get(name)
    if not isinstance(value, list | tuple):
        raise unusable(f"field {name!r} is not a list")
    return tuple(str(part).strip() for part in value)


def unusable(reason: str) -> DataError:
    """Return the error that drops a row; equal reasons are counted together, so they name no row."""
    return DataError("row", reason)


registry: Registry[type[Source]] = Registry(
    "task source",
    {
        "math500": "fugu_lite.taskpool.math500:Math500",
        "rlpr": "fugu_lite.taskpool.rlpr:Rlpr",
        "mmlu_pro": "fugu_lite.taskpool.mmlu_pro:MmluPro",
        "mmlu": "fugu_lite.taskpool.mmlu:Mmlu",
        "arc_challenge": "fugu_lite.taskpool.arc_challenge:ArcChallenge",
        "gsm8k": "fugu_lite.taskpool.gsm8k:Gsm8k",
        "aime2025_i": "fugu_lite.taskpool.aime2025:AimeI",
        "aime2025_ii": "fugu_lite.taskpool.aime2025:AimeII",
    },
    "fugu_lite.task_sources",
)
