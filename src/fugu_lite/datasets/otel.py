"""OpenTelemetry: spans with gen_ai attributes, as OTLP JSON or one span per row."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from fugu_lite.datasets import _logs, reading
from fugu_lite.datasets.contract import Format
from fugu_lite.datasets.gathering import Gathering, Outcome
from fugu_lite.errors import DataError
from fugu_lite.jsonl import Row

CHATS = frozenset({"chat", "text_completion", "generate_content"})
NANO = 1e9
TURN = re.compile(r"^gen_ai\.(prompt|completion)\.(\d+)\.(role|content)$")
FAILED = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})
DETAILS = "gen_ai.client.inference.operation.details"
EVALUATION = "gen_ai.evaluation.result"
VALUES = ("stringValue", "boolValue", "doubleValue")


class OpenTelemetry(Format):
    """Lines of `{"resourceSpans": [...]}`, or spans with an `attributes` object."""

    kind: ClassVar[str] = "otel"
    holds: ClassVar[str] = (
        "one model call per span: models, tokens, times, texts and evaluations where they are recorded"
    )
    traps: ClassVar[tuple[str, ...]] = (
        "gen_ai.request.model is the worker; gen_ai.response.model is what served it and may differ",
        "texts are recorded only if the instrumentation is told to: a span without them is left out",
        "64-bit numbers are written as text; attribute names changed between versions: old and new are read",
        "agents, tools and embeddings are spans too: only chat operations are read",
        "there is no attribute for a cost: unknown",
    )
    not_written: ClassVar[str | None] = "a log records calls, not a matrix"

    def read(self, path: Path, into: Gathering) -> None:
        """Read one file, or every file of a folder."""
        found = [
            (where, span, attributes(span))
            for file in reading.files(path, (".json", ".jsonl", ".ndjson"))
            for where, row in reading.rows(file)
            for span in spans(row)
        ]
        calls = []
        for where, span, values in found:
            if operation(values) in CHATS:
                calls.append((where, span, values, evaluations(span, where)))
            else:
                into.drop("spans that are no chat (agents, tools, embeddings, others)")
        names = {name: 0.0 for *_, grades in calls for name in grades}
        chosen = _logs.chosen_score(names, into)
        if not names:
            into.note(_logs.UNGRADED)
        for where, span, values, grades in calls:
            self._call(span, values, grades.get(chosen) if chosen else None, where, into)

    def _call(self, span: Row, values: Row, grade: float | None, where: str, into: Gathering) -> None:
        details = {**values, **event(span, DETAILS)}
        asked = _logs.messages_of(details.get("gen_ai.input.messages")) or _logs.messages_of(turns(values, "prompt"))
        worker = reading.optional(values, "gen_ai.request.model") or reading.optional(values, "gen_ai.response.model")
        if asked is None or worker is None:
            into.drop("spans without recorded messages or a model")
            return
        answer = _logs.answer_of(details.get("gen_ai.output.messages") or turns(values, "completion"))
        status = span.get("status") or {}
        code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
        error = values.get("error.type")
        failed = code in FAILED or bool(error)
        tokens = [values.get(f"gen_ai.usage.{new}", values.get(f"gen_ai.usage.{old}")) for new, old in USAGE]
        call = {
            "status": _logs.status_of(answer, failed),
            "response": answer,
            "served_model": reading.optional(values, "gen_ai.response.model"),
            "provider": reading.optional(values, "gen_ai.provider.name") or reading.optional(values, "gen_ai.system"),
            "usage": _logs.usage_of(*tokens),
            "error": {"kind": str(error or "server"), "message": str(status)} if failed else None,
        }
        outcome = Outcome(grade, None, lasted(span, where), call)
        into.put(_logs.task_of(self.kind, asked), worker, outcome, where)


USAGE = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))


def spans(row: Row) -> Iterator[Row]:
    """Yield the spans of an OTLP request, or the row itself when it is a span."""
    if "resourceSpans" not in row:
        if "attributes" in row:
            yield row
        return
    for resource in row["resourceSpans"] or []:
        for scope in resource.get("scopeSpans") or []:
            yield from scope.get("spans") or []


def attributes(holder: Row) -> Row:
    """Return attribute name -> value, of a list of typed pairs or of a plain object."""
    found = holder.get("attributes") or {}
    if isinstance(found, dict):
        return found
    return {pair["key"]: untyped(pair.get("value")) for pair in found if isinstance(pair, dict) and "key" in pair}


def untyped(value: Any) -> Any:
    """Return the value of an OTLP `AnyValue`."""
    if not isinstance(value, dict):
        return value
    if "intValue" in value:
        return int(value["intValue"])
    if "arrayValue" in value:
        return [untyped(part) for part in (value["arrayValue"] or {}).get("values") or []]
    if "kvlistValue" in value:
        return {pair["key"]: untyped(pair.get("value")) for pair in (value["kvlistValue"] or {}).get("values") or []}
    return next((value[name] for name in VALUES if name in value), None)


def operation(values: Row) -> str:
    """Return the operation of a span; older instrumentations name only the model."""
    said = values.get("gen_ai.operation.name")
    return str(said) if said else "chat" if "gen_ai.request.model" in values else ""


def event(span: Row, name: str) -> Row:
    """Return the attributes of the first event of a name."""
    return next((attributes(each) for each in span.get("events") or [] if each.get("name") == name), {})


def evaluations(span: Row, where: str) -> dict[str, float]:
    """Return name -> score in [0, 1] of the evaluations of a span, the mean of several."""
    found: dict[str, list[float]] = defaultdict(list)
    for each in span.get("events") or []:
        values = attributes(each) if each.get("name") == EVALUATION else {}
        score = reading.number(values, "gen_ai.evaluation.score.value", where)
        if score is not None and 0 <= score <= 1:
            found[str(values.get("gen_ai.evaluation.name"))].append(score)
    return {name: sum(scores) / len(scores) for name, scores in found.items()}


def turns(values: Row, side: str) -> list[dict[str, Any]]:
    """Return the messages of numbered attributes, `gen_ai.prompt.0.content`, in their order."""
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    for name, value in values.items():
        match = TURN.match(name)
        if match and match[1] == side:
            found[int(match[2])][match[3]] = value
    default = "user" if side == "prompt" else "assistant"
    return [{"role": default, **found[position]} for position in sorted(found)]


def lasted(span: Row, where: str) -> float | None:
    """Return the seconds of a span; its times are nanoseconds as text, or dates."""
    first = span.get("startTimeUnixNano", span.get("start_time"))
    last = span.get("endTimeUnixNano", span.get("end_time"))
    if "startTimeUnixNano" not in span:
        return _logs.lasted(first, last, where)
    try:
        return max(int(str(last)) - int(str(first)), 0) / NANO
    except ValueError:
        raise DataError(where, "its times are no numbers of nanoseconds") from None
