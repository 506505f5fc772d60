"""Write an evaluation: JSON with flat keys first, tables for the terminal, Markdown for a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from rich.console import Console
from rich.table import Table

from fugu_lite.evaluation.results import Evaluation, TableComparison
from fugu_lite.evaluation.slices import BaselineRow, SliceRow, WorkerRow

PHRASES = {
    "better": "better than the comparator",
    "worse": "worse than the comparator",
    "cannot tell": "cannot tell it from the comparator",
}


@dataclass(frozen=True)
class Grid:
    """A table as text, before it becomes a terminal table or Markdown."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def to_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return the metrics file: the README's six first, then flat keys, then the tables; null = not known."""
    table = asdict(evaluation.table) if evaluation.table else {field.name: None for field in fields(TableComparison)}
    flat = {**asdict(evaluation.headline), **asdict(evaluation.comparison), **table, **asdict(evaluation.usage)}
    parts = ("headline", "comparison", "table", "usage")
    rest = {name: value for name, value in asdict(evaluation).items() if name not in parts}
    lists = {name: list(value) for name, value in rest.items() if isinstance(value, tuple)}
    return {**flat, **{name: value for name, value in rest.items() if name not in lists}, **lists}


def number(value: float | None) -> str:
    """Return four digits, or a dash for what is not known."""
    return "-" if value is None else f"{value:.4f}"


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"[{low:+.4f}, {high:+.4f}]"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.4f}"


def sentence(evaluation: Evaluation) -> str:
    """Return the verdict in words, with n and the interval."""
    found = evaluation.comparison
    return (
        f"{evaluation.policy}: {PHRASES[found.verdict]} ({found.comparator}). "
        f"Gain {_signed(found.gain)}, 95 % interval {_interval(found.gain_low, found.gain_high)}, "
        f"n = {found.n_rows} rows in {found.n_groups} groups."
    )


def remarks(evaluation: Evaluation) -> list[str]:
    """Return what stands below the verdict: the domain table, dropped rows, looks, the worst slice, warnings."""
    lines = []
    if evaluation.table:
        t = evaluation.table
        low, high = t.gain_over_domain_table_low, t.gain_over_domain_table_high
        lines.append(
            f"Against the domain table ({number(t.domain_table_utility)}, label given): {t.domain_table_verdict}, "
            f"{_signed(t.gain_over_domain_table)} {_interval(low, high)}."
        )
    if evaluation.comparison.mcnemar_p is not None:
        c = evaluation.comparison
        lines.append(
            f"Right alone: router {c.router_only}, comparator {c.comparator_only} rows (McNemar p = {c.mcnemar_p:.4f})."
        )
    lines += [f"Dropped: {count} rows, {reason}." for reason, count in evaluation.comparison.dropped.items()]
    if evaluation.worst_slice:
        lines.append(f"Worst slice: {evaluation.worst_slice}.")
    if evaluation.looks is not None:
        lines.append(f"This split has been looked at {evaluation.looks} time{'s' if evaluation.looks != 1 else ''}.")
    return lines + [f"Warning: {text}." for text in evaluation.warnings]


def grids(evaluation: Evaluation) -> list[Grid]:
    """Return every table that has rows."""
    found = [
        _headline(evaluation),
        _workers(evaluation.workers),
        _slices("Domain", evaluation.domains),
        _slices("Difficulty", evaluation.difficulties),
        _slices("Language", evaluation.languages),
        _baselines(evaluation.baselines),
        _usage(evaluation),
    ]
    return [grid for grid in found if grid.rows]


def _headline(evaluation: Evaluation) -> Grid:
    head, found = evaluation.headline, evaluation.comparison
    rows = [
        ("router_utility", number(head.router_utility)),
        ("oracle_utility", number(head.oracle_utility)),
        (f"best_fixed_utility ({evaluation.best_fixed}, hindsight)", number(head.best_fixed_utility)),
        ("random_utility", number(head.random_utility)),
        ("regret", number(head.regret)),
        ("oracle_route_accuracy", number(head.oracle_route_accuracy)),
        (f"comparator_utility ({found.comparator})", number(found.comparator_utility)),
        ("gain", f"{_signed(found.gain)} {_interval(found.gain_low, found.gain_high)}"),
        ("verdict", found.verdict),
        ("headroom", number(found.headroom)),
        ("headroom_captured", number(found.headroom_captured)),
    ]
    return Grid("Result", ("metric", "value"), tuple(rows))


def _workers(rows: Sequence[WorkerRow]) -> Grid:
    header = (
        "worker",
        "n",
        "missing",
        "quality",
        "reward",
        "routed",
        "oracle",
        "alone best",
        "USD/task",
        "p50 s",
        "p95 s",
    )
    cells = tuple(
        (
            row.worker,
            str(row.n),
            str(row.missing),
            number(row.quality),
            number(row.reward),
            number(row.routed),
            number(row.oracle),
            str(row.unique_wins),
            "-" if row.cost_usd is None else f"{row.cost_usd:.4g}",
            number(row.latency_p50_s),
            number(row.latency_p95_s),
        )
        for row in rows
    )
    return Grid("Workers", header, cells)


def _slices(title: str, rows: Sequence[SliceRow]) -> Grid:
    cells = tuple(
        (
            row.name,
            str(row.n),
            number(row.router),
            number(row.comparator),
            number(row.oracle),
            _signed(row.gain),
            _interval(row.gain_low, row.gain_high),
        )
        for row in rows
    )
    return Grid(title, (title.lower(), "n", "router", "comparator", "oracle", "gain", "95 % interval"), cells)


def _baselines(rows: Sequence[BaselineRow]) -> Grid:
    cells = tuple(
        (row.name, str(row.n), number(row.utility), _signed(row.gain), _interval(row.gain_low, row.gain_high))
        for row in rows
    )
    return Grid("Baselines", ("baseline", "n", "utility", "gain over comparator", "95 % interval"), cells)


def _usage(evaluation: Evaluation) -> Grid:
    cells = tuple((name, number(value)) for name, value in asdict(evaluation.usage).items() if value is not None)
    return Grid("Use", ("metric", "value"), cells)


def tables(evaluation: Evaluation) -> list[Table]:
    """Return the tables for a terminal."""
    return [_terminal(grid) for grid in grids(evaluation)]


def _terminal(grid: Grid) -> Table:
    table = Table(title=grid.title, title_justify="left")
    for position, name in enumerate(grid.header):
        table.add_column(name, justify="right" if position else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*row)
    return table


def show(evaluation: Evaluation, console: Console) -> None:
    """Print verdict, remarks and tables."""
    console.print(sentence(evaluation), style="bold", markup=False, highlight=False)
    for line in remarks(evaluation):
        console.print(line, markup=False, highlight=False)
    for table in tables(evaluation):
        console.print(table)


def to_markdown(evaluation: Evaluation) -> str:
    """Return the report as plain Markdown."""
    lines = [f"# Evaluation of {evaluation.policy}", "", sentence(evaluation), ""]
    lines += [f"- {line}" for line in remarks(evaluation)]
    for grid in grids(evaluation):
        lines += ["", f"## {grid.title}", "", _markdown_row(grid.header)]
        lines += [_markdown_row(["---", *["---:"] * (len(grid.header) - 1)])]
        lines += [_markdown_row(row) for row in grid.rows]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
