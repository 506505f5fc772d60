"""A tiny random model on disk for the logic, and the real weights for what only they can show."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from fugu_lite import weights
from fugu_lite.errors import FuguLiteError, MismatchError

LAYERS, HIDDEN = 4, 32


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The GGUF file, fetched when it is not here."""
    return fetched("smollm2-135m")


def fetched(name: str) -> Path:
    try:
        return weights.fetch(name, lambda message: None)
    except MismatchError:  # changed weights are a finding, not a reason to skip
        raise
    except FuguLiteError as error:
        pytest.skip(f"{name} cannot be fetched here: {error}")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random 4-layer Llama model and a tokenizer of single characters."""
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    letters: Sequence[str] = ["<end>", "<unknown>", *"abcdefghijklmnopqrstuvwxyz :"]
    tokenizer = Tokenizer(models.WordLevel({letter: index for index, letter in enumerate(letters)}, "<unknown>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(letters),
        hidden_size=HIDDEN,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
