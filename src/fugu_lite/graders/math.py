"""`{"type": "math"}`: the answer equals the reference as mathematics (LaTeX or plain), by math-verify."""

from __future__ import annotations

import atexit
import contextlib
import json
import select
import subprocess
import sys
import threading
from typing import Any, ClassVar

from pydantic import Field

from fugu_lite.errors import GradingError
from fugu_lite.graders._answers import extract, visible
from fugu_lite.graders.contract import Grade, Grader
from fugu_lite.tasks import Task

MAX_CHARS = 2_000
TIMEOUT_S = 20.0
START_TIMEOUT_S = 120.0


class Math(Grader):
    """Compare symbolically: `1/2`, `0.5` and `\\frac{2}{4}` are one answer, and sets ignore their order.

    Attributes:
        float_rounding: decimals to which numbers are rounded before they are compared.
    """

    kind: ClassVar[str] = "math"
    slow: ClassVar[bool] = True
    float_rounding: int = Field(6, ge=0, le=15)

    def grade(self, response: str, task: Task) -> Grade:
        """Judge the response's answer."""
        self.check(task)
        found = extract(response)
        text = found.text if found is not None else visible(response).strip()
        if not text:
            return Grade(0.0, None, "no answer in the response")
        if len(text) > MAX_CHARS:
            return Grade(0.0, text[:80], f"answer of {len(text)} characters is over {MAX_CHARS}")
        told = _child.ask(
            {
                "reference": _as_math(str(task.reference_answer)),
                "response": _as_math(text),
                "float_rounding": self.float_rounding,
            }
        )
        if told.get("unreadable") == "reference":
            raise GradingError(f"task {task.task_id!r}: reference {task.reference_answer!r:.80} is not mathematics")
        if told.get("unreadable") == "response":
            return Grade(0.0, text, "the answer is not mathematics that can be read")
        if "failed" in told:
            raise GradingError(f"task {task.task_id!r}: comparison failed: {told['failed']}")
        equal = bool(told["equal"])
        return Grade(float(equal), text, f"{'equals' if equal else 'differs from'} the reference")


def _as_math(text: str) -> str:
    text = text.strip().strip("*").rstrip(".").strip()
    return text if "$" in text or "\\(" in text or "\\[" in text else f"${text}$"


class _Child:
    """One math process shared by all threads; started when first asked, killed when it takes too long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            return self._exchange(json.dumps(question) + "\n", TIMEOUT_S, f"comparing {question['response']!r:.80}")

    def _start(self) -> None:
        self._stop()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fugu_lite.graders._math_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        atexit.register(self._stop)
        self._exchange("", START_TIMEOUT_S, "starting the math process")

    def _exchange(self, line: str, timeout_s: float, what: str) -> dict[str, Any]:
        """Send a line and read the reply; a process that is late or gone is replaced for the next question."""
        assert self._process is not None
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        reply = ""
        with contextlib.suppress(BrokenPipeError):
            given.write(line)
            given.flush()
            if not select.select([told], [], [], timeout_s)[0]:
                self._stop()
                raise GradingError(f"{what} took over {timeout_s:g} s")
            reply = told.readline()
        if not reply:
            self._stop()
            raise GradingError(f"{what}: the math process ended")
        result: dict[str, Any] = json.loads(reply)
        return result

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    if pipe is not None:
                        pipe.close()


_child = _Child()
