"""Local workers: one child per model and settings, alive exactly as long as it is needed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from fugu_lite import weights
from fugu_lite.chat import ChatRequest
from fugu_lite.errors import CallError, MissingWeightsError, SpecError
from fugu_lite.specs import digest_of
from fugu_lite.workers import Pool, WorkerSpec
from fugu_lite.workers.local import LocalWorker, chat_template, model_file

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SMALL = {"context_tokens": 512}


def entry(worker_id: str = "w", **fields: Any) -> WorkerSpec:
    values = {"id": worker_id, "type": "local", "model": "smollm2-135m", "max_tokens": 4, "options": SMALL}
    return WorkerSpec.model_validate({**values, **fields})


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ended(pid: int, within_s: float = 10.0) -> bool:
    deadline = time.monotonic() + within_s
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def arguments_of(pid: int) -> str:
    shown = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    assert "_llama_server" in shown
    return shown


def pid_of(worker: LocalWorker) -> int:
    assert worker._server is not None
    assert worker._server.pid is not None
    return worker._server.pid


@pytest.fixture
def _weights() -> None:
    if "smollm2-135m" not in weights.installed():
        pytest.skip("run: fugu-lite weights fetch smollm2-135m")


@pytest.fixture
async def worker(_weights: None) -> AsyncIterator[LocalWorker]:
    local = LocalWorker(entry())
    yield local
    await local.aclose()


@pytest.mark.parametrize("name", ["workers.local.yaml", "workers.gemma.yaml"])
def test_shipped_pools_load_without_weights(name: str) -> None:
    pool = Pool.load(CONFIGS / name)
    assert "calculator" in pool
    assert all(entry.price.input_per_million == 0 for entry in pool.spec.workers)


def test_unknown_option_is_refused() -> None:
    with pytest.raises(SpecError, match="did you mean 'threads'"):
        LocalWorker(entry(options={"thread": 2}))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (None, "no 'model'"),
        ("nowhere.gguf", "no model file"),
        ("Qwen/Qwen3-0.6B", "openai_compatible"),
        ("smollm2-135", "smollm2-135m"),
    ],
)
def test_unusable_models_are_refused_with_the_way_on(model: str | None, message: str) -> None:
    with pytest.raises((SpecError, LookupError), match=message):
        model_file(entry(model=model))


def test_missing_weights_name_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUGU_LITE_HOME", str(tmp_path))
    with pytest.raises(MissingWeightsError, match="weights fetch smollm2-135m"):
        model_file(entry())


def test_templates_by_name_and_by_file(tmp_path: Path) -> None:
    file = tmp_path / "own.jinja"
    file.write_text("{{ messages[0]['content'] }}")
    assert "Question:" in (chat_template("plain", "w") or "")
    assert chat_template(str(file), "w") == "{{ messages[0]['content'] }}"
    assert chat_template(None, "w") is None
    with pytest.raises(SpecError, match="plain"):
        chat_template("nothing.jinja", "w")


def test_paths_are_relative_to_the_pool_file_and_recorded_as_written(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(b"x")
    (tmp_path / "own.jinja").write_text("{{ messages }}")
    options = {"chat_template": "own.jinja", "start_timeout_s": 9}
    pool = {"workers": [{"id": "w", "type": "local", "model": "own.gguf", "options": options}]}
    (tmp_path / "pool.yaml").write_text(json.dumps(pool))
    loaded = Pool.load(tmp_path / "pool.yaml")
    spec = loaded["w"].spec
    assert spec.conditions()["model"] == "own.gguf"
    assert spec.conditions()["options"] == {"chat_template": "own.jinja"}
    assert model_file(spec, loaded["w"].folder) == (tmp_path / "own.gguf").resolve()
    assert chat_template("own.jinja", "w", loaded["w"].folder) == "{{ messages }}"


def test_the_default_pools_conditions_are_those_of_the_published_snapshot() -> None:
    known = {
        "smol_direct": "fc60b1d2d94f",
        "smol_steps": "7bcdae9e88f0",
        "smol_fewshot": "dee721df4e9f",
        "calculator": "9eb795451928",
    }
    assert {
        entry.id: digest_of(entry.conditions()) for entry in Pool.load(CONFIGS / "workers.local.yaml").spec.workers
    } == known


@pytest.mark.anyio
async def test_a_file_that_is_no_model_fails_to_connect(tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"not a model")
    broken = LocalWorker(entry(model=str(tmp_path / "broken.gguf")))
    with pytest.raises(CallError, match="ended while starting") as failure:
        await broken.start()
    assert failure.value.kind == "connect"
    pid = pid_of(broken)
    await broken.aclose()
    assert ended(pid)


@pytest.mark.weights
@pytest.mark.anyio
async def test_answers_streams_and_repeats_with_a_seed(worker: LocalWorker) -> None:
    request = ChatRequest.of("Count: one, two,", seed=7, temperature=0.7)
    first, second = await worker.complete(request), await worker.complete(request)
    assert first.text
    assert first.served_model == "smollm2-135m"
    assert 0 < (first.usage.completion_tokens or 0) <= 4
    assert (first.usage.prompt_tokens, first.text) == (second.usage.prompt_tokens, second.text)
    assert first.cost_usd is None
    chunks = [chunk async for chunk in worker.stream(request)]
    assert chunks[-1]["choices"][0]["finish_reason"] in ("stop", "length")


@pytest.mark.weights
@pytest.mark.anyio
async def test_modes_of_one_model_share_a_child_until_the_last_closes(worker: LocalWorker) -> None:
    other = LocalWorker(entry("other", system="Be brief."))
    await asyncio.gather(worker.start(), other.start())
    pid = pid_of(worker)
    assert pid_of(other) == pid
    await worker.aclose()
    await worker.aclose()
    assert (await other.complete(ChatRequest.of("Hi"))).body["choices"]
    await other.aclose()
    assert ended(pid)


@pytest.mark.weights
@pytest.mark.anyio
async def test_a_killed_child_is_a_connect_error_and_the_next_call_restarts_it(worker: LocalWorker) -> None:
    await worker.start()
    call = asyncio.create_task(worker.complete(ChatRequest.of("Tell a very long story.", max_tokens=400)))
    await asyncio.sleep(0.3)
    killed = pid_of(worker)
    os.kill(killed, signal.SIGKILL)
    with pytest.raises(CallError) as failure:
        await call
    assert failure.value.kind == "connect"
    assert failure.value.retryable
    assert (await worker.complete(ChatRequest.of("Hi"))).usage.completion_tokens
    assert pid_of(worker) != killed


@pytest.mark.weights
@pytest.mark.anyio
async def test_other_processes_without_the_key_are_refused(worker: LocalWorker) -> None:
    await worker.start()
    assert worker._address is not None
    url, body = f"{worker._address.base_url}/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        assert response.status == 401
    assert worker._address.api_key not in arguments_of(pid_of(worker))


ORPHAN = """
import asyncio, os, sys
from fugu_lite.workers import WorkerSpec
from fugu_lite.workers.local import LocalWorker
worker = LocalWorker(WorkerSpec(id="w", type="local", model="smollm2-135m", options={"context_tokens": 512}))
asyncio.run(worker.start())
print(worker._server.pid, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.weights
@pytest.mark.usefixtures("_weights")
def test_no_child_outlives_a_killed_parent() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, timeout=60, check=False)
    assert ended(int(done.stdout))
