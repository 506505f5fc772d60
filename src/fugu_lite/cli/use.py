"""`route`, `ask`, `serve`: a trained router at work."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from fugu_lite.chat import ChatRequest, Completion
from fugu_lite.checkpoints import Checkpoint
from fugu_lite.cli._sources import CheckpointSource, Execution
from fugu_lite.cli._terminal import Shown
from fugu_lite.dispatch import Dispatcher
from fugu_lite.router import Decision
from fugu_lite.workers import Pool
from fugu_lite.workers.environment import load_env


def route(
    checkpoint: CheckpointSource,
    *,
    prompt: str,
    domain: str | None = None,
    execution: Execution = Execution(),
    shown: Shown = Shown(),
) -> None:
    """Choose a worker for a prompt without calling it.

    Args:
        prompt: the user's text.
        domain: recorded only: these heads read the text, and the label is never put into it.
    """
    loaded = checkpoint.load()
    router = loaded.router(execution.cache_folder, **execution.placed)
    decision = router.decide(prompt)
    result = {**decision.to_json(), "head": loaded.manifest.name, "domain": domain}
    shown.result(result, _decision_table(decision, loaded), f"route to {decision.worker_id}")


def _decision_table(decision: Decision, loaded: Checkpoint) -> Table:
    table = Table(
        "worker", "probability", title=f"{loaded.manifest.name}, reason: {decision.reason}", title_justify="left"
    )
    for name in decision.ranking:
        table.add_row(name, f"{decision.probabilities[name]:.3f}")
    return table


def ask(
    checkpoint: CheckpointSource,
    *,
    workers: Path,
    prompt: str,
    domain: str | None = None,
    max_tokens: int | None = None,
    execution: Execution = Execution(),
    shown: Shown = Shown(),
) -> None:
    """Choose a worker, call it, and fall back to the next if it fails.

    Args:
        workers: pool file.
        prompt: the user's text.
        domain: passed on for the record.
        max_tokens: length of the answer; unset takes the worker's own.
    """
    shown.warn(load_env())
    loaded, pool = checkpoint.load(), Pool.load(workers)
    shown.warn(loaded.manifest.check_pool(pool.spec))
    fields = {"domain": domain, "max_tokens": max_tokens}
    request = ChatRequest.of(prompt, **{key: value for key, value in fields.items() if value is not None})
    completion = asyncio.run(_asked(loaded, pool, request, execution))
    details = completion.details
    note = f"answered by {details.get('worker_id')} ({details.get('reason')}), cost {_cost(details.get('cost_usd'))}"
    tried = details.get("attempts", [])
    shown.warn(f"{one['worker_id']} failed: {one['error']['message']}" for one in tried if one["error"])
    shown.result({"answer": completion.text, "fugu_lite": details}, completion.text, Text(note, style="dim"))


def _cost(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6f} USD"


async def _asked(loaded: Checkpoint, pool: Pool, request: ChatRequest, execution: Execution) -> Completion:
    async with pool, _dispatcher(loaded, pool, execution) as dispatcher:
        return await dispatcher.complete(request)


def _dispatcher(loaded: Checkpoint, pool: Pool, execution: Execution) -> Dispatcher:
    """Return a dispatcher whose backbone is known to work: a command stops, where a running server would fall back."""
    router = loaded.router(None, **execution.placed)
    router.features(["ready"])
    return Dispatcher(router, pool, head=loaded.manifest.name, comparator=loaded.manifest.comparator)


def serve(
    checkpoint: CheckpointSource,
    *,
    workers: Path,
    host: str = "127.0.0.1",
    port: int = 8080,
    api_key_env: str = "FUGU_LITE_API_KEYS",
    insecure: Annotated[bool, Parameter(negative=())] = False,
    execution: Execution = Execution(),
    shown: Shown = Shown(),
) -> None:
    """Serve one OpenAI-compatible endpoint.

    Args:
        workers: pool file.
        host: address to bind; another than loopback needs a key.
        port: port to bind; 0 picks a free one.
        api_key_env: environment variable with the accepted bearer keys, comma-separated.
        insecure: bind a public address without a key.
    """
    from fugu_lite.serving import create_app
    from fugu_lite.serving.run import check_bind, keys_from_environment
    from fugu_lite.serving.run import serve as run_server

    shown.warn(load_env())
    keys = keys_from_environment(api_key_env)
    check_bind(host, keys, insecure)
    loaded, pool = checkpoint.load(), Pool.load(workers)
    shown.warn(loaded.manifest.check_pool(pool.spec))
    dispatcher = _dispatcher(loaded, pool, execution)
    app = create_app(dispatcher.completers(), api_keys=keys, resources=(pool, dispatcher), public=insecure)
    run_server(app, host, port)
