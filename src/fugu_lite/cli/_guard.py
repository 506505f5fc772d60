"""How a command ends: results with 0, known errors with one line and 1, Ctrl-C with 130. Imports nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fugu_lite.errors import FuguLiteError


def guarded(action: Callable[[], Any]) -> int:
    """Run the app; return its exit code."""
    try:
        result = action()
    except FuguLiteError as error:
        _say("error", " ".join(str(error).splitlines()))
        return 1
    except KeyboardInterrupt:
        _say("interrupted", "what was finished is kept")
        return 130
    except BrokenPipeError:
        return 0
    return result if isinstance(result, int) else 0


def _say(label: str, message: str) -> None:
    """Print one line on standard error, the label in colour on a terminal."""
    shown = f"\x1b[31m{label}\x1b[0m" if sys.stderr.isatty() else label
    print(f"{shown}: {message}", file=sys.stderr)
