"""Configuration: strict keys, places in errors, flags over files."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from fugu_lite import specs
from fugu_lite.errors import SpecError
from fugu_lite.specs import Spec
from fugu_lite.workers import PoolSpec


class Inner(Spec):
    depth: int = 1
    width: int = 2


class Outer(Spec):
    name: str
    rate: float = 0.5
    inner: Inner = Inner()
    many: tuple[Inner, ...] = ()


def written(folder: Path, text: str) -> Path:
    path = folder / "c.yaml"
    path.write_text(text)
    return path


def test_defaults_file_and_flags_in_this_order(tmp_path: Path) -> None:
    path = written(tmp_path, "name: file\nrate: 0.1\ninner:\n  depth: 5\n")
    spec = specs.load(Outer, path, {"rate": 0.9, "inner": {"width": 7}})
    assert (spec.name, spec.rate, spec.inner.depth, spec.inner.width) == ("file", 0.9, 5, 7)
    assert specs.load(Outer, None, {"name": "flags"}).rate == 0.5


def test_only_explicitly_set_flags_count(tmp_path: Path) -> None:
    class Flags(BaseModel):
        name: str = "default"
        rate: float = 0.5

    path = written(tmp_path, "name: file\nrate: 0.1\n")
    spec = specs.load(Outer, path, Flags(rate=0.3))
    assert (spec.name, spec.rate) == ("file", 0.3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\nrte: 1\n", r"c\.yaml:2: unknown key 'rte'; did you mean 'rate'\?"),
        ("name: x\nzzz: 1\n", r"c\.yaml:2: unknown key 'zzz'; known keys: inner, many, name, rate"),
        ("name: x\ninner:\n  depht: 2\n", r"c\.yaml:3: unknown key 'inner\.depht'; did you mean 'depth'\?"),
        ("name: x\nrate: fast\n", r"c\.yaml:2: rate: .*found 'fast'"),
        ("rate: 1\n", r"c\.yaml:1: name: Field required"),
        ("name: x\nmany:\n  - depth: 1\n  - depth: deep\n", r"c\.yaml:4: many\.1\.depth: .*found 'deep'"),
        ("name: x\nname: y\n", r"c\.yaml:2: key 'name' appears twice"),
        ("name: [x\n", r"c\.yaml:2: not valid YAML"),
        ("- name\n", "expected a mapping of keys, found list"),
    ],
)
def test_errors_name_place_and_fix(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        specs.load(Outer, written(tmp_path, text))


def test_a_missing_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such file"):
        specs.load(Outer, tmp_path / "none.yaml")
    with pytest.raises(SpecError, match="is a folder"):
        specs.load(Outer, tmp_path)


def test_yaml_cannot_make_objects(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="not valid YAML"):
        specs.load(Outer, written(tmp_path, "name: !!python/object/apply:os.getcwd []\n"))


def test_digests_depend_on_values_only() -> None:
    assert Outer(name="x").digest() == Outer(name="x", rate=0.5).digest() != Outer(name="y").digest()
    assert specs.digest_of({"a": 1, "b": 2}) == specs.digest_of({"b": 2, "a": 1})
    assert len(specs.digest_of([])) == 12


def test_a_spec_does_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Outer(name="x").name = "y"  # type: ignore[misc]


def test_pool_errors_name_the_worker_line(tmp_path: Path) -> None:
    worker: dict[str, Any] = {"id": "a", "type": "mock"}
    with pytest.raises(SpecError, match="worker id 'a' appears twice"):
        PoolSpec.parse({"workers": [worker, worker]})
    text = "workers:\n  - id: a\n    type: mock\n    max_tokns: 5\n"
    with pytest.raises(SpecError, match=r"c\.yaml:4: unknown key 'workers\.0\.max_tokns'; did you mean 'max_tokens'"):
        specs.load(PoolSpec, written(tmp_path, text))
