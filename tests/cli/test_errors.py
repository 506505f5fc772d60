"""Errors are one line that says where, what and how to fix it; the exit code is 1; nothing is half-written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from fugu_lite.cli._guard import guarded
from fugu_lite.errors import DataError
from fugu_lite.workers.pool import UtilitySpec

Cli = Callable[..., Any]
TRAIN = "train-es --output out --backbone.type hashing --no-cache --generations 2"
MATRIX = "--data data/rewards.mock.jsonl"
GENERATE = "generate --workers configs/workers.mock.yaml --output m.jsonl"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"{TRAIN} --data none.jsonl", ["none.jsonl", "no such file"]),
        (f"{TRAIN} --data empty.jsonl", ["empty.jsonl"]),
        (f"{TRAIN} --data broken.jsonl", ["broken.jsonl:1"]),
        (f"{TRAIN} {MATRIX} --config none.yaml", ["none.yaml", "no such file"]),
        (f"{TRAIN} {MATRIX} --config typo.yaml", ["typo.yaml:2", "unknown key 'generatons'", "'generations'"]),
        (f"{TRAIN} {MATRIX} --config value.yaml", ["value.yaml:1", "sigma0", "'many'"]),
        (f"{TRAIN} {MATRIX} --only-workers math,poet", ["'poet'", "columns: math, code, general"]),
        (f"{TRAIN} {MATRIX} --checkpoint artifacts/none", ["artifacts/none", "is not a checkpoint"]),
        (f"{TRAIN} {MATRIX} --checkpoint none", ["no version or alias 'none'"]),
        (f"{TRAIN} {MATRIX} --objective best", ["objective", "best"]),
        (f"{GENERATE} --tasks none.jsonl", ["none.jsonl"]),
        (f"{GENERATE} --tasks empty.jsonl", ["empty.jsonl"]),
        (f"{GENERATE} --tasks data/tasks.sample.jsonl --split holdout", ["holdout", "train"]),
        (f"{GENERATE} --tasks data/tasks.sample.jsonl --only-workers poet", ["poet", "math, code, general"]),
        ("preflight --workers pool.yaml", ["pool.yaml:4", "max_tokns", "max_tokens"]),
        ("preflight --workers none.yaml", ["none.yaml", "no such file"]),
        ("regrade --attempts none.jsonl --tasks data/tasks.sample.jsonl", ["none.jsonl"]),
        ("rewards --attempts none.jsonl --tasks data/tasks.sample.jsonl --output r.jsonl", ["none.jsonl"]),
        ("publish --attempts none.jsonl --tasks data/tasks.sample.jsonl --output p", ["none.jsonl"]),
        ("split --tasks empty.jsonl --output s.jsonl", ["empty.jsonl"]),
        (f"evaluate --checkpoint artifacts/none {MATRIX}", ["is not a checkpoint"]),
        ("route --checkpoint artifacts/none --prompt hi", ["is not a checkpoint"]),
        ("ask --checkpoint artifacts/none --workers configs/workers.mock.yaml --prompt hi", ["is not a checkpoint"]),
        ("serve --checkpoint artifacts/none --workers configs/workers.mock.yaml", ["is not a checkpoint"]),
        ("serve --checkpoint x --workers configs/workers.mock.yaml --host 0.0.0.0", ["--host", "FUGU_LITE_API_KEYS"]),
        ("export --checkpoint artifacts/none --output e", ["is not a checkpoint"]),
        ("import nowhere --output i", ["nowhere", "is not a router-head folder"]),
        ("models register nowhere", ["nowhere", "is not a checkpoint"]),
        ("models promote nothing", ["no version or alias 'nothing'"]),
        ("models rollback", ["has no earlier version"]),
        ("weights fetch smollm", ["smollm"]),
        ("list-models --base-url http://127.0.0.1:9/v1", ["cannot list models", "check the network"]),
    ],
)
def test_one_line_and_exit_code_1(cli: Cli, clone: Path, line: str, told: list[str]) -> None:
    (clone / "empty.jsonl").write_text("")
    (clone / "broken.jsonl").write_text("{not json}\n{}\n")
    (clone / "typo.yaml").write_text("seed: 1\ngeneratons: 5\n")
    (clone / "value.yaml").write_text("sigma0: many\n")
    (clone / "pool.yaml").write_text("workers:\n  - id: a\n    type: mock\n    max_tokns: 5\n")
    ran = cli(line)
    lines = [text for text in ran.err.splitlines() if text.startswith("error")]
    assert ran.code == 1
    assert len(lines) == 1, ran.err
    assert all(part in lines[0] for part in told), lines[0]
    assert "Traceback" not in ran.err
    assert ran.out == ""
    assert not (clone / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("train-es --dta x", "--data"),
        ("generate --worker x", "--workers"),
        ("generat", "generate"),
    ],
)
def test_a_mistyped_flag_or_command_names_the_nearest(cli: Cli, line: str, told: str) -> None:
    ran = cli(line)
    assert ran.code == 2  # usage, as shells and argparse count it
    assert ran.out == ""
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_an_output_that_exists_is_not_overwritten(cli: Cli, clone: Path) -> None:
    before = (clone / "data" / "rewards.mock.jsonl").read_bytes()
    ran = cli("generate --workers configs/workers.mock.yaml --tasks data/tasks.sample.jsonl", "--output",
              "data/rewards.mock.jsonl")  # fmt: skip
    assert (ran.code, "add --resume" in ran.err) == (1, True)
    assert (clone / "data" / "rewards.mock.jsonl").read_bytes() == before


def test_ask_and_serve_stop_when_the_backbone_is_missing(
    cli: Cli, head: str, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fugu_lite.embeddings.hashing import HashingEmbedder
    from fugu_lite.errors import MissingWeightsError

    def missing(*_: object) -> None:
        raise MissingWeightsError("smollm2-135m", "fugu-lite weights fetch smollm2-135m")

    monkeypatch.setattr(HashingEmbedder, "embed", missing)
    pool = f"--checkpoint {head} --workers configs/workers.mock.yaml"
    for line in (
        f"ask {pool} --prompt hi",
        f"serve {pool} --port 0",
        f"route --checkpoint {head} --prompt hi --no-cache",
    ):
        ran = cli(line)
        assert ran.code == 1
        assert "weights 'smollm2-135m' are not installed; fugu-lite weights fetch smollm2-135m" in ran.err


def test_a_head_that_is_replaced_is_named(cli: Cli, head: str, clone: Path) -> None:
    name = orjson.loads((clone / head / "manifest.json").read_bytes())["name"]
    ran = cli(f"{TRAIN} {MATRIX} --output {head} --seed 7".replace("--output out ", ""))
    assert ran.code == 0, ran.err
    assert f"{head} holds {name}, which is replaced" in ran.err


def denied() -> None:
    raise PermissionError(13, "Permission denied", "rewards.jsonl")


def wrapped() -> None:
    raise ExceptionGroup("tasks", [ExceptionGroup("inner", [DataError("rows.jsonl:3", "no task_id")])])


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (denied, "error: rewards.jsonl: Permission denied"),
        (lambda: b"ab\xff".decode(), "error: a file is not UTF-8 text: byte 0xff at 2; convert it to UTF-8"),
        (
            lambda: UtilitySpec.model_validate({"cost_weight": -1}),
            "error: cost_weight: Input should be greater than or",
        ),
        (wrapped, "error: rows.jsonl:3: no task_id"),
    ],
)
def test_ordinary_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], action: Callable[[], object], told: str
) -> None:
    assert guarded(action) == 1
    assert capsys.readouterr().err.startswith(told)


def test_defects_keep_their_traceback() -> None:
    def defect() -> None:
        raise KeyError("unknown")

    def defects() -> None:
        raise ExceptionGroup("tasks", [DataError("a", "b"), KeyError("unknown")])

    with pytest.raises(KeyError):
        guarded(defect)
    with pytest.raises(ExceptionGroup):
        guarded(defects)
