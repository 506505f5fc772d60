"""The child process of a local worker: llama.cpp's own HTTP server around one GGUF file.

Run as `python -m fugu_lite.workers._llama_server`. The parent writes one JSON line (the settings and the API key, which
so never shows in a process list) to standard input, and reads one JSON line (`{"url": ...}`) from standard output. The
child lives as long as its standard input stays open, so it cannot outlive a parent that was killed.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

PROMPT_CACHE_MIB = 64  # llama.cpp would keep up to 8 GiB of old prompts
THREADS_HTTP = 4


def parameters(settings: dict[str, Any]) -> Any:
    """Translate the settings line to llama.cpp's parameters.

    Args:
        settings: `file`, `name`, `threads`, `context_tokens` (per slot), `slots`, `chat_template` (Jinja text or
            None), `api_key`.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["file"]
    params.model_alias = {settings["name"]}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [settings["api_key"]]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context_tokens"] * settings["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.n_threads_http = THREADS_HTTP
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.ui, params.verbosity = False, 0
    if settings["chat_template"]:
        params.chat_template, params.use_jinja = settings["chat_template"], True
    return params


def private_stdout() -> TextIO:
    """Return the parent's pipe, and send whatever native code prints to standard error instead."""
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return pipe


def main() -> None:
    """Serve until standard input closes."""
    import xllamacpp

    answer = private_stdout()
    server = xllamacpp.Server(parameters(json.loads(sys.stdin.readline())))
    print(json.dumps({"url": server.listening_address}), file=answer, flush=True)
    sys.stdin.read()
    os._exit(0)  # nothing to save, and native threads may still be decoding


if __name__ == "__main__":
    main()
