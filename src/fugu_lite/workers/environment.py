"""`.env`: where keys live on a developer's machine. Values are set, never shown."""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from pathlib import Path

from fugu_lite.errors import DataError

NAME = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
REST = re.compile(r"\s*(?:#.*)?")


def load_env(path: Path = Path(".env"), environ: MutableMapping[str, str] | None = None) -> list[str]:
    """Read `KEY=VALUE` lines into the environment, without overriding what is set there.

    Args:
        path: the file; nothing happens when there is none.
        environ: where to set; the process environment when None.

    Returns:
        Warnings for the user: other accounts can read the file, lines that are not `KEY=VALUE`. No values.

    Raises:
        DataError: if the file is not UTF-8 text or cannot be read.
    """
    environ = os.environ if environ is None else environ
    try:
        text, mode = path.read_text(encoding="utf-8-sig"), path.stat().st_mode
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise DataError(str(path), "is not UTF-8 text") from None
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    values, bad_lines = parse_env(text)
    for name, value in values.items():
        environ.setdefault(name, value)
    exposed = (
        [f"{path} can be read by other accounts; run: chmod 600 {path}"] if mode & 0o077 and os.name != "nt" else []
    )
    return exposed + [f"{path}:{number}: not KEY=VALUE, ignored" for number in bad_lines]


def parse_env(text: str) -> tuple[dict[str, str], list[int]]:
    """Return the values by name, the last one counting, and the numbers of the lines that could not be read.

    A line is `KEY=VALUE`, `export` in front allowed. A value may stand in single quotes (taken as it is) or double
    quotes (backslash escapes), and ends on its line; without quotes a `#` after white space begins a comment.
    """
    values: dict[str, str] = {}
    bad: list[int] = []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = NAME.match(line)
        value = _value(line[match.end() :]) if match else None
        if match is None or value is None or "\0" in value:
            bad.append(number)
        else:
            values[match[1]] = value
    return values, bad


def _value(raw: str) -> str | None:
    """Read what stands after the equals sign; None when a quote is not closed or something follows it."""
    if raw[:1] not in ("'", '"'):
        return re.split(r"(?:^|\s)#", raw, maxsplit=1)[0].strip()
    quote, content = raw[0], r"[^']*" if raw[0] == "'" else r'(?:[^"\\]|\\.)*'
    match = re.match(rf"{quote}({content}){quote}", raw)
    if match is None or not REST.fullmatch(raw, match.end()):
        return None
    return match[1] if quote == "'" else re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), match[1])
