"""`{"type": "regex"}`: a pattern is found in the response, in bounded time."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from typing import ClassVar, Literal

from pydantic import Field

from fugu_lite.errors import GradingError
from fugu_lite.graders._answers import visible
from fugu_lite.graders.contract import Grade, Grader
from fugu_lite.tasks import Task

MAX_PATTERN = 1_000
MAX_RESPONSE = 200_000
MAX_STEPS = 1e8
TIMEOUT_S = 5.0

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}
_CHILD = """
import json, re, sys
pattern, flags, text = json.load(sys.stdin)
match = re.search(pattern, text, flags)
json.dump(match and match.group(), sys.stdout)
"""


class Regex(Grader):
    """Search for `pattern`; the task needs no reference answer.

    Attributes:
        flags: letters of `imsxa`, as Python's re names them.
    """

    kind: ClassVar[str] = "regex"
    slow: ClassVar[bool] = True
    pattern: str = Field(min_length=1, max_length=MAX_PATTERN)
    flags: str = Field("", pattern="^[imsxa]*$")
    on: Literal["response", "visible"] = "visible"

    def check(self, task: Task) -> None:
        """Refuse a pattern that does not compile."""
        try:
            re.compile(self.pattern, self._flags)
        except (re.error, OverflowError, RecursionError) as error:
            raise GradingError(
                f"task {task.task_id!r}: grader 'regex': bad pattern {self.pattern!r}: {error}"
            ) from None

    def grade(self, response: str, task: Task) -> Grade:
        """Judge whether the pattern is found anywhere in the response."""
        self.check(task)
        text = visible(response) if self.on == "visible" else response
        if len(text) > MAX_RESPONSE:
            raise GradingError(f"task {task.task_id!r}: response of {len(text)} characters is over {MAX_RESPONSE}")
        if not text.strip():
            return Grade(0.0, None, "empty response")
        found = self._search(text)
        return Grade(float(found is not None), found, "pattern found" if found is not None else "pattern not found")

    @property
    def _flags(self) -> int:
        return int(functools.reduce(lambda a, b: a | b, (_FLAGS[letter] for letter in self.flags), re.RegexFlag(0)))

    def _search(self, text: str) -> str | None:
        if _worst_steps(self.pattern, len(text)) > MAX_STEPS:
            return _search_in_child(self.pattern, self._flags, text)
        match = re.search(self.pattern, text, self._flags)
        return match.group() if match else None


def _worst_steps(pattern: str, length: int) -> float:
    """Bound the steps of a backtracking search: n starts, times n per repeat; a repeated group has no bound."""
    if re.search(r"\)[*+{]", pattern):
        return float("inf")
    repeats = len(re.findall(r"[*+]|\{\d*,\d*\}", pattern))
    return float(max(length, 1)) ** min(repeats + 1, 20)


def _search_in_child(pattern: str, flags: int, text: str) -> str | None:
    """Search in a process that can be killed: Python's re holds the interpreter and knows no time limit."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=json.dumps([pattern, flags, text]),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise GradingError(f"pattern {pattern!r:.80} ran over {TIMEOUT_S:g} s; simplify its repeats") from None
    except subprocess.CalledProcessError as error:
        raise GradingError(f"pattern {pattern!r:.80} failed with status {error.returncode}") from None
    found: str | None = json.loads(done.stdout)
    return found
