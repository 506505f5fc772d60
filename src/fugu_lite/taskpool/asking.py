"""How an item is put to a worker: one prompt form and one grader for letters, numbers and mathematics."""

from __future__ import annotations

import re
import string

from fugu_lite.taskpool.contract import Draft, Item, unusable

LETTERS = string.ascii_uppercase
CHOICE = "End with a line 'Answer: ' and the letter of the right option."
NUMBER = "End with a line 'Answer: ' and the number."
MATH = "Put the final answer in \\boxed{}."
WORDINGS = (CHOICE, NUMBER, MATH, "Please reason step by step, and put your final answer within \\boxed{}.")

_NUMBER = re.compile(
    r"[-+−]?\$?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?\s?%?"
    r"|[-+−]?\d+\s?/\s?\d+"
    r"|[-+−]?\\[dt]?frac\{\d+\}\{\d+\}"
)


def choice(item: Item) -> Draft:
    """Ask for the letter of an option."""
    count = len(item.options)
    if not 2 <= count <= len(LETTERS):
        raise unusable(f"{count} options")
    if len({option.casefold() for option in item.options}) < count:
        raise unusable("two options are the same")
    letters, letter = LETTERS[:count], item.answer.strip(" ().").upper()
    if len(letter) != 1 or letter not in letters:
        raise unusable("the answer is not the letter of an option")
    other = letters[(letters.index(letter) + 1) % count]
    options = "\n".join(f"{name}. {option}" for name, option in zip(letters, item.options, strict=True))
    return Draft(
        prompt=f"{item.question}\n{options}\n\n{CHOICE}",
        stem=item.question,
        reference=letter,
        grader={"type": "choice", "letters": letters},
        right=f"Answer: {letter}",
        wrong=f"Answer: {other}",
        difficulty=item.difficulty,
        subject=item.subject,
    )


def number(item: Item, relative_tolerance: float = 0.0) -> Draft:
    """Ask for a number.

    Args:
        item: its answer must be a number and nothing else.
        relative_tolerance: share of the reference by which an answer may differ, for a reference with decimals;
            integers and fractions are compared exactly.
    """
    answer = item.answer.strip().strip("$").strip()
    if not is_number(answer):
        raise unusable("the answer is not a number and nothing else")
    rounded = relative_tolerance if "." in answer else 0.0
    grader = {"type": "numeric", "tolerance": rounded, "relative": True} if rounded else {"type": "numeric"}
    return Draft(
        prompt=f"{item.question}\n\n{NUMBER}",
        stem=item.question,
        reference=answer,
        grader=grader,
        right=f"Answer: {answer}",
        wrong="Answer: 987654321.5",
        difficulty=item.difficulty,
        subject=item.subject,
    )


def mathematics(item: Item) -> Draft:
    """Ask for an expression."""
    return Draft(
        prompt=f"{item.question}\n\n{MATH}",
        stem=item.question,
        reference=item.answer,
        grader={"type": "math"},
        right=f"\\boxed{{{item.answer}}}",
        wrong="\\boxed{987654321.5}",
        difficulty=item.difficulty,
        subject=item.subject,
    )


def is_number(text: str) -> bool:
    """Whether a text is one number and nothing else; a unit is something else."""
    return _NUMBER.fullmatch(text) is not None


def without_wording(text: str) -> str:
    """Drop an instruction of ours, or a customary one, from the end of a prompt."""
    for wording in WORDINGS:
        text = text.strip().removesuffix(wording)
    return text.strip()


def split_options(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a question and the options that follow it on lines `A. ...`; no options where the letters do not run."""
    lines = text.splitlines()
    marked = [(i, match) for i, line in enumerate(lines) if (match := re.match(r"\s*\(?([A-Z])[.):]\s*(.*)", line))]
    start = next((k for k in range(len(marked) - 1, -1, -1) if marked[k][1][1] == "A"), None)
    if start is None:
        return text, ()
    ends = [i for i, _ in marked[start + 1 :]] + [len(lines)]
    options = []
    for (i, match), end in zip(marked[start:], ends, strict=True):
        options.append("\n".join([match[2], *lines[i + 1 : end]]).strip())
    if "".join(match[1] for _, match in marked[start:]) != LETTERS[: len(options)] or len(options) < 2:
        return text, ()
    return "\n".join(lines[: marked[start][0]]).strip(), tuple(options)
