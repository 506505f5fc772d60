"""Vectors from the hidden states of a frozen causal language model, read at one layer and pooled over tokens."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from fugu_lite import weights
from fugu_lite.embeddings import gguf
from fugu_lite.embeddings.contract import Embedder, EmbedderSpec, Features, Progress
from fugu_lite.errors import InputError, MissingExtraError, MissingWeightsError, SpecError

if TYPE_CHECKING:
    import torch

FINAL_NORMS = ("norm", "ln_f", "final_layernorm", "final_layer_norm", "norm_f")
HUB_FILES = ("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model cut to the layers that are needed, where it runs, and its tokenizer."""

    model: Any
    tokenizer: Any
    device: torch.device


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
        return _from_hub(name, self.spec.revision)

    @cached_property
    def weights_digest(self) -> str:
        """Hash of the weights: pinned for named ones, the commit of a hub model, the content of a folder."""
        if self.spec.backbone in weights.CATALOGUE:
            return f"{weights.named(self.spec.backbone).digest[:12]}-{gguf.CONVERSION}"
        if Path(self.spec.backbone).expanduser().is_dir():
            return _content_digest(self.folder)
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

        loaded = self._ready()
        ids = self._token_ids(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
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
        whole = [prefix + text or " " for text in texts]  # nothing at all has no vector; a space has
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


def layer_count(layer: str | int, total: int) -> int:
    """Return how many of `total` layers have to run.

    Raises:
        SpecError: if the model has fewer layers than asked for.
    """
    count = {"middle": total // 2, "final": total}[layer] if isinstance(layer, str) else layer
    if not 0 <= count <= total:
        raise SpecError("layer", f"{count} is not a layer of this model", f"use middle, final or 0..{total}")
    return count


def load(folder: Path, spec: EmbedderSpec) -> Loaded:
    """Load a model cut to the layers that `spec.layer` needs.

    Raises:
        MissingExtraError: if torch or transformers is missing.
        InputError: if the folder does not hold a usable model, or was changed.
        SpecError: if layer, length or device do not fit.
    """
    try:
        import torch
        from transformers import AutoConfig, AutoModel, AutoTokenizer
    except ImportError:
        raise MissingExtraError(f"the embedder {spec.type!r}", "local") from None
    if (folder / gguf.CHECKSUMS).is_file():
        gguf.verify(folder)
    if spec.threads is not None:
        torch.set_num_threads(spec.threads)
    device = _device(spec.device)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        total = config.num_hidden_layers
        count = layer_count(spec.layer, total)
        _check_length(spec.max_length, getattr(config, "max_position_embeddings", None))
        config.num_hidden_layers = count
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:count]
        with _quiet():
            model = AutoModel.from_pretrained(
                folder, config=config, dtype=_dtype(spec.dtype, device), local_files_only=True
            )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except OSError as error:
        raise InputError(str(folder), f"cannot be loaded: {str(error).splitlines()[0]}", "fetch it again") from None
    if count < total:
        _drop_final_norm(model, spec)
    return Loaded(model.to(device).eval(), tokenizer, device)


def _drop_final_norm(model: Any, spec: EmbedderSpec) -> None:
    """An intermediate layer is read as it leaves the layer; the final norm belongs to the last one only."""
    import torch

    name = next((name for name in FINAL_NORMS if hasattr(model, name)), None)
    if name is None:
        raise SpecError("layer", f"{type(model).__name__} has no final norm that is known here", "use layer: final")
    setattr(model, name, torch.nn.Identity())


def _check_length(length: int, positions: int | None) -> None:
    if positions is not None and length > positions:
        raise SpecError("max_length", f"{length} is more than the model's {positions} positions", "lower it")


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SpecError("device", f"unknown device {name!r}", "use auto, cpu, cuda or cuda:0") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SpecError("device", "torch sees no CUDA device", "use device: auto or cpu")
    return device


def _dtype(name: str, device: torch.device) -> torch.dtype:
    """Return the number type; bfloat16 pays only where the hardware multiplies it, elsewhere it is far slower."""
    import torch

    if name == "auto":
        native = torch.cuda.is_bf16_supported() if device.type == "cuda" else _cpu_has_bfloat16()
        name = "bfloat16" if native else "float32"
    return torch.bfloat16 if name == "bfloat16" else torch.float32


def _cpu_has_bfloat16() -> bool:
    import torch

    checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(check() for name in checks if (check := getattr(torch.cpu, name, None)) is not None)


class _quiet:
    """Silence the progress bar and the report about the layers that are left out on purpose."""

    def __enter__(self) -> None:
        from transformers.utils import logging

        self._level, self._bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        from transformers.utils import logging

        logging.set_verbosity(self._level)
        if self._bar:
            logging.enable_progress_bar()


def _from_hub(name: str, revision: str | None) -> Path:
    """Download a model, or find it in the hub's cache. The folder's name is the commit."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        raise MissingExtraError(f"the backbone {name!r}", "local") from None
    known = f"check the network and the id, give a local folder, or use {', '.join(sorted(weights.CATALOGUE))}"
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(HUB_FILES)))
    except (HFValidationError, OSError) as error:  # every hub and connection error is an OSError
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise MissingWeightsError(name, f"the hub did not deliver them ({reason}); {known}") from None


def _content_digest(folder: Path) -> str:
    """Hash what shapes vectors in a model folder."""
    files = sorted(file for file in folder.iterdir() if file.suffix in {".json", ".safetensors", ".model", ".txt"})
    total = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            total.update(file.name.encode() + hashlib.file_digest(content, "sha256").digest())
    return total.hexdigest()[:12]
