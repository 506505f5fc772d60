"""The parent's side of a local worker: child processes, shared by settings and counted by their users."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import threading
from collections import Counter, deque
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import IO

from fugu_lite.errors import CallError

STDERR_LINES = 8
STOP_S, REAP_S = 5.0, 1.0


@dataclass(frozen=True)
class ServerSettings:
    """What makes one child differ from another."""

    file: str
    name: str
    threads: int
    context_tokens: int
    slots: int
    chat_template: str | None
    start_timeout_s: float


@dataclass(frozen=True)
class Address:
    """Where a child listens, and the key that only its parent knows."""

    base_url: str
    api_key: str


class ModelServer:
    """One child process. `address` starts it when it is not running; thread-safe."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._address: Address | None = None
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)

    @property
    def pid(self) -> int | None:
        """Process id of the child, None before the first start."""
        return self._process.pid if self._process else None

    def address(self) -> Address:
        """Return where the running child listens; blocks while it loads.

        Raises:
            CallError: kind `connect`, when it does not start.
        """
        with self._lock:
            if self._address is None or self._process is None or self._process.poll() is not None:
                self._address = self._start()
            return self._address

    def reap(self) -> None:
        """Take note of a child that is going down: its sockets close a little before the system calls it dead."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(REAP_S)

    def stop(self) -> None:
        """End the child; blocks until it is gone."""
        with self._lock:
            if self._process is not None:
                _end(self._process)
            self._address = None

    def _start(self) -> Address:
        if self._process is not None:
            _end(self._process)
        command = [sys.executable, "-m", "fugu_lite.workers._llama_server"]
        pipe = subprocess.PIPE
        # An own session: Ctrl-C is the parent's to handle, and calls in flight may still end.
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
        self._process = process
        reader = threading.Thread(target=self._keep_stderr, args=(process.stderr,), daemon=True)
        reader.start()
        alarm = threading.Timer(self.settings.start_timeout_s, process.kill)
        alarm.start()
        key = secrets.token_urlsafe(24)
        line = _first_line(process, json.dumps({**asdict(self.settings), "api_key": key}))
        timed_out = not alarm.is_alive()
        alarm.cancel()
        if not line:
            _end(process)
            reader.join(STOP_S)
            raise CallError("connect", self._failure(timed_out))
        return Address(f"{json.loads(line)['url']}/v1", key)

    def _keep_stderr(self, stream: IO[str]) -> None:
        for line in stream:
            self._stderr.append(line.rstrip())
        stream.close()

    def _failure(self, timed_out: bool) -> str:
        why = f"was not ready after {self.settings.start_timeout_s:g} s" if timed_out else "ended while starting"
        said = " | ".join(line for line in self._stderr if line)
        return f"the local server of {self.settings.name!r} {why}: {said or 'it said nothing'}"


def _first_line(process: subprocess.Popen[str], settings: str) -> str:
    """Hand over the settings and return the child's first line; empty when it ended without one."""
    if process.stdin is None or process.stdout is None:
        return ""
    try:
        process.stdin.write(settings + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    return process.stdout.readline()


def _end(process: subprocess.Popen[str]) -> None:
    """End a child, gently first, and free its pipes."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):  # settings that a dead child never read
                stream.close()


_servers: dict[ServerSettings, ModelServer] = {}
_users: Counter[ServerSettings] = Counter()
_servers_lock = threading.Lock()


def acquire(settings: ServerSettings) -> ModelServer:
    """Return the process-wide server of these settings and count one user more; nothing is started yet."""
    with _servers_lock:
        _users[settings] += 1
        return _servers.setdefault(settings, ModelServer(settings))


def release(server: ModelServer) -> None:
    """Count one user less; the last one stops the child."""
    with _servers_lock:
        _users[server.settings] -= 1
        last = _users[server.settings] <= 0
        if last:
            del _users[server.settings], _servers[server.settings]
    if last:
        server.stop()
