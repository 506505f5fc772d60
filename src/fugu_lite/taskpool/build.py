"""Building the pool: gather, drop duplicates, balance, group, split."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fugu_lite import splits
from fugu_lite.errors import DataError, SpecError
from fugu_lite.taskpool.balance import Key, spread
from fugu_lite.taskpool.contract import registry
from fugu_lite.taskpool.gather import Candidate, Gathered, Judge, gather, scan
from fugu_lite.tasks import Task

SPLITS = ("train", "validation", "test")
TELLING = 40  # characters from which equal questions are the same question, whatever their options
PER_SOURCE = 250

_DOMAIN: Key[Candidate] = lambda one: one.task.domain or ""  # noqa: E731
_DIFFICULTY: Key[Candidate] = lambda one: one.task.difficulty or ""  # noqa: E731
_SOURCE: Key[Candidate] = lambda one: one.source  # noqa: E731
_SUBJECT: Key[Candidate] = lambda one: one.subject  # noqa: E731
_NAME: Key[Candidate] = lambda one: one.task.task_id  # noqa: E731


@dataclass(frozen=True)
class SourceRow:
    """A source in the table of the build.

    Attributes:
        status: `used`, `left out` or `missing`.
        kept: tasks in the pool.
        dropped: reason -> rows; with `kept` they add up to `read`.
        why: why nothing of it is used.
    """

    kind: str
    status: str
    license: str
    redistributable: bool | None
    files: tuple[str, ...] = ()
    read: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    why: str | None = None


@dataclass(frozen=True)
class Pool:
    """The pool and how it came about.

    Attributes:
        tasks: with their splits, sorted by id.
        sources: one row for each known source, found or not.
        strangers: data files that belong to no source, one line each.
        notes: what a reader has to know, in sentences.
    """

    tasks: list[Task]
    sources: list[SourceRow]
    strangers: list[str]
    notes: list[str]


def build(
    folder: Path,
    judge: Judge,
    per_source: int = PER_SOURCE,
    total: int | None = None,
    shares: Sequence[float] = (0.60, 0.15, 0.25),
    seed: int = 42,
) -> Pool:
    """Build a pool from the sources that are there.

    Args:
        folder: local copies of the sources, in any arrangement.
        judge: grades a response to a task; a row is used only if this accepts its reference and nothing else.
        per_source: most tasks of one source.
        total: most tasks at all; without it the domains are cut to the size of the smallest.
        shares: of train, validation and test.
        seed: the same files and seed give the same pool.

    Raises:
        DataError: if the folder holds no usable source.
    """
    sources = {kind: registry.get(kind)() for kind in registry.names()}
    claimed, strangers = scan(folder, sources)
    found = {kind: gather(sources[kind], claimed[kind], folder, judge) for kind in sources if kind in claimed}
    _drop_duplicates(found.values())
    if not any(one.candidates for one in found.values()):
        names = ", ".join(sources)
        raise DataError(str(folder), "holds no usable source", f"put local copies of some of these there: {names}")
    chosen, notes = _balanced(found, per_source, total, seed)
    named = dict(zip(SPLITS, shares, strict=True))
    grouped, groups = _grouped(sorted(chosen, key=_NAME))
    tasks = splits.assign(grouped, named, seed)
    if groups:
        notes.append(f"{groups} groups of nearly the same question stay in one split")
    kept = Counter(one.source for one in chosen)
    table = []
    for kind, source in sources.items():
        got, facts = found.get(kind), source.facts
        if got is None:
            table.append(SourceRow(kind, "missing", facts.license, facts.redistributable))
            continue
        status = "left out" if got.why else "used"
        rows = {reason: count for reason, count in got.dropped.most_common() if count}
        table.append(
            SourceRow(
                kind,
                status,
                facts.license,
                facts.redistributable,
                tuple(got.files),
                got.read,
                kept[kind],
                rows,
                got.why,
            )
        )
    return Pool(tasks, table, strangers, [*notes, *splits.warnings_for(tasks)])


def shares_of(text: str) -> tuple[float, ...]:
    """Read `60,15,25` (percent) as shares of train, validation and test.

    Raises:
        SpecError: if they are not three positive numbers that sum to 100.
    """
    try:
        percent = [float(part) for part in text.split(",")]
    except ValueError:
        percent = []
    if len(percent) != len(SPLITS) or min(percent) <= 0 or abs(sum(percent) - 100) > 1e-6:
        raise SpecError("--split", f"{text!r} is not three positive percentages that sum to 100", "e.g. 60,15,25")
    return tuple(part / 100 for part in percent)


def _drop_duplicates(found: Iterable[Gathered]) -> None:
    """Keep one of equal prompts; where their answers differ, none: nobody knows which is right."""
    same: dict[str, list[tuple[Gathered, Candidate]]] = defaultdict(list)
    ids: set[str] = set()
    for one in found:
        fresh = [candidate for candidate in one.candidates if candidate.task.task_id not in ids]
        ids.update(candidate.task.task_id for candidate in fresh)
        one.dropped["task_id appears twice"] += len(one.candidates) - len(fresh)
        one.candidates = []
        for candidate in fresh:
            same[splits.normal_text(candidate.task.text)].append((one, candidate))
    for members in same.values():
        agree = len({str(candidate.task.reference_answer).casefold() for _, candidate in members}) == 1
        for place, (one, candidate) in enumerate(members):
            if agree and place == 0:
                one.candidates.append(candidate)
            else:
                one.dropped["duplicate prompt" if agree else "same prompt with another answer"] += 1


def _balanced(
    found: dict[str, Gathered], per_source: int, total: int | None, seed: int
) -> tuple[list[Candidate], list[str]]:
    """Cap every source, then even out domains and, inside them, difficulties and sources; count what is cut."""
    capped: list[Candidate] = []
    for one in found.values():
        part = spread(one.candidates, per_source, (_DIFFICULTY, _SUBJECT), _NAME, seed)
        one.dropped["over the limit per source"] += len(one.candidates) - len(part)
        capped += part
    keys = (_DOMAIN, _DIFFICULTY, _SOURCE, _SUBJECT)
    notes = []
    sizes = Counter(_DOMAIN(one) for one in capped)
    smallest = min(sizes, key=lambda name: (sizes[name], name))
    size = sizes[smallest] * len(sizes) if total is None else total
    chosen = spread(capped, size, keys, _NAME, seed)
    if total is None and len(chosen) < len(capped):
        notes.append(f"every domain is cut to the {sizes[smallest]} tasks of {smallest!r}; --total N takes more")
    if total is not None and len(chosen) < total:
        notes.append(f"{total} tasks were asked for, {len(chosen)} are there within --per-source {per_source}")
    picked = {one.task.task_id for one in chosen}
    for candidate in capped:
        if candidate.task.task_id not in picked:
            found[candidate.source].dropped["cut to balance"] += 1
    return chosen, notes


def _grouped(candidates: Sequence[Candidate]) -> tuple[list[Task], int]:
    """Return the tasks, duplicates named as one group, and how many groups there are."""
    first: dict[str, str] = {}
    tasks = []
    for candidate in candidates:
        stem = splits.normal_text(candidate.stem)
        name = first.setdefault(stem, candidate.task.task_id) if len(stem) >= TELLING else candidate.task.task_id
        tasks.append(candidate.task.model_copy(update={"task_group": name}))
    names: dict[str, str] = {}
    groups = [group for group in splits.joined_groups(tasks) if len(group) > 1]
    for group in groups:
        names.update(dict.fromkeys((task.task_id for task in group), min(task.task_id for task in group)))
    return [task.model_copy(update={"task_group": names.get(task.task_id)}) for task in tasks], len(groups)
