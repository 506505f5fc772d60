"""Which models a server offers, read from its live list."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import aiohttp

from fugu_lite.chat import Json
from fugu_lite.errors import CallError
from fugu_lite.workers import _http
from fugu_lite.workers.openai import api_root
from fugu_lite.workers.openrouter import OPENROUTER_URL


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model; prices are USD per million tokens, None when the list does not say or they vary."""

    id: str
    name: str | None
    context_tokens: int | None
    input_per_million: float | None
    output_per_million: float | None

    def to_json(self) -> Json:
        """Return plain data."""
        return asdict(self)


async def list_models(
    base_url: str = OPENROUTER_URL,
    contains: str = "",
    limit: int | None = None,
    key: str | None = None,
    timeout_s: float = 30.0,
) -> list[ListedModel]:
    """Return the models whose id or name contains a text, in the server's order.

    Args:
        base_url: where `/models` is below; a bare host gets `/v1`.
        contains: kept when it stands in the id or the name, whatever the case.
        limit: at most so many; None for all.
        key: sent as bearer when given; OpenRouter's list needs none.
        timeout_s: seconds for the whole call.

    Raises:
        SpecError: if `base_url` cannot be used.
        CallError: without network, for an error answer, or for one that is not a list of models.
    """
    body = await _fetch(api_root(base_url, "--base-url") + "/models", key, timeout_s)
    rows = body.get("data")
    if not isinstance(rows, list):
        raise CallError("malformed", "the answer has no list 'data'; is this the address of a model server?")
    models = [_model(row) for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    wanted = contains.casefold()
    return [model for model in models if wanted in f"{model.id}\n{model.name or ''}".casefold()][:limit]


async def _fetch(url: str, key: str | None, timeout_s: float) -> Json:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout_s)) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise await _http.failure(response, key)
            return _http.parsed(await response.read(), response.status)
    except (aiohttp.ClientError, OSError) as error:
        broken = _http.transport_error(error, timeout_s, key)
        raise CallError(broken.kind, f"cannot list models from {url}: {broken.message}; check the network") from None


def _model(row: Json) -> ListedModel:
    pricing, length, name = row.get("pricing"), row.get("context_length"), row.get("name")
    prices = pricing if isinstance(pricing, dict) else {}
    return ListedModel(
        row["id"],
        name if isinstance(name, str) else None,
        length if isinstance(length, int) else None,
        per_million(prices.get("prompt")),
        per_million(prices.get("completion")),
    )


def per_million(price: Any) -> float | None:
    """Turn USD per token, a decimal string, into USD per million; a negative price means that it varies: None."""
    if not isinstance(price, str | int | float) or isinstance(price, bool):
        return None
    try:
        value = Decimal(str(price)) * 1_000_000
    except InvalidOperation:
        return None
    return float(value) if value.is_finite() and value >= 0 else None
