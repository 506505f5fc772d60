"""The Fugu-Lite README's commands, in its order, on the mock pool: they work, and twice they give the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import orjson
import pytest

from fugu_lite import jsonl, weights
from fugu_lite.cli import app
from fugu_lite.cli._guard import guarded

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "Find the bug in this Python function ..."
CURL_BODY = {
    "model": "fugu-lite",
    "domain": "code",
    "messages": [{"role": "user", "content": "Explain this stack trace..."}],
}
GENERATE = """generate --workers configs/workers.mock.yaml --tasks data/tasks.sample.jsonl
 --output data/rewards.mock.jsonl"""
TRAIN = [
    "train-sft --config configs/train_sft.yaml --data data/rewards.mock.jsonl --output artifacts/router-sft",
    """train-rl --config configs/train_rl.yaml --data data/rewards.mock.jsonl --checkpoint artifacts/router-sft
 --output artifacts/router-rl""",
    """train-es --config configs/train_es.yaml --data data/rewards.mock.jsonl --checkpoint artifacts/router-rl
 --output artifacts/router-es""",
]
EVALUATE = """evaluate --checkpoint artifacts/router-rl --data data/rewards.mock.jsonl --split test
 --output artifacts/router-rl/test_metrics.json"""
ROUTE = "route --checkpoint artifacts/router-rl --domain code --prompt"
ASK = "ask --checkpoint artifacts/router-rl --workers configs/workers.mock.yaml --domain code --prompt"


def run(line: str, *more: str) -> None:
    """Run one command line in this process."""
    assert guarded(lambda: app([*line.split(), *more], result_action="return_value")) == 0


def clone(folder: Path) -> Path:
    shutil.copytree(ROOT / "configs", folder / "configs")
    (folder / "data").mkdir()
    shutil.copy(ROOT / "data" / "tasks.sample.jsonl", folder / "data")
    return folder


def play(folder: Path, monkeypatch: pytest.MonkeyPatch, *flags: str) -> Path:
    """Run the README in a folder, up to evaluation; `flags` go to the training commands."""
    monkeypatch.chdir(clone(folder))
    run(GENERATE)
    for line in TRAIN:
        run(line, *flags)
    run(EVALUATE)
    return folder


def results(folder: Path) -> dict[str, Any]:
    """Return what must not differ between two runs: every file by its bytes, attempts without their time."""
    kept: dict[str, Any] = {
        str(path.relative_to(folder)): path.read_bytes()
        for top in ("artifacts", "data")
        for path in (folder / top).rglob("*")
        if path.is_file() and not path.name.endswith((".attempts.jsonl", ".lock"))
    }
    attempts = jsonl.read_rows(folder / "data" / "rewards.mock.attempts.jsonl")
    assert all(attempt.pop("started_at") for attempt in attempts)
    kept["attempts"] = sorted(json.dumps(attempt, sort_keys=True) for attempt in attempts)
    return kept


def served(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Serve a folder's router, send the README's request, and return (answer, health)."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    line = "serve --checkpoint artifacts/router-rl --workers configs/workers.mock.yaml --host 127.0.0.1 --port"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "fugu_lite", *line.split(), str(port)]
    server = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        health = _fetched(f"http://127.0.0.1:{port}/health", None, server)
        return _fetched(f"http://127.0.0.1:{port}/v1/chat/completions", CURL_BODY, server), health
    finally:
        server.terminate()
        server.wait(30)


def _fetched(url: str, body: Any, server: subprocess.Popen[bytes]) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                loaded: dict[str, Any] = json.load(answer)
                return loaded
        except urllib.error.URLError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def test_the_readme_twice_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    flags = ("--backbone.type", "hashing", "--no-cache", "--epochs", "20")
    flags_es = ("--backbone.type", "hashing", "--no-cache", "--generations", "10")
    folders = []
    for name in ("one", "two"):
        monkeypatch.chdir(clone(tmp_path / name))
        run(GENERATE)
        for line in TRAIN:
            run(line, *(flags_es if line.startswith("train-es") else flags))
        run(EVALUATE)
        folders.append(tmp_path / name)
    one, two = map(results, folders)
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert {f"artifacts/router-{m}/head.safetensors" for m in ("sft", "rl", "es")} < one.keys()
    metrics = orjson.loads(one["artifacts/router-rl/test_metrics.json"])
    assert metrics["router_utility"] <= metrics["oracle_utility"]
    assert metrics["regret"] == pytest.approx(metrics["oracle_utility"] - metrics["router_utility"])
    capfd.readouterr()
    run(f"{ROUTE.replace(' --prompt', ' --json --prompt')}", QUESTION)
    routed = orjson.loads(capfd.readouterr().out)["worker_id"]
    run(f"{ASK.replace(' --prompt', ' --json --prompt')}", QUESTION)
    assert orjson.loads(capfd.readouterr().out)["fugu_lite"]["worker_id"] == routed
    answer, health = served(folders[0])
    assert health
    assert answer["choices"][0]["message"]["content"]
    assert answer["fugu_lite"]["worker_id"] in ("math", "code", "general")


@pytest.mark.weights
def test_the_readme_as_printed_with_the_embedded_backbone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if "smollm2-135m" not in weights.installed():
        pytest.skip("the embedded weights are not here: fugu-lite weights fetch smollm2-135m")
    folder = play(tmp_path / "clone", monkeypatch)
    run(ROUTE, QUESTION)
    run(ASK, QUESTION)
    answer, _ = served(folder)
    assert answer["fugu_lite"]["worker_id"] in ("math", "code", "general")
    run("export --format router-head --checkpoint artifacts/router-es --output exported")
    run("import exported --output imported")
    capfd.readouterr()
    picks = []
    for name in ("artifacts/router-es", "imported"):
        run(f"route --json --checkpoint {name} --prompt", QUESTION)
        picks.append(orjson.loads(capfd.readouterr().out)["worker_id"])
    assert picks[0] == picks[1]
    run("models register artifacts/router-rl")
    run("models list")
