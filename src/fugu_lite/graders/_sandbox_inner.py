"""The first program inside the namespaces: build the view (unshare only), drop rights, set limits, become the program.

It is given to `python -c` as text, so it imports nothing but the standard library. Its argument is a JSON plan.
System calls are written as `os` names them.
"""

# ruff: noqa: PTH101, PTH103, PTH106, PTH109, PTH112, PTH114, PTH115, PTH120, PTH123, PTH211, S606

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
from typing import Any

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
MNT_DETACH, CLONE_NEWUSER, PR_SET_NO_NEW_PRIVS = 2, 0x10000000, 38


def main() -> None:
    """Carry out the plan; the started pipe tells the outside that everything before the program worked."""
    plan = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    if "mounts" in plan:
        processes = os.open("/proc", os.O_DIRECTORY)
        _build_view(libc, plan["mounts"])
        _become_child()
        _drop_rights(libc, plan["uid"], processes)
        os.close(processes)
    else:
        _drop_rights(libc, plan["uid"], None)
    for name, pair in plan["rlimits"].items():
        resource.setrlimit(getattr(resource, name), tuple(pair))
    os.set_inheritable(plan["started_fd"], False)
    os.write(plan["started_fd"], b"1")
    os.execve(plan["argv"][0], plan["argv"], {"HOME": os.getcwd()})


def _drop_rights(libc: ctypes.CDLL, uid: int, processes: int | None) -> None:
    """Become `uid`; where only root is mapped (unshare as a user) a nested user namespace renames it."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getuid() == uid:
        return
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:
        if processes is None:
            raise
        _check(libc.unshare(CLONE_NEWUSER), "unshare")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} 0 1"), ("gid_map", f"{uid} 0 1")):
            file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=processes)
            os.write(file, text.encode())
            os.close(file)


def _build_view(libc: ctypes.CDLL, mounts: dict[str, Any]) -> None:
    """Make a root on a tmpfs that holds only the planned paths, and leave the old root."""
    root = "/tmp"  # noqa: S108 - a mount point only, private to this mount namespace
    source = b"".join(iter(lambda: os.read(mounts["source_fd"], 1 << 16), b""))
    _check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "make mounts private")
    kept = [(path, os.readlink(path) if os.path.islink(path) else None) for path in mounts["shown"]]
    opened = {path: os.open(path, os.O_PATH) for path, link in kept if link is None}
    devices = {f"/dev/{name}": os.open(f"/dev/{name}", os.O_PATH) for name in ("null", "zero", "urandom")}
    self_fds = "/proc/self/fd"
    _tmpfs(libc, root, "mode=755,size=8m")
    os.makedirs(root + "/old-root")
    for path, link in kept:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        if link is not None:
            os.symlink(link, root + path)
    for path, fd in {**opened, **devices}.items():
        _bind(libc, f"{self_fds}/{fd}", root + path, path not in devices)
        os.close(fd)
    for path in mounts["hidden"]:
        _tmpfs(libc, root + path, "mode=755,size=4k", MS_RDONLY)
    with open(root + mounts["source"], "wb") as file:
        file.write(source)
    os.chmod(root + mounts["source"], 0o444)
    os.makedirs(root + mounts["box"])
    _tmpfs(libc, root + mounts["box"], f"mode=1777,size={mounts['disk_bytes']}")
    _check(libc.syscall(_PIVOT_ROOT[os.uname().machine], root.encode(), (root + "/old-root").encode()), "pivot_root")
    os.chdir(mounts["box"])
    _check(libc.umount2(b"/old-root", MNT_DETACH), "leave the old root")
    os.rmdir("/old-root")
    _check(libc.mount(b"none", b"/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, None), "seal root")


_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}


def _tmpfs(libc: ctypes.CDLL, at: str, options: str, flags: int = 0) -> None:
    flags |= MS_NOSUID | MS_NODEV
    _check(libc.mount(b"tmpfs", at.encode(), b"tmpfs", flags, options.encode()), f"mount tmpfs at {at}")


def _bind(libc: ctypes.CDLL, source: str, at: str, read_only: bool) -> None:
    if os.path.isdir(source):
        os.makedirs(at, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(at), exist_ok=True)
        os.close(os.open(at, os.O_CREAT | os.O_WRONLY))
    _check(libc.mount(source.encode(), at.encode(), None, MS_BIND | MS_REC, None), f"bind {at}")
    if read_only:
        flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | (os.statvfs(at).f_flag & 0x40E)
        _check(libc.mount(b"none", at.encode(), None, flags, None), f"make {at} read-only")


def _become_child() -> None:
    """Let a child go on: the first process of a pid namespace ignores most signals, and must reap."""
    child = os.fork()
    if child == 0:
        return
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main()
