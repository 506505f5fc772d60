"""`train-sft`, `train-rl`, `train-es`, `train-value`: one shape, four methods."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.table import Table

from fugu_lite import specs
from fugu_lite.checkpoints import load, read_manifest
from fugu_lite.cli._sources import STORE, Execution, MatrixSource
from fugu_lite.cli._terminal import Shown, key_value_table
from fugu_lite.cli.gate import judged
from fugu_lite.errors import InputError
from fugu_lite.evaluation.curves import plot_history
from fugu_lite.rewards import RewardMatrix, provenance
from fugu_lite.selection import AutoSpec, AutoTrainer
from fugu_lite.store import checkpoint_folder
from fugu_lite.trainers import TrainerSpec
from fugu_lite.trainers.bandit import BanditSpec, BanditTrainer
from fugu_lite.trainers.contract import Trainer
from fugu_lite.trainers.es import EsSpec, EsTrainer
from fugu_lite.trainers.pipeline import Trained, TrainingJob, run
from fugu_lite.trainers.sft import SftSpec, SftTrainer
from fugu_lite.trainers.values import ValueSpec, ValueTrainer
from fugu_lite.workers import PoolSpec

Flat = Parameter(name="*")
Force = Annotated[bool, Parameter(negative=())]


def train_sft(
    source: MatrixSource,
    *,
    output: Path,
    config: Path | None = None,
    checkpoint: str | None = None,
    workers: Path | None = None,
    spec: Annotated[SftSpec, Flat] = SftSpec(),
    execution: Execution = Execution(),
    force: Force = False,
    shown: Shown = Shown(),
) -> None:
    """Train the head towards soft targets made of the rewards.

    Args:
        output: folder of the new checkpoint.
        config: YAML file of the settings below; flags win over it.
        checkpoint: start from this head instead of from scratch.
        workers: pool file whose `reward:` weights stand behind the data; recorded in the manifest.
        force: train although the gate says STOP; the manifest records it.
    """
    resolved = specs.load(SftSpec, config, spec)
    _train("sft", SftTrainer(resolved), resolved, source, output, checkpoint, workers, execution, force, shown)


def train_rl(
    source: MatrixSource,
    *,
    output: Path,
    config: Path | None = None,
    checkpoint: str | None = None,
    workers: Path | None = None,
    spec: Annotated[BanditSpec, Flat] = BanditSpec(),
    execution: Execution = Execution(),
    force: Force = False,
    shown: Shown = Shown(),
) -> None:
    """Train the head as an offline contextual bandit.

    Args:
        output: folder of the new checkpoint.
        config: YAML file of the settings below; flags win over it.
        checkpoint: start from this head instead of from scratch.
        workers: pool file whose `reward:` weights stand behind the data; recorded in the manifest.
        force: train although the gate says STOP; the manifest records it.
    """
    resolved = specs.load(BanditSpec, config, spec)
    _train("rl", BanditTrainer(resolved), resolved, source, output, checkpoint, workers, execution, force, shown)


def train_es(
    source: MatrixSource,
    *,
    output: Path,
    config: Path | None = None,
    checkpoint: str | None = None,
    workers: Path | None = None,
    spec: Annotated[EsSpec, Flat] = EsSpec(),
    execution: Execution = Execution(),
    force: Force = False,
    shown: Shown = Shown(),
) -> None:
    """Evolve the head's last layer with separable CMA-ES.

    Args:
        output: folder of the new checkpoint.
        config: YAML file of the settings below; flags win over it.
        checkpoint: start from this head instead of from scratch.
        workers: pool file whose `reward:` weights stand behind the data; recorded in the manifest.
        force: train although the gate says STOP; the manifest records it.
    """
    resolved = specs.load(EsSpec, config, spec)
    _train("es", EsTrainer(resolved), resolved, source, output, checkpoint, workers, execution, force, shown)


def train_value(
    source: MatrixSource,
    *,
    output: Path,
    config: Path | None = None,
    workers: Path | None = None,
    spec: Annotated[ValueSpec, Flat] = ValueSpec(),
    execution: Execution = Execution(),
    force: Force = False,
    shown: Shown = Shown(),
) -> None:
    """Fit a family of values: what each worker's answer would be worth, cost and take.

    Args:
        output: folder of the new checkpoint.
        config: YAML file of the settings below; flags win over it.
        workers: pool file whose `reward:` weights stand behind the data; recorded in the manifest.
        force: train although the gate says STOP; the manifest records it.
    """
    resolved = specs.load(ValueSpec, config, spec)
    _train("value", ValueTrainer(resolved), resolved, source, output, None, workers, execution, force, shown)


def train_auto(
    source: MatrixSource,
    *,
    output: Path,
    config: Path | None = None,
    workers: Path | None = None,
    spec: Annotated[AutoSpec, Flat] = AutoSpec(),
    execution: Execution = Execution(),
    force: Force = False,
    shown: Shown = Shown(),
) -> None:
    """Walk from the best fixed worker upwards and keep the last layer that is shown to beat the one below it.

    Args:
        output: folder of the new checkpoint.
        config: YAML file of the settings below; flags win over it.
        workers: pool file whose `reward:` weights stand behind the data; recorded in the manifest.
        force: train although the gate says STOP; the manifest records it.
    """
    resolved = specs.load(AutoSpec, config, spec)
    _train("auto", AutoTrainer(resolved), resolved, source, output, None, workers, execution, force, shown)


def _train(
    method: str,
    trainer: Trainer,
    spec: TrainerSpec,
    source: MatrixSource,
    output: Path,
    checkpoint: str | None,
    workers: Path | None,
    execution: Execution,
    force: bool,
    shown: Shown,
) -> None:
    start = load(checkpoint_folder(checkpoint, STORE)) if checkpoint else None
    spec = spec.model_copy(update={"backbone": spec.backbone.model_copy(update=execution.placed)})
    utility = specs.load(PoolSpec, workers).reward if workers else None
    inputs: dict[str, Path | str | None] = {"data": source.files, "tasks": source.tasks, "checkpoint": checkpoint}
    with shown.run(f"train-{method}", spec, inputs) as folder:
        if (output / "manifest.json").is_file():
            folder.log(f"{output} holds {read_manifest(output).name}, which is replaced when training ends")
        origin = provenance.of(source.data)
        matrix, cache = source.load(), execution.cache_folder
        record = _gated(matrix, source, force, shown)
        job = TrainingJob(method, trainer, spec, matrix, output, start, cache, utility, origin, record)
        trained = run(job, folder)
        plot_history(
            trained.fit.history, output / "training.svg", trained.best_fixed, trained.oracle, trained.fit.kept_step
        )
        folder.output("checkpoint", output)
        folder.results.update(_summary(trained))
    shown.warn(trained.warnings)
    shown.result(_summary(trained), *_layers(trained), _table(method, trained))


def _gated(matrix: RewardMatrix, source: MatrixSource, force: bool, shown: Shown) -> dict[str, Any]:
    """Refuse to train where routing cannot pay; return what the manifest should say of it."""
    if len(matrix.worker_ids) < 2:
        return {}
    found = judged(matrix, source.data)
    if found.verdict == "STOP" and not force:
        fix = "look at `fugu-lite gate`, choose other workers, or give --force to train all the same"
        raise InputError("gate", f"STOP: {found.why}", fix)
    if found.verdict != "GO":
        shown.warn([f"gate: {found.verdict}: {found.why}"])
    gain = found.achievable
    numbers = {"gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high}
    known = {name: None if math.isnan(value) else value for name, value in numbers.items()}
    return {"gate": {"verdict": found.verdict, "forced": found.verdict == "STOP", "measured": gain.name, **known}}


def _layers(trained: Trained) -> list[Table | str]:
    """Return the walk of `train-auto`: every layer, whether it was admitted, and why."""
    found = trained.fit.record.get("selection")
    if found is None:
        return []
    table = Table("layer", "cross-fitted", "admitted", "why", title="layers", title_justify="left")
    for step in found["layers"]:
        table.add_row(step["layer"], f"{step['utility']:.4f}", "yes" if step["admitted"] else "no", step["why"])
    skipped = [f"skipped {name}: {why}" for name, why in found["skipped"].items()]
    return [table, *skipped, f"chosen: {found['chosen']}; {found['stopped']}"]


def _summary(trained: Trained) -> dict[str, Any]:
    return {
        **trained.fit.record,
        "checkpoint": str(trained.folder),
        "name": trained.manifest.name,
        "rows": trained.manifest.data.rows if trained.manifest.data else {},
        "kept_step": trained.fit.kept_step,
        "validation_utility": trained.fit.validation_utility,
        "validation_best_fixed": trained.best_fixed,
        "validation_oracle": trained.oracle,
        "comparator": trained.manifest.comparator,
        "warnings": list(trained.warnings),
    }


def _table(method: str, trained: Trained) -> Table:
    summary = _summary(trained)
    hidden = ("warnings", "rows", "selection")
    shown = {key.replace("_", " "): value for key, value in summary.items() if key not in hidden}
    return key_value_table(f"train-{method}", shown)
