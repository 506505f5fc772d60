"""How stable the labels are: does the same worker get the same grade on the same task again?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fugu_lite.intervals import Interval, paired_bootstrap, wilson
from fugu_lite.rewards.attempts import Attempt


@dataclass(frozen=True)
class FlipRate:
    """One worker's stability.

    Attributes:
        rate: chance that two repetitions of one task are graded differently; its interval resamples task groups.
            Where nothing flipped it is Wilson's for none of that many groups: never seen is not never. Not a number
            where no task was graded twice.
        tasks: tasks graded at least twice.
        unstable: of them, those with more than one grade.
    """

    worker_id: str
    rate: Interval
    tasks: int
    unstable: int


def flip_rates(attempts: Iterable[Attempt], groups: Mapping[str, str], rng: np.random.Generator) -> list[FlipRate]:
    """Return the flip rate of every worker, in order of first appearance.

    Args:
        attempts: in force, one per key; those without a grade are left out.
        groups: task id -> task group; a task that is not in it stands alone.
        rng: source of the bootstrap draws.
    """
    grades: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for attempt in attempts:
        if attempt.quality is not None:
            grades[attempt.worker_id][attempt.task_id].append(attempt.quality)
    return [_rate(worker, by_task, groups, rng) for worker, by_task in grades.items()]


def _rate(
    worker: str, by_task: Mapping[str, list[float]], groups: Mapping[str, str], rng: np.random.Generator
) -> FlipRate:
    repeated = {name: values for name, values in by_task.items() if len(values) > 1}
    flips, clusters = [], []
    for name, values in repeated.items():
        for a, b in combinations(values, 2):
            flips.append(float(a != b))
            clusters.append(groups.get(name, name))
    unstable = sum(len(set(values)) > 1 for values in repeated.values())
    rate = paired_bootstrap(np.array(flips), clusters, rng) if unstable else wilson(0, len(set(clusters)))
    return FlipRate(worker, rate, len(repeated), unstable)
