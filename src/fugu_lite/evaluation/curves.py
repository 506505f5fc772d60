"""The training curve: what train and validation did at every step, between best fixed and oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fugu_lite.errors import DataError

History = Sequence[Mapping[str, float | None]]


def plot_history(
    history: History,
    path: Path,
    best_fixed: float | None = None,
    oracle: float | None = None,
    kept_step: int | None = None,
) -> None:
    """Draw a training history to a file; the suffix (`.png`, `.svg`) decides the format.

    Args:
        history: one mapping per recorded step with `step`, `train` and, when there was one, `validation`.
        path: file to write; its folder is made.
        best_fixed: mean reward of the best single worker, a dashed line.
        oracle: upper bound, a dotted line.
        kept_step: the step that was kept, a vertical line.

    Raises:
        DataError: if the history is empty.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not history:
        raise DataError("history", "holds no step", "train at least one step")
    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, colour in (("train", "tab:gray"), ("validation", "tab:blue")):
        steps, values = series(history, name)
        if steps:
            axes.plot(steps, values, label=name, color=colour, marker="." if len(steps) < 40 else None)
    if best_fixed is not None:
        axes.axhline(best_fixed, label="best fixed", color="tab:orange", linestyle="--")
    if oracle is not None:
        axes.axhline(oracle, label="oracle", color="tab:green", linestyle=":")
    if kept_step is not None:
        axes.axvline(kept_step, label=f"kept (step {kept_step})", color="black", linewidth=0.8)
    axes.set_xlabel("step")
    axes.set_ylabel("mean reward of the greedy route")
    axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "fugu-lite"}):  # the same history gives the same bytes
        figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})


def series(history: History, name: str) -> tuple[list[float], list[float]]:
    """Return the steps at which a number was recorded, and its values."""
    pairs = [(row.get("step"), row.get(name)) for row in history]
    found = [(step, value) for step, value in pairs if step is not None and value is not None]
    return [step for step, _ in found], [value for _, value in found]
