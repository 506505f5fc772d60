"""The shipped configurations are the defaults, and explain every key."""

from pathlib import Path
from typing import Any

import pytest

from fugu_lite import specs
from fugu_lite.errors import SpecError
from fugu_lite.selection import AutoSpec
from fugu_lite.trainers.bandit import BanditSpec
from fugu_lite.trainers.contract import TrainerSpec
from fugu_lite.trainers.es import EsSpec
from fugu_lite.trainers.sft import SftSpec
from fugu_lite.trainers.values import ValueSpec

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
POLICIES = [("train_sft", SftSpec), ("train_rl", BanditSpec), ("train_es", EsSpec)]
SHIPPED = [*POLICIES, ("train_value", ValueSpec), ("train_auto", AutoSpec)]


def keys(value: Any, at: str = "") -> set[str]:
    if not isinstance(value, dict):
        return {at}
    return {at} | {name for key, inner in value.items() for name in keys(inner, f"{at}.{key}")}


@pytest.mark.parametrize(("name", "spec"), SHIPPED)
def test_the_file_states_every_default(name: str, spec: type[TrainerSpec]) -> None:
    path = CONFIGS / f"{name}.yaml"
    assert specs.load(spec, path) == spec()
    assert keys(specs.read_yaml(path)[0]) == keys(spec().model_dump())


@pytest.mark.parametrize(("name", "spec"), POLICIES)
def test_the_qwen3_variant_differs_only_in_backbone_and_layer_norm(name: str, spec: type[TrainerSpec]) -> None:
    variant = specs.load(spec, CONFIGS / f"{name}.qwen3.yaml")
    assert (variant.backbone.backbone, variant.backbone.layer, variant.backbone.pooling) == (
        "Qwen/Qwen3-0.6B",
        "final",
        "mean",
    )
    assert variant.model_copy(update={"backbone": spec().backbone, "head": spec().head}) == spec()


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("train_*.yaml")), ids=lambda path: path.name)
def test_every_key_has_a_comment(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    assert lines
    assert all(" # " in line for line in lines)


def test_a_misspelt_key_is_refused_with_its_line_and_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    path.write_text("seed: 1\ntemprature: 0.2\n")
    with pytest.raises(SpecError, match=r"train.yaml:2.*did you mean 'temperature'"):
        specs.load(SftSpec, path)


def test_a_hidden_width_is_reachable_from_the_file() -> None:
    assert SftSpec.parse({"head": {"head_hidden_dim": 32}}).head.head_hidden_dim == 32
