"""The sandbox, by each mechanism: what untrusted code tries must fail, and end within its limits."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fugu_lite.errors import IsolationError
from fugu_lite.graders import _sandbox, _sandbox_view
from fugu_lite.graders._sandbox import Limits, SandboxResult, available, run_python

Run = Callable[[str], SandboxResult]
SMALL = Limits(wall_s=4, cpu_s=1, memory_bytes=256 * 2**20, output_bytes=100_000, disk_bytes=2**20)


@pytest.fixture(params=["bwrap", "unshare"])
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run by one mechanism; skips where this machine really lacks it."""
    monkeypatch.setattr(_sandbox_view, "mechanism", lambda: request.param)
    try:
        _sandbox._run("", "", SMALL)
    except (IsolationError, FileNotFoundError) as error:
        pytest.skip(f"{request.param} cannot isolate here: {error}")
    return lambda source: _sandbox._run(source, "", SMALL)


def test_a_program_runs(run: Run) -> None:
    result = run("import json, math, decimal\nprint(json.dumps(math.factorial(5)))")
    assert (result.status, result.stdout, result.exit_code) == ("ok", "120\n", 0)


def test_an_error_is_told(run: Run) -> None:
    result = run("raise SystemExit(3)")
    assert (result.status, result.exit_code) == ("error", 3)


def test_it_is_somebody_else(run: Run) -> None:
    seen = run("import os; print(os.getuid(), os.getgid(), len(os.getgroups()))\nos.setuid(0)")
    assert seen.stdout.startswith("65534 65534 ")
    assert "PermissionError" in seen.stderr


def test_files_outside_are_not_there(run: Run) -> None:
    canaries = ["/etc/passwd", "/etc/shadow", __file__, "/proc/1/environ", str(Path.home() / ".bashrc"), "/sys", "/run"]
    source = f"import os\nprint([p for p in {canaries!r} if os.path.exists(p)], os.listdir('.'))"
    assert run(source).stdout == "[] []\n"


def test_nothing_of_the_environment_is_there(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_KEY", "sk-canary")
    seen = run("import os; print(sorted(os.environ), os.environ['HOME'], os.getcwd())").stdout
    assert seen.replace("'LC_CTYPE'", "").replace(", ]", "]") == "['HOME'] /box /box\n"


def test_installed_packages_are_not_there(run: Run) -> None:
    assert "ModuleNotFoundError" in run("import numpy").stderr
    assert "ModuleNotFoundError" in run("import fugu_lite").stderr


def test_there_is_no_network(run: Run) -> None:
    source = """
import socket
for address in (("127.0.0.1", 22), ("1.1.1.1", 53)):
    try:
        socket.create_connection(address, 1)
        print("connected")
    except OSError as error:
        print("refused")
print([name for _, name in socket.if_nameindex()])
"""
    assert run(source).stdout == "refused\nrefused\n['lo']\n"


def test_writing_works_in_the_box_only(run: Run) -> None:
    source = """
import sys, os
for folder in ("/", "/tmp", "/dev", "/usr/lib", os.path.dirname(sys.executable), "."):
    try:
        open(os.path.join(folder, "x"), "w").close()
        print(folder)
    except OSError:
        pass
"""
    assert run(source).stdout == ".\n"


def test_the_disk_is_small(run: Run) -> None:
    source = "for n in range(99):\n    with open(f'f{n}', 'wb') as file:\n        file.write(bytes(90_000))"
    assert "No space left" in run(source).stderr


def test_an_endless_loop_ends(run: Run) -> None:
    result = run("while True: pass")
    assert result.status == "timeout"
    assert result.seconds < 10


def test_sleeping_ends_and_children_die(run: Run) -> None:
    marker = f"nobody-outlives-{os.getpid()}"
    source = f"""
import os, sys
os.fork()
os.setsid()
os.execv(sys.executable, [{marker!r}, "-c", "import time; time.sleep(60)"])
"""
    result = _sandbox._run(source, "", Limits(wall_s=1.0))
    assert result.status == "timeout"
    deadline = time.monotonic() + 5
    while _alive(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(marker)


def _alive(marker: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(marker.encode()):
                return True
    return False


def test_memory_is_bounded(run: Run) -> None:
    assert "MemoryError" in run("x = bytearray(10**10)").stderr


def test_a_fork_bomb_is_bounded(run: Run) -> None:
    source = """
import os, time
made = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        made += 1
except OSError:
    print(made <= 16, flush=True)
"""
    result = run(source)
    assert result.stdout == "True\n"
    assert result.seconds <= 5


def test_a_flood_of_output_is_cut(run: Run) -> None:
    result = run("while True: print('x' * 1000)")
    assert result.status != "ok"
    assert len(result.stdout) <= SMALL.output_bytes


def test_input_is_read() -> None:
    if not available()[0]:
        pytest.skip(available()[1])
    assert run_python("print(input()[::-1])", "şab").stdout == "baş\n"


def test_without_isolation_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sandbox_view, "mechanism", lambda: None)
    available.cache_clear()
    try:
        assert available()[0] is False
        with pytest.raises(IsolationError, match="bubblewrap"):
            run_python("print(1)")
    finally:
        available.cache_clear()


def test_a_mechanism_that_fails_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sandbox_view, "command", lambda *_: ["/bin/false"])
    with pytest.raises(IsolationError, match="could not isolate"):
        _sandbox._run("print(1)", "", SMALL)
