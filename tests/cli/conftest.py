"""A working folder like a fresh clone's: configs and sample data, and the command line run in this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fugu_lite.cli import app
from fugu_lite.cli._guard import guarded

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mock_matrix: Path) -> Path:
    """Stand in a folder with configs and sample data, without keys."""
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    (tmp_path / "data").mkdir()
    for name in ("tasks.sample.jsonl", "rewards.schema.example.jsonl"):
        shutil.copy(ROOT / "data" / name, tmp_path / "data" / name)
    shutil.copy(mock_matrix, tmp_path / "data" / mock_matrix.name)
    monkeypatch.chdir(tmp_path)
    for name in ("OPENROUTER_API_KEY", "FUGU_LITE_API_KEYS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def cli(clone: Path, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run one command line and return what it printed."""

    def ran(line: str, *more: str) -> Ran:
        capfd.readouterr()
        try:
            code = guarded(lambda: app([*line.split(), *more], exit_on_error=True, result_action="return_value"))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        printed = capfd.readouterr()
        return Ran(code, printed.out, printed.err)

    return ran


@pytest.fixture
def head(cli: Cli) -> str:
    """A head trained on the mock matrix without weights."""
    trained = cli(TRAIN)
    assert trained.code == 0, trained.err
    return "artifacts/head"


TRAIN = (
    "train-es --config configs/train_es.yaml --data data/rewards.mock.jsonl --output artifacts/head "
    "--backbone.type hashing --generations 5 --no-cache"
)
