"""LiteLLM: spend logs of the proxy, or the payloads that its logging callbacks write."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from fugu_lite.datasets import _logs, reading
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.jsonl import Row

CHATS = frozenset({"", "completion", "acompletion", "text_completion", "atext_completion", "responses", "aresponses"})


class LiteLLM(Format):
    """Rows with `request_id, call_type, model, model_group, messages, response, spend, startTime, endTime, status`."""

    kind: ClassVar[str] = "litellm"
    holds: ClassVar[str] = "one call per row: model, cost, tokens, times, and the texts where they are stored"
    traps: ClassVar[tuple[str, ...]] = (
        "texts are stored only if store_prompts_in_spend_logs is on: a call without a prompt is left out",
        "model_group is the name that was asked for and the worker; model is what served it and may change",
        "spend 0 means a model without a price: unknown",
        "an answer from the cache repeats an earlier call at no cost: left out",
    )
    not_written: ClassVar[str | None] = "a log records calls, not a matrix"

    def read(self, path: Path, into: Gathering) -> None:
        """Read one export, or every file of a folder."""
        into.note(_logs.UNGRADED)
        for file in reading.files(path):
            for where, row in reading.rows(file):
                self._row(row, where, into)

    def _row(self, row: Row, where: str, into: Gathering) -> None:
        if str(row.get("call_type") or "") not in CHATS:
            into.drop("calls that are no chat (embeddings, moderation, ...)")
            return
        if str(row.get("cache_hit")).lower() == "true":
            into.drop("answers from the cache")
            return
        asked = _logs.messages_of(row.get("messages")) or _logs.messages_of(row.get("proxy_server_request"))
        if asked is None:
            into.drop("calls without a stored prompt (store_prompts_in_spend_logs is off)")
            return
        model = reading.optional(row, "model")
        worker = reading.optional(row, "model_group") or reading.needed(row, "model", where)
        key = "response_cost" if row.get("response_cost") is not None else "spend"
        cost = reading.amount(row, key, where, zero_is_unknown=True)
        answer = _logs.answer_of(row.get("response"))
        failed = str(row.get("status") or "success").lower() not in {"success", "ok"} or bool(row.get("error_str"))
        message = str(row.get("error_str") or row.get("status"))
        call = {
            "status": _logs.status_of(answer, failed),
            "response": answer,
            "served_model": model,
            "provider": reading.optional(row, "custom_llm_provider"),
            "usage": _logs.usage_of(row.get("prompt_tokens"), row.get("completion_tokens")),
            "error": {"kind": "server", "message": message} if failed else None,
            "started_at": str(row["startTime"]) if row.get("startTime") else None,
        }
        took = _logs.lasted(row.get("startTime"), row.get("endTime"), where)
        into.put(_logs.task_of(self.kind, asked), worker, Outcome(None, None if failed else cost, took, call), where)
