"""A tiny language model saved as a transformers folder, and checkpoints with random heads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fugu_lite import checkpoints
from fugu_lite.checkpoints import Checkpoint, Manifest
from fugu_lite.checkpoints.folder import parameters_sha
from fugu_lite.checkpoints.manifest import WorkerEntry, stable_name
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.embeddings.contract import build
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.heads import HeadSpec, PolicyHead
from fugu_lite.heads.contract import kind_of

WORKERS = ("math", "code", "general")
TEXT = "what is the derivative of a list in python and who wrote it 2 3 x plus times ? hello"
Make = Callable[..., Checkpoint]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random two-layer Llama of hidden size 32 with a tokenizer of a few words."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("tiny")
    words = {word: index for index, word in enumerate(["<unk>", "<eos>", *TEXT.split()])}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="<unk>", eos_token="<eos>", pad_token="<eos>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(
        vocab_size=len(words), num_hidden_layers=2, max_position_embeddings=4096, initializer_range=0.5, **sizes
    )
    transformers.LlamaModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Save and load a checkpoint with a random head."""

    def made(
        backbone: EmbedderSpec | None = None,
        head: HeadSpec | None = None,
        workers: tuple[str, ...] = WORKERS,
        seed: int = 0,
        name: str = "checkpoint",
    ) -> Checkpoint:
        rng, shape = np.random.default_rng(seed), head or HeadSpec()
        spec = backbone or EmbedderSpec(type="hashing", dimension=16)
        embedder = build(spec)
        kind = kind_of(shape)
        assert issubclass(kind, PolicyHead)
        untrained = kind.initial(shape, embedder.dimension, workers, rng)
        drawn = {key: rng.normal(size=value.shape) for key, value in untrained.parameters.items()}
        trained = type(untrained)(untrained.spec, workers, drawn)
        size = embedder.dimension
        normaliser = Normaliser(
            rng.normal(size=size).astype(np.float32), rng.uniform(0.5, 2, size=size).astype(np.float32)
        )
        manifest = Manifest(
            name=stable_name(spec, embedder.fingerprint, parameters_sha(trained, normaliser)),
            backbone=spec,
            fingerprint=embedder.fingerprint,
            feature_dim=size,
            normalisation="zscore",
            head=trained.spec,
            workers=tuple(WorkerEntry(id=worker) for worker in workers),
        )
        checkpoints.save(tmp_path / name, manifest, trained, normaliser)
        return checkpoints.load(tmp_path / name)

    return made
