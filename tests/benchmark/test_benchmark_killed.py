"""A benchmark that is killed in the middle: nothing that was answered is asked again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson
from tests.conftest import interruptible

from fugu_lite import jsonl
from fugu_lite.rewards import attempts as log

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import asyncio, os, sys
from pathlib import Path
from tests.benchmark.stubs import benchmark, pool, questions
from tests.rewards.stubs import entry
os.chdir(sys.argv[1])
wait_s = float(sys.argv[2])
common = dict(count_file="asked.txt", latency_s=0.5, cost_usd=0.001, max_concurrency=2)
workers = pool(entry("alpha", sleep=wait_s, **common), entry("beta", sleep=2 * wait_s, lie=True, **common),
               entry("gamma", sleep=wait_s, **common))
tasks = questions(*(f"{name} {i}" for i in range(12) for name in ("alpha", "beta", "gamma")))
print(asyncio.run(benchmark(workers, tasks, Path("out"), compare="beta", resume=True)).status, flush=True)
"""
CALLS = 36 + 24  # one per question, and the comparator's where another was picked


def start(folder: Path, wait_s: float) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(wait_s)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )


def returned(folder: Path) -> int:
    path = folder / "out" / "attempts.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def stop_after(process: subprocess.Popen[str], folder: Path, calls: int, number: signal.Signals) -> str:
    while returned(folder) < calls and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(number)
    return process.communicate(timeout=60)[0]


def asked(folder: Path) -> Counter[str]:
    return Counter((folder / "asked.txt").read_text().splitlines())


def facts(folder: Path) -> bytes:
    """The result without what two runs measure differently: how long routing took."""
    found = orjson.loads((folder / "out" / "benchmark.json").read_bytes())
    found["route_p50_s"] = None
    for row in found["questions"]:
        row["route_s"] = None
    return orjson.dumps(found)


def test_kill_and_resume_ask_nothing_twice_and_give_the_same_result(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert start(whole, 0.0).communicate(timeout=60)[0] == "complete\n"
    assert sum(asked(whole).values()) == CALLS
    for calls in (6, 25):
        stop_after(start(broken, 0.04), broken, calls, signal.SIGKILL)
        assert calls <= returned(broken) < CALLS
    with (broken / "out" / "decisions.jsonl").open("a") as torn:
        torn.write('{"task_id": "q0')
    assert start(broken, 0.0).communicate(timeout=60)[0] == "complete\n"
    stored = [attempt.key for attempt in log.read(broken / "out" / "attempts.jsonl")]
    assert len(stored) == len(set(stored)) == CALLS
    assert sum(asked(broken).values()) - CALLS <= 2 * 6  # what two kills caught in flight: three workers, two each
    decided = [row["task_id"] for row in jsonl.read_rows(broken / "out" / "decisions.jsonl")]
    assert len(decided) == len(set(decided)) == 36
    assert facts(broken) == facts(whole)


def test_an_interrupt_writes_what_there_is(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert stop_after(start(folder, 0.04), folder, 10, signal.SIGINT) == "cancelled\n"
    found = orjson.loads((folder / "out" / "benchmark.json").read_bytes())
    assert found["status"] == "cancelled"
    assert 10 <= returned(folder) < CALLS
    assert found["graded"] + found["missing"] == found["n_questions"] == 36
    assert found["not_asked"] > 0
