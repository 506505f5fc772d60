"""Running the application: where it listens, and with which keys."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fugu_lite.errors import MissingExtraError, SpecError
from fugu_lite.serving.wire import is_loopback

if TYPE_CHECKING:
    from starlette.applications import Starlette

KEYS_ENV = "FUGU_LITE_API_KEYS"
SHORTEST_KEY = 16


def keys_from_environment(name: str = KEYS_ENV) -> frozenset[str]:
    """Return the API keys in an environment variable, comma separated; none when it is unset."""
    return frozenset(key for part in os.environ.get(name, "").split(",") if (key := part.strip()))


def check_bind(host: str, api_keys: frozenset[str], insecure: bool = False) -> None:
    """Refuse to listen beyond this machine without strong keys.

    Raises:
        SpecError: naming the two ways on.
    """
    if insecure or is_loopback(host):
        return
    two_ways = (
        f"set {KEYS_ENV} (or the variable that --api-key-env names) to one or more keys, comma separated, "
        "or let everybody in with --insecure"
    )
    if not api_keys:
        raise SpecError("--host", f"{host} can be reached from other machines and no API key is set", two_ways)
    if any(len(key) < SHORTEST_KEY for key in api_keys):
        found = f"{host} can be reached from other machines and an API key has fewer than {SHORTEST_KEY} characters"
        raise SpecError("--host", found, two_ways)


def serve(app: Starlette, host: str = "127.0.0.1", port: int = 8080) -> None:
    """Serve until interrupted; requests in flight get ten seconds to end."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("the endpoint", "serve") from None
    uvicorn.run(app, host=host, port=port, timeout_graceful_shutdown=10, server_header=False)
