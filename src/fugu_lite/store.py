"""Named versions of checkpoints, with aliases that can be promoted and rolled back.

Layout: `<root>/versions/<name>/` are whole checkpoints; `<root>/store.jsonl` is the append-only history from which the
aliases are derived.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fugu_lite import jsonl
from fugu_lite.checkpoints import load, read_manifest
from fugu_lite.errors import DataError, MismatchError

ALIASES = ("production", "candidate")


@dataclass(frozen=True, slots=True)
class Version:
    """One stored checkpoint and the aliases that point to it now."""

    name: str
    folder: Path
    aliases: tuple[str, ...]
    evaluation: dict[str, Any] | None


class Store:
    """A folder of checkpoints.

    Args:
        root: the folder; made on first registration.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._history = root / "store.jsonl"

    def register(self, folder: Path) -> str:
        """Copy a checkpoint into the store under its stable name. Registering it again changes nothing.

        Raises:
            DataError: if it is not a checkpoint.
        """
        name = load(folder).manifest.name
        target = self.root / "versions" / name
        with jsonl.locked(self._history):
            if not (target / "manifest.json").is_file():
                partial = target.with_name(f".{name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                shutil.copytree(folder, partial)
                shutil.rmtree(target, ignore_errors=True)
                partial.rename(target)
                self._append("register", name=name)
        return name

    def versions(self) -> list[Version]:
        """Return every version, oldest first."""
        names = [event["name"] for event in self._events() if event["event"] == "register"]
        now = self.aliases()
        return [self._version(name, tuple(sorted(a for a, n in now.items() if n == name))) for name in names]

    def _version(self, name: str, aliases: tuple[str, ...]) -> Version:
        folder = self.root / "versions" / name
        return Version(name, folder, aliases, load(folder).evaluation)

    def aliases(self) -> dict[str, str]:
        """Return alias -> version name."""
        return {alias: stack[-1] for alias, stack in self._stacks().items() if stack}

    def _stacks(self) -> dict[str, list[str]]:
        """Replay the history: promote pushes, rollback pops."""
        stacks: dict[str, list[str]] = {}
        for event in self._events():
            stack = stacks.setdefault(event.get("alias", ""), [])
            if event["event"] == "promote":
                stack.append(event["name"])
            elif event["event"] == "rollback":
                stack.pop()
        return stacks

    def promote(self, name: str, alias: str = "production", force: bool = False) -> None:
        """Point an alias at a version.

        Raises:
            DataError: for an unknown version or alias.
            MismatchError: for `production`, if no evaluation shows that it is not worse than the best fixed worker.
        """
        if alias not in ALIASES:
            raise DataError("--alias", f"unknown alias {alias!r}", f"known: {', '.join(ALIASES)}")
        folder = self.resolve(name)
        evaluation = load(folder).evaluation
        if alias == "production" and not force:
            if evaluation is None:
                fix = f"run `fugu-lite evaluate --checkpoint {name}` on the test split, or give --force"
                raise MismatchError(name, "has no evaluation", fix)
            gain = evaluation.get("gain", float("nan"))
            if evaluation.get("verdict") == "worse" or not gain >= 0:
                raise MismatchError(
                    name,
                    f"its measured gain over the best fixed worker is {gain:+.4f} ({evaluation.get('verdict')})",
                    "serve the best fixed worker instead, or give --force",
                )
        with jsonl.locked(self._history):
            self._append("promote", name=read_manifest(folder).name, alias=alias, forced=force)

    def rollback(self, alias: str = "production") -> str:
        """Point an alias at what it was before; return that version's name.

        Raises:
            DataError: if there is nothing before.
        """
        stack = self._stacks().get(alias, [])
        if len(stack) < 2:
            raise DataError("models rollback", f"{alias!r} has no earlier version", "promote another version instead")
        with jsonl.locked(self._history):
            self._append("rollback", alias=alias)
        return stack[-2]

    def resolve(self, reference: str) -> Path:
        """Return the folder of an alias or a version name.

        Raises:
            DataError: naming what the store has.
        """
        name = self.aliases().get(reference, reference)
        folder = self.root / "versions" / name
        if (folder / "manifest.json").is_file() and "/" not in name:
            return folder
        known = [*self.aliases(), *(event["name"] for event in self._events() if event["event"] == "register")]
        raise DataError(str(self.root), f"no version or alias {reference!r}", f"known: {', '.join(known) or 'none'}")

    def _events(self) -> list[dict[str, Any]]:
        return jsonl.read_rows(self._history) if self._history.is_file() else []

    def _append(self, event: str, **fields: Any) -> None:
        with jsonl.Appender(self._history) as file:
            file.append({"event": event, **fields, "time": datetime.now(UTC).isoformat(timespec="seconds")})


def checkpoint_folder(reference: str, root: Path) -> Path:
    """Return the folder that `--checkpoint` means: a path, or a name or alias in the store."""
    path = Path(reference)
    if path.exists() or "/" in reference:
        return path
    return Store(root).resolve(reference)
