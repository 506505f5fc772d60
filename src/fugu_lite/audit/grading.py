"""A second opinion on stored answers: other graders read the same response, offline.

No grader is the truth. Where two of them disagree one is wrong, and a person can see which; `marks` counts it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fugu_lite import graders
from fugu_lite.errors import FuguLiteError
from fugu_lite.graders import Grader
from fugu_lite.rewards.attempts import Attempt
from fugu_lite.tasks import Task

RIGHT = 0.5  # a quality from here on counts as right
SECOND = ("exact", "contains", "numeric", "choice")
AGAIN = "again"  # the task's own grader, as it is today
_NUMBER = re.compile(r"[-+$€£−]{0,2}\s*\d[\d.,/]*\s*%?")
_OPTIONS = re.compile(r"(?m)^\s*\(?([A-Z])[.):]\s")


@dataclass(frozen=True)
class Opinion:
    """One graded answer and what other graders say.

    Attributes:
        own: the kind of the task's grader, whose stored grade is judged.
        own_right: whether the stored quality counts as right.
        others: second opinion -> right; a grader that cannot read this task is absent.
    """

    task: Task
    attempt: Attempt
    own: str
    own_right: bool
    others: dict[str, bool]

    @property
    def against(self) -> tuple[str, ...]:
        """The second opinions that contradict the stored grade.

        `exact` can only speak for an answer: a response that says more than the reference is not wrong by that.
        """
        return tuple(name for name, right in self.others.items() if right != self.own_right and testifies(name, right))


def testifies(second: str, right: bool) -> bool:
    """Whether a second opinion's verdict is evidence."""
    return right or second != "exact"


@dataclass(frozen=True)
class Pair:
    """How often a grader and a second opinion agree.

    Attributes:
        n: answers that both judged.
        only_own: right by the stored grade alone; None for `exact`, which cannot speak against an answer.
        only_second: right by the second opinion alone.
    """

    own: str
    second: str
    n: int
    only_own: int | None
    only_second: int


def opinions(attempts: Iterable[Attempt], tasks: Sequence[Task]) -> tuple[list[Opinion], Counter[str]]:
    """Return the second opinions on every graded answer, and why others have none (reason -> answers).

    Args:
        attempts: in force, one per key.
        tasks: with reference answers and graders.
    """
    known = {task.task_id: task for task in tasks}
    panels: dict[str, dict[str, Grader]] = {}
    found: list[Opinion] = []
    skipped: Counter[str] = Counter()
    for attempt in attempts:
        task = known.get(attempt.task_id)
        reason = _reason(attempt, task)
        if reason is not None or task is None or attempt.response is None or attempt.quality is None:
            skipped[reason or "no answer"] += 1
            continue
        if task.task_id not in panels:
            panels[task.task_id] = panel(task)
        others = _verdicts(panels[task.task_id], attempt.response, task)
        if not others:
            skipped["no other grader can read the reference"] += 1
            continue
        own = str((attempt.grader or task.grader or {}).get("type", "unknown"))
        found.append(Opinion(task, attempt, own, attempt.quality >= RIGHT, others))
    return found, skipped


def _reason(attempt: Attempt, task: Task | None) -> str | None:
    if task is None:
        return "no task in the tasks file"
    if attempt.response is None or not attempt.response.strip():
        return "no answer"
    return "not graded" if attempt.quality is None else None


def panel(task: Task) -> dict[str, Grader]:
    """Return the graders that can give a second opinion on a task."""
    own = (task.grader or {}).get("type")
    found = {name: graders.build(config) for name, config in _configs(task).items() if name != own}
    if own in SECOND:
        found[AGAIN] = graders.build(task.grader, f"task {task.task_id!r}")
    return {name: grader for name, grader in found.items() if _can_judge(grader, task)}


def _configs(task: Task) -> dict[str, dict[str, object]]:
    """Return the second opinions that make sense of the reference answer."""
    reference = task.reference_answer
    if reference is None or isinstance(reference, list | dict):
        return {}
    text = str(reference).strip()
    letters = "".join(dict.fromkeys(_OPTIONS.findall(task.text)))
    if len(text) == 1 and text.upper() in letters and len(letters) > 1:
        return {"exact": {"type": "exact"}, "choice": {"type": "choice", "letters": letters}}
    if _NUMBER.fullmatch(text):
        aliases = (task.grader or {}).get("aliases", [])
        numeric = {"type": "numeric", "tolerance": 1e-6, "aliases": aliases}
        return {"exact": {"type": "exact"}, "contains": {"type": "contains"}, "numeric": numeric}
    if len(text) < 2:
        return {"exact": {"type": "exact"}}
    return {"exact": {"type": "exact"}, "contains": {"type": "contains"}}


def _can_judge(grader: Grader, task: Task) -> bool:
    try:
        grader.check(task)
    except FuguLiteError:
        return False
    return True


def _verdicts(panel: dict[str, Grader], response: str, task: Task) -> dict[str, bool]:
    found = {}
    for name, grader in panel.items():
        try:
            found[name] = grader.grade(response, task).quality >= RIGHT
        except FuguLiteError:
            continue  # a grader that cannot decide has no opinion
    return found


def pairs(found: Iterable[Opinion]) -> list[Pair]:
    """Return agreement by (own grader, second opinion), most disagreements first."""
    counts: dict[tuple[str, str], Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for opinion in found:
        for second, right in opinion.others.items():
            counts[opinion.own, second][opinion.own_right, right] += 1
    table = [
        Pair(own, second, seen.total(), seen[True, False] if testifies(second, False) else None, seen[False, True])
        for (own, second), seen in counts.items()
    ]
    return sorted(table, key=lambda pair: (-(pair.only_own or 0) - pair.only_second, pair.own, pair.second))


def draw(found: Sequence[Opinion], size: int, rng: np.random.Generator) -> list[tuple[str, Opinion]]:
    """Draw answers for a person to look at: half at random, half where graders disagree.

    Only the random half says how often a grader is wrong. The other half finds out how, quickly: it takes the kinds of
    disagreement in turn, and at most one answer of a task.

    Returns:
        `random` or `disagreement`, and the answer.
    """
    order = [found[int(i)] for i in rng.permutation(len(found))]
    chosen = [("random", opinion) for opinion in order[: size - size // 2]]
    queues: dict[tuple[str, str, bool], list[Opinion]] = defaultdict(list)
    for opinion in order[len(chosen) :]:
        for second in opinion.against:
            queues[opinion.own, second, opinion.own_right].append(opinion)
    seen: set[str] = set()
    picked: list[tuple[str, Opinion]] = []
    while queues and len(picked) < size // 2:
        for key in sorted(queues):
            fresh = next((opinion for opinion in queues[key] if opinion.task.task_id not in seen), None)
            if fresh is None:
                del queues[key]
            elif len(picked) < size // 2:
                seen.add(fresh.task.task_id)
                picked.append(("disagreement", fresh))
    return [*chosen, *picked]
