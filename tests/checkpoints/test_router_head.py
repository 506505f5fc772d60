"""The router-head layout: folders made elsewhere route as their formula says, and ours run without fugu-lite."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from fugu_lite import checkpoints
from fugu_lite.checkpoints import Checkpoint, router_head
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.embeddings.contract import build
from fugu_lite.errors import DataError, InputError, MismatchError
from fugu_lite.heads import HeadSpec

Make = Callable[..., Checkpoint]
QUESTIONS = ["what is the derivative of x", "who wrote it ?", "a list in python", "hello", ""]
AGENTS = ["frontier_a", "mid_b", "cheap_c"]


def foreign(folder: Path, flat: NDArray[Any], **manifest: Any) -> Path:
    """Write a router-head folder as somebody else would."""
    folder.mkdir(exist_ok=True)
    np.save(folder / "head_weights.npy", flat)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def logits_of(checkpoint: Checkpoint) -> NDArray[np.float64]:
    router = checkpoint.router(dtype="float32")  # a CPU with bfloat16 would round both sides differently
    return router.head.scores(router.features(QUESTIONS))


@pytest.fixture
def pick(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Import an exported folder's `router_head`, as a user beside it would, and pick."""

    def picked(folder: Path, texts: list[str], backbone: Path) -> list[dict[str, Any]]:
        monkeypatch.syspath_prepend(str(folder))
        pick_agent = importlib.import_module("router_head").pick_agent
        return [pick_agent(text, str(backbone)) for text in texts]

    yield picked
    sys.modules.pop("router_head", None)


def test_a_folder_made_elsewhere_routes_as_its_formula_says(tiny: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    rng = np.random.default_rng(3)
    weights, bias = rng.normal(size=(32, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    facts = {"backbone": str(tiny), "agent_order": AGENTS, "embedding_dim": 32, "head_hidden_dim": 0}
    source = foreign(tmp_path / "theirs", np.concatenate([weights.ravel(), bias]), **facts)
    manifest = router_head.import_folder(source, tmp_path / "ours")
    router = checkpoints.load(tmp_path / "ours").router(dtype="float32")
    assert router.worker_ids == tuple(AGENTS) == manifest.worker_ids
    assert manifest.name.startswith("head-")
    model, tokenizer = AutoModel.from_pretrained(tiny).eval(), AutoTokenizer.from_pretrained(tiny)
    for text in QUESTIONS[:-1]:
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        wanted = states.numpy().mean(axis=0) @ weights + bias  # every real token counts, the first one too
        np.testing.assert_allclose(router.head.scores(router.features([text]))[0], wanted, rtol=1e-4, atol=1e-4)
        assert router.decide(text).worker_id == AGENTS[int(wanted.argmax())]


def test_export_folds_the_z_score_and_comes_back(tiny: Path, make: Make, tmp_path: Path) -> None:
    loaded = make(EmbedderSpec(backbone=str(tiny), layer="final"))
    router_head.export(loaded, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "head_weights.npy",
        "manifest.json",
        "router_head.py",
    }
    flat = np.load(tmp_path / "out" / "head_weights.npy", allow_pickle=False)
    assert flat.shape == (32 * 3 + 3,)
    assert flat.dtype == np.float32
    exported = orjson.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert (exported["agent_order"], exported["embedding_dim"], exported["head_hidden_dim"]) == (
        ["math", "code", "general"],
        32,
        0,
    )
    raw = build(loaded.manifest.backbone.model_copy(update={"dtype": "float32"})).embed(QUESTIONS)
    np.testing.assert_allclose(raw @ flat[:96].reshape(32, 3) + flat[96:], logits_of(loaded), rtol=1e-3, atol=1e-3)
    router_head.import_folder(tmp_path / "out", tmp_path / "back")
    np.testing.assert_allclose(logits_of(checkpoints.load(tmp_path / "back")), logits_of(loaded), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("fields", "head"),
    [
        ({"layer": "middle"}, HeadSpec()),
        (
            {"layer": "final", "drop_first_token": False, "transcript": "role", "max_length": 8},
            HeadSpec(type="mlp", head_hidden_dim=4),
        ),
        ({"layer": 2, "pooling": "penultimate", "l2_normalise": True}, HeadSpec()),
    ],
    ids=["middle layer", "hidden layer, role, cut", "penultimate, unit length"],
)
def test_the_exported_file_alone_picks_what_our_router_picks(
    tiny: Path, make: Make, tmp_path: Path, pick: Callable[..., Any], fields: dict[str, Any], head: HeadSpec
) -> None:
    loaded = make(EmbedderSpec(backbone=str(tiny), dtype="float32", **fields), head)
    router_head.export(loaded, tmp_path / "out")
    texts = [*QUESTIONS, " ".join(QUESTIONS * 3)]
    told = pick(tmp_path / "out", texts, tiny)
    router = loaded.router()
    for text, found in zip(texts, told, strict=True):
        decision = router.decide(text)
        assert found["picked_agent"] == decision.worker_id
        assert found["probabilities"] == pytest.approx(decision.probabilities, abs=1e-4)
    router_head.import_folder(tmp_path / "out", tmp_path / "back")
    again = checkpoints.load(tmp_path / "back")
    assert again.head.kind == loaded.head.kind
    np.testing.assert_allclose(logits_of(again), logits_of(loaded), rtol=1e-3, atol=1e-3)


def test_the_exported_file_is_a_command(tiny: Path, make: Make, tmp_path: Path) -> None:
    loaded = make(EmbedderSpec(backbone=str(tiny), dtype="float32"))
    router_head.export(loaded, tmp_path / "out")
    command = [sys.executable, str(tmp_path / "out" / "router_head.py"), QUESTIONS[0], "--backbone", str(tiny)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "fugu_lite" not in (tmp_path / "out" / "router_head.py").read_text()
    assert json.loads(done.stdout)["picked_agent"] == loaded.router().decide(QUESTIONS[0]).worker_id


def test_what_the_layout_cannot_hold_is_refused_by_name(tiny: Path, make: Make, tmp_path: Path) -> None:
    with pytest.raises(MismatchError, match=r"LayerNorm head.*layer_norm: false"):
        router_head.export(make(EmbedderSpec(backbone=str(tiny)), HeadSpec(layer_norm=True)), tmp_path / "out")
    with pytest.raises(MismatchError, match="a 'hashing' backbone has no place"):
        router_head.export(make(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


GOOD = {"backbone": "x", "agent_order": AGENTS, "embedding_dim": 4, "head_hidden_dim": 0}


@pytest.mark.parametrize(
    ("size", "fields", "message"),
    [
        (14, {}, r"head_weights\.npy: has 14 numbers, but 4 features, hidden 0 and 3 workers need 15"),
        (15, {"head_hidden_dim": 2}, "hidden layer with activation None; only 'gelu' is known"),
        (15, {"head_hidden_dim": 2, "activation": "relu"}, "activation 'relu'"),
        (15, {"head_hidden_dim": 2, "activation": "gelu"}, r"hidden 2 and 3 workers need 19"),
        (15, {"agent_order": []}, "has none of the keys agent_order, worker_ids"),
        (15, {"backbone": None}, "has none of the keys backbone"),
        (15, {"pooling": "max"}, "pooling"),
        (15, {"layer": "top"}, "layer"),
    ],
)
def test_a_folder_that_contradicts_itself_is_refused(
    tmp_path: Path, size: int, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        router_head.read(foreign(tmp_path / "theirs", np.zeros(size, dtype=np.float32), **{**GOOD, **fields}))


def test_other_names_for_the_same_keys(tmp_path: Path) -> None:
    facts = {"base_model": "x", "agents": AGENTS, "hidden_size": 4}
    manifest, flat = router_head.read(foreign(tmp_path / "theirs", np.arange(15.0), **facts))
    assert (manifest.worker_ids, manifest.feature_dim) == (tuple(AGENTS), 4)
    assert flat.dtype == np.float32
    assert (manifest.backbone.layer, manifest.backbone.drop_first_token) == ("final", False)
    manifest, _ = router_head.read(foreign(tmp_path / "bare", np.arange(15.0), base_model="x", agents=AGENTS))
    assert manifest.feature_dim == 4  # from the size of the vector


def test_missing_files_and_pickles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a router-head folder"):
        router_head.read(tmp_path / "nothing")
    folder = foreign(tmp_path / "theirs", np.zeros(15), **GOOD)
    np.save(folder / "head_weights.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        router_head.read(folder)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        router_head.read(folder)


def test_another_backbone_width_is_refused(tiny: Path, tmp_path: Path) -> None:
    source = foreign(tmp_path / "theirs", np.zeros(15, dtype=np.float32), **GOOD)
    with pytest.raises(MismatchError, match=r"the head wants 4 numbers, .* gives 32"):
        router_head.import_folder(source, tmp_path / "ours", str(tiny))
