"""`gate`: can routing pay, before anything is trained?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number
from rich.table import Table

from fugu_lite import gate as gates
from fugu_lite.cli._sources import MatrixSource
from fugu_lite.cli._terminal import Shown, key_value_table
from fugu_lite.rewards import RewardMatrix, attempts
from fugu_lite.rewards.build import cells_of
from fugu_lite.rewards.headroom import Array, mean_over_repetitions


def gate(
    source: MatrixSource,
    *,
    worth: Annotated[float, Parameter(validator=Number(gt=0))] = gates.WORTH,
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    strict: Annotated[bool, Parameter(negative=())] = False,
    shown: Shown = Shown(),
) -> None:
    """Say before training whether choosing a worker per task can pay. Test rows are left out.

    Args:
        worth: smallest gain worth having.
        seed: of folds and bootstrap.
        strict: exit with 1 on STOP.
    """
    whole = source.load()
    found = judged(whole, source.data, worth, seed)
    left_out = len(whole) - found.n
    told = [f"{left_out} test rows were left out: reading them now would be a look at the test"] if left_out else []
    shown.warn((*whole.notes, *found.notes))
    result = {**found.to_json(), "test_rows_left_out": left_out}
    shown.result(result, f"{found.verdict}: {found.why}.", *told, *_tables(found))
    if strict and found.verdict == "STOP":
        raise SystemExit(1)


def judged(whole: RewardMatrix, files: tuple[Path, ...], worth: float = gates.WORTH, seed: int = 0) -> gates.Gate:
    """Judge all rows but those of the test split, with the repetitions that lie beside the file."""
    rows = whole.rows([task.split != "test" for task in whole.tasks])
    return gates.judge(rows, repeated=_repeated(files, rows), worth=worth, seed=seed)


def _repeated(files: tuple[Path, ...], rows: RewardMatrix) -> Array | None:
    """Return the repeated grades beside a matrix, if they are there and are what its rewards are made of."""
    beside = attempts.path_beside(files[0])
    if len(files) != 1 or not beside.is_file():
        return None
    quality = cells_of(attempts.read(beside), rows.tasks, rows.worker_ids).quality
    same = np.allclose(mean_over_repetitions(quality), rows.rewards, atol=1e-6, equal_nan=True)
    return quality if same and quality.shape[2] > 1 else None


def _tables(found: gates.Gate) -> list[Table]:
    gains = Table("gain over the best fixed worker", "mean", "low", "high", "n", title="headroom", title_justify="left")
    for gain in (found.achievable, *found.others):
        decides = " (decides)" if gain is found.achievable else ""
        bounds = (f"{value:+.4f}" for value in (gain.mean, gain.low, gain.high))
        gains.add_row(gain.name + decides, *bounds, str(gain.n))
    workers = Table(
        *("worker", "utility", "quality", "USD/task", "p50 s", "p95 s", "alone best", "loss without"),
        title="workers",
        title_justify="left",
    )
    for line in found.workers:
        numbers = (line.utility, line.quality, line.cost_usd, line.latency_p50_s, line.latency_p95_s)
        cells = ["-" if value is None else f"{value:.4g}" for value in numbers]
        lost = "-" if line.loss_without is None else f"{line.loss_without:.4f}"
        workers.add_row(line.worker, *cells, str(line.unique_wins), lost)
    figures = {
        "rows": found.n,
        "repetitions": found.repetitions,
        f"best fixed ({found.best_fixed})": found.best_fixed_utility,
        "random": found.random_utility,
        "naive oracle": found.oracle_utility,
        "rows on which all are equal": found.all_equal,
        "rows with a single winner": found.unique_winner,
        "share of errors removed": found.error_reduction,
        "held-out rows to show it (80 % power)": found.rows_needed,
        "their cost, USD": found.rows_cost_usd,
    }
    return [gains, workers, key_value_table("figures", figures)]
