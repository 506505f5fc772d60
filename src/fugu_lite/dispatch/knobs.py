"""What a client may add to a request for the router. It is taken out before a worker sees the request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fugu_lite.chat import ChatRequest
from fugu_lite.errors import CallError

FIELDS = ("fugu_lite", "domain")


@dataclass(frozen=True, slots=True)
class Knobs:
    """Settings of one request.

    Attributes:
        allowed_workers: workers that may answer; None allows all.
        domain: the client's label of the request; recorded, not used by the heads of this version.
    """

    allowed_workers: tuple[str, ...] | None = None
    domain: str | None = None


def split_knobs(request: ChatRequest, known: Collection[str]) -> tuple[Knobs, ChatRequest]:
    """Return the knobs and the request without them.

    Args:
        request: the client's request.
        known: worker ids that `allowed_workers` may name.

    Raises:
        CallError: kind `client`, naming the field that cannot be used.
    """
    domain = request.body.get("domain")
    if domain is not None and not isinstance(domain, str):
        raise _bad("domain", f"must be a string, found {type(domain).__name__}")
    knobs = Knobs(_allowed(request.body.get("fugu_lite"), known), domain)
    return knobs, ChatRequest({name: value for name, value in request.body.items() if name not in FIELDS})


def _allowed(value: Any, known: Collection[str]) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _bad("fugu_lite", f"must be an object, found {type(value).__name__}")
    unknown = [name for name in value if name != "allowed_workers"]
    if unknown:
        raise _bad(f"fugu_lite.{unknown[0]}", "is not a setting of this version; known: allowed_workers")
    allowed = value.get("allowed_workers")
    if allowed is None:
        return None
    if not isinstance(allowed, list) or not allowed:
        raise _bad("fugu_lite.allowed_workers", "must be a non-empty list of worker ids")
    strangers = [name for name in allowed if not isinstance(name, str) or name not in known]
    if strangers:
        raise _bad("fugu_lite.allowed_workers", f"names {strangers[0]!r}; known: {', '.join(known)}")
    return tuple(allowed)


def _bad(field: str, found: str) -> CallError:
    return CallError("client", f"{field} {found}", 400)
