"""`evaluate`: is the router better than the best fixed worker, on rows it never saw?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from cyclopts.validators import Number

from fugu_lite import jsonl
from fugu_lite.checkpoints import Checkpoint
from fugu_lite.cli._sources import CheckpointSource, Execution, MatrixSource
from fugu_lite.cli._terminal import Shown
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.evaluation import baselines, conditions, looks, page, report, routing
from fugu_lite.evaluation.metrics import evaluate as judge
from fugu_lite.evaluation.policy import Policy
from fugu_lite.evaluation.results import Evaluation
from fugu_lite.guard import Mode
from fugu_lite.rewards import RewardMatrix, provenance
from fugu_lite.rewards.fixed import best_fixed


def evaluate(
    checkpoint: CheckpointSource,
    source: MatrixSource,
    *,
    split: str = "test",
    output: Path | None = None,
    report_folder: Annotated[Path | None, Parameter(name="--report")] = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    draws: Annotated[int, Parameter(validator=Number(gte=100))] = 2000,
    with_baselines: Annotated[bool, Parameter(name="--baselines")] = True,
    guard: Mode | None = None,
    give_domain: Annotated[bool, Parameter(negative=())] = False,
    allow_condition_mismatch: Annotated[bool, Parameter(negative=())] = False,
    save: bool = True,
    execution: Execution = Execution(),
    shown: Shown = Shown(),
) -> None:
    """Compare a router with the best fixed worker on rows it never saw.

    Args:
        split: rows to judge on.
        output: JSON file of all metrics.
        report_folder: folder for report.html, report.md and metrics.json.
        seed: seed of the bootstrap.
        draws: bootstrap resamples.
        with_baselines: also judge domain table, kNN, k-means, ridge, logistic and prompt length on the same rows.
        guard: judge under another guard than the checkpoint's; `off` measures the raw head.
        give_domain: requests carry their domain label; only heads that declare it look at it.
        allow_condition_mismatch: judge rows measured under other settings than the head's labels, and say so.
        save: keep the result in the checkpoint as evaluation.json and evaluation.md (test split and the checkpoint's
            own guard only).
    """
    loaded = checkpoint.load()
    matrix = _columns(source.load(), loaded)
    other = conditions.check(loaded.manifest, provenance.of(source.data), allow_condition_mismatch)
    rows = matrix.split(split)
    inputs: dict[str, Path | str | None] = {"data": source.files, "checkpoint": checkpoint.checkpoint}
    with shown.run("evaluate", {"split": split, "seed": seed, "draws": draws}, inputs) as run:
        router = loaded.router(execution.cache_folder, guard=guard, **execution.placed)
        features = router.features(rows.prompts, lambda done, total: run.progress(f"embed {split}", done, total))
        policy, facts = routing.routed(router, loaded.manifest.name, rows, features, give_domain)
        fit = _fit_rows(matrix)
        comparator = loaded.manifest.comparator if fit is None else best_fixed(fit)
        others: list[Policy] = []
        if with_baselines and fit is not None and comparator is not None:
            fitted = router.features(fit.prompts, lambda done, total: run.progress("embed train", done, total))
            others = baselines.standard(rows, fit, comparator, features, fitted)
        count = looks.count(looks.data_digest(rows), split, loaded.manifest.name, shown.runs)
        rng = np.random.default_rng(seed)
        result = judge(policy, rows, comparator, rng, fit=fit, others=others, draws=draws, looks=count)
        metrics = {**report.to_json(result), **facts, "condition_mismatches": other}
        run.results.update(metrics)
    _write(output, report_folder, result, metrics)
    if save and split == "test" and guard in (None, loaded.manifest.guard.mode):
        _store(loaded, result, metrics)
    shown.warn([*matrix.notes, *other])
    shown.result(
        metrics, report.sentence(result), *report.tables(result), *report.remarks(result), routing.remark(facts)
    )


def _columns(matrix: RewardMatrix, loaded: Checkpoint) -> RewardMatrix:
    """Put the columns in the head's order; another set of workers is refused."""
    wanted = loaded.manifest.worker_ids
    if set(matrix.worker_ids) != set(wanted):
        raise MismatchError(
            "--data",
            f"its workers are {', '.join(matrix.worker_ids)}, the head's are {', '.join(wanted)}",
            "use the matrix of the head's pool, or choose columns with --only-workers",
        )
    return matrix.only(wanted)


def _fit_rows(matrix: RewardMatrix) -> RewardMatrix | None:
    """Return the train and validation rows, which choose the comparator; None when the file has none."""
    try:
        return baselines.fit_rows(matrix)
    except DataError:
        return None


def _write(output: Path | None, folder: Path | None, result: Evaluation, metrics: dict[str, Any]) -> None:
    """Write the metrics file and the report folder, where asked for."""
    if output is not None:
        jsonl.write_json(output, metrics)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        jsonl.write_json(folder / "metrics.json", metrics)
        jsonl.write_bytes(folder / "report.md", report.to_markdown(result).encode())
        jsonl.write_bytes(folder / "report.html", page.to_html(result, metrics).encode())


def _store(loaded: Checkpoint, result: Evaluation, metrics: dict[str, Any]) -> None:
    """Keep the result with the checkpoint, and its headline in the manifest and the model card."""
    headline = ("router_utility", "comparator_utility", "gain", "gain_low", "gain_high", "verdict", "n_rows")
    kept = {**loaded.manifest.metrics, **{f"test_{name}": metrics.get(name) for name in headline}}
    manifest = loaded.manifest.model_copy(update={"metrics": kept})
    loaded.save(manifest, metrics)
    jsonl.write_bytes(loaded.folder / "evaluation.md", report.to_markdown(result).encode())
