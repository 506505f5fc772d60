"""A bench's result as a terminal table, a Markdown block or a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.measure import Result, Row
from fugu_lite import jsonl

HEADINGS = ("claim", "limit", "measured", "", "n", "numbers")
FOLDER = Path(__file__).parent / "results"


def table(result: Result) -> Table:
    """Return a rich table; a miss stands out."""
    shown = Table(*HEADINGS, title=title(result), caption=facts(result), title_justify="left", show_lines=True)
    for row in result.rows:
        style = {True: "green", False: "bold red", None: "dim"}[row.passed]
        cells = cells_of(row)
        shown.add_row(*cells[:3], f"[{style}]{cells[3]}[/]", *cells[4:])
    return shown


def markdown(result: Result) -> str:
    """Return the block that docs/benchmarks.md holds for this bench."""
    rule = " | ".join("---" for _ in HEADINGS)
    rows = "\n".join(f"| {' | '.join(cells_of(row))} |" for row in result.rows)
    return f"### {title(result)}\n\n{facts(result)}\n\n| {' | '.join(HEADINGS)} |\n| {rule} |\n{rows}\n"


def save(result: Result, folder: Path = FOLDER) -> Path:
    """Write the result as JSON."""
    path = folder / f"{result.name}.json"
    jsonl.write_json(path, result.to_json())
    return path


def show(result: Result, console: Console) -> None:
    """Print the table."""
    console.print(table(result))


def title(result: Result) -> str:
    """Return what the bench is about; a quick run says that it proves nothing."""
    return f"{result.name}: {result.about}" + (" (quick: a check of the bench, not a measurement)" * result.quick)


def facts(result: Result) -> str:
    """Return the machine's facts in one line."""
    named = (f"{name} {' '.join(value) if isinstance(value, list) else value}" for name, value in _machine(result))
    return "Measured with " + ", ".join(named) + "."


def _machine(result: Result) -> list[tuple[str, object]]:
    return list(result.machine.items())


def cells_of(row: Row) -> tuple[str, ...]:
    """Return a row's cells as text."""
    limit = "-" if row.limit is None else f"{row.sense} {row.limit:g}"
    return row.claim, limit, f"{row.ratio:.3g}", row.verdict, f"{row.n:,}", _numbers(row.details)


def _numbers(details: Mapping[str, float | str]) -> str:
    values = (
        f"{name} {value:,.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in details.items()
    )
    return ", ".join(values)
