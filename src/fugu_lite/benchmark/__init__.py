"""Benchmark runs: every question embedded, routed, asked and graded live, and what came of it."""

from fugu_lite.benchmark.plan import BenchmarkOptions
from fugu_lite.benchmark.results import BenchmarkResult
from fugu_lite.benchmark.run import run_benchmark

__all__ = ["BenchmarkOptions", "BenchmarkResult", "run_benchmark"]
