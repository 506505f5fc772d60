"""Splitting tasks by group, and the checks that a split is fit to judge with."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from fugu_lite.errors import SpecError
from fugu_lite.tasks import Task, leaked_answers

DEFAULT_SHARES: Mapping[str, float] = {"train": 0.60, "validation": 0.15, "test": 0.25}
SMALLEST = {"validation": 50, "test": 100}
SHINGLE = 5
BANDS, ROWS = 16, 4
BIG_BUCKET = 40
BASE = np.uint64(0x9E3779B97F4A7C15)


def assign(tasks: Sequence[Task], shares: Mapping[str, float] = DEFAULT_SHARES, seed: int = 0) -> list[Task]:
    """Return the tasks, in their order, each with a split.

    Groups (`task_group`, and near-duplicate prompts) stay whole. Within every (domain, difficulty) the shares are met
    as closely as whole groups allow, and within every language over all. The outcome depends on the tasks and the
    seed, not on their order.

    Raises:
        SpecError: if the shares are not positive or do not sum to 1.
    """
    if not shares or min(shares.values()) <= 0 or abs(sum(shares.values()) - 1) > 1e-6:
        raise SpecError("shares", f"{dict(shares)} must be positive and sum to 1")
    strata: dict[tuple[str, str], list[list[Task]]] = defaultdict(list)
    for group in joined_groups(sorted(tasks, key=lambda task: task.task_id)):
        strata[_stratum(group)].append(group)
    totals: Counter[tuple[str, str]] = Counter()
    chosen: dict[str, str] = {}
    for key in sorted(strata):
        _fill(sorted(strata[key], key=lambda group: _order(group, seed)), shares, totals, chosen)
    return [task.model_copy(update={"split": chosen[task.task_id]}) for task in tasks]


def near_duplicates(tasks: Sequence[Task], threshold: float = 0.8) -> list[tuple[Task, Task]]:
    """Return pairs of tasks in different splits whose prompts are nearly the same.

    Same means equal after normalising, or a Jaccard similarity of character 5-grams of at least `threshold`.
    """
    return [(tasks[i], tasks[j]) for i, j in _similar(tasks, threshold) if tasks[i].split != tasks[j].split]


def warnings_for(tasks: Sequence[Task], expected: Collection[str | None] = tuple(SMALLEST)) -> list[str]:
    """Return what makes the splits unfit or doubtful, in sentences; empty when nothing does.

    Args:
        tasks: all tasks, or the part that is used.
        expected: splits whose size matters; a part of the tasks need not hold all of them.
    """
    counts = Counter(task.split for task in tasks)
    found = [
        f"split {name!r} holds {counts[name]} tasks; below {least} its results are mostly noise"
        for name, least in SMALLEST.items()
        if name in expected and counts[name] < least
    ]
    leaks = leaked_answers(tasks)
    if leaks:
        found.append(f"{len(leaks)} prompts hold their own answer: {_some(task.task_id for task in leaks)}")
    places: dict[str, set[str | None]] = defaultdict(set)
    for task in tasks:
        places[task.group].add(task.split)
    torn = sorted(group for group, splits in places.items() if len(splits) > 1)
    if torn:
        found.append(f"{len(torn)} task groups stand in several splits: {_some(torn)}")
    pairs = near_duplicates(tasks)
    if pairs:
        names = _some(f"{a.task_id} ~ {b.task_id}" for a, b in pairs)
        found.append(f"{len(pairs)} pairs of nearly the same prompt stand in different splits: {names}")
    return found


def _some(names: Iterable[str], limit: int = 5) -> str:
    names = list(names)
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")


def _stratum(group: Sequence[Task]) -> tuple[str, str]:
    """Return the group's most frequent domain and difficulty; ties by name."""
    counts = Counter((task.domain or "", task.difficulty or "") for task in group)
    return min(counts, key=lambda key: (-counts[key], key))


def _order(group: Sequence[Task], seed: int) -> tuple[int, str]:
    """Order groups by size, large first, then at random by seed and name."""
    name = min(task.task_id for task in group)
    return -len(group), hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()


def _fill(
    groups: Sequence[Sequence[Task]],
    shares: Mapping[str, float],
    totals: Counter[tuple[str, str]],
    chosen: dict[str, str],
) -> None:
    """Give each group to the split that lacks most, in this stratum and in the group's language so far."""
    size = sum(len(group) for group in groups)
    here: Counter[str] = Counter()
    for group in groups:
        language = group[0].language or ""
        spoken = sum(totals[language, name] for name in shares) + len(group)
        lack = {
            name: round(share * size - here[name] + share * spoken - totals[language, name], 9)
            for name, share in shares.items()
        }
        best = max(shares, key=lack.__getitem__)
        here[best] += len(group)
        totals[language, best] += len(group)
        chosen.update((task.task_id, best) for task in group)


def joined_groups(tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the tasks as groups: joined where they share a `task_group` or a near-duplicate prompt (union-find)."""
    parent = list(range(len(tasks)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[str, int] = {}
    named = [(first.setdefault(task.group, i), i) for i, task in enumerate(tasks)]
    for i, j in [*named, *_similar(tasks, 0.8)]:
        parent[root(i)] = root(j)
    joined: dict[int, list[Task]] = defaultdict(list)
    for i, task in enumerate(tasks):
        joined[root(i)].append(task)
    return list(joined.values())


def _similar(tasks: Sequence[Task], threshold: float) -> list[tuple[int, int]]:
    """Return index pairs of near-duplicates: candidates share a MinHash band, then the true Jaccard decides.

    Equal prompts are linked in a chain, so that a thousand copies make 999 pairs.
    """
    same: dict[str, list[int]] = defaultdict(list)
    for i, task in enumerate(tasks):
        same[normal_text(task.text)].append(i)
    pairs = [pair for members in same.values() for pair in pairwise(members)]
    texts, owners = list(same), [members[0] for members in same.values()]
    shingles = [_shingles(text) for text in texts]
    for a, b in sorted(_candidates(shingles)):
        common = np.intersect1d(shingles[a], shingles[b], assume_unique=True).size
        if common >= threshold * (shingles[a].size + shingles[b].size - common):
            pairs.append((min(owners[a], owners[b]), max(owners[a], owners[b])))
    return sorted(pairs)


def normal_text(text: str) -> str:
    """Return a prompt as it is compared: NFKC, caseless, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _shingles(text: str) -> NDArray[np.uint64]:
    """Return the distinct 64-bit hashes of the character 5-grams, sorted."""
    codes = np.frombuffer(text.ljust(SHINGLE).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    count = codes.size - SHINGLE + 1
    hashes = codes[:count].copy()
    for step in range(1, SHINGLE):  # polynomial, modulo 2^64 by overflow
        hashes = hashes * BASE + codes[step : step + count]
    return np.unique((hashes ^ (hashes >> np.uint64(29))) * BASE)


def _candidates(shingles: Sequence[NDArray[np.uint64]]) -> set[tuple[int, int]]:
    """Return pairs that agree in at least one band of their MinHash signature (multiply-shift hashes)."""
    rng = np.random.default_rng(0)  # the same hash functions always: the result must not depend on a run
    multipliers = rng.integers(1 << 32, 1 << 63, size=(BANDS * ROWS, 1), dtype=np.uint64) | np.uint64(1)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for i, grams in enumerate(shingles):
        signature = (multipliers * grams).min(axis=1).reshape(BANDS, ROWS)
        for band, part in enumerate(signature):
            buckets[band, part.tobytes()].append(i)
    return {pair for members in buckets.values() for pair in _within(members)}


def _within(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pair the members of a bucket; those of a big one (one template, many fillings) only with a few neighbours."""
    if len(members) <= BIG_BUCKET:
        yield from combinations(members, 2)
        return
    for step in (1, 2, 3):
        yield from zip(members, members[step:], strict=False)
