"""train-es against cmaes itself: what a generation costs beyond ask, tell and one matrix product."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from cmaes import SepCMA
from numpy.typing import NDArray

from bench.measure import Result, Row, best_cpu_s, interleaved, median_cpu_s, one_thread, peak_rss_mib, timed
from fugu_lite.runs import Silent
from fugu_lite.trainers.contract import Array, TrainingSet
from fugu_lite.trainers.es import EsSpec, EsTrainer, Problem, Search
from fugu_lite.trainers.objectives import registry as objectives

FEATURES, WORKERS, SEED = 2048, 5, 42
PARAMETERS = FEATURES * WORKERS + WORKERS
OVERHEAD_LIMIT, CPU_LIMIT_S, DOUBLING_LIMIT = 1.5, 1.0, 2.2


@dataclass(frozen=True, slots=True)
class Size:
    """Rows of the problem, generations per repetition, repetitions."""

    rows: int
    generations: int
    repetitions: int


SIZES = (Size(35, 30, 7), Size(1000, 15, 7), Size(10_000, 10, 3))
QUICK_SIZES = (Size(35, 3, 2), Size(200, 2, 2))


def run(quick: bool = False) -> Result:
    """Measure overhead per generation, a whole small run, and how memory grows."""
    with one_thread():
        rows = [overhead(size) for size in (QUICK_SIZES if quick else SIZES)]
        rows += [small_run(1 if quick else 5), memory()]
    return Result("evolution", f"train-es on {PARAMETERS:,} parameters against cmaes.SepCMA", tuple(rows), quick)


def overhead(size: Size) -> Row:
    """Compare our generations with bare ones: sampling, one product of features and candidates, update."""
    problem, generations = planted(size.rows), size.generations
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: evolve(problem, generations),
        "peer": lambda: bare(problem.hidden, generations),
    }
    taken = interleaved(works, size.repetitions)
    ours_s, peer_s = median_cpu_s(taken["ours"]), median_cpu_s(taken["peer"])
    details = {"ours_ms": 1000 * ours_s / generations, "peer_ms": 1000 * peer_s / generations}
    return Row(
        f"generation on {size.rows:,} rows: train-es / (SepCMA ask and tell + one matrix product)",
        ours_s / peer_s,
        "at most",
        OVERHEAD_LIMIT,
        size.repetitions,
        details | {"peak_rss_mib": peak_rss_mib()},
    )


def evolve(problem: Problem, generations: int) -> None:
    """Run our search: candidates judged, mean judged and recorded after every generation."""
    spec = EsSpec(generations=generations)
    Search(spec, SEED, np.zeros(PARAMETERS), problem, None, Silent()).run(False, None, "")


def bare(features: NDArray[np.float32], generations: int) -> None:
    """Do what any use of SepCMA has to do, and nothing else: the product's result is not even looked at."""
    optimiser = SepCMA(mean=np.zeros(PARAMETERS), sigma=0.5, seed=SEED)
    count = optimiser.population_size
    weights = np.zeros((FEATURES, count * WORKERS), dtype=np.float32)
    for _ in range(generations):
        candidates = [optimiser.ask() for _ in range(count)]
        features @ weights  # timed, not used
        optimiser.tell([(candidate, float(rank)) for rank, candidate in enumerate(candidates)])


def small_run(repetitions: int) -> Row:
    """Run the router-head recipe whole: 35 rows, 60 generations, embedding excluded."""
    problem = planted(35)
    names = tuple(f"worker-{index}" for index in range(WORKERS))
    rows = TrainingSet(problem.hidden.astype(np.float64), problem.rewards, names)
    trainer = EsTrainer(EsSpec(generations=60))
    samples = [timed(lambda: trainer.fit(rows, None, None, Silent())) for _ in range(repetitions)]
    seconds = median_cpu_s(samples)
    claim = f"whole run, 35 rows, 60 generations: CPU seconds / {CPU_LIMIT_S:g} s"
    details = {"cpu_s": seconds, "best_cpu_s": best_cpu_s(samples)}
    return Row(claim, seconds / CPU_LIMIT_S, "at most", 1.0, repetitions, details)


def memory() -> Row:
    """Double the parameters: a diagonal covariance doubles its memory, a full one would take four times as much."""
    once, twice = traced_mib(PARAMETERS), traced_mib(2 * PARAMETERS)
    details = {"mib": once, "mib_doubled": twice, "full_covariance_mib": PARAMETERS**2 * 8 / 2**20}
    return Row(
        "peak memory of a generation when parameters double", twice / once, "at most", DOUBLING_LIMIT, 1, details
    )


def traced_mib(parameters: int) -> float:
    """Return the peak of what numpy and Python allocate in two generations of our search."""
    problem = planted(35, (parameters - WORKERS) // WORKERS)
    size = problem.hidden.shape[1] * WORKERS + WORKERS
    tracemalloc.start()
    try:
        Search(EsSpec(generations=2, population=32), SEED, np.zeros(size), problem, None, Silent()).run(False, None, "")
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def planted(rows: int, features: int = FEATURES) -> Problem:
    """Make rows whose best worker depends on the features."""
    rng = np.random.default_rng(SEED)
    hidden = rng.standard_normal((rows, features), dtype=np.float32)
    quality = hidden @ rng.standard_normal((features, WORKERS), dtype=np.float32) / np.sqrt(features)
    rewards: Array = (quality + rng.standard_normal((rows, WORKERS)) > 0).astype(np.float64)
    return Problem(hidden, rewards, objectives.get("mean_reward", "bench"))
