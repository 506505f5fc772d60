"""`collect` against a server that answers after 200 ms, beside the official client; and memory over a long run."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Result, Row, Sample, interleaved, median_cpu_s, median_wall_s, one_thread, rss_mib
from fugu_lite.errors import DataError
from fugu_lite.rewards.collect import collect
from fugu_lite.rewards.options import CollectOptions
from fugu_lite.runs import Silent
from fugu_lite.tasks import Task
from fugu_lite.workers import Pool, PoolSpec

LATENCY_S = 0.2
EFFICIENCY_LIMIT, RATE_LIMIT, GROWTH_LIMIT, CLIENT_LIMIT = 0.95, 1000.0, 1.1, 1.0
ROOT = Path(__file__).resolve().parents[1]
Taken = dict[str, list[Sample]]


@dataclass(frozen=True, slots=True)
class Load:
    """Calls in flight, calls per repetition, repetitions."""

    concurrency: int
    calls: int
    repetitions: int


STEADY, HEAVY = Load(64, 64 * 40, 3), Load(512, 512 * 20, 3)
QUICK_STEADY, QUICK_HEAVY = Load(16, 16 * 3, 1), Load(32, 32 * 3, 1)
MEMORY_TASKS, QUICK_MEMORY_TASKS = 100_000, 2_000


def run(quick: bool = False) -> Result:
    """Measure rate, cost per call beside the openai client, and growth of memory."""
    with one_thread():
        with mock_server(LATENCY_S) as url:
            rows = [*steady(url, QUICK_STEADY if quick else STEADY), *heavy(url, QUICK_HEAVY if quick else HEAVY)]
        rows.append(flat_memory(QUICK_MEMORY_TASKS if quick else MEMORY_TASKS))
    about = f"generate against a server on loopback that answers after {1000 * LATENCY_S:.0f} ms"
    return Result("collection", about, tuple(rows), quick)


def steady(url: str, load: Load) -> list[Row]:
    """Compare the rate with the ideal one: as many calls per second as slots and latency allow."""
    taken, ideal = measured(url, load), load.concurrency / LATENCY_S
    rate = rate_of(taken["ours"], load)
    details = {"calls_per_s": rate, "ideal_calls_per_s": ideal} | _peer_rate(taken, load)
    claim = f"{load.concurrency} in flight: calls/s / ideal rate"
    return [Row(claim, rate / ideal, "at least", EFFICIENCY_LIMIT, load.calls, details), *beside_client(taken, load)]


def heavy(url: str, load: Load) -> list[Row]:
    """Compare the rate under many calls in flight with the promised one; client and server share this machine."""
    taken = measured(url, load)
    rate = rate_of(taken["ours"], load)
    claim = f"{load.concurrency} in flight: calls/s / {RATE_LIMIT:,.0f}"
    details = {"calls_per_s": rate, "calls_per_cpu_s": load.calls / median_cpu_s(taken["ours"])}
    details |= _peer_rate(taken, load)
    return [Row(claim, rate / RATE_LIMIT, "at least", 1.0, load.calls, details), *beside_client(taken, load)]


def beside_client(taken: Taken, load: Load) -> list[Row]:
    """Compare client CPU per call: ours asks, grades and writes every answer, the openai client only asks."""
    if "openai" not in taken:
        return [Row("CPU per call / openai client: not compared, the package is not installed", float("nan"))]
    ours, peer = (1e6 * median_cpu_s(taken[name]) / load.calls for name in ("ours", "openai"))
    claim = f"{load.concurrency} in flight: CPU per call, graded and written / openai client, only asked"
    details = {"ours_us": ours, "openai_us": peer}
    return [Row(claim, ours / peer, "at most", CLIENT_LIMIT, load.calls * load.repetitions, details)]


def rate_of(samples: list[Sample], load: Load) -> float:
    """Return calls per wall second."""
    return load.calls / median_wall_s(samples)


def _peer_rate(taken: Taken, load: Load) -> dict[str, float]:
    return {"openai_calls_per_s": rate_of(taken["openai"], load)} if "openai" in taken else {}


def measured(url: str, load: Load) -> Taken:
    """Take our collection and, where it is installed, the openai client, in turn."""
    works: dict[str, Callable[[], object]] = {"ours": lambda: collected(url, load)}
    if _has_openai():
        works["openai"] = lambda: asyncio.run(asked_by_openai(url, load))
    return interleaved(works, load.repetitions, warmup=0)


def collected(url: str, load: Load) -> None:
    """Collect one answer per task into a scratch folder.

    Raises:
        DataError: if a call failed, which would make the rate meaningless.
    """
    worker = {"id": "mock", "type": "openai_compatible", "model": "mock", "base_url": url}
    pool = pool_of({**worker, "max_concurrency": load.concurrency})
    with tempfile.TemporaryDirectory() as folder:
        summary = asyncio.run(_collect(pool, load.calls, Path(folder), Silent()))
    if summary != load.calls:
        raise DataError("bench", f"{load.calls - summary} of {load.calls} calls failed")


async def _collect(pool: Pool, calls: int, folder: Path, reporter: Silent) -> int:
    """Return how many calls were answered well."""
    async with pool:
        summary = await collect(pool, tasks(calls), folder / "rewards.jsonl", CollectOptions(retries=0), reporter)
    return summary.counts["mock"].get("ok", 0)


async def asked_by_openai(url: str, load: Load) -> None:
    """Make the same calls with the official client, bounded by a semaphore."""
    from openai import DEFAULT_CONNECTION_LIMITS, AsyncOpenAI, DefaultAsyncHttpxClient

    room = asyncio.Semaphore(load.concurrency)
    kept = load.concurrency  # the client's own default keeps 100 connections alive, which would slow it down here
    limits = type(DEFAULT_CONNECTION_LIMITS)(max_connections=kept, max_keepalive_connections=kept)
    http = DefaultAsyncHttpxClient(limits=limits, trust_env=False, timeout=60)
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http) as client:

        async def ask(task: Task) -> None:
            async with room:
                await client.chat.completions.create(
                    model="mock", messages=[{"role": "user", "content": task.text}], max_tokens=4096, temperature=0.1
                )

        async with asyncio.TaskGroup() as group:
            for task in tasks(load.calls):
                group.create_task(ask(task))


def _has_openai() -> bool:
    try:
        import openai  # noqa: F401 - is it here?
    except ImportError:
        return False
    return True


def flat_memory(count: int) -> Row:
    """Collect from a worker in the same process, in a fresh one so that nothing earlier hides growth."""
    command = [sys.executable, "-m", "bench.collection", str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=1200)
    seen: dict[str, float] = json.loads(done.stdout)
    claim = f"{count:,} tasks: resident memory at 100 % / at 10 % of the run"
    return Row(claim, seen["end_mib"] / seen["tenth_mib"], "at most", GROWTH_LIMIT, count, seen)


class Watch(Silent):
    """Reads resident memory as the collection reports its progress."""

    def __init__(self) -> None:
        self.tenth_mib = self.end_mib = 0.0
        self.calls_per_s = 0.0

    def progress(self, stage: str, done: int, total: int | None, **fields: float | None) -> None:
        """Remember the first reading after a tenth of the run and the last one."""
        if stage != "collect" or not total or done < total / 10:
            return
        self.end_mib, self.calls_per_s = rss_mib(), fields.get("calls_per_s") or 0.0
        self.tenth_mib = self.tenth_mib or self.end_mib


def watched(count: int) -> dict[str, float]:
    """Collect `count` tasks and return the readings; `written_mib` is after the final rewrite of the matrix."""
    watch = Watch()
    pool = pool_of({"id": "mock", "type": "mock", "max_concurrency": 64, "options": {"reply": "Answer: 42"}})
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_collect(pool, count, Path(folder), watch))
    seen = {"tenth_mib": watch.tenth_mib, "end_mib": watch.end_mib, "written_mib": rss_mib()}
    return seen | {"calls_per_s": watch.calls_per_s}


def tasks(count: int) -> list[Task]:
    """Return tasks with an exact answer."""
    grader = {"type": "exact"}
    return [
        Task(task_id=f"t{index:06d}", prompt=f"What is {index} + 1?", reference_answer="42", grader=grader)
        for index in range(count)
    ]


def pool_of(worker: dict[str, object]) -> Pool:
    """Return a pool of one worker, asked once per task."""
    return Pool(PoolSpec.parse({"workers": [worker], "collection": {"repetitions": 1}}))


@contextmanager
def mock_server(latency_s: float) -> Iterator[str]:
    """Run the mock server in a child process and yield its base URL."""
    command = [sys.executable, "-m", "bench._mock_server", str(latency_s)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(child.stdout.readline())}/v1"
        finally:
            child.stdin.close()
            child.wait(timeout=30)


if __name__ == "__main__":
    print(json.dumps(watched(int(sys.argv[1]))))
