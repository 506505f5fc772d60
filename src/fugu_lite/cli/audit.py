"""`audit` and `contamination`: care for the data before anything is trained or claimed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from fugu_lite import tasks
from fugu_lite.audit import contamination as comparing
from fugu_lite.audit import inspection, marks, report
from fugu_lite.cli._terminal import Shown

Flag = Parameter(negative=())


def audit(
    *,
    data: Path,
    tasks_file: Annotated[Path | None, Parameter(name="--tasks")] = None,
    sample: Annotated[int, Parameter(validator=Number(gte=2))] = inspection.SAMPLE,
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    mark: Path | None = None,
    shown: Shown = Shown(),
) -> None:
    """Look for wrong grades, unstable labels, leaked answers and duplicates; nothing is called.

    Args:
        data: reward matrix, with its attempts beside it.
        tasks_file: tasks with reference answers and graders; unset takes tasks.jsonl beside the matrix.
        sample: answers to draw, half at random and half where graders disagree.
        seed: of the sample and the intervals.
        mark: file in which a person marks the sample; written when it does not exist, read when it does.
    """
    found = inspection.inspect(data, tasks_file, sample, seed)
    rows = None
    if mark is not None and mark.exists():
        rows = marks.read_marks(mark)
    elif mark is not None:
        marks.write_template(mark, found.drawn)
    shown.warn(found.notes)
    told = report.audit_tables(found)
    if rows is not None:
        told.append(report.error_table(marks.error_rates(rows), marks.progress(rows)))
    elif mark is not None:
        told.append(
            f"{len(found.drawn)} answers in {mark}: write right, wrong or unsure into 'mark', then run this again"
        )
    shown.result(report.audit_json(found, rows), *told)


def contamination(
    *,
    data: Path,
    benchmark: Path,
    split: str | None = None,
    ngram: Annotated[int, Parameter(validator=Number(gte=2))] = comparing.NGRAM,
    threshold: Annotated[float, Parameter(validator=Number(gt=0, lte=1))] = comparing.THRESHOLD,
    examples: Annotated[int, Parameter(validator=Number(gte=0))] = report.EXAMPLES,
    strict: Annotated[bool, Flag] = False,
    shown: Shown = Shown(),
) -> None:
    """Find benchmark tasks that stand in the training data, word for word or nearly.

    Args:
        data: training tasks, or a reward matrix with prompts.
        benchmark: tasks file of the benchmark.
        split: compare only these rows of the training data.
        ngram: words per stretch.
        threshold: share of a benchmark prompt's stretches from which a pair is reported.
        examples: pairs to show; --json holds all.
        strict: exit with 1 if anything is found.
    """
    train = tasks.in_split(tasks.load(data), split)
    found = comparing.compare(train, tasks.load(benchmark), ngram, threshold)
    shown.result(report.contamination_json(found), *report.contamination_tables(found, examples))
    if strict and found.matches:
        raise SystemExit(1)
