"""code: what passes, what cannot pass, and where the code is found."""

from typing import Any

import pytest

from fugu_lite.errors import GradingError, IsolationError
from fugu_lite.graders import Grade, GradingServices, build
from fugu_lite.graders._sandbox import available
from fugu_lite.graders.code import extract_code
from fugu_lite.tasks import Task

TESTS = "assert double(2) == 4\nassert double(-1) == -2"
HUMAN_EVAL = "def check(candidate):\n    assert candidate(2) == 4"
RIGHT = "```python\ndef double(x):\n    return 2 * x\n```"


@pytest.fixture
def isolated() -> None:
    usable, reason = available()
    if not usable:
        pytest.skip(f"code cannot be isolated here: {reason}")


async def grade(response: str, tests: Any = TESTS, **options: Any) -> Grade:
    task = Task(task_id="t", prompt="?", reference_answer=tests)
    return await build({"type": "code", **options}).grade_with(response, task, GradingServices(allow_code=True))


@pytest.mark.anyio
@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize(
    "response",
    [
        RIGHT,
        f"Here it is:\n{RIGHT}\nIt doubles.",
        "def double(x): return x + x",
        "```py\nprint('hello')\ndef double(x):\n    print(x)\n    return 2*x\n```",
        "```python\ndef double(x):\n    return 2 * x",
        f"```python\nwrong = 1\n```\n{RIGHT}",
        "```python\ndef double(x):\n    return 2*x\nif __name__ == '__main__':\n    raise SystemExit(1)\n```",
    ],
)
async def test_right_code(response: str) -> None:
    judged = await grade(response)
    assert (judged.quality, judged.reason) == (1.0, "tests passed")


@pytest.mark.anyio
@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize(
    "code",
    [
        "def double(x): return x",
        "def triple(x): return 3 * x",
        "def double(x) return",
        "I cannot do that.",
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "def double(x):\n    import os; os._exit(0)",
        "def double(x): raise SystemExit(0)",
        "print('tests passed'); raise SystemExit",
        "import os\nos.write(1, os.read(0, 64))\nos._exit(0)",
        "import sys\nprint(sys.stdin.read())\nsys.stdout.flush()\nimport os\nos._exit(0)",
        "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)",
        "def double(x):\n    while True: pass",
        "x = bytearray(10**10)\ndef double(x): return 2 * x",
    ],
)
async def test_code_that_must_not_pass(code: str) -> None:
    judged = await grade(f"```python\n{code}\n```", timeout_s=2)
    assert judged.quality == 0.0
    assert judged.reason


FORGED = """
import sys
def double(x):
    frame = sys._getframe()
    while "told" not in frame.f_locals:
        frame = frame.f_back
    known = frame.f_locals
    known["write"](known["told"], known["read"](known["given"], 64))
    known["leave"](0)
"""


@pytest.mark.anyio
@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize(
    "code", [FORGED, f"{FORGED}\ndouble(1)", "import os\nos.write(4, os.read(3, 64))\nos._exit(0)"]
)
async def test_a_report_of_success_that_the_code_sends_itself_does_not_pass(code: str) -> None:
    judged = await grade(f"```python\n{code}\n```")
    assert judged.quality == 0.0
    assert "does not depend on the tests" in judged.reason


@pytest.mark.anyio
@pytest.mark.usefixtures("isolated")
async def test_a_check_function_an_entry_point_and_a_preamble() -> None:
    assert (await grade("    return 2 * x", HUMAN_EVAL, entry_point="double", preamble="def double(x):")).quality == 1
    assert (await grade(RIGHT, HUMAN_EVAL, entry_point="double")).quality == 1
    assert (await grade("def double(x): return 5", HUMAN_EVAL, entry_point="double")).quality == 0


@pytest.mark.anyio
@pytest.mark.usefixtures("isolated")
async def test_the_timeout_is_told() -> None:
    assert "over its time" in (await grade("while True: pass", timeout_s=1)).reason


@pytest.mark.anyio
async def test_it_is_off_unless_allowed() -> None:
    task = Task(task_id="t", prompt="?", reference_answer=TESTS)
    with pytest.raises(GradingError, match="off"):
        await build({"type": "code"}).grade_with(RIGHT, task, GradingServices())


@pytest.mark.anyio
async def test_without_isolation_there_is_no_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fugu_lite.graders._sandbox.available", lambda: (False, "no namespaces"))
    with pytest.raises(IsolationError, match="no namespaces"):
        await grade(RIGHT)


@pytest.mark.parametrize("tests", [None, "", [], "assert ("])
def test_tests_that_are_none(tests: Any) -> None:
    with pytest.raises(GradingError, match="tests"):
        build({"type": "code"}).check(Task(task_id="t", prompt="?", reference_answer=tests))


@pytest.mark.parametrize(
    ("response", "code"),
    [
        ("```python\na\n```\n```python\nb\n```", "b\n"),
        ("```python\na\n```\n```text\nb\n```", "a\n"),
        ("```\na\n```", "a\n"),
        ("```bash\nls\n```", ""),
        ("a = 1", "a = 1"),
        ("~~~py\na\n~~~", "a\n"),
        ("<think>```python\nno\n```</think>```python\nyes\n```", "yes\n"),
    ],
)
def test_the_last_python_block_is_taken(response: str, code: str) -> None:
    assert extract_code(response) == code


def test_the_block_that_defines_the_entry_point_is_preferred() -> None:
    text = "```python\ndef f(): pass\n```\n```python\nprint(f())\n```"
    assert extract_code(text, "f") == "def f(): pass\n"
