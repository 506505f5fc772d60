"""What a sandboxed program sees, and the commands that show it just that."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Literal

from fugu_lite.graders import _sandbox_inner as inner

Mechanism = Literal["bwrap", "unshare"]
NOBODY = 65534
BOX = "/box"
SOURCE = "/program.py"


@functools.cache
def mechanism() -> Mechanism | None:
    """Return what isolates here; bubblewrap first."""
    return "bwrap" if shutil.which("bwrap") else "unshare" if shutil.which("unshare") else None


def interpreter() -> str:
    """Return the interpreter itself, not the virtual environment's link to it."""
    return os.path.realpath(sys.executable)


def shown_paths() -> list[str]:
    """Return what is mounted read-only: the interpreter, its library folder and the system's shared libraries."""
    system = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
    folders = [path for path in system if Path(path).is_dir()]
    own = str(Path(sys.base_prefix) / "lib")
    stdlib = str(Path(os.__file__).resolve().parent)
    for path in (own, stdlib, interpreter()):
        if Path(path).exists() and not any(Path(path).is_relative_to(os.path.realpath(known)) for known in folders):
            folders.append(path)
    return folders


def hidden_paths() -> list[str]:
    """Return the folders of installed packages below what is shown; an empty tmpfs covers each."""
    roots = {Path(os.__file__).resolve().parent, Path("/usr/lib/python3"), Path("/usr/local/lib")}
    found = {path.resolve() for root in roots for name in ("site-packages", "dist-packages") for path in [root / name]}
    shown = [os.path.realpath(path) for path in shown_paths()]
    return sorted(str(p) for p in found if p.is_dir() and any(p.is_relative_to(root) for root in shown))


def command(
    how: Mechanism, rlimits: dict[str, tuple[int, int]], disk_bytes: int, source_fd: int, started_fd: int
) -> list[str]:
    """Return the command line that isolates, drops privileges, sets limits and becomes the program."""
    python = interpreter()
    start = [python, "-I", "-S", "-c", Path(inner.__file__).read_text("utf-8")]
    plan = {"rlimits": rlimits, "uid": NOBODY, "started_fd": started_fd, "argv": [python, "-I", "-B", SOURCE]}
    if how == "bwrap":
        return [*_bwrap(disk_bytes, source_fd), *start, json.dumps(plan)]
    mounts = {"shown": shown_paths(), "hidden": hidden_paths(), "disk_bytes": disk_bytes, "source_fd": source_fd}
    return [*_unshare(), *start, json.dumps(plan | {"mounts": mounts | {"box": BOX, "source": SOURCE}})]


def _bwrap(disk_bytes: int, source_fd: int) -> list[str]:
    """As root the view is made with root's rights and the inner step drops them; else in a user namespace."""
    args = [shutil.which("bwrap") or "bwrap", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    args += ["--die-with-parent", "--new-session"]
    if os.getuid() != 0:
        args += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    for path in shown_paths():
        for parent in [*reversed(Path(path).parents)][1:]:  # or bwrap makes them readable by root alone
            args += ["--perms", "0755", "--dir", str(parent)]
        link = Path(path).is_symlink()
        args += ["--symlink", str(Path(path).readlink()), path] if link else ["--ro-bind", path, path]
    for path in hidden_paths():
        args += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    args += ["--perms", "0755", "--dir", "/dev"]
    for device in ("/dev/null", "/dev/zero", "/dev/urandom"):
        args += ["--dev-bind", device, device]
    args += ["--perms", "0444", "--ro-bind-data", str(source_fd), SOURCE]
    args += ["--perms", "1777", "--size", str(disk_bytes), "--tmpfs", BOX, "--chdir", BOX]
    return [*args, "--setenv", "HOME", BOX, "--remount-ro", "/", "--"]


def _unshare() -> list[str]:
    args = [shutil.which("unshare") or "unshare", "--net", "--pid", "--ipc", "--uts", "--mount", "--fork"]
    args += ["--kill-child"]
    return args if os.getuid() == 0 else [*args, "--user", "--map-root-user"]
