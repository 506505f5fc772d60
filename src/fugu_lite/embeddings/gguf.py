"""A Llama-shaped GGUF file as a safetensors folder that transformers loads in a fraction of a second.

Weights are dequantised once with numpy and kept as float16: 4-bit values times float16 scales survive that within
0.05 %, a hundred times less than the quantisation itself took.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from fugu_lite import jsonl, weights
from fugu_lite.errors import InputError, MissingExtraError

CONVERSION = "llama-float16-1"  # part of the folder's name: change it whenever the result changes
CHECKSUMS = "checksums.json"
BLOCK_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOP_TENSORS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
CONTROL_TOKEN = 3

Half = NDArray[np.float16]
Reader = Any  # gguf.GGUFReader: the package has no types


def converted(name: str, reporter: Callable[[str], None] | None = None) -> Path:
    """Return the safetensors folder of fetched GGUF weights, making it the first time.

    Raises:
        MissingWeightsError: if the GGUF file was not fetched.
        MissingExtraError: if the `gguf` or `tokenizers` package is missing.
        InputError: if the file is not Llama-shaped.
    """
    target = location(name)
    if not (target / CHECKSUMS).is_file():
        source = weights.path(name)
        if reporter is not None:
            reporter(f"converting {name} once, a few seconds")
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            convert(source, scratch)
            _move_in(scratch, target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target


def location(name: str) -> Path:
    """Return where the conversion of some weights belongs, whether it is there or not."""
    return weights.folder() / "converted" / f"{name}-{weights.named(name).digest[:12]}-{CONVERSION}"


def verify(folder: Path) -> None:
    """Check a converted folder against the checksums recorded when it was made.

    Raises:
        InputError: if a file is missing or differs.
    """
    for file, expected in orjson.loads((folder / CHECKSUMS).read_bytes()).items():
        if not (folder / file).is_file() or _sha256(folder / file) != expected:
            raise InputError(str(folder / file), "was changed or damaged", f"delete {folder}; it is made again")


def convert(source: Path, target: Path) -> None:
    """Write `config.json`, `model.safetensors`, the tokenizer files and their checksums into a folder."""
    try:
        import gguf
        import tokenizers  # noqa: F401 - checked before the slow part
    except ImportError:
        raise MissingExtraError(f"reading {source.name}", "local") from None
    from safetensors.numpy import save_file

    reader = gguf.GGUFReader(source)
    if _value(reader, "general.architecture") != "llama":
        found = f"has the architecture {_value(reader, 'general.architecture')!r}"
        raise InputError(str(source), found, "only Llama-shaped GGUF files serve as a backbone here")
    jsonl.write_json(target / "config.json", config(reader))
    save_file(dict(_tensors(reader, gguf.dequantize)), target / "model.safetensors", metadata={"format": "pt"})
    write_tokenizer(reader, target)
    jsonl.write_json(target / CHECKSUMS, {file.name: _sha256(file) for file in sorted(target.iterdir())})


def config(reader: Reader) -> dict[str, Any]:
    """Return the transformers configuration of a Llama GGUF file."""
    width, heads = _value(reader, "llama.embedding_length"), _value(reader, "llama.attention.head_count")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": width,
        "head_dim": width // heads,
        "intermediate_size": _value(reader, "llama.feed_forward_length"),
        "num_hidden_layers": _value(reader, "llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": _value(reader, "llama.attention.head_count_kv"),
        "max_position_embeddings": _value(reader, "llama.context_length"),
        "rms_norm_eps": float(np.format_float_positional(np.float32(_value(reader, _EPSILON)), unique=True)),
        "rope_theta": _value(reader, "llama.rope.freq_base"),
        "vocab_size": _value(reader, "llama.vocab_size"),
        "tie_word_embeddings": all(tensor.name != "output.weight" for tensor in reader.tensors),
        "bos_token_id": _value(reader, "tokenizer.ggml.bos_token_id"),
        "eos_token_id": _value(reader, "tokenizer.ggml.eos_token_id"),
        "torch_dtype": "float16",
    }


_EPSILON = "llama.attention.layer_norm_rms_epsilon"


def _tensors(reader: Reader, dequantize: Callable[[Any, Any], NDArray[np.float32]]) -> Iterator[tuple[str, Half]]:
    heads = {
        "attn_q": int(_value(reader, "llama.attention.head_count")),
        "attn_k": int(_value(reader, "llama.attention.head_count_kv")),
    }
    for tensor in reader.tensors:
        stem = tensor.name.removesuffix(".weight")
        values = dequantize(tensor.data, tensor.tensor_type)
        if stem in TOP_TENSORS:
            yield f"{TOP_TENSORS[stem]}.weight", values.astype(np.float16)
            continue
        _, block, kind = stem.split(".")
        if kind in heads:
            values = _unpermuted(values, heads[kind])
        yield f"model.layers.{block}.{BLOCK_TENSORS[kind]}.weight", values.astype(np.float16)


def _unpermuted(values: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Undo llama.cpp's row order: it interleaves the two halves of every head for its rotary embedding."""
    rows, width = values.shape
    interleaved = values.reshape(heads, rows // heads // 2, 2, width)
    return np.ascontiguousarray(interleaved.swapaxes(1, 2).reshape(rows, width))


def write_tokenizer(reader: Reader, target: Path) -> None:
    """Build the byte-level BPE tokenizer from the GGUF vocabulary; digits are split one by one, as llama.cpp does."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens: list[str] = _value(reader, "tokenizer.ggml.tokens")
    kinds: list[int] = _value(reader, "tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ", 1)) for merge in _value(reader, "tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == CONTROL_TOKEN]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer.save(str(target / "tokenizer.json"))
    fields = {"bos_token": "bos", "eos_token": "eos", "pad_token": "padding", "unk_token": "unknown"}
    named = {key: tokens[_value(reader, f"tokenizer.ggml.{field}_token_id")] for key, field in fields.items()}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False, **named}
    jsonl.write_json(
        target / "tokenizer_config.json", {**settings, "chat_template": _value(reader, "tokenizer.chat_template")}
    )


def _value(reader: Reader, key: str) -> Any:
    field = reader.fields.get(key)
    if field is None:
        raise InputError("GGUF file", f"lacks the field {key}", "use a Llama GGUF file with its tokenizer")
    return field.contents()


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _move_in(scratch: Path, target: Path) -> None:
    """Publish a finished folder; when another process was first, keep its one: they are equal."""
    scratch.chmod(0o755)
    try:
        os.rename(scratch, target)  # noqa: PTH104 - fails on a filled folder, which is wanted
    except OSError:
        if not (target / CHECKSUMS).is_file():
            raise
