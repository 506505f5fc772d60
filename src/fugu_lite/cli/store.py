"""`models ...`, `export`, `import`: checkpoints as named versions and as router-head folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.table import Table

from fugu_lite.checkpoints import router_head
from fugu_lite.cli._sources import STORE, CheckpointSource
from fugu_lite.cli._terminal import Shown
from fugu_lite.errors import InputError
from fugu_lite.store import Store


def register(checkpoint: Path, *, store: Path = STORE, shown: Shown = Shown()) -> None:
    """Copy a checkpoint into the store under its stable name.

    Args:
        checkpoint: folder of the checkpoint.
        store: folder of the store.
    """
    name = Store(store).register(checkpoint)
    shown.result({"name": name, "store": str(store)}, f"registered {name}")


def list_(*, store: Path = STORE, shown: Shown = Shown()) -> None:
    """List versions and aliases.

    Args:
        store: folder of the store.
    """
    versions = Store(store).versions()
    table = Table(title=f"{len(versions)} versions in {store}", title_justify="left")
    for column in ("name", "aliases", "gain", "verdict"):
        table.add_column(column)
    for version in versions:
        judged = version.evaluation or {}
        table.add_row(version.name, ", ".join(version.aliases), _gain(judged), str(judged.get("verdict", "")))
    rows = [{"name": v.name, "aliases": list(v.aliases), "folder": str(v.folder)} for v in versions]
    shown.result({"versions": rows}, table)


def _gain(judged: dict[str, Any]) -> str:
    gain, low, high = (judged.get(name) for name in ("gain", "gain_low", "gain_high"))
    if gain is None:
        return "not evaluated"
    return f"{gain:+.4f}" if low is None or high is None else f"{gain:+.4f} [{low:+.4f}, {high:+.4f}]"


def promote(
    name: str, *, alias: str = "production", force: bool = False, store: Path = STORE, shown: Shown = Shown()
) -> None:
    """Point an alias at a version; `production` needs an evaluation that is not worse than the best fixed worker.

    Args:
        name: version, or an alias that points to it.
        alias: production or candidate.
        force: promote although the evaluation is missing or worse; recorded in the history.
        store: folder of the store.
    """
    Store(store).promote(name, alias, force)
    shown.result({"alias": alias, "name": name, "forced": force}, f"{alias} -> {name}")


def rollback(*, alias: str = "production", store: Path = STORE, shown: Shown = Shown()) -> None:
    """Point an alias at what it was before.

    Args:
        alias: production or candidate.
        store: folder of the store.
    """
    name = Store(store).rollback(alias)
    shown.result({"alias": alias, "name": name}, f"{alias} -> {name}")


def export(
    source: CheckpointSource,
    *,
    output: Path,
    format: Literal["router-head"] = "router-head",
    drop_guard: Annotated[bool, Parameter(negative=())] = False,
    shown: Shown = Shown(),
) -> None:
    """Write a checkpoint in the router-head layout.

    Args:
        output: folder to write.
        format: the layout.
        drop_guard: say nothing about the guard, which the layout cannot hold.
    """
    checkpoint = source.load()
    router_head.export(checkpoint, output)
    mode = checkpoint.manifest.guard.mode
    if mode != "off" and not drop_guard:
        shown.warn([f"the guard ({mode}) stays behind: the exported head also decides about texts unlike any it knows"])
    shown.result(
        {"output": str(output), "format": format}, f'wrote {output}: python {output / "router_head.py"} "a question"'
    )


def import_(
    folder: Path, *, output: Path, backbone: str | None = None, force: bool = False, shown: Shown = Shown()
) -> None:
    """Read a router-head folder as a checkpoint.

    Args:
        folder: folder with head_weights.npy and manifest.json.
        output: checkpoint to write.
        backbone: folder or hub id to use instead of the manifest's.
        force: replace an existing checkpoint at --output.
    """
    if (output / "manifest.json").exists() and not force:
        raise InputError(str(output), "is a checkpoint already", "choose another --output, or give --force")
    manifest = router_head.import_folder(folder, output, backbone)
    shown.result({"output": str(output), "name": manifest.name}, f"imported {manifest.name} into {output}")
