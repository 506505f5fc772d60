"""A run's folder: `spec.json`, `events.jsonl`, `manifest.json` and the outputs of one long command.

Terminal, console and engines all read the same events: `log`, `metric`, `progress`, `status`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from fugu_lite import __version__, jsonl
from fugu_lite.specs import Spec

Event = dict[str, Any]
Listener = Callable[[Event], None]


class Reporter(Protocol):
    """What long work tells about itself."""

    def log(self, message: str, **fields: Any) -> None:
        """Say something worth keeping."""
        ...

    def metric(self, step: int, **values: float | None) -> None:
        """Record numbers of one step; None means unknown."""
        ...

    def progress(self, stage: str, done: int, total: int | None, **fields: Any) -> None:
        """Say how far a stage is."""
        ...


class Silent:
    """A reporter that keeps nothing; the default of the library."""

    def log(self, message: str, **fields: Any) -> None:
        """Drop the message."""

    def metric(self, step: int, **values: float | None) -> None:
        """Drop the numbers."""

    def progress(self, stage: str, done: int, total: int | None, **fields: Any) -> None:
        """Drop the count."""


class Run:
    """One long command's folder and event stream; a context manager that records how the work ended.

    Args:
        kind: the command, e.g. `train-sft`.
        spec: what was resolved from flags and file.
        root: folder that holds the runs.
        inputs: file name -> path of what was read (recorded as given).
        listeners: called with every event (terminal, `--json`).
    """

    def __init__(
        self,
        kind: str,
        spec: Spec | Mapping[str, Any],
        root: Path = Path("runs"),
        inputs: Mapping[str, Path | str | None] | None = None,
        listeners: tuple[Listener, ...] = (),
    ) -> None:
        self.kind, self.listeners = kind, listeners
        self.id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{kind}-{secrets.token_hex(3)}"
        self.folder = root / self.id
        self.outputs: dict[str, str] = {}
        self.results: dict[str, Any] = {}
        self._spec = spec.model_dump(mode="json") if isinstance(spec, Spec) else dict(spec)
        self._inputs = {name: str(path) for name, path in (inputs or {}).items() if path is not None}
        self._started = time.time()
        self._cancelled = False

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True)
        jsonl.write_json(self.folder / "spec.json", self._spec)
        self._events = jsonl.Appender(self.folder / "events.jsonl")
        self.emit("status", status="running")
        self._write_manifest("running")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cancelled |= isinstance(error, KeyboardInterrupt)
        status = "cancelled" if self._cancelled else "succeeded" if error is None else "failed"
        self.emit("status", status=status, **({"error": f"{type(error).__name__}: {error}"} if error else {}))
        self._write_manifest(status)
        self._events.close()

    def emit(self, type_: str, **fields: Any) -> None:
        """Append one event and pass it to the listeners."""
        event = {"time": round(time.time(), 3), "type": type_, **fields}
        self._events.append(event)
        for listener in self.listeners:
            listener(event)

    def log(self, message: str, **fields: Any) -> None:
        """Record a message."""
        self.emit("log", message=message, **fields)

    def metric(self, step: int, **values: float | None) -> None:
        """Record the numbers of one step."""
        self.emit("metric", step=step, **values)

    def progress(self, stage: str, done: int, total: int | None, **fields: Any) -> None:
        """Record how far a stage is."""
        self.emit("progress", stage=stage, done=done, total=total, **fields)

    def output(self, name: str, path: Path) -> None:
        """Name a file or folder that this run produced."""
        self.outputs[name] = str(path)

    def cancel(self) -> None:
        """Record that the work was interrupted and ended cleanly by itself."""
        self._cancelled = True

    def _write_manifest(self, status: str) -> None:
        jsonl.write_json(
            self.folder / "manifest.json",
            {
                "id": self.id,
                "kind": self.kind,
                "status": status,
                "version": __version__,
                "started": round(self._started, 3),
                "seconds": round(time.time() - self._started, 3),
                "inputs": self._inputs,
                "outputs": self.outputs,
                "results": self.results,
            },
        )
