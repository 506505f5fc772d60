from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from fugu_lite.embeddings.contract import EmbedderSpec, Features, build
from fugu_lite.embeddings.transformers import TransformersEmbedder, batches, head_and_tail, pool
from fugu_lite.errors import InputError, MissingWeightsError, SpecError

TEXT = "the quick brown fox"


def spec(folder: Path, **fields: Any) -> EmbedderSpec:
    return EmbedderSpec(**{"backbone": str(folder), "max_length": 64, "device": "cpu", "dtype": "float32", **fields})


def embed(folder: Path, *texts: str, **fields: Any) -> Features:
    return TransformersEmbedder(spec(folder, **fields)).embed(texts)


def hidden_states(folder: Path, text: str) -> list[Features]:
    """What the whole model says after each layer, tokens by hidden size."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ids = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt").input_ids
    with torch.inference_mode():
        return [state[0].numpy() for state in model(ids, output_hidden_states=True).hidden_states]


@pytest.mark.parametrize(("layer", "index"), [(0, 0), (1, 1), (3, 3), ("middle", 2), ("final", 4), (4, 4)])
def test_a_cut_model_equals_the_hidden_states_of_the_whole_one(
    tiny: Path, layer: Literal["middle", "final"] | int, index: int
) -> None:
    expected = hidden_states(tiny, TEXT)[index][1:].mean(axis=0)
    np.testing.assert_allclose(embed(tiny, TEXT, layer=layer)[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"pooling": "mean", "drop_first_token": False}, slice(None)),
        ({"pooling": "last"}, slice(-1, None)),
        ({"pooling": "penultimate"}, slice(-2, -1)),
        ({"pooling": "early", "early_position": 3}, slice(3, 4)),
        ({"pooling": "early", "early_position": 99}, slice(-1, None)),
    ],
)
def test_pooling_by_hand(tiny: Path, fields: dict[str, Any], kept: slice) -> None:
    expected = hidden_states(tiny, TEXT)[2][kept].mean(axis=0)
    np.testing.assert_allclose(embed(tiny, TEXT, **fields)[0], expected, rtol=1e-4, atol=1e-5)


def test_pool_leaves_padding_out() -> None:
    hidden = torch.tensor([[[9.0], [1.0], [3.0], [100.0]], [[9.0], [100.0], [100.0], [100.0]]])
    lengths = torch.tensor([3, 1])
    assert pool(hidden, lengths, EmbedderSpec()).tolist() == [[2.0], [9.0]]
    assert pool(hidden, lengths, EmbedderSpec(pooling="last")).tolist() == [[3.0], [9.0]]
    assert pool(hidden, lengths, EmbedderSpec(pooling="penultimate")).tolist() == [[1.0], [9.0]]


def test_a_padded_batch_gives_the_vectors_of_single_texts_in_input_order(tiny: Path) -> None:
    texts = ["a", "the quick brown fox jumps", "bc", "", "the quick brown fox jumped", "the quick brown foxes jump"]
    embedder = TransformersEmbedder(spec(tiny))
    together = embedder.embed(texts)
    single = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.isfinite(together).all()
    np.testing.assert_allclose(together, single, rtol=1e-4, atol=1e-5)


def test_longer_texts_keep_head_and_tail(tiny: Path) -> None:
    long, short = "abcd" + "x" * 40 + "efgh", "abcdefgh"
    np.testing.assert_allclose(embed(tiny, long, max_length=8), embed(tiny, short, max_length=8), atol=1e-6)
    embedder = TransformersEmbedder(spec(tiny, max_length=8))
    assert embedder.truncated(long)
    assert not embedder.truncated(short)
    assert head_and_tail([1, 2, 3, 4, 5, 6, 7], 5) == [1, 2, 3, 6, 7]


def test_odd_texts_give_finite_vectors(tiny: Path) -> None:
    vectors = embed(tiny, "", "\ud800", "\0", "ğ", drop_first_token=False)
    assert np.isfinite(vectors).all()
    assert embed(tiny).shape == (0, 32)


def test_role_transcript_and_length_one(tiny: Path) -> None:
    np.testing.assert_allclose(embed(tiny, "abc", transcript="role"), embed(tiny, "user: abc"), atol=1e-6)
    assert np.linalg.norm(embed(tiny, TEXT, l2_normalise=True)) == pytest.approx(1.0, abs=1e-6)


def test_batches_waste_little_and_lose_nothing() -> None:
    lengths = [5, 100, 99, 7, 88, 80, 6, 300]
    found = list(batches(lengths, 200))
    assert found == [[7], [1, 2], [4, 5], [3, 6, 0]]
    assert list(batches([], 200)) == []


def test_progress_reaches_the_total(tiny: Path) -> None:
    seen: list[tuple[int, int]] = []
    TransformersEmbedder(spec(tiny, batch_tokens=8)).embed(
        ["abc", "abcdefgh", "abcd"], lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (3, 3)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_fingerprint_follows_the_weights_and_not_the_execution(tiny: Path, tmp_path: Path) -> None:
    plain = build(spec(tiny)).fingerprint
    assert build(spec(tiny, batch_tokens=1, threads=1, dtype="bfloat16")).fingerprint == plain
    assert build(spec(tiny, layer=1)).fingerprint != plain
    for file in tiny.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    copied, original = TransformersEmbedder(spec(tmp_path)), TransformersEmbedder(spec(tiny))
    assert copied.weights_digest == original.weights_digest
    data = bytearray((tmp_path / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(data)
    assert TransformersEmbedder(spec(tmp_path)).weights_digest != original.weights_digest


def test_what_does_not_fit_is_said(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"5 is not a layer of this model; use middle, final or 0\.\.4"):
        embed(tiny, "a", layer=5)
    with pytest.raises(SpecError, match="65 is more than the model's 64 positions"):
        embed(tiny, "a", max_length=65)
    with pytest.raises(SpecError, match="unknown device 'gpu'"):
        embed(tiny, "a", device="gpu")
    with pytest.raises(InputError, match=r"no config\.json"):
        embed(tmp_path, "a")
    (tmp_path / "config.json").write_bytes((tiny / "config.json").read_bytes())
    with pytest.raises(InputError, match="cannot be loaded"):
        embed(tmp_path, "a")


def test_a_hub_model_that_cannot_be_had_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def offline(*args: object, **fields: object) -> str:
        raise huggingface_hub.errors.LocalEntryNotFoundError("no connection")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(MissingWeightsError, match=r"the hub did not deliver them \(no connection\)"):
        TransformersEmbedder(EmbedderSpec(backbone="Qwen/Qwen3-0.6B")).fingerprint  # noqa: B018


def test_a_hub_model_is_known_by_its_commit(monkeypatch: pytest.MonkeyPatch, tiny: Path, tmp_path: Path) -> None:
    import huggingface_hub

    snapshot = tmp_path / "0123abcd"
    snapshot.symlink_to(tiny)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *args, **fields: str(snapshot))
    embedder = TransformersEmbedder(EmbedderSpec(backbone="someone/tiny", max_length=64, dtype="float32"))
    assert embedder.weights_digest == "0123abcd"
    np.testing.assert_allclose(embedder.embed([TEXT]), embed(tiny, TEXT), atol=1e-6)
