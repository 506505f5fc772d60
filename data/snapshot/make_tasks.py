"""Write `tasks.jsonl`, the task set of the snapshot, from the templates beside this file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from templates import (
    arithmetic,
    code_reading,
    facts,
    logic,
    multiple_choice,
    strings,
    units,
    word_problems,
)
from templates.base import Item, Template, gives_answer_away, stands_in

Task = dict[str, Any]

SEED = 20240183
OUTPUT = Path(__file__).with_name("tasks.jsonl")
SOURCE = {"dataset": "fugu-lite-snapshot", "license": "Apache-2.0", "redistributable": True}
DOMAINS: dict[str, Callable[[], list[Template]]] = {
    "arithmetic": arithmetic.templates,
    "word_problems": word_problems.templates,
    "facts": facts.templates,
    "units": units.templates,
    "strings": strings.templates,
    "code_reading": code_reading.templates,
    "logic": logic.templates,
    "multiple_choice": multiple_choice.templates,
}
TASKS_PER_DOMAIN = 120
TASKS_PER_DIFFICULTY = 40
TURKISH_PER_DOMAIN = 18
GROUPS_PER_DOMAIN = 24
MAX_WORDS = 60
MAX_LETTER_SHARE = 0.3
MAX_OVERLAP = 0.5


def make_tasks() -> list[Task]:
    """All tasks, domain by domain and template by template."""
    return [task for domain, build in DOMAINS.items() for task in _domain_tasks(domain, build())]


def _domain_tasks(domain: str, templates: list[Template]) -> Iterator[Task]:
    position = 0
    for place, template in enumerate(templates, start=1):
        group = f"{domain}-{place:02d}"
        for item in template.items(Random(f"{SEED}/{group}")):
            position += 1
            yield _task(f"{domain}-{position:04d}", domain, group, template, item)


def _task(task_id: str, domain: str, group: str, template: Template, item: Item) -> Task:
    return {
        "task_id": task_id,
        "prompt": item.prompt,
        "domain": domain,
        "reference_answer": item.answer,
        "grader": item.grader,
        "difficulty": template.difficulty,
        "language": template.language,
        "tags": list(template.tags),
        "task_group": group,
        "source": SOURCE,
    }


def check_tasks(tasks: list[Task]) -> None:
    """Raise ValueError where the task set breaks one of its own rules."""
    _check_counts(tasks)
    for task in tasks:
        _check_answer(task)
    _check_letters(tasks)
    _check_duplicates(tasks)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _check_counts(tasks: list[Task]) -> None:
    _require(len({task["task_id"] for task in tasks}) == len(tasks), "task ids repeat")
    for domain in DOMAINS:
        own = [task for task in tasks if task["domain"] == domain]
        levels = Counter(task["difficulty"] for task in own)
        turkish = sum(task["language"] == "tr" for task in own)
        groups = len({task["task_group"] for task in own})
        _require(len(own) == TASKS_PER_DOMAIN, f"{domain}: {len(own)} tasks")
        _require(set(levels.values()) == {TASKS_PER_DIFFICULTY}, f"{domain}: {levels}")
        _require(turkish == TURKISH_PER_DOMAIN, f"{domain}: {turkish} Turkish tasks")
        _require(groups >= GROUPS_PER_DOMAIN, f"{domain}: {groups} groups")


def _check_answer(task: Task) -> None:
    """The grader accepts the reference, and the prompt does not contain it."""
    name, answer, grader = task["task_id"], task["reference_answer"], task["grader"]
    item = Item(task["prompt"], answer, grader)
    _require(answer.strip() == answer != "", f"{name}: empty or padded answer")
    _require(_accepts(grader, answer), f"{name}: the grader refuses {answer!r}")
    _require(not gives_answer_away(item), f"{name}: the prompt gives {answer!r} away")
    spoken = grader["type"] != "choice" and len(answer) > 3
    _require(not (spoken and stands_in(answer, item.prompt)), f"{name}: {answer!r} leaks")
    _require(len(item.prompt.split()) <= MAX_WORDS, f"{name}: the prompt is too long")


def _accepts(grader: dict[str, Any], answer: str) -> bool:
    kind = grader["type"]
    if kind == "numeric":
        return Decimal(answer).is_finite()
    if kind == "choice":
        return len(answer) == 1 and answer in grader["letters"]
    if kind == "regex":
        return re.search(grader["pattern"], answer) is not None
    return kind == "exact" or (kind == "contains" and len(answer) > 2)


def _check_letters(tasks: list[Task]) -> None:
    """No option letter is right so often that guessing it pays."""
    letters = Counter(t["reference_answer"] for t in tasks if t["domain"] == "multiple_choice")
    share = max(letters.values()) / letters.total()
    _require(share <= MAX_LETTER_SHARE, f"the option letters are unbalanced: {letters}")
    for task in tasks:
        if task["grader"]["type"] == "choice":
            options = re.findall(r"^[A-D]\) (.+)$", task["prompt"], re.MULTILINE)
            _require(len(options) == len(task["grader"]["letters"]), f"{task['task_id']}: options")
            _require(len(set(options)) == len(options), f"{task['task_id']}: options repeat")


def _check_duplicates(tasks: list[Task]) -> None:
    """Prompts are unique, and similar ones share their group."""
    plain = Counter(" ".join(task["prompt"].casefold().split()) for task in tasks)
    _require(max(plain.values()) == 1, f"repeated prompt: {plain.most_common(1)}")
    shingles = [_shingles(task["prompt"]) for task in tasks]
    for second, task in enumerate(tasks):
        for first in range(second):
            if tasks[first]["task_group"] != task["task_group"]:
                overlap = _overlap(shingles[first], shingles[second])
                names = f"{tasks[first]['task_id']} and {task['task_id']}"
                _require(overlap < MAX_OVERLAP, f"{names} are near-duplicates: {overlap:.2f}")


def _shingles(prompt: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words or signs in a prompt, with every number masked."""
    parts = re.findall(r"\w+|[^\w\s]", re.sub(r"\d+", "0", prompt.casefold()))
    return frozenset(zip(parts, parts[1:], parts[2:], strict=False))


def _overlap(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    return len(left & right) / len(left | right)


def main() -> None:
    """Generate, check and write the tasks."""
    tasks = make_tasks()
    check_tasks(tasks)
    lines = [json.dumps(task, ensure_ascii=False) for task in tasks]
    OUTPUT.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    print(f"{len(tasks)} tasks written")


if __name__ == "__main__":
    main()
