"""README and docs say what the code does: `docs/check.py` finds nothing, and it would find mistakes."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from cyclopts import App

from fugu_lite.chat import ChatRequest
from fugu_lite.heads import HeadSpec
from fugu_lite.tasks import Task
from fugu_lite.workers import WorkerSpec

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_check", ROOT / "docs" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def toy() -> App:
    app = App(name="fugu-lite")

    @app.command
    def route(*, checkpoint: str, seed: int = 0) -> None:
        """Choose."""

    return app


def test_the_documents_are_current() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "check.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("fugu-lite route --checkpoint a", None),
        ("fugu-lite route --checkpoint a \\\n  --seed 3  # a remark", None),
        ("$ .venv/bin/fugu-lite route --checkpoint a", None),
        ("fugu-lite rout --checkpoint a", "rout"),
        ("fugu-lite route --chekpoint a", "chekpoint"),
        ("fugu-lite route", "checkpoint"),
        ("fugu-lite route --checkpoint a --seed many", "many"),
    ],
)
def test_command_lines_in_shell_blocks(check: ModuleType, toy: App, line: str, problem: str | None) -> None:
    found = list(check.command_problems(toy, f"```bash\n{line}\n```\n"))
    assert (problem in " ".join(found).lower()) if problem else found == []


def test_commands_mentioned_in_prose_may_leave_flags_out(check: ModuleType, toy: App) -> None:
    assert list(check.command_problems(toy, "use `fugu-lite route`, or `fugu-lite route --seed 3`")) == []
    assert "unknown flag --sed" in "".join(check.command_problems(toy, "use `fugu-lite route --sed 3`"))
    assert "unknown command 'rout'" in "".join(check.command_problems(toy, "use `fugu-lite rout`"))


def test_missing_files_and_bad_blocks_are_found(check: ModuleType) -> None:
    page = "see [it](nowhere.md) and `configs/none.yaml`, then `artifacts/made/manifest.json`"
    found = list(check.file_problems(ROOT / "README.md", page, frozenset({"artifacts/made"})))
    assert len(found) == 2
    assert "nowhere.md" in found[0]
    assert "configs/none.yaml" in found[1]
    assert len(list(check.block_problems("```python\ndef f(:\n```\n```json\n{\n```\n```toml\na = \n```\n"))) == 3


def example(page: str, position: int = 0) -> dict[str, Any]:
    """Run one Python block of a how-to page and return what it defines."""
    code = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "how-to" / page).read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "my_package"}
    exec(compile(code[position], page, "exec"), names)
    return names


def test_the_grader_of_the_page_grades() -> None:
    grader = example("add-a-grader.md")["WordCount"].parse({"tolerance": 1})
    task = Task(task_id="w-1", prompt="Describe rain in five words.", reference_answer=5)
    assert grader.grade("wet cold grey drops", task).quality == 1.0
    assert grader.grade("wet", task).quality == 0.0


@pytest.mark.anyio
async def test_the_workers_of_the_page_answer() -> None:
    assert example("add-a-worker.md")["shout"]([{"role": "user", "content": "hi"}]) == "HI"
    worker = example("add-a-worker.md", 1)["EchoWorker"](WorkerSpec(id="echo", type="echo"))
    assert (await worker.complete(ChatRequest.of("hi"))).text == "hi"
    chunks = [chunk async for chunk in worker.stream(ChatRequest.of("hi"))]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, "stop"]


def test_the_head_of_the_page_starts_uniform() -> None:
    kind = example("add-a-head.md")["RandomProjection"]
    head = kind.initial(HeadSpec(type="random_projection"), 8, ("a", "b"), np.random.default_rng(0))
    assert head.probabilities(np.ones((3, 8))) == pytest.approx(np.full((3, 2), 0.5))
