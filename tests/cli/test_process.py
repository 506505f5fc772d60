"""What only a process shows: how long help takes, what it imports, and how an interrupt ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from tests.conftest import interruptible

from fugu_lite import jsonl
from fugu_lite.cli import COMMANDS, app

REPORT = """
import resource, sys
from fugu_lite.cli import app
try:
    app(sys.argv[1:])
except SystemExit:
    pass
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, *{name.split(".")[0] for name in sys.modules}, file=sys.stderr)
"""


def helped(*command: str) -> tuple[str, float, set[str]]:
    """Return the help text, the CPU seconds and the top-level modules of `fugu-lite COMMAND --help`."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT, *command, "--help"], capture_output=True, text=True, timeout=200, check=True
    )
    seconds, *modules = done.stderr.split()
    return done.stdout, float(seconds), set(modules)


def test_help_is_quick_and_light() -> None:
    found = [helped() for _ in range(3)]
    text, _, modules = found[0]
    assert min(seconds for _, seconds, _ in found) < 0.5
    assert modules.isdisjoint({"torch", "transformers", "numpy", "pydantic", "starlette", "aiohttp"})
    assert all(name in text for commands in COMMANDS.values() for name in commands)


@pytest.mark.parametrize("command", ["train-sft", "evaluate"])
def test_help_of_a_command_needs_no_torch(command: str) -> None:
    text, _, modules = helped(command)
    assert "--data" in text
    assert modules.isdisjoint({"torch", "transformers", "sklearn", "matplotlib", "starlette"})


@pytest.mark.parametrize("command", [name for commands in COMMANDS.values() for name in commands])
def test_every_flag_is_explained(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        app([command, "--help"])
    assert end.value.code in (0, None)
    text = capsys.readouterr().out
    assert "Usage:" in text
    assert "--empty-" not in text


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    options = {"sleep": True, "latency_s": 0.05, "reply": "4"}
    pool = {"workers": [{"id": "slow", "type": "mock", "max_concurrency": 1, "options": options}]}
    (tmp_path / "pool.yaml").write_bytes(orjson.dumps(pool))
    graded = {"reference_answer": "4", "grader": {"type": "exact"}}
    tasks = [{"task_id": f"t{i}", "prompt": f"question {i}", **graded} for i in range(2000)]
    jsonl.write(tmp_path / "tasks.jsonl", tasks)
    line = "generate --workers pool.yaml --tasks tasks.jsonl --output m.jsonl --repetitions 1"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "fugu_lite", *line.split()],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=interruptible,
    )
    deadline = time.monotonic() + 120
    rows = tmp_path / "m.jsonl"
    while time.monotonic() < deadline and not (rows.exists() and rows.read_bytes().count(b"\n") >= 3):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "what was finished is kept" in told
    assert "Traceback" not in told
    kept, attempts = jsonl.read_rows(rows), jsonl.read_rows(tmp_path / "m.attempts.jsonl")
    assert 3 <= len(kept) <= len(attempts) < 2000
    (run,) = (tmp_path / "runs").iterdir()
    assert orjson.loads((run / "manifest.json").read_bytes())["status"] == "cancelled"
