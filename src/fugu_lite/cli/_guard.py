"""How a command ends: results with 0, known errors with one line and 1, Ctrl-C with 130. Imports nothing heavy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard

from fugu_lite.errors import FuguLiteError

if TYPE_CHECKING:
    from pydantic import ValidationError


def guarded(action: Callable[[], Any]) -> int:
    """Run the app; return its exit code. A defect of ours goes on as the exception that it is."""
    try:
        result = action()
    except KeyboardInterrupt:
        _say("interrupted", "what was finished is kept")
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:
        line = _told(_only(error))
        if line is None:
            raise
        _say("error", " ".join(line.splitlines()))
        return 1
    return result if isinstance(result, int) else 0


def _only(error: Exception) -> Exception:
    """Return the one error of a group (of task groups); the group itself when there are several."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _told(error: Exception) -> str | None:
    """Return the line for a mistake of the user or the machine; None for a defect."""
    if isinstance(error, FuguLiteError):
        return str(error)
    if _is_validation(error):
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or error.title
        return f"{where}: {first['msg']}, found {first['input']!r:.80}"
    if isinstance(error, UnicodeDecodeError):
        return f"a file is not UTF-8 text: byte {error.object[error.start]:#04x} at {error.start}; convert it to UTF-8"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return where + (error.strerror or str(error) or type(error).__name__)
    return None


def _is_validation(error: Exception) -> TypeGuard[ValidationError]:
    """Whether pydantic refused a value; looked up late, since `--help` must not load pydantic."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(error, pydantic.ValidationError)


def _say(label: str, message: str) -> None:
    """Print one line on standard error, the label in colour on a terminal."""
    shown = f"\x1b[31m{label}\x1b[0m" if sys.stderr.isatty() else label
    print(f"{shown}: {message}", file=sys.stderr)
