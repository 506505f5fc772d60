"""What the commands share: where results go, and progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import orjson
from cyclopts import Parameter
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from fugu_lite.runs import Event, Run
from fugu_lite.specs import Spec

PIPED_WIDTH = 120  # columns when the output is not a terminal, so that tables stay readable in files
NOISY = frozenset({"time", "type", "step", "stage", "done", "total"})


@Parameter(name="*")
@dataclass(frozen=True)
class Shown:
    """How a command shows its result.

    Attributes:
        json: print one JSON document on standard output instead of tables.
        runs: folder in which long commands keep their events and manifest.
    """

    json: Annotated[bool, Parameter(negative=())] = False
    runs: Annotated[Path, Parameter(name="--runs")] = Path("runs")

    def result(self, data: Mapping[str, Any], *renderables: RenderableType) -> None:
        """Print the machine form or the human form."""
        if self.json:
            options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_INDENT_2
            sys.stdout.buffer.write(orjson.dumps(data, default=_plain, option=options) + b"\n")
            sys.stdout.flush()
            return
        console = plain_console(width=None if sys.stdout.isatty() else PIPED_WIDTH)
        for item in renderables:
            console.print(item, soft_wrap=isinstance(item, str | Text))

    def warn(self, messages: Iterable[str]) -> None:
        """Print warnings on standard error."""
        for message in messages:
            plain_console(stderr=True).print(Text("warning:", style="yellow"), message, soft_wrap=True)

    def run(self, kind: str, spec: Spec | Mapping[str, Any], inputs: Mapping[str, Path | str | None]) -> Run:
        """Return the run folder of a long command; its events are drawn on the terminal."""
        return Run(kind, spec, self.runs, inputs, (TerminalEvents(),))


@dataclass
class TerminalEvents:
    """Draws a run's events on standard error: bars on a terminal, plain lines elsewhere."""

    console: Console = field(default_factory=lambda: plain_console(stderr=True))
    bars: dict[str, TaskID] = field(default_factory=dict)
    progress: Progress | None = None

    def __call__(self, event: Event) -> None:
        """Show one event."""
        kind = event["type"]
        if kind == "progress":
            self._bar(event)
        elif kind == "log":
            self.console.print(event["message"], soft_wrap=True)
        elif kind == "status" and event["status"] != "running" and self.progress is not None:
            self.progress.stop()
            self.progress = None

    def _bar(self, event: Event) -> None:
        if not self.console.is_terminal:
            return
        if self.progress is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self.progress = Progress(*columns, TextColumn("{task.fields[note]}"), console=self.console)
            self.progress.start()
        note = "  ".join(f"{key} {_short(value)}" for key, value in event.items() if key not in NOISY)
        stage = event["stage"]
        if stage not in self.bars:
            self.bars[stage] = self.progress.add_task(stage, total=event["total"], note=note)
        self.progress.update(self.bars[stage], completed=event["done"], total=event["total"], note=note)


def _plain(value: Any) -> str:
    """Return what JSON has no type for: paths."""
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a JSON document")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def plain_console(stderr: bool = False, width: int | None = None) -> Console:
    """Return a console that prints text as it is: brackets in an answer or an error are no markup."""
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def key_value_table(title: str, rows: Mapping[str, Any]) -> Table:
    """Return a two-column table."""
    table = Table(title=title, show_header=False, title_justify="left")
    for key, value in rows.items():
        table.add_row(key, _short(value))
    return table
