"""`{"type": "code"}`: the response's Python passes unit tests, run in the sandbox."""

from __future__ import annotations

import asyncio
import json
import math
import re
import secrets
from typing import ClassVar

from pydantic import Field

from fugu_lite.errors import GradingError
from fugu_lite.graders._answers import visible
from fugu_lite.graders._sandbox import Limits, SandboxResult, run_python
from fugu_lite.graders.contract import Grade, Grader, GradingServices
from fugu_lite.tasks import Task

_FENCE = re.compile(
    r"^[ \t]*(?:```|~~~)[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE
)

# The solution shares its interpreter with the tests. What it prints goes to stderr and it has no stdin: real stdout
# and stdin are moved aside first. The token is read only after the last test passed, so that neither an early exit
# nor a guessed word can stand for success. `last` follows the tests; in the counter-run it is an assertion that fails.
_HARNESS = """
import os, sys, types
def _run(solution, tests, entry_point, last):
    read, write, leave, given, told = os.read, os.write, os._exit, os.dup(0), os.dup(1)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    exec(compile(solution, "solution.py", "exec"), module.__dict__)
    exec(compile(tests, "tests.py", "exec"), module.__dict__)
    if entry_point and callable(module.__dict__.get("check")):
        module.__dict__["check"](module.__dict__[entry_point])
    exec(compile(last, "last.py", "exec"), {})
    write(told, read(given, 64))
    leave(0)
"""


class Code(Grader):
    """Run unit tests against the response's code; off unless `GradingServices.allow_code`.

    Code and tests share one interpreter, so the code could walk the frames to the report of success and send it
    itself. A pass therefore counts only if the same code does not also pass a second run that ends in an assertion
    that fails. Limit: code written against this very grader, which tells the two runs apart or answers the tests
    with objects that equal everything, can still pass. Grade models with it, not adversaries.

    Attributes:
        tests: assert statements, or a HumanEval `check(candidate)`; None takes the task's reference answer.
        entry_point: function that `check` is called with, and that the code has to define.
        preamble: Python put before the response, e.g. imports or the signature that the prompt gave.
        timeout_s: CPU seconds for code and tests together; three times as many on the clock, for a busy machine.
    """

    kind: ClassVar[str] = "code"
    version: ClassVar[int] = 2
    tests: str | tuple[str, ...] | None = None
    entry_point: str | None = Field(None, pattern=r"^[A-Za-z_]\w*$")
    preamble: str = ""
    timeout_s: float = Field(10.0, gt=0, le=120)
    memory_mb: int = Field(512, ge=64, le=8192)

    def check(self, task: Task) -> None:
        """Refuse a task without tests, or with tests that are not Python."""
        try:
            compile(self._tests(task), "tests.py", "exec")
        except (SyntaxError, ValueError) as error:
            raise GradingError(f"task {task.task_id!r}: tests are not Python: {error}") from None

    async def grade_with(self, response: str, task: Task, services: GradingServices) -> Grade:
        """Judge by running; raises IsolationError where the sandbox cannot isolate."""
        if not services.allow_code:
            raise GradingError(f"task {task.task_id!r}: grader 'code' is off; allow code in the config to run it")
        self.check(task)
        code = extract_code(response, self.entry_point)
        if not code.strip():
            return Grade(0.0, None, "no code in the response")
        return await asyncio.to_thread(self._run, code, task)

    def _run(self, code: str, task: Task) -> Grade:
        passed, result = self._reports_success(code, task, holds=True)
        if passed and self._reports_success(code, task, holds=False)[0]:
            return Grade(0.0, code, "reports success also where an assertion fails: it does not depend on the tests")
        return Grade(float(passed), code, "tests passed" if passed else _why(result))

    def _reports_success(self, code: str, task: Task, holds: bool) -> tuple[bool, SandboxResult]:
        """Run code and tests, then one assertion more, which holds or not; both look alike."""
        token, word = secrets.token_hex(16), secrets.token_hex(8)
        last = f"assert {word!r} == {word if holds else secrets.token_hex(8)!r}"
        solution = f"{self.preamble}\n{code}" if self.preamble else code
        texts = f"{_literal(solution)}, {_literal(self._tests(task))}, {self.entry_point!r}, {_literal(last)}"
        limits = Limits(3 * self.timeout_s, math.ceil(self.timeout_s), self.memory_mb * 2**20)
        result = run_python(f"{_HARNESS}_run({texts})\n", token, limits)
        return result.status == "ok" and result.stdout == token, result

    def _tests(self, task: Task) -> str:
        tests = self.tests if self.tests is not None else task.reference_answer
        text = tests if isinstance(tests, str) else "\n".join(map(str, tests or ()))
        if not text.strip():
            raise GradingError(f"task {task.task_id!r}: grader 'code' needs tests, in grader.tests or reference_answer")
        return text


def extract_code(response: str, entry_point: str | None = None) -> str:
    """Return the last fenced Python block, preferring one that defines `entry_point`; else the whole response."""
    text = visible(response)
    blocks = [(language.lower(), body) for language, body in _FENCE.findall(text)]
    python = [body for language, body in blocks if language in ("python", "py", "python3")]
    python = python or [body for language, body in blocks if not language]
    if entry_point:
        defining = [body for body in python if re.search(rf"(?m)^\s*(?:async\s+)?def\s+{entry_point}\b", body)]
        python = defining or python
    return python[-1] if python else "" if blocks else text


def _literal(text: str) -> str:
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=True)


def _why(result: SandboxResult) -> str:
    if result.status == "timeout":
        return f"ran over its time ({result.seconds:.1f} s)"
    lines = [line for line in result.stderr.strip().splitlines() if line.strip()]
    return f"tests did not pass: {lines[-1][:200]}" if lines else "the program ended before its tests did"
