"""OpenRouter: many vendors behind one key, with the cost of each call in its answer."""

from __future__ import annotations

from typing import ClassVar

from fugu_lite.chat import Json
from fugu_lite.workers.openai import OpenAIWorker, usd

OPENROUTER_URL = "https://openrouter.ai/api/v1"


class OpenRouterWorker(OpenAIWorker):
    """A model reached through OpenRouter.

    `base_url` may be set, e.g. to a proxy. Cost is what OpenRouter charged (`usage.cost`); when a call ran on the
    account's own vendor key, the vendor's part (`cost_details.upstream_inference_cost`) is added. An answer without
    a cost falls back to the pool's price, then to None.
    """

    default_base_url: ClassVar[str | None] = OPENROUTER_URL
    default_api_key_env: ClassVar[str | None] = "OPENROUTER_API_KEY"

    def add_fields(self, body: Json) -> None:
        """Ask for the usage object, and set the reasoning effort where the client did not."""
        body.setdefault("usage", {"include": True})
        if self.spec.reasoning_effort is not None and not body.keys() & {"reasoning", "reasoning_effort"}:
            body["reasoning"] = {"effort": self.spec.reasoning_effort}

    def headers(self) -> dict[str, str]:
        """Return the common headers and the name shown in OpenRouter's own statistics."""
        return super().headers() | {"X-Title": "fugu-lite"}

    def cost_usd(self, body: Json) -> float | None:
        """Return USD for an answer, the vendor's own charge included."""
        usage = body.get("usage")
        if not isinstance(usage, dict) or usage.get("is_byok") is not True:
            return super().cost_usd(body)
        details = usage.get("cost_details")
        vendor = usd(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
        fee = usd(usage.get("cost"))
        return None if vendor is None or fee is None else fee + vendor
