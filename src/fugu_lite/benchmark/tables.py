"""A benchmark as text: a sentence, remarks, and tables for a terminal or for `benchmark.md`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from fugu_lite.benchmark.results import BenchmarkResult
from fugu_lite.benchmark.rows import MISSING, QuestionRow
from fugu_lite.benchmark.scores import Comparison, Score
from fugu_lite.evaluation.report import Grid

SHOWN = 100  # questions in a terminal; all of them are in the files
QUESTION, ANSWER = 60, 24  # characters


def sentence(result: BenchmarkResult) -> str:
    """Return the score in words: over what was graded, and what is missing."""
    found = result.overall
    counts = [f"{result.statuses.get('empty', 0)} empty (counted as wrong)"]
    counts += [f"{result.statuses[name]} {name.replace('_', ' ')}" for name in MISSING if result.statuses.get(name)]
    missing = f"{found.missing} missing" if found.missing else "none missing"
    return (
        f"{result.head}: score {_share(found.score)} ({found.correct:g} of {found.graded} graded questions, 95 % "
        f"interval {_range(found)}); {found.questions} questions, {missing}; {', '.join(counts)}."
    )


def remarks(result: BenchmarkResult) -> list[str]:
    """Return what stands below the score."""
    lines = []
    if result.overall.missing:
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(result.error_kinds.items()))
        told = f" Failed calls: {kinds}." if kinds else ""
        lines.append(
            f"Missing questions are not counted as wrong; if they were, the score would be "
            f"{_share(result.score_if_missing_wrong)}.{told}"
        )
    if result.comparison is not None:
        lines += _compared(result.comparison)
    cost = "unknown" if result.cost_usd is None else f"{result.cost_usd:.6f} USD"
    more = f" (a lower bound: {result.unknown_costs} unknown)" if result.unknown_costs and result.cost_usd else ""
    lines.append(
        f"Cost {cost}{more}; latency p50 {_seconds(result.latency_p50_s)}, p95 {_seconds(result.latency_p95_s)}; "
        f"routing p50 {_seconds(result.route_p50_s)}."
    )
    if result.reasons:
        lines.append("Reasons: " + ", ".join(f"{name} {count}" for name, count in sorted(result.reasons.items())) + ".")
    if result.looks is not None:
        times = "once" if result.looks == 1 else f"{result.looks} times"
        lines.append(f"This set of questions has been looked at {times}.")
    lines += [f"Note: {note}." for note in result.notes]
    if result.left:
        lines.append(f"{result.status}: {result.left} questions are left; the same command with --resume asks them.")
    return lines


def _compared(found: Comparison) -> list[str]:
    phrase = {"better": "better than", "worse": "worse than"}.get(found.verdict, "cannot tell it from")
    left = f", {found.left_out} left out because an answer is missing" if found.left_out else ""
    bounds = "-" if found.gain_low is None else f"[{found.gain_low:+.4f}, {found.gain_high:+.4f}]"
    gain = "-" if found.gain is None else f"{found.gain:+.4f}"
    lines = [
        f"Router {_share(found.router_score)}, {found.comparator} {_share(found.comparator_score)} on the same "
        f"{found.pairs} questions ({found.same} answered by the same call{left}): {phrase} {found.comparator}, "
        f"gain {gain}, 95 % interval {bounds}."
    ]
    if found.mcnemar_p is not None:
        lines.append(
            f"Right alone: router {found.router_only}, {found.comparator} {found.comparator_only} "
            f"(exact McNemar p = {found.mcnemar_p:.4f})."
        )
    if found.router_cost_usd is not None and found.comparator_cost_usd is not None:
        lines.append(
            f"Cost of these answers: router {found.router_cost_usd:.6f} USD, "
            f"{found.comparator} {found.comparator_cost_usd:.6f} USD."
        )
    return lines


def grids(result: BenchmarkResult) -> list[Grid]:
    """Return every summary table that has rows."""
    found = [
        _scores("Difficulty", result.difficulties),
        _scores("Domain", result.domains),
        _scores("Language", result.languages),
        _routing(result),
        _settings(result),
    ]
    return [grid for grid in found if grid.rows]


def _scores(title: str, rows: Sequence[Score]) -> Grid:
    header = (title.lower(), "score", "95 % interval", "questions", "missing")
    cells = ((row.name, _counted(row), _range(row), str(row.questions), str(row.missing)) for row in rows)
    return Grid(title, header, tuple(cells))


def _counted(row: Score) -> str:
    return "-" if row.score is None else f"{_share(row.score)} ({row.correct:g}/{row.graded})"


def _routing(result: BenchmarkResult) -> Grid:
    header = ("worker", "questions", "share", "score where picked", "empty", "failed")
    cells = [
        (
            row.worker,
            str(row.questions),
            _share(row.share),
            "-" if row.score is None else f"{_share(row.score)} of {row.graded}",
            str(row.empty),
            str(row.errors),
        )
        for row in result.workers
    ]
    for name, label in (("no_decision", "(no decision)"), ("not_asked", "(not asked)")):
        if result.statuses.get(name):
            cells.append((label, str(result.statuses[name]), "-", "-", "-", "-"))
    return Grid("Routing", header, tuple(cells))


def _settings(result: BenchmarkResult) -> Grid:
    header = (
        "worker",
        "max_tokens",
        "temperature",
        "top_p",
        "effort",
        "timeout s",
        "from",
        "puts before",
        "as measured",
    )
    cells = []
    for name, found in result.settings.items():
        sampling, adds = found["sampling"], found["adds"]
        before = [text for text in ("system" if adds["system"] else "", _examples(adds["examples"])) if text]
        agrees = {True: "yes", False: "no", None: "not recorded"}[found["as_measured"]]
        cells.append(
            (
                name,
                *(str(sampling[key]) for key in ("max_tokens", "temperature", "top_p", "reasoning_effort")),
                f"{found['timeout_s']:g}",
                ", ".join(sorted(set(found["sources"].values()))),
                ", ".join(before) or "nothing",
                agrees,
            )
        )
    return Grid("How they were asked", header, tuple(cells))


def _examples(count: int) -> str:
    return f"{count} examples" if count else ""


def questions(result: BenchmarkResult, wide: bool, limit: int | None = None) -> Grid:
    """Return the per-question table.

    Args:
        result: the benchmark.
        wide: all probabilities, instead of the picked worker's.
        limit: the first questions only.
    """
    header = ["question", "difficulty", "worker", "p", "reason", "answer", "correct", "USD", "s"]
    if result.comparison is not None:
        header.append(result.comparison.comparator)
    cells = []
    for row in result.questions[:limit]:
        line = [
            _short(row.question, QUESTION if wide else QUESTION // 2),
            row.difficulty or "-",
            row.worker or "-",
            _probabilities(row, wide),
            row.reason or "-",
            _short(row.answer or "", ANSWER if wide else ANSWER // 2),
            _mark(row.quality, row.status),
            "-" if row.cost_usd is None else f"{row.cost_usd:.6f}",
            "-" if row.latency_s is None else f"{row.latency_s:.2f}",
        ]
        if result.comparison is not None:
            line.append(_mark(row.comparator_quality, row.comparator_status or "-"))
        cells.append(tuple(line))
    return _said(Grid("Questions", tuple(header), tuple(cells)))


def _said(grid: Grid) -> Grid:
    """Leave out columns that say nothing in any row."""
    kept = [i for i in range(len(grid.header)) if any(row[i] != "-" for row in grid.rows)]
    rows = tuple(tuple(row[i] for i in kept) for row in grid.rows)
    return Grid(grid.title, tuple(grid.header[i] for i in kept), rows)


def _probabilities(row: QuestionRow, wide: bool) -> str:
    if wide:
        return ", ".join(f"{name} {value:.2f}" for name, value in row.probabilities.items()) or "-"
    picked = row.probabilities.get(row.worker) if row.worker is not None else None
    return "-" if picked is None else f"{picked:.2f}"


def _mark(quality: float | None, status: str) -> str:
    """Return yes, no, the share for a partial grade, or why there is none."""
    if quality is None:
        return status.replace("_", " ")
    told = {1.0: "yes", 0.0: "no"}.get(quality, f"{quality:.2f}")
    return told if status == "ok" else f"{told} ({status})"


def _short(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _range(row: Score) -> str:
    return "-" if row.low is None or row.high is None else f"{100 * row.low:.1f} to {100 * row.high:.1f} %"


def _seconds(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f} s"


def terminal(result: BenchmarkResult) -> list[Table]:
    """Return the tables for a terminal; of many questions the first ones."""
    return [_table(grid) for grid in (questions(result, wide=False, limit=SHOWN), *grids(result))]


def _table(grid: Grid) -> Table:
    table = Table(title=grid.title, title_justify="left")
    for name in grid.header:
        table.add_column(name, overflow="fold")
    for row in grid.rows:
        table.add_row(*row)
    return table


def markdown(result: BenchmarkResult) -> str:
    """Return the whole benchmark as Markdown, every question included."""
    lines = [f"# Benchmark of {result.head}", "", _escaped(sentence(result)), ""]
    lines += [f"- {_escaped(line)}" for line in remarks(result)]
    for grid in (*grids(result), questions(result, wide=True)):
        lines += ["", f"## {grid.title}", "", _line(grid.header), _line(["---"] * len(grid.header))]
        lines += [_line(row) for row in grid.rows]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is: answers and questions are not ours."""
    for sign in ("\\", "|", "`", "*", "_", "[", "]"):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("<", "&lt;").replace("\n", " ")
