"""Type `local`: a GGUF file behind llama.cpp in a child process, called like any OpenAI-compatible server.

Workers of one process that use the same file with the same settings share one child: two prompting modes of a model
load it once. The child starts with the first call, is started again when it died, and ends with its last worker.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import Field

from fugu_lite import weights
from fugu_lite.chat import ChatRequest, Completion, Json
from fugu_lite.errors import CallError, MissingExtraError, SpecError
from fugu_lite.specs import Spec
from fugu_lite.workers._model_server import Address, ModelServer, ServerSettings, acquire, release
from fugu_lite.workers.contract import Worker, WorkerSpec
from fugu_lite.workers.openai import OpenAIWorker

TEMPLATES = {
    # For base models, which know no chat: the questions and answers of `examples`, then the question.
    "plain": (
        "{% for m in messages %}"
        "{% if m['role'] == 'user' %}Question: {{ m['content'] }}\n"
        "{% elif m['role'] == 'assistant' %}Answer: {{ m['content'] }}\n\n"
        "{% else %}{{ m['content'] }}\n\n{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}Answer:{% endif %}"
    )
}


class LocalOptions(Spec):
    """The `options` of a local worker.

    Attributes:
        threads: CPU threads of the child.
        context_tokens: prompt and answer together, per slot.
        slots: sequences decoded together; each keeps the prompt prefix that it served last.
        chat_template: `plain`, or a file with a Jinja template, relative to the pool file; None uses the one inside
            the GGUF.
        start_timeout_s: how long loading may take.
    """

    threads: int = Field(1, gt=0)
    context_tokens: int = Field(2048, gt=0)
    slots: int = Field(1, gt=0)
    chat_template: str | None = None
    start_timeout_s: float = Field(120.0, gt=0)


class ChildClient(OpenAIWorker):
    """The HTTP side of a local worker: its key comes from the child's parent, not from the environment."""

    def __init__(self, spec: WorkerSpec, api_key: str) -> None:
        super().__init__(spec)
        self._api_key = api_key

    def _key(self) -> str | None:
        return self._api_key


class LocalWorker(Worker):
    """A worker on this machine.

    Args:
        spec: `model` is a weights name (`fugu-lite weights list`) or the path of a `.gguf` file; `options` as in
            `LocalOptions`.

    Raises:
        SpecError: for unknown options.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        super().__init__(spec)
        self.options = LocalOptions.parse(spec.options, f"worker {spec.id!r} options")
        self._server: ModelServer | None = None
        self._address: Address | None = None
        self._client: ChildClient | None = None
        self._opening = asyncio.Lock()

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer whole, starting the model first when it is not running."""
        client = await self._opened()
        async with self._noticing():
            return await client.complete(request)

    async def stream(self, request: ChatRequest) -> AsyncIterator[Json]:
        """Answer in chunks, starting the model first when it is not running."""
        client = await self._opened()
        async with self._noticing():
            async for chunk in client.stream(request):
                yield chunk

    async def start(self) -> None:
        """Load the model.

        Raises:
            CallError: kind `connect`, with the last lines that the child wrote.
            MissingExtraError: if llama.cpp is not installed.
            MissingWeightsError: if the weights were not fetched.
        """
        await self._opened()

    async def aclose(self) -> None:
        """Close connections; the last worker on a model ends its process."""
        server, self._server = self._server, None
        client, self._client, self._address = self._client, None, None
        if client is not None:
            await client.aclose()
        if server is not None:
            await asyncio.to_thread(release, server)

    @asynccontextmanager
    async def _noticing(self) -> AsyncIterator[None]:
        """Let a lost connection tell whether the child is gone, so that the next call starts it again."""
        try:
            yield
        except CallError as error:
            if error.kind == "connect" and self._server is not None:
                await asyncio.to_thread(self._server.reap)
            raise

    async def _opened(self) -> ChildClient:
        async with self._opening:
            if self._server is None:
                self._server = acquire(self._settings())
            address = await asyncio.to_thread(self._server.address)
            if self._client is None or address != self._address:
                if self._client is not None:
                    await self._client.aclose()
                self._client, self._address = self._connect(address), address
            return self._client

    def _connect(self, address: Address) -> ChildClient:
        changes: Json = {
            "base_url": address.base_url,
            "model": self._settings().name,
            "api_key_env": None,
            "options": {},
        }
        return ChildClient(self.spec.model_copy(update=changes), address.api_key)

    def _settings(self) -> ServerSettings:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtraError("a local worker", "local")
        file, options = model_file(self.spec, self.folder), self.options
        name = file.stem if (self.spec.model or "").endswith(".gguf") else str(self.spec.model)
        template = chat_template(options.chat_template, self.spec.id, self.folder)
        return ServerSettings(
            str(file),
            name,
            options.threads,
            options.context_tokens,
            options.slots,
            template,
            options.start_timeout_s,
        )


def model_file(spec: WorkerSpec, folder: Path = Path()) -> Path:
    """Return the GGUF file that a pool entry names.

    Args:
        spec: the entry.
        folder: what a relative path is relative to.

    Raises:
        SpecError: if there is no such file, or the model is not a GGUF.
        MissingWeightsError: if it is a known weights name that was not fetched.
    """
    where, model = f"worker {spec.id!r}", spec.model
    if not model:
        raise SpecError(where, "a local worker has no 'model'", "name weights such as smollm2-135m, or a .gguf file")
    path = folder / model
    if path.suffix == ".gguf":
        if not path.is_file():
            raise SpecError(where, f"no model file {model!r}", "paths are relative to the pool file")
        return path.resolve()
    if path.is_dir() or "/" in model:
        fix = "serve it with any local server (vllm serve, llama-server) and use type: openai_compatible with base_url"
        raise SpecError(where, f"{model!r} is a transformers model, and type local runs GGUF files", fix)
    return weights.path(model)


def chat_template(option: str | None, worker_id: str, folder: Path = Path()) -> str | None:
    """Return the Jinja text of the option `chat_template`.

    Raises:
        SpecError: if it is neither a built-in name nor a readable file.
    """
    if option is None or option in TEMPLATES:
        return TEMPLATES.get(option or "")
    try:
        return (folder / option).read_text(encoding="utf-8")
    except OSError:
        fix = f"use {', '.join(TEMPLATES)} or the path of a Jinja file, relative to the pool file"
        raise SpecError(f"worker {worker_id!r} options", f"no chat template {option!r}", fix) from None
