"""What `import fugu_lite` offers, and what it does not load."""

import ast
import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import fugu_lite

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"torch", "transformers", "starlette", "uvicorn", "numpy", "pydantic", "sklearn", "matplotlib"}


def python(*arguments: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_it_loads_nothing_heavy() -> None:
    loaded = python("-c", "import sys, fugu_lite; print(*sorted({name.split('.')[0] for name in sys.modules}))").split()
    assert "fugu_lite" in loaded
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize("name", [name for name in fugu_lite.__all__ if name != "__version__"])
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(fugu_lite, name)
    assert value.__doc__
    assert value.__module__.startswith("fugu_lite.")
    assert name in dir(fugu_lite)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Ruter'"):
        _ = fugu_lite.Ruter  # type: ignore[attr-defined]


def test_the_types_name_what_the_module_offers() -> None:
    tree = ast.parse((ROOT / "src" / "fugu_lite" / "__init__.pyi").read_text())
    typed = {alias.asname or "" for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed | {"__version__"} == set(fugu_lite.__all__)


def test_one_version() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["hatch"]["version"]["path"] == "src/fugu_lite/__init__.py"
    assert version("fugu-lite") == fugu_lite.__version__


def test_the_ten_line_example_runs() -> None:
    lines = python("examples/library.py").splitlines()
    assert lines[0].startswith("router 0.")
    assert lines[1].startswith("('")
