"""The audit and the comparison as tables and as JSON documents; prompts and answers only as short excerpts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from fugu_lite.audit import marks
from fugu_lite.audit.contamination import KINDS, Contamination, Match
from fugu_lite.audit.flips import FlipRate
from fugu_lite.audit.grading import Opinion, Pair
from fugu_lite.audit.inspection import Audit
from fugu_lite.audit.marks import ErrorRate
from fugu_lite.intervals import Interval
from fugu_lite.jsonl import Row

EXCERPT = 48
EXAMPLES = 10


def excerpt(value: object, size: int = EXCERPT) -> str:
    """Return a text on one line; of a long one its end too, where answers stand."""
    text = " ".join(str(value).split())
    return text if len(text) <= size else f"{text[: size // 2 - 1]} … {text[-(size - size // 2 - 2) :]}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def interval_json(found: Interval) -> dict[str, float | int | None]:
    """Return an interval as a document; unknown bounds are null."""
    return {"mean": _number(found.mean), "low": _number(found.low), "high": _number(found.high), "n": found.n}


def interval_text(found: Interval) -> str:
    """Return `3.1% [1.0%, 8.9%]`, with what is known of it."""
    if math.isnan(found.mean):
        return "unknown"
    bounds = "" if math.isnan(found.low) else f" [{found.low:.1%}, {found.high:.1%}]"
    return f"{found.mean:.1%}{bounds}"


def pair_table(pairs: Sequence[Pair]) -> Table:
    """Return the agreement of graders."""
    table = Table("grader", "second opinion", "answers", "only grader right", "only second right", title="graders")
    table.title_justify = "left"
    for pair in pairs:
        only_own = "" if pair.only_own is None else str(pair.only_own)
        table.add_row(pair.own, pair.second, str(pair.n), only_own, str(pair.only_second))
    return table


def sample_table(drawn: Sequence[tuple[str, Opinion]]) -> Table:
    """Return the drawn disagreements for reading."""
    title = "a sample of disagreements"
    table = Table("task", "worker", "reference", "response", "stored grade", "contradicted by", title=title)
    table.title_justify = "left"
    for opinion in (opinion for how, opinion in drawn if how == "disagreement"):
        grade = f"{opinion.own}: {'right' if opinion.own_right else 'wrong'}"
        reference, response = excerpt(opinion.task.reference_answer, 16), excerpt(opinion.attempt.response)
        against = ", ".join(opinion.against)
        worker = f"{opinion.attempt.worker_id} #{opinion.attempt.repetition}"
        table.add_row(opinion.task.task_id, worker, reference, response, grade, against)
    return table


def opinion_json(how: str, opinion: Opinion) -> dict[str, Any]:
    """Return a drawn answer without its text."""
    return {
        "drawn": how,
        "task_id": opinion.task.task_id,
        "worker_id": opinion.attempt.worker_id,
        "repetition": opinion.attempt.repetition,
        "grades": {opinion.own: opinion.own_right, **opinion.others},
        "against": list(opinion.against),
    }


def flip_table(rates: Sequence[FlipRate]) -> Table:
    """Return the stability of labels."""
    title = "flips: two repetitions of one task graded differently"
    table = Table("worker", "flip rate", "tasks graded twice", "of them unstable", title=title, title_justify="left")
    for rate in rates:
        table.add_row(rate.worker_id, interval_text(rate.rate), str(rate.tasks), str(rate.unstable))
    return table


def flip_json(rates: Sequence[FlipRate]) -> dict[str, Any]:
    """Return worker -> flip rate."""
    return {
        rate.worker_id: {**interval_json(rate.rate), "tasks": rate.tasks, "unstable": rate.unstable} for rate in rates
    }


def error_table(rates: Sequence[ErrorRate], progress: Mapping[str, int]) -> Table:
    """Return what the marks say about graders."""
    title = f"grader errors by {progress['marked']} marks of {progress['rows']} ({progress['unsure']} unsure)"
    table = Table("drawn", "grader", "error rate", "marks", "wrongly right", "wrongly wrong", title=title)
    table.title_justify = "left"
    for rate in rates:
        counts = map(str, (rate.errors.n, rate.false_right, rate.false_wrong))
        table.add_row(rate.drawn, rate.grader, interval_text(rate.errors), *counts)
    return table


def error_json(rates: Sequence[ErrorRate]) -> list[dict[str, Any]]:
    """Return one object per draw and grader."""
    return [
        {
            "drawn": rate.drawn,
            "grader": rate.grader,
            **interval_json(rate.errors),
            "false_right": rate.false_right,
            "false_wrong": rate.false_wrong,
        }
        for rate in rates
    ]


def audit_tables(found: Audit) -> list[RenderableType]:
    """Return what is worth reading; a clean set gives the tables of numbers and one sentence."""
    told: list[RenderableType] = [pair_table(found.pairs)] if found.pairs else []
    if any(how == "disagreement" for how, _ in found.drawn):
        told.append(sample_table(found.drawn))
    told.append(flip_table(found.flips))
    told += [f"{count} answers have no second opinion: {reason}" for reason, count in found.skipped.most_common()]
    told.append(f"{found.disagreements} of {len(found.opinions)} answers are contradicted by a second opinion")
    told.append(_listed("prompts hold their own answer", [task.task_id for task in found.leaks]))
    pairs = [f"{a.task_id} ~ {b.task_id}" for a, b in found.duplicates]
    told.append(_listed("pairs of nearly the same prompt stand in different splits", pairs))
    return told


def _listed(what: str, names: Sequence[str]) -> str:
    return f"{len(names)} {what}" + (f": {', '.join(names[:EXAMPLES])}" if names else "")


def audit_json(found: Audit, rows: Sequence[Row] | None) -> dict[str, Any]:
    """Return the whole audit, without the texts of prompts and answers."""
    document: dict[str, Any] = {
        "attempts": found.attempts,
        "compared": len(found.opinions),
        "disagreements": found.disagreements,
        "no_second_opinion": dict(found.skipped),
        "graders": [asdict(pair) for pair in found.pairs],
        "sample": [opinion_json(how, opinion) for how, opinion in found.drawn],
        "flips": flip_json(found.flips),
        "leaked_answers": [task.task_id for task in found.leaks],
        "duplicates": [[a.task_id, b.task_id] for a, b in found.duplicates],
        "notes": found.notes,
    }
    if rows is not None:
        document["marks"] = {**marks.progress(rows), "errors": error_json(marks.error_rates(rows))}
    return document


def contamination_tables(found: Contamination, examples: int = EXAMPLES) -> list[Table]:
    """Return the counts, and some pairs by id with short excerpts."""
    title = f"{found.benchmark_tasks} benchmark tasks against {found.train_tasks} training tasks"
    counts = Table("what", "tasks", "share", title=title, title_justify="left")
    for kind, told in zip(KINDS, _told(found), strict=True):
        counts.add_row(told, str(found.count(kind)), f"{found.count(kind) / max(found.benchmark_tasks, 1):.1%}")
    same = sum(match.same_answer is True for match in found.matches)
    counts.add_row("of these with the same answer", str(same), "")
    counts.add_row("long answers that are also training answers", str(found.shared_answers), "")
    if not found.matches:
        return [counts]
    pairs = Table("benchmark", "training", "kind", "overlap", "same answer", "benchmark prompt", title="examples")
    pairs.title_justify = "left"
    for match in found.matches[:examples]:
        overlap = "" if match.overlap is None else f"{match.overlap:.0%}"
        same_answer = {True: "yes", False: "no", None: "unknown"}[match.same_answer]
        ids = match.benchmark.task_id, match.train.task_id
        pairs.add_row(*ids, match.kind, overlap, same_answer, excerpt(match.benchmark.text))
    return [counts, pairs]


def _told(found: Contamination) -> tuple[str, str, str]:
    overlap = f"at least {found.threshold:.0%} of its {found.ngram}-word stretches in one training prompt"
    return "the same prompt", "nearly the same prompt", overlap


def contamination_json(found: Contamination) -> dict[str, Any]:
    """Return counts and every pair, by id."""
    return {
        "train_tasks": found.train_tasks,
        "benchmark_tasks": found.benchmark_tasks,
        "counts": {kind: found.count(kind) for kind in KINDS},
        "contaminated": len(found.matches),
        "too_short": found.too_short,
        "shared_answers": found.shared_answers,
        "long_answers": found.long_answers,
        "ngram": found.ngram,
        "threshold": found.threshold,
        "matches": [_match_json(match) for match in found.matches],
    }


def _match_json(match: Match) -> dict[str, Any]:
    return {
        "benchmark": match.benchmark.task_id,
        "train": match.train.task_id,
        "kind": match.kind,
        "overlap": match.overlap,
        "same_answer": match.same_answer,
    }
