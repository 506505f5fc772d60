"""Versions and aliases: promoted with evidence, rolled back, never forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fugu_lite import checkpoints, jsonl
from fugu_lite.checkpoints import Manifest
from fugu_lite.checkpoints.manifest import WorkerEntry
from fugu_lite.embeddings import EmbedderSpec
from fugu_lite.embeddings.normalise import Normaliser
from fugu_lite.errors import DataError, MismatchError
from fugu_lite.heads import HeadSpec
from fugu_lite.heads.linear import LinearHead
from fugu_lite.store import Store, checkpoint_folder

Make = Callable[..., Path]
BETTER = {"gain": 0.1, "gain_low": 0.02, "gain_high": 0.2, "verdict": "better"}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Save a checkpoint of some name, with the evaluation given."""

    def made(name: str, evaluation: dict[str, Any] | None = None) -> Path:
        spec, workers = EmbedderSpec(type="hashing", dimension=8), ("a", "b")
        head = LinearHead(HeadSpec(), workers, {"W": np.zeros((8, 2)), "b": np.zeros(2)})
        manifest = Manifest(
            name=name,
            backbone=spec,
            fingerprint="f" * 12,
            feature_dim=8,
            normalisation="none",
            head=HeadSpec(),
            workers=tuple(WorkerEntry(id=worker) for worker in workers),
        )
        checkpoints.save(tmp_path / name, manifest, head, Normaliser.identity(8), evaluation)
        return tmp_path / name

    return made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "models")


def test_register_copies_once(store: Store, make: Make) -> None:
    folder = make("head-x-1")
    assert store.register(folder) == store.register(folder) == "head-x-1"
    (version,) = store.versions()
    assert (version.name, version.aliases, version.evaluation) == ("head-x-1", (), None)
    assert (version.folder / "head.safetensors").read_bytes() == (folder / "head.safetensors").read_bytes()
    assert [path.name for path in version.folder.parent.iterdir()] == ["head-x-1"]  # nothing half-copied


def test_what_is_no_checkpoint_is_not_registered(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a checkpoint"):
        store.register(tmp_path / "nothing")
    assert store.versions() == []


def test_promote_and_roll_back(store: Store, make: Make) -> None:
    for name in ("one", "two"):
        store.register(make(name, BETTER))
        store.promote(name)
    store.promote("production", "candidate")  # an alias may be promoted to another alias
    assert store.aliases() == {"production": "two", "candidate": "two"}
    assert store.rollback() == "one"
    assert store.aliases() == {"production": "one", "candidate": "two"}
    assert store.resolve("production").name == "one"
    assert [version.aliases for version in store.versions()] == [("production",), ("candidate",)]
    with pytest.raises(DataError, match="'production' has no earlier version"):
        store.rollback()


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        (None, "has no evaluation; run `fugu-lite evaluate"),
        ({**BETTER, "gain": -0.01, "verdict": "cannot tell"}, r"gain over the best fixed worker is -0\.0100"),
        ({**BETTER, "verdict": "worse"}, r"\(worse\).*serve the best fixed worker instead"),
        ({"verdict": "cannot tell"}, r"gain over the best fixed worker is \+?nan"),
    ],
)
def test_a_head_without_evidence_needs_force(
    store: Store, make: Make, evaluation: dict[str, Any] | None, message: str
) -> None:
    store.register(make("weak", evaluation))
    with pytest.raises(MismatchError, match=message):
        store.promote("weak")
    assert store.aliases() == {}
    store.promote("weak", "candidate")  # a candidate is there to be looked at
    store.promote("weak", force=True)
    assert store.aliases() == {"candidate": "weak", "production": "weak"}
    promotions = [event for event in jsonl.read_rows(store.root / "store.jsonl") if event["event"] == "promote"]
    assert [(event["alias"], event["forced"]) for event in promotions] == [("candidate", False), ("production", True)]


def test_unknown_names_are_refused(store: Store, make: Make) -> None:
    store.register(make("one", BETTER))
    with pytest.raises(DataError, match=r"no version or alias 'two'; known: one"):
        store.promote("two")
    with pytest.raises(DataError, match=r"unknown alias 'prod'; known: production, candidate"):
        store.promote("one", "prod")
    with pytest.raises(DataError, match="no version or alias"):
        store.resolve("../one")


def test_history_is_only_appended_to(store: Store, make: Make) -> None:
    history = store.root / "store.jsonl"
    before = b""
    steps: list[Callable[[], object]] = [
        lambda: store.register(make("one", BETTER)),
        lambda: store.promote("one"),
        lambda: store.register(make("two", BETTER)),
        lambda: store.promote("two"),
        lambda: store.rollback(),
    ]
    for step in steps:
        step()
        after = history.read_bytes()
        assert after.startswith(before)
        assert len(after) > len(before)
        before = after
    assert Store(store.root).aliases() == {"production": "one"}  # derived from the file alone


def test_a_checkpoint_is_a_path_or_a_name(
    store: Store, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make("one", BETTER)
    store.register(folder)
    store.promote("one")
    assert checkpoint_folder(str(folder), store.root) == folder
    monkeypatch.chdir(folder)  # where no folder of that name stands
    assert checkpoint_folder("production", store.root) == store.root / "versions" / "one"
    assert checkpoint_folder("artifacts/none", store.root) == Path("artifacts/none")
