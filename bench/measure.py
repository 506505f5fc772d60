"""How a claim is measured and stated: interleaved repetitions, CPU time, one ratio against one limit."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

FLAGS = ("avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "asimd")  # what decides a matrix product's speed
PACKAGES = ("numpy", "torch", "transformers", "cmaes", "aiohttp", "openai")
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Sample:
    """What one repetition took: CPU seconds of this process, all its threads together, and wall seconds."""

    cpu_s: float
    wall_s: float


@dataclass(frozen=True)
class Row:
    """One claim, measured.

    Attributes:
        claim: what is compared with what.
        ratio: the measured number.
        sense: side of the limit on which the claim holds; `none` for a row that only informs.
        limit: bound on the ratio.
        n: repetitions, or calls, behind the ratio.
        details: the numbers that the ratio was made of, units in their names.
    """

    claim: str
    ratio: float
    sense: Literal["at least", "at most", "none"] = "none"
    limit: float | None = None
    n: int = 1
    details: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def passed(self) -> bool | None:
        """Whether the claim holds; None for a row that only informs."""
        if self.limit is None or self.sense == "none":
            return None
        return self.ratio >= self.limit if self.sense == "at least" else self.ratio <= self.limit

    @property
    def verdict(self) -> str:
        """`pass`, `MISS`, or a dash."""
        return {True: "pass", False: "MISS", None: "-"}[self.passed]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {**asdict(self), "details": dict(self.details), "passed": self.passed}


@dataclass(frozen=True)
class Result:
    """One bench: its rows and what a reader needs to read them."""

    name: str
    about: str
    rows: tuple[Row, ...]
    quick: bool
    machine: Mapping[str, Any] = field(default_factory=lambda: machine())

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        rows = [row.to_json() for row in self.rows]
        return {"name": self.name, "about": self.about, "quick": self.quick, "machine": self.machine, "rows": rows}


def timed(work: Callable[[], object]) -> Sample:
    """Run once and say what it took."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Sample(time.process_time() - cpu, time.perf_counter() - wall)


def interleaved(
    works: Mapping[str, Callable[[], object]], repetitions: int, warmup: int = 1
) -> dict[str, list[Sample]]:
    """Time several works in turn, A B A B, so that a slow minute of the machine falls on all of them."""
    for work in works.values():
        for _ in range(warmup):
            work()
    taken: dict[str, list[Sample]] = {name: [] for name in works}
    for _ in range(repetitions):
        for name, work in works.items():
            taken[name].append(timed(work))
    return taken


def median_cpu_s(samples: Sequence[Sample]) -> float:
    """Return the median CPU time."""
    return statistics.median(sample.cpu_s for sample in samples)


def median_wall_s(samples: Sequence[Sample]) -> float:
    """Return the median wall time."""
    return statistics.median(sample.wall_s for sample in samples)


def best_cpu_s(samples: Sequence[Sample]) -> float:
    """Return the least CPU time: what the work costs when nothing disturbs it."""
    return min(sample.cpu_s for sample in samples)


def rss_mib() -> float:
    """Return the resident memory of this process now; its peak where the system does not tell."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20
    return peak_rss_mib()


def peak_rss_mib() -> float:
    """Return the largest resident memory that this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold matrix products to one thread, here and in child processes: ratios then do not depend on the cores."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(THREADS)
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch is not None else None
    try:
        if torch is not None:
            torch.set_num_threads(1)
        with threadpool_limits(1):
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        if torch is not None and threads is not None:
            torch.set_num_threads(threads)


def machine() -> dict[str, Any]:
    """Return facts that speed depends on; nothing that names the machine."""
    versions = {name: found for name in PACKAGES if (found := _version(name)) is not None}
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "flags": [flag for flag in FLAGS if flag in _cpu_flags()],
        "threads": 1,
        "python": platform.python_version(),
        **versions,
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu_flags() -> set[str]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    found = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return set(found.partition(":")[2].split())
