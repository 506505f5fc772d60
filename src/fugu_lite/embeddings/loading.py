"""Loading a causal language model for reading: only the layers that are needed, on the right device, in one type."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fugu_lite import weights
from fugu_lite.embeddings import gguf
from fugu_lite.embeddings.contract import EmbedderSpec
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
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(
            str(folder), f"cannot be loaded: {str(error).splitlines()[0]}", "check the folder, or fetch it again"
        ) from None
    if count < total:
        _drop_final_norm(model)
    return Loaded(model.to(device).eval(), tokenizer, device)


def _drop_final_norm(model: Any) -> None:
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


def from_hub(name: str, revision: str | None) -> Path:
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


def content_digest(folder: Path) -> str:
    """Hash what shapes vectors in a model folder."""
    files = sorted(file for file in folder.iterdir() if file.suffix in {".json", ".safetensors", ".model", ".txt"})
    total = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            total.update(file.name.encode() + hashlib.file_digest(content, "sha256").digest())
    return total.hexdigest()[:12]
