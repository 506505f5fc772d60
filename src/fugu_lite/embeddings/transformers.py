"""Vectors from the hidden states of a frozen causal language model, read at one layer and pooled over tokens."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from fugu_lite import weights
from fugu_lite.embeddings import gguf
from fugu_lite.embeddings.contract import Embedder, EmbedderSpec, Features, Progress
from fugu_lite.embeddings.loading import Loaded, content_digest, from_hub, load
from fugu_lite.errors import InputError

if TYPE_CHECKING:
    import torch


class TransformersEmbedder(Embedder):
    """Any Hugging Face causal language model: fetched weights by name, a local folder, or a hub id.

    Only the layers up to the one that is read are loaded and run. Texts run in batches of similar length; padding is
    on the right, where a causal model cannot see it.
    """

    def __init__(self, spec: EmbedderSpec) -> None:
        super().__init__(spec)
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @cached_property
    def folder(self) -> Path:
        """Folder of the configuration, the weights and the tokenizer; a hub model is downloaded first.

        Raises:
            MissingWeightsError: if the weights are not here and cannot be had.
        """
        name = self.spec.backbone
        if name in weights.CATALOGUE:
            return gguf.converted(name)
        if Path(name).expanduser().is_dir():
            return Path(name).expanduser()
        return from_hub(name, self.spec.revision)

    @cached_property
    def weights_digest(self) -> str:
        """Hash of the weights: pinned for named ones, the commit of a hub model, the content of a folder."""
        if self.spec.backbone in weights.CATALOGUE:
            return f"{weights.named(self.spec.backbone).digest[:12]}-{gguf.CONVERSION}"
        if Path(self.spec.backbone).expanduser().is_dir():
            return content_digest(self.folder)
        return self.folder.name

    @cached_property
    def dimension(self) -> int:
        """Hidden size of the model."""
        return int(self._config["hidden_size" if "hidden_size" in self._config else "n_embd"])

    @cached_property
    def _config(self) -> dict[str, Any]:
        file = self.folder / "config.json"
        if not file.is_file():
            raise InputError(str(self.folder), "has no config.json", "give the folder of a transformers model")
        config: dict[str, Any] = orjson.loads(file.read_bytes())
        return config

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Features:
        """Return one vector per text; see `Embedder.embed`."""
        import torch

        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        loaded, ids = self._ready(), self._token_ids(texts)
        done = 0
        for batch in batches([len(row) for row in ids], self.spec.batch_tokens):
            with torch.inference_mode():
                vectors[batch] = self._forward(loaded, [ids[index] for index in batch]).cpu().numpy()
            done += len(batch)
            if progress is not None:
                progress(done, len(texts))
        return vectors

    def truncated(self, text: str) -> bool:
        """Whether the text is longer than `max_length` tokens."""
        return len(self._tokenize([text])[0]) > self.spec.max_length

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._loaded = None

    def _ready(self) -> Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = load(self.folder, self.spec)
            return self._loaded

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        prefix = "user: " if self.spec.transcript == "role" else ""
        # Nothing at all has no vector, a space has; lone surrogates have no UTF-8.
        whole = [(prefix + text or " ").encode("utf-8", "replace").decode("utf-8") for text in texts]
        return [list(row) for row in self._ready().tokenizer(whole, verbose=False)["input_ids"]] if whole else []

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids per text, at most `max_length`, the middle cut out.

        A text too short for what is asked gets blank tokens in front: with `drop_first_token` at least one token must
        remain that is not the attention sink, whose vector is hundreds of times larger than any other.
        """
        blank, least = self._blank(), 2 if self.spec.drop_first_token else 1
        rows = (head_and_tail(row, self.spec.max_length) for row in self._tokenize(texts))
        return [[blank] * (least - len(row)) + row for row in rows]

    def _blank(self) -> int:
        tokenizer = self._ready().tokenizer
        known = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, 0)
        return int(next(token for token in known if token is not None))

    def _forward(self, loaded: Loaded, rows: list[list[int]]) -> torch.Tensor:
        """Run one batch. Returns (texts, dimension), float32."""
        import torch

        lengths = torch.tensor([len(row) for row in rows], device=loaded.device)
        longest = max(len(row) for row in rows)
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=loaded.device)
        mask = torch.arange(longest, device=loaded.device)[None, :] < lengths[:, None]
        even = bool(mask.all())  # without padding the attention needs no mask, which is faster
        hidden = loaded.model(input_ids=ids, attention_mask=None if even else mask.long(), use_cache=False)
        pooled = pool(hidden.last_hidden_state.float(), lengths, self.spec)
        return torch.nn.functional.normalize(pooled, dim=1) if self.spec.l2_normalise else pooled


def head_and_tail(ids: list[int], length: int) -> list[int]:
    """Keep the first and the last half of `length` tokens: the question is at one of the ends."""
    if len(ids) <= length:
        return ids
    tail = length // 2
    return ids[: length - tail] + ids[len(ids) - tail :]


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield indices grouped by similar length, longest first.

    A batch holds at most `batch_tokens` padded tokens, and no text in it is padded by more than an eighth of its
    longest: on a CPU a larger batch saves less than the padding costs.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        longest = max(1, lengths[order[0]])
        fits = order[: max(1, batch_tokens // longest)]
        batch = [index for index in fits if longest - lengths[index] <= max(2, longest // 8)]
        yield batch
        order = order[len(batch) :]


def pool(hidden: torch.Tensor, lengths: torch.Tensor, spec: EmbedderSpec) -> torch.Tensor:
    """Reduce the token axis.

    Args:
        hidden: (texts, tokens, dimension), right-padded.
        lengths: (texts,), at least 1; real tokens of each text.
        spec: `pooling`, `drop_first_token` and `early_position` count.

    Returns:
        (texts, dimension). A text of one token is that token, whatever the pooling.
    """
    import torch

    rows, last = torch.arange(len(hidden), device=hidden.device), lengths - 1
    if spec.pooling == "mean":
        position = torch.arange(hidden.shape[1], device=hidden.device)[None, :]
        first = (lengths > 1).long()[:, None] if spec.drop_first_token else torch.zeros_like(lengths)[:, None]
        kept = ((position >= first) & (position <= last[:, None])).to(hidden.dtype)[:, :, None]
        return (hidden * kept).sum(1) / kept.sum(1)
    chosen = {"last": last, "penultimate": last - 1, "early": torch.full_like(last, spec.early_position)}[spec.pooling]
    return hidden[rows, torch.minimum(chosen.clamp(min=0), last)]
