"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "fugu_lite"
FILES = sorted(SOURCE.rglob("*.py"))
FAMILIES = ["graders", "workers", "embeddings", "heads", "trainers", "datasets"]
INERT = SOURCE / "datasets" / "_frame_pickle.py"  # reads pickles without importing what they name; its tests prove it
BARRED = {"utils", "helpers", "common", "manager"}


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(SOURCE)) for path in paths]


def test_imports_flow_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    cli = pytest.importorskip("importlinter.cli")
    monkeypatch.chdir(ROOT)
    assert cli.lint_imports(cache_dir=None) == cli.EXIT_STATUS_SUCCESS


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 300
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= 60]
    assert long == []


def test_no_file_is_named_after_nothing() -> None:
    assert [path for path in names(FILES) if Path(path).stem.strip("_") in BARRED] == []


def test_nothing_is_pickled_and_no_shell_is_used() -> None:
    found = []
    for path in FILES:
        if path == INERT:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                found += [(path.name, module) for module in modules if module.split(".")[0] in {"pickle", "joblib"}]
            if isinstance(node, ast.keyword) and node.arg in {"shell", "allow_pickle"}:
                value = node.value
                found += (
                    [(path.name, node.arg)] if not (isinstance(value, ast.Constant) and value.value is False) else []
                )
    assert found == []


def kinds() -> list[tuple[str, str, str]]:
    """Return (family, kind, module file) of everything in a registry."""
    found = []
    for family in FAMILIES:
        registry = importlib.import_module(f"fugu_lite.{family}.contract").registry
        for name in registry.shipped():
            target = registry._targets[name].partition(":")[0]
            if target.startswith("fugu_lite."):
                found.append((family, name, target.rsplit(".", 1)[1]))
    return found


@pytest.mark.parametrize(("family", "kind", "module"), kinds(), ids=[f"{f}:{k}" for f, k, _ in kinds()])
def test_every_kind_is_a_file_with_tests(family: str, kind: str, module: str) -> None:
    assert (SOURCE / family / f"{module}.py").is_file()
    tests = [path.read_text() for path in (ROOT / "tests" / family).glob("test_*.py")]
    assert any(f"fugu_lite.{family}.{module}" in text or f'"{kind}"' in text for text in tests)
