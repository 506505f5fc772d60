"""Server-sent events, read from any split of the byte stream.

Source: WHATWG HTML, "Server-sent events", parsing an event stream. One liberty is taken: an event that lacks its
final blank line is delivered at the end of the stream, because servers do leave it out.
"""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """One event: its name (`message` when none was given) and its data lines joined by newlines."""

    name: str
    data: str


class Parser:
    """Turns bytes into events: lines end in LF, CR or CRLF, and chunks are cut anywhere, also inside a character."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._after_cr = False
        self._first_line = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """Take the next bytes and return the events they complete."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._parts.append(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        lines = b"".join(self._parts).splitlines(keepends=True)
        self._parts = [] if lines[-1].endswith((b"\n", b"\r")) else [lines.pop()]
        return self._events(lines)

    def close(self) -> list[Event]:
        """Return what is left when the stream has ended."""
        lines, self._parts = self._parts and [b"".join(self._parts)], []
        return self._events([*lines, b""])

    def _events(self, lines: list[bytes]) -> list[Event]:
        found = (self._line(line.rstrip(b"\r\n").decode("utf-8", "replace")) for line in lines)
        return [event for event in found if event is not None]

    def _line(self, line: str) -> Event | None:
        """Take one line; a blank one ends the event."""
        if self._first_line:
            line, self._first_line = line.removeprefix("\ufeff"), False
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")  # a comment has an empty name
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._name or "message", "\n".join(self._data)) if self._data else None
        self._name, self._data = "", []
        return event
