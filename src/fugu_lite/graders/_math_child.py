"""A child process that compares mathematics, one JSON line per question, so that a runaway can be killed."""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

MEMORY_BYTES = 4 * 2**30


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return `{"equal": bool}`, or `{"unreadable": "reference" | "response"}`."""
    from math_verify import parse, verify

    parsed: dict[str, list[Any]] = {}
    for side in ("reference", "response"):
        # fallback off: a string that is not mathematics is told, not compared as text
        found = parse(question[side], parsing_timeout=None, fallback_mode="no_fallback")
        if not found:
            return {"unreadable": side}
        parsed[side] = found
    equal = verify(
        parsed["reference"], parsed["response"], float_rounding=question["float_rounding"], timeout_seconds=None
    )
    return {"equal": bool(equal)}


def serve() -> None:
    """Answer lines until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    out, sys.stdout = sys.stdout, sys.stderr
    result = answer({"reference": "$1$", "response": "$1$", "float_rounding": 6})  # the slow imports, before the clock
    out.write(json.dumps(result) + "\n")
    out.flush()
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except (Exception, RecursionError) as error:
            result = {"failed": f"{type(error).__name__}: {error}"[:300]}
        out.write(json.dumps(result) + "\n")
        out.flush()


if __name__ == "__main__":
    serve()
