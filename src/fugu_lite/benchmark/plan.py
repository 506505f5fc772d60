"""How a benchmark asks: whom, with which sampling parameters, and whether rewards were measured the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from fugu_lite.chat import Json
from fugu_lite.checkpoints import Manifest
from fugu_lite.checkpoints.manifest import WorkerEntry
from fugu_lite.errors import MismatchError, SpecError
from fugu_lite.router import Router
from fugu_lite.specs import Spec, digest_of
from fugu_lite.workers import Pool, WorkerSpec
from fugu_lite.workers.contract import SAMPLING

BEST_FIXED = "best-fixed"


class BenchmarkOptions(Spec):
    """How to run a benchmark; None takes what checkpoint or pool file says.

    Attributes:
        compare: `best-fixed` (the manifest's comparator) or a worker of the pool, asked every question as well.
        resume: continue the folder that exists.
        timeout_s: seconds one try of a call may take.
        max_tokens, temperature, top_p: for every worker, before what checkpoint or pool file says.
        limit: ask only the first questions.
        concurrency: calls in flight per worker, instead of each worker's `max_concurrency`.
        max_cost_usd: stop when what is spent and in flight would pass it.
        allow_condition_mismatch: run although a worker is not set as it was when its rewards were measured.
        allow_code: let the code grader run answers in the sandbox.
    """

    compare: str | None = None
    resume: bool = False
    timeout_s: float = Field(30.0, gt=0)
    max_tokens: int | None = Field(None, gt=0)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    limit: int | None = Field(None, gt=0)
    concurrency: int | None = Field(None, gt=0)
    max_cost_usd: float | None = Field(None, ge=0)
    allow_condition_mismatch: bool = False
    allow_code: bool | None = None

    @property
    def sampling(self) -> Json:
        """Sampling parameters that were given here."""
        return {name: value for name in SAMPLING if (value := getattr(self, name, None)) is not None}


@dataclass(frozen=True)
class Setting:
    """How one worker is asked.

    Attributes:
        spec: the pool entry as it is used.
        sources: sampling parameter -> `flag`, `checkpoint` or `pool`.
        conditions: hash of what shapes its answers here.
        measured: that hash when its rewards were measured; None when the checkpoint does not record it.
        difference: which recorded sampling parameters differ, in words; empty when none is known to.
    """

    spec: WorkerSpec
    sources: dict[str, str]
    conditions: str
    measured: str | None
    difference: str

    @property
    def agrees(self) -> bool | None:
        """Whether the conditions are those of the rewards; None when that is not recorded."""
        return None if self.measured is None else self.measured == self.conditions

    def to_json(self) -> Json:
        """Return what a run records."""
        spec = self.spec
        return {
            "sampling": {name: getattr(spec, name) for name in SAMPLING},
            "sources": self.sources,
            "timeout_s": spec.timeout_s,
            "adds": {"system": spec.system is not None, "examples": len(spec.examples)},
            "conditions": self.conditions,
            "measured": self.measured,
            "as_measured": self.agrees,
        }


@dataclass(frozen=True)
class Plan:
    """What a run is made of; everything that must stay the same when it is resumed.

    Attributes:
        manifest: of the checkpoint that routes.
        routing: guard and dial, see `routing_of`.
        comparator: who is asked every question as well; None = nobody.
        settings: worker id -> how it is asked; the head's workers first.
        notes: what was filled in or differs, in words.
    """

    manifest: Manifest
    routing: Json
    comparator: str | None
    settings: Mapping[str, Setting]
    notes: tuple[str, ...]

    def to_json(self) -> Json:
        """Return the content of `plan.json`."""
        return {
            "head": self.manifest.name,
            "fingerprint": self.manifest.fingerprint,
            **self.routing,
            "comparator": self.comparator,
            "workers": {name: setting.to_json() for name, setting in self.settings.items()},
        }

    def check_same(self, stored: Json, where: str) -> None:
        """Refuse to continue what another head decided.

        Raises:
            MismatchError: naming what differs.
        """
        now = self.to_json()
        names = ("head", "fingerprint", "guard", "dial")
        found = [
            f"{name} was {stored.get(name)!r}, is {now[name]!r}" for name in names if stored.get(name) != now[name]
        ]
        if found:
            raise MismatchError(where, "; ".join(found), "resume with the same checkpoint, or use another --output")

    def difference(self, stored: Json, worker_id: str) -> str:
        """Say in which conditions a worker differs from a stored plan."""
        before: Json = (stored.get("workers") or {}).get(worker_id) or {}
        told = _differing(before.get("sampling") or {}, self.settings[worker_id].spec)
        return told or "model, prompting mode or other options"


def routing_of(router: Router) -> Json:
    """Return what changes decisions beside the head: the guard's thresholds, and the weights to route by."""
    guard = {"mode": "off"}
    if router.guard is not None:
        guard = router.guard.entry.model_dump(mode="json", include={"mode", "distance", "entropy"})
    return {"guard": guard, "dial": None if router.dial is None else router.dial.model_dump(mode="json")}


def make(manifest: Manifest, routing: Json, pool: Pool, options: BenchmarkOptions) -> Plan:
    """Resolve comparator and sampling parameters, and compare the conditions with those of the rewards.

    Raises:
        MismatchError: if the pool lacks a worker of the head, or conditions differ and that is not allowed.
        SpecError: if the comparator is no worker of the pool.
    """
    manifest.check_pool(pool.spec)
    comparator = _comparator(manifest, pool, options.compare)
    entries = {entry.id: entry for entry in manifest.workers}
    ids = dict.fromkeys((*manifest.worker_ids, *(() if comparator is None else (comparator,))))
    settings = {name: _setting(pool[name].spec, entries.get(name), options) for name in ids}
    differing = [_mismatch(name, setting) for name, setting in settings.items() if setting.agrees is False]
    if differing and not options.allow_condition_mismatch:
        fix = "set the pool as it was, or accept another condition with --allow-condition-mismatch"
        raise MismatchError(f"checkpoint {manifest.name}", "; ".join(differing), fix)
    return Plan(manifest, routing, comparator, settings, tuple(differing + _notes(pool, settings)))


def _comparator(manifest: Manifest, pool: Pool, name: str | None) -> str | None:
    if name == BEST_FIXED:
        name = manifest.comparator
        if name is None:
            found = f"checkpoint {manifest.name} records no best fixed worker"
            raise SpecError("--compare", found, f"name a worker: {', '.join(pool)}")
    if name is not None and name not in pool:
        raise SpecError("--compare", f"no worker {name!r}", f"best-fixed, or one of {', '.join(pool)}")
    return name


def _setting(spec: WorkerSpec, entry: WorkerEntry | None, options: BenchmarkOptions) -> Setting:
    """Fill the sampling parameters in: flag, then checkpoint, then pool file."""
    recorded = (entry.sampling if entry else None) or {}
    values, sources = {}, {}
    for name in SAMPLING:
        found = [("flag", options.sampling), ("checkpoint", recorded), ("pool", spec.model_dump(include={name}))]
        sources[name], values[name] = next((kind, given[name]) for kind, given in found if name in given)
    changes: dict[str, Any] = {**values, "timeout_s": options.timeout_s}
    if options.concurrency is not None:
        changes["max_concurrency"] = options.concurrency
    used = WorkerSpec.parse({**spec.model_dump(), **changes}, f"worker {spec.id!r}")
    measured = entry.conditions if entry else None
    return Setting(used, sources, digest_of(used.conditions()), measured, _differing(recorded, used))


def _differing(recorded: Mapping[str, Any], spec: WorkerSpec) -> str:
    """Name the sampling parameters that are not as recorded."""
    names = [name for name in SAMPLING if name in recorded and recorded[name] != getattr(spec, name)]
    return ", ".join(f"{name} was {recorded[name]!r}, is {getattr(spec, name)!r}" for name in names)


def _mismatch(name: str, setting: Setting) -> str:
    what = setting.difference or "model, prompting mode or sampling parameters"
    return f"worker {name!r} is not set as it was when its rewards were measured ({what})"


def _notes(pool: Pool, settings: Mapping[str, Setting]) -> list[str]:
    """Say what was filled in from the checkpoint instead of the pool file, and which conditions are not recorded."""
    notes = []
    for name, setting in settings.items():
        before = pool[name].spec
        filled = [each for each, source in setting.sources.items() if source == "checkpoint"]
        changed = [each for each in filled if getattr(before, each) != getattr(setting.spec, each)]
        told = ", ".join(
            f"{each} {getattr(setting.spec, each)} (pool file: {getattr(before, each)})" for each in changed
        )
        if told:
            notes.append(f"worker {name!r} is asked as the checkpoint records: {told}")
    unknown = [name for name, setting in settings.items() if setting.agrees is None]
    if unknown:
        notes.append(f"the checkpoint does not record under which conditions {', '.join(unknown)} were measured")
    return notes


def asked_pool(pool: Pool, plan: Plan) -> Pool:
    """Return the workers of the plan with their entries as planned; a judge keeps its own entry in `pool`."""
    entries = tuple(setting.spec for setting in plan.settings.values())
    return Pool(pool.spec.model_copy(update={"workers": entries}), pool.folder)
