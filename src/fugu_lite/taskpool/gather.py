"""From files to candidates: which file belongs to which source, which rows can be used, and why others cannot."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from fugu_lite.errors import DataError, FuguLiteError
from fugu_lite.jsonl import Row
from fugu_lite.taskpool import asking, reading
from fugu_lite.taskpool.contract import Draft, Item, Source, text, unusable
from fugu_lite.tasks import Task

Judge = Callable[[Task, str], float]

MAX_UNTRUSTED = 0.2
UNTRUSTED = "its grader does not tell its own reference answer from a wrong one"
NAMES = {"val": "validation", "dev": "validation"}
_SPLIT = re.compile(r"(?<![a-z])(train|test|validation|val|dev)(?![a-z])")


@dataclass(frozen=True)
class Candidate:
    """A task that could be in the pool, with the question that tells duplicates."""

    task: Task
    source: str
    stem: str

    @property
    def subject(self) -> str:
        """The source's own topic, empty when it gives none."""
        return self.task.tags[0] if self.task.tags else ""


@dataclass
class Gathered:
    """What one source gave.

    Attributes:
        read: rows read.
        dropped: reason -> rows.
        why: why the source as a whole is left out; None when it is not.
    """

    kind: str
    files: list[str] = field(default_factory=list)
    read: int = 0
    candidates: list[Candidate] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    why: str | None = None


def scan(folder: Path, sources: Mapping[str, Source]) -> tuple[dict[str, list[Path]], list[str]]:
    """Return source -> its files, and a line for every data file that is nobody's.

    Raises:
        DataError: if there is no such folder.
    """
    if not folder.is_dir():
        raise DataError(str(folder), "no such folder", "give a folder with local copies of the sources")
    claimed: dict[str, list[Path]] = defaultdict(list)
    strangers = []
    for path in reading.files_below(folder):
        try:
            first = next(iter(reading.rows(path)), None)
        except DataError as error:
            strangers.append(f"{path.relative_to(folder)}: not read: {error.found}")
            continue
        owners = _owners(below(path, folder), first, sources) if first is not None else []
        for kind in owners:
            claimed[kind].append(path)
        if not owners:
            strangers.append(f"{path.relative_to(folder)}: {'empty' if first is None else 'of no known source'}")
    return claimed, strangers


def below(path: Path, folder: Path) -> PurePosixPath:
    """Return a path as sources see it: from the folder's own name on, lower case."""
    return PurePosixPath(folder.resolve().name.lower(), path.relative_to(folder).as_posix().lower())


def _owners(path: PurePosixPath, row: Row, sources: Mapping[str, Source]) -> list[str]:
    if is_task(row):
        return [_prefix(row)] if _prefix(row) in sources else []
    return [kind for kind, source in sources.items() if source.claims(path, row)]


def is_task(row: Row) -> bool:
    """Whether a row already has the shape of a task."""
    return {"task_id", "prompt", "reference_answer"} <= row.keys()


def _prefix(row: Row) -> str:
    return str(row["task_id"]).partition("/")[0]


def gather(source: Source, files: Iterable[Path], folder: Path, judge: Judge) -> Gathered:
    """Read every row of a source and keep what can be asked and graded.

    Args:
        source: whose rows they are.
        files: its files.
        folder: the folder of all sources.
        judge: returns the quality of a response to a task; a grade of the reference below 1, or of a wrong answer
            above 0, makes a row untrusted.
    """
    result = Gathered(source.kind)
    rows: list[tuple[str, Row, PurePosixPath]] = []
    for path in files:
        place = below(path, folder)
        result.files.append(str(path.relative_to(folder)))
        rows += [(_split_of(row, place) or source.splits[0], row, place) for row in reading.rows(path)]
    result.read = len(rows)
    present = {split for split, _, _ in rows}
    wanted = next((split for split in source.splits if split in present), None)
    numbers: Counter[str] = Counter()
    for split, row, place in rows:
        index = numbers[split]
        numbers[split] += 1
        if split != wanted:
            result.dropped[f"split {split} is not used" + (f" beside {wanted}" if wanted else "")] += 1
            continue
        try:
            result.candidates.append(_candidate(source, row, place, split, index, judge))
        except DataError as error:
            result.dropped[error.found] += 1
    _leave_out(result)
    return result


def _leave_out(result: Gathered) -> None:
    """Give a source up when its grader fails too often, or nothing can be graded."""
    untrusted, kept = result.dropped[UNTRUSTED], len(result.candidates)
    if untrusted > MAX_UNTRUSTED * (untrusted + kept):
        result.why = f"the grader failed on {untrusted} of {untrusted + kept} reference answers"
        result.dropped["left out with its source"] += kept
        result.candidates = []
    elif not kept:
        result.why = "no row has an answer that can be checked" if result.read else "no row"


def _split_of(row: Row, path: PurePosixPath) -> str | None:
    """Return the published split, by a task row's id (`gsm8k/test/0`; its `split` may be anyone's), or by the path."""
    for part in (str(row["task_id"]),) if is_task(row) else (path.name, path.parent.name):
        found: list[str] = _SPLIT.findall(part)
        if found:
            return NAMES.get(found[-1], found[-1])
    return None


def _candidate(source: Source, row: Row, path: PurePosixPath, split: str, index: int, judge: Judge) -> Candidate:
    item = _item_of_task(source, row) if is_task(row) else source.item(row, path)
    draft = source.draft(item)
    facts = source.facts
    provenance: dict[str, Any] = {
        "dataset": facts.dataset,
        "license": facts.license,
        "redistributable": facts.redistributable,
        "published_split": split,
    }
    task = Task(
        task_id=str(row["task_id"]) if is_task(row) else f"{source.kind}/{split}/{index:06d}",
        prompt=draft.prompt,
        domain=facts.domain,
        reference_answer=draft.reference,
        grader=draft.grader,
        difficulty=draft.difficulty,
        language="en",
        tags=[draft.subject] if draft.subject else [],
        source=provenance | ({"note": facts.note} if facts.note else {}),
    )
    if not _trusted(task, draft, judge):
        raise unusable(UNTRUSTED)
    return Candidate(task, source.kind, draft.stem)


def _item_of_task(source: Source, row: Row) -> Item:
    """Read a row that already has the shape of a task; its options are found in its prompt."""
    if _prefix(row) != source.kind:
        raise unusable("a task of another set")
    question, options = asking.split_options(asking.without_wording(text(row, "prompt")))
    answer = row["reference_answer"]
    if answer is None or not str(answer).strip():
        raise unusable("no 'reference_answer'")
    topic = row.get("domain")
    subject = topic if isinstance(topic, str) and topic != source.facts.domain else None
    return Item(question, str(answer).strip(), options, subject, row.get("difficulty"))


def _trusted(task: Task, draft: Draft, judge: Judge) -> bool:
    """Whether the grader accepts the reference answer, and only that."""
    try:
        return judge(task, draft.right) == 1.0 and judge(task, draft.wrong) == 0.0
    except FuguLiteError:
        return False
