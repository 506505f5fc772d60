"""A collection that is killed, or interrupted, in the middle: a process of its own is the only honest test."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.conftest import interruptible

from fugu_lite import jsonl
from fugu_lite.rewards import attempts as log
from fugu_lite.rewards.matrix import load

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import asyncio, sys
from pathlib import Path
from fugu_lite.rewards import CollectOptions, collect
from tests.rewards.stubs import entry, pool, task
folder, wait_s = Path(sys.argv[1]), float(sys.argv[2])
common = dict(count_file=str(folder / "asked.txt"), send_seed=True, latency_s=0.5, cost_usd=0.001, max_concurrency=2)
workers = pool(entry("a", sleep=wait_s, **common), entry("b", sleep=2 * wait_s, lie=True, **common), repetitions=2)
tasks = [task(f"t{i:02}") for i in range(12)]
summary = asyncio.run(collect(workers, tasks, folder / "r.jsonl", CollectOptions(resume=True)))
print(summary.status, flush=True)
"""


def start(folder: Path, wait_s: float) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(wait_s)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )


def returned(folder: Path) -> int:
    path = folder / "r.attempts.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def stop_after(process: subprocess.Popen[str], folder: Path, calls: int, number: signal.Signals) -> str:
    while returned(folder) < calls and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(number)
    return process.communicate(timeout=30)[0]


def test_kill_and_resume_lose_nothing_but_calls_in_flight(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert start(whole, 0.0).communicate(timeout=60)[0] == "complete\n"

    for calls in (5, 20):
        stop_after(start(broken, 0.04), broken, calls, signal.SIGKILL)
        assert returned(broken) >= calls
        assert returned(broken) < 48
        before = {attempt.key for attempt in log.read(broken / "r.attempts.jsonl")}
        asked_before = Counter((broken / "asked.txt").read_text().splitlines())
        assert sum(asked_before.values()) - len(before) <= 4 * (1 if calls == 5 else 2)  # two workers, two in flight
    assert start(broken, 0.0).communicate(timeout=60)[0] == "complete\n"

    stored = [attempt.key for attempt in log.read(broken / "r.attempts.jsonl")]
    assert len(stored) == len(set(stored)) == 48
    asked = Counter((broken / "asked.txt").read_text().splitlines())
    assert len(asked) == 48
    assert sum(asked.values()) - 48 <= 8
    assert (broken / "r.jsonl").read_bytes() == (whole / "r.jsonl").read_bytes()


def test_interrupt_leaves_valid_files_and_says_cancelled(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert stop_after(start(folder, 0.04), folder, 12, signal.SIGINT) == "cancelled\n"
    assert (folder / "r.attempts.jsonl").read_bytes().endswith(b"\n")
    kept = len(list(log.read(folder / "r.attempts.jsonl")))
    assert 12 <= kept < 48
    rows = len(jsonl.read_rows(folder / "r.jsonl"))
    assert 0 < rows < 12
    assert len(load(folder / "r.jsonl")) == rows
    assert start(folder, 0.0).communicate(timeout=60)[0] == "complete\n"
    assert len(load(folder / "r.jsonl")) == 12
