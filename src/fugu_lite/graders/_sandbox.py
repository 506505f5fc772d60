"""Run untrusted Python where it can reach nothing: namespaces, a minimal read-only view, another uid, limits.

Isolation comes from bubblewrap (`bwrap`), or from util-linux `unshare` where that is missing. Inside there is no
network, no home, no repository and no environment; the only writable place is a small private tmpfs. Where isolation
cannot be had, nothing is run.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import IO, Literal

from fugu_lite.errors import IsolationError
from fugu_lite.graders import _sandbox_view as view

XCPU_STATUS = 128 + signal.SIGXCPU


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use: seconds of wall and CPU time, bytes, and counts."""

    wall_s: float = 10.0
    cpu_s: int = 8
    memory_bytes: int = 512 * 2**20
    output_bytes: int = 2**20
    disk_bytes: int = 16 * 2**20
    processes: int = 16
    open_files: int = 64

    def rlimits(self) -> dict[str, tuple[int, int]]:
        """Return `resource` constant -> (soft, hard). Output goes to files, so the file size bounds it."""
        return {
            "RLIMIT_CPU": (self.cpu_s, self.cpu_s + 1),
            "RLIMIT_AS": (self.memory_bytes, self.memory_bytes),
            "RLIMIT_FSIZE": (self.output_bytes, self.output_bytes),
            "RLIMIT_NPROC": (self.processes, self.processes),
            "RLIMIT_NOFILE": (self.open_files, self.open_files),
            "RLIMIT_CORE": (0, 0),
        }


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """How a run ended: `ok` (exit status 0), `error` (any other end) or `timeout` (wall or CPU time used up)."""

    status: Literal["ok", "error", "timeout"]
    stdout: str
    stderr: str
    exit_code: int
    seconds: float


def run_python(source: str, stdin: str = "", limits: Limits | None = None) -> SandboxResult:
    """Run Python source in isolation and wait for its end.

    Args:
        source: a program for the running Python version; it sees the standard library only.
        stdin: what it can read.
        limits: what it may use; None takes the defaults.

    Raises:
        IsolationError: where isolation is missing or could not be set up; the source was not run.
    """
    usable, reason = available()
    if not usable:
        raise IsolationError(reason)
    return _run(source, stdin, limits or Limits())


@functools.cache
def available() -> tuple[bool, str]:
    """Return whether code can be isolated here, and by what or why not (tried once per process)."""
    try:
        result = _run("print('inside')", "", Limits())
    except IsolationError as error:
        return False, str(error)
    if result.stdout != "inside\n":
        return False, f"a trial program failed in the sandbox: {result.stderr.strip()[-300:]}"
    return True, view.mechanism() or ""


def _run(source: str, stdin: str, limits: Limits) -> SandboxResult:
    mechanism = view.mechanism()
    if mechanism is None:
        raise IsolationError("neither bwrap nor unshare is installed; install bubblewrap (apt install bubblewrap)")
    with contextlib.ExitStack() as stack:
        job, given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(4))
        _fill(job, source)
        _fill(given, stdin)
        started_r, started_w = os.pipe()
        stack.callback(os.close, started_r)
        begin = time.monotonic()
        try:
            command = view.command(mechanism, limits.rlimits(), limits.disk_bytes, job.fileno(), started_w)
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=out,
                stderr=err,
                env={},
                cwd="/",
                pass_fds=(job.fileno(), started_w),
                start_new_session=True,
            )
        finally:
            os.close(started_w)
        timed_out = _wait(process, limits.wall_s)
        seconds = time.monotonic() - begin
        texts = [_read(file, limits.output_bytes) for file in (out, err)]
        if not os.read(started_r, 1) and not timed_out:
            raise IsolationError(f"{mechanism} could not isolate: {texts[1].strip()[-300:] or process.returncode}")
    code = process.returncode
    late = timed_out or code in (XCPU_STATUS, -signal.SIGXCPU)
    return SandboxResult("timeout" if late else "ok" if code == 0 else "error", texts[0], texts[1], code, seconds)


def _wait(process: subprocess.Popen[bytes], wall_s: float) -> bool:
    """Wait for the end or the time limit, then kill whatever is left of the process group."""
    try:
        process.wait(wall_s)
        return False
    except subprocess.TimeoutExpired:
        return True
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _fill(file: IO[bytes], text: str) -> None:
    file.write(text.encode("utf-8", "surrogatepass"))
    file.seek(0)


def _read(file: IO[bytes], limit: int) -> str:
    file.seek(0)
    return file.read(limit).decode("utf-8", "replace")
