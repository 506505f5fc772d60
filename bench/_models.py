"""The default backbone as a newcomer would use it: transformers, the GGUF file, float32, the whole model."""

from __future__ import annotations

from typing import Any

import numpy as np

from fugu_lite import weights
from fugu_lite.embeddings.contract import EmbedderSpec, Features
from fugu_lite.embeddings.transformers import TransformersEmbedder
from fugu_lite.errors import InputError

LONGEST = 512
PASSAGE = (
    "A reader asks which of several workers should answer: one is cheap and quick, one is careful with numbers, and "
    "one writes code that runs. The question may be short, or it may come with pages of notes. "
)


def spec(**changes: Any) -> EmbedderSpec:
    """Return the default spec on one thread of the CPU, its length raised so that nothing is cut here."""
    return EmbedderSpec(max_length=LONGEST, threads=1, device="cpu", **changes)


class PlainModel:
    """`AutoModelForCausalLM.from_pretrained(folder, gguf_file=...)`, mean of the last hidden states but the first."""

    def __init__(self) -> None:
        try:
            import accelerate  # type: ignore[import-not-found,unused-ignore] # noqa: F401 - transformers wants it to read GGUF files
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
            from transformers.utils import logging
        except ImportError as error:
            found = f"{error.name} is not installed, and plain transformers reads GGUF files with it"
            raise InputError("the embedding bench", found, f"pip install {error.name}") from None
        file = weights.path(spec().backbone)
        logging.disable_progress_bar()
        self.tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
        self.model: Any = model.eval()

    def embed(self, texts: list[str]) -> Features:
        """Return (texts, dimension) vectors of texts of one length."""
        import torch

        rows = self.tokenizer(texts)["input_ids"]
        shortest = min(len(row) for row in rows)  # its tokenizer splits a few texts one token longer than ours
        ids = torch.tensor([row[:shortest] for row in rows])
        with torch.inference_mode():
            hidden = self.model(input_ids=ids, output_hidden_states=True).hidden_states[-1]
        vectors: Features = hidden[:, 1:].mean(dim=1).numpy().astype(np.float32)
        return vectors


def texts_of(embedder: TransformersEmbedder, tokens: int, count: int) -> list[str]:
    """Return different texts of exactly so many tokens, for our tokenizer and the plain one alike."""
    words, found = PASSAGE.split(), list[str]()
    start = 0
    while len(found) < count:
        text = _exactly(embedder, words[start % len(words) :] + words * (tokens // len(words) + 2), tokens)
        found += [text] if text is not None else []
        start += 1
    return found


def _exactly(embedder: TransformersEmbedder, words: list[str], tokens: int) -> str | None:
    """Return the words from the first on that make so many tokens; None when a word straddles the number."""
    low, high = 1, len(words)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if length(embedder, " ".join(words[:middle])) >= tokens else (middle + 1, high)
    text = " ".join(words[:low])
    return text if length(embedder, text) == tokens else None


def length(embedder: TransformersEmbedder, text: str) -> int:
    """Return how many tokens our embedder reads of a text."""
    return len(embedder._token_ids([text])[0])
