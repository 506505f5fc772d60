"""A checkpoint is a folder: what is written is what is read, and what does not fit is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from safetensors.numpy import load_file, save_file

from fugu_lite import checkpoints
from fugu_lite.checkpoints import Checkpoint, Manifest
from fugu_lite.errors import DataError, MismatchError, SpecError
from fugu_lite.heads import HeadSpec
from fugu_lite.workers import PoolSpec

Make = Callable[..., Checkpoint]
SHAPES = [HeadSpec(), HeadSpec(layer_norm=True), HeadSpec(type="mlp", head_hidden_dim=5)]
QUESTIONS = ["What is 17 + 28?", "Reverse the string s in Python.", "Who wrote Hamlet?", ""]


def changed(folder: Path, **fields: Any) -> Path:
    """Edit a manifest on disk; None removes the key."""
    path = folder / "manifest.json"
    data = orjson.loads(path.read_bytes()) | fields
    path.write_bytes(orjson.dumps({key: value for key, value in data.items() if value is not None}))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("head", SHAPES, ids=["linear", "layer norm", "mlp"])
def test_saving_what_was_loaded_gives_the_same_bytes(make: Make, tmp_path: Path, head: HeadSpec) -> None:
    loaded = make(head=head)
    checkpoints.save(tmp_path / "again", loaded.manifest, loaded.head, loaded.normaliser)
    assert contents(tmp_path / "again") == contents(loaded.folder)
    assert set(contents(loaded.folder)) == {"manifest.json", "head.safetensors", "README.md"}
    again = checkpoints.load(tmp_path / "again")
    assert again.manifest == loaded.manifest
    assert np.array_equal(again.router().probabilities(QUESTIONS), loaded.router().probabilities(QUESTIONS))


def test_the_bytes_hold_no_time_and_no_path(make: Make) -> None:
    first = make(name="one")
    second = make(name="two")
    assert contents(first.folder) == contents(second.folder)
    assert not any(str(first.folder.parent).encode() in content for content in contents(first.folder).values())


def test_the_name_follows_the_head(make: Make) -> None:
    one, other = make(seed=1, name="a").manifest.name, make(seed=2, name="b").manifest.name
    assert one.startswith("head-hashing16-")
    assert one != other


def test_permuted_workers_answer_the_same_by_name(make: Make, tmp_path: Path) -> None:
    loaded = make()
    order = [2, 0, 1]
    names = tuple(loaded.head.worker_ids[i] for i in order)
    columns = {key: value[..., order] for key, value in loaded.head.parameters.items()}
    manifest = loaded.manifest.model_copy(update={"workers": tuple(loaded.manifest.workers[i] for i in order)})
    head = type(loaded.head)(loaded.head.spec, names, columns)
    checkpoints.save(tmp_path / "permuted", manifest, head, loaded.normaliser)
    permuted = checkpoints.load(tmp_path / "permuted").router()
    for question in QUESTIONS:
        one, other = loaded.router().decide(question), permuted.decide(question)
        assert one.worker_id == other.worker_id
        assert one.probabilities == pytest.approx(other.probabilities)


def test_a_pool_is_compared_by_name_not_by_order(make: Make) -> None:
    manifest = make().manifest
    pool = PoolSpec.parse({"workers": [{"id": name, "type": "mock"} for name in ("general", "math", "code")]})
    assert manifest.check_pool(pool) == []
    more = PoolSpec.parse({"workers": [{"id": name, "type": "mock"} for name in ("general", "math", "code", "poet")]})
    assert "'poet'" in manifest.check_pool(more)[0]
    fewer = PoolSpec.parse({"workers": [{"id": "math", "type": "mock"}]})
    with pytest.raises(MismatchError, match=r"routes to code, general, which the pool does not have.*has math"):
        manifest.check_pool(fewer)


def test_a_worker_that_was_set_otherwise_is_warned_about(make: Make) -> None:
    loaded = make()
    workers = (loaded.manifest.workers[0].model_copy(update={"conditions": "0" * 12}), *loaded.manifest.workers[1:])
    manifest = loaded.manifest.model_copy(update={"workers": workers})
    pool = PoolSpec.parse({"workers": [{"id": name, "type": "mock"} for name in manifest.worker_ids]})
    assert manifest.check_pool(pool) == ["worker 'math' is not set as it was when its rewards were measured"]


def test_another_backbone_is_refused(make: Make) -> None:
    loaded = make()
    changed(loaded.folder, fingerprint="0123456789ab")
    with pytest.raises(MismatchError, match=rf"{loaded.manifest.fingerprint} is not the manifest's 0123456789ab"):
        checkpoints.load(loaded.folder).router()
    backbone = loaded.manifest.backbone.model_dump(mode="json") | {"dimension": 32}
    changed(loaded.folder, fingerprint=loaded.manifest.fingerprint, backbone=backbone)
    with pytest.raises(MismatchError, match="fingerprint"):
        checkpoints.load(loaded.folder).router()


def test_execution_details_are_no_identity(make: Make) -> None:
    loaded = make()
    assert loaded.router(threads=3, device="cpu").embedder.spec.threads == 3
    with pytest.raises(MismatchError, match="fingerprint"):
        loaded.router(layer=1)


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"schema_version": 2}, MismatchError, r"schema_version 2, expected 1; use the version that wrote it"),
        ({"schema_version": None}, MismatchError, "router-head folder is read by `fugu-lite import`"),
        ({"heads": 1}, SpecError, r"manifest\.json: unknown key 'heads'; did you mean 'head'"),
        ({"feature_dim": 0}, SpecError, "feature_dim"),
        ({"name": None}, SpecError, "name: Field required"),
        ({"feature_dim": 15}, MismatchError, r"\(16, 3\), the manifest says \(15, 3\)"),
        ({"workers": [{"id": "math"}, {"id": "code"}]}, MismatchError, r"\(16, 3\), the manifest says \(16, 2\)"),
    ],
)
def test_a_manifest_that_does_not_fit(make: Make, fields: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        checkpoints.load(changed(make().folder, **fields))


def test_no_manifest_or_half_a_manifest(make: Make, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing: is not a checkpoint.*train-\*"):
        checkpoints.load(tmp_path / "nothing")
    folder = make().folder
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match="not valid JSON"):
        checkpoints.load(folder)
    path.write_bytes(b"[]")
    with pytest.raises(MismatchError, match="schema_version None"):
        checkpoints.load(folder)


def test_parameters_that_cannot_be_read(make: Make) -> None:
    folder = make().folder
    path = folder / "head.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"head\.safetensors: cannot be read.*copy the whole"):
        checkpoints.load(folder)
    path.unlink()
    with pytest.raises(DataError, match=r"head\.safetensors: cannot be read"):
        checkpoints.load(folder)


@pytest.mark.parametrize("lost", ["normaliser.mean", "W", "b"])
def test_a_missing_array_is_refused(make: Make, lost: str) -> None:
    folder = make().folder
    arrays = load_file(folder / "head.safetensors")
    del arrays[lost]
    save_file(arrays, folder / "head.safetensors")
    with pytest.raises((DataError, MismatchError), match=r"head\.safetensors"):
        checkpoints.load(folder)


def test_a_new_head_does_not_inherit_the_evaluation_of_the_old_one(make: Make) -> None:
    loaded = make()
    checkpoints.save(loaded.folder, loaded.manifest, loaded.head, loaded.normaliser, {"gain": 0.25, "n_rows": 40})
    evaluated = checkpoints.load(loaded.folder)
    assert evaluated.evaluation == {"gain": 0.25, "n_rows": 40}
    assert "rows: 40" in (loaded.folder / "README.md").read_text()
    checkpoints.save(loaded.folder, loaded.manifest, loaded.head, loaded.normaliser)
    assert checkpoints.load(loaded.folder).evaluation is None
    assert "Not evaluated yet" in (loaded.folder / "README.md").read_text()


def test_the_card_says_what_it_is_and_what_it_gained(make: Make) -> None:
    loaded = make()
    metrics = {"router_utility": 0.7, "gain": 0.1, "gain_low": 0.02, "gain_high": 0.18, "verdict": "better"}
    checkpoints.save(loaded.folder, loaded.manifest, loaded.head, loaded.normaliser, {**metrics, "n_rows": 100})
    card = (loaded.folder / "README.md").read_text()
    assert card.startswith(f"# {loaded.manifest.name}\n")
    assert "`math`, `code`, `general`" in card
    assert "+0.1000 [+0.0200, +0.1800]: better" in card


def test_a_manifest_survives_json(make: Make) -> None:
    manifest = make().manifest
    assert Manifest.parse(orjson.loads(orjson.dumps(manifest.model_dump(mode="json")))) == manifest
