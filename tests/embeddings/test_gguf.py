from pathlib import Path

import numpy as np
import pytest

from fugu_lite import weights
from fugu_lite.embeddings import gguf
from fugu_lite.embeddings.contract import EmbedderSpec, build
from fugu_lite.errors import InputError, MissingWeightsError

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def folder(smollm2: Path) -> Path:
    return gguf.converted("smollm2-135m")


def test_rows_are_unpermuted_per_head() -> None:
    rows = np.arange(8, dtype=np.float32)[:, None]  # two heads of four rows, halves interleaved: 0 2 1 3
    assert gguf._unpermuted(rows, 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_a_conversion_is_made_once_and_checked(folder: Path) -> None:
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert gguf.converted("smollm2-135m") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    gguf.verify(folder)


def test_a_damaged_conversion_is_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", gguf.CHECKSUMS):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(InputError, match=r"model\.safetensors: was changed or damaged; delete"):
        gguf.verify(tmp_path)


def test_an_interrupted_conversion_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def killed(source: Path, target: Path) -> None:
        (target / "config.json").write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "folder", lambda: tmp_path)
    monkeypatch.setattr(weights, "path", lambda name: tmp_path)
    monkeypatch.setattr(gguf, "convert", killed)
    with pytest.raises(KeyboardInterrupt):
        gguf.converted("smollm2-135m")
    assert list((tmp_path / "converted").iterdir()) == []


def test_without_the_file_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FUGU_LITE_HOME", str(tmp_path))
    with pytest.raises(MissingWeightsError, match="fugu-lite weights fetch smollm2-135m"):
        build(EmbedderSpec(dtype="float32")).embed(["hello"])


def test_the_tokenizer_splits_digits_and_survives_a_round_trip(folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.convert_ids_to_tokens(tokenizer("12.5").input_ids) == ["1", "2", ".", "5"]
    text = "İstanbul'da 3,75 lira;\n  def f(x): return x**2"
    assert tokenizer.decode(tokenizer(text).input_ids) == text
    assert tokenizer("<|im_end|>").input_ids == [2]


def test_the_model_still_knows_what_it_knew(folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        france = tokenizer("The capital of France is", return_tensors="pt").input_ids
        assert tokenizer.decode(model(france).logits[0, -1].argmax()) == " Paris"
        prose = tokenizer("The sun rises in the east and sets in the west.", return_tensors="pt").input_ids
        shuffled = prose[:, torch.randperm(prose.shape[1], generator=torch.Generator().manual_seed(0))]
        assert model(prose, labels=prose).loss.exp() < 15
        assert model(shuffled, labels=shuffled).loss.exp() > 100


def test_vectors_of_like_texts_are_alike(folder: Path) -> None:
    embedder = build(EmbedderSpec(dtype="float32", l2_normalise=True))
    assert embedder.dimension == 576
    sums = ["What is 12 times 7?", "What is 31 times 9?", "Who wrote the play Hamlet?"]
    first = embedder.embed(sums)
    embedder.close()  # the second time the model comes from the cache again
    np.testing.assert_array_equal(embedder.embed(sums), first)
    assert first[0] @ first[1] > first[0] @ first[2]
