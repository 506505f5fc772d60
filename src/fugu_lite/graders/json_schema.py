"""`{"type": "json_schema", "schema": {...}}`: the response holds a JSON document that fits a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import ConfigDict, Field
from referencing import Registry
from referencing.exceptions import Unresolvable

from fugu_lite.errors import GradingError
from fugu_lite.graders._answers import tagged, visible
from fugu_lite.graders.contract import Grade, Grader
from fugu_lite.tasks import Task

_FENCE = re.compile(r"```[ \t]*(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
MAX_STARTS = 50


class JsonSchema(Grader):
    """Validate the response's JSON document (JSON Schema 2020-12); with a reference answer it must equal that too.

    Attributes:
        schema_: the schema, written `schema`. References to other documents are refused, never fetched.
    """

    model_config = ConfigDict(populate_by_name=True)
    kind: ClassVar[str] = "json_schema"
    schema_: dict[str, Any] | bool = Field(alias="schema")

    def check(self, task: Task) -> None:
        """Refuse a schema that is not one."""
        try:
            Draft202012Validator.check_schema(self.schema_)
        except SchemaError as error:
            raise GradingError(f"task {task.task_id!r}: grader.schema is not a JSON schema: {error.message}") from None

    def grade(self, response: str, task: Task) -> Grade:
        """Judge the first JSON document of the response that can be read."""
        self.check(task)
        document = next(documents(visible(response)), None)
        if document is None:
            return Grade(0.0, None, "no JSON document in the response")
        (value,) = document
        extracted = json.dumps(value, ensure_ascii=False)[:500]
        error = self._first_error(value, task)
        if error is not None:
            return Grade(0.0, extracted, error)
        if task.reference_answer is not None and value != _reference(task.reference_answer):
            return Grade(0.0, extracted, "fits the schema but differs from the reference")
        return Grade(1.0, extracted, "fits the schema")

    def _first_error(self, value: Any, task: Task) -> str | None:
        validator = Draft202012Validator(self.schema_, registry=Registry())
        try:
            error = next(iter(validator.iter_errors(value)), None)
        except (Unresolvable, RecursionError) as problem:
            raise GradingError(f"task {task.task_id!r}: grader.schema: {type(problem).__name__}: {problem}") from None
        return None if error is None else f"{error.json_path}: {error.message}"[:300]


def documents(text: str) -> Iterator[tuple[Any]]:
    """Yield the JSON documents of a text, each in a tuple (null is one): whole, tagged, fenced, then embedded."""
    for candidate in (text, tagged(text) or "", *_FENCE.findall(text)):
        try:
            yield (json.loads(candidate, parse_constant=_refuse),)
        except (ValueError, RecursionError):
            continue
    decoder = json.JSONDecoder(parse_constant=_refuse)
    for start in [match.start() for match in re.finditer(r"[{\[]", text)][:MAX_STARTS]:
        try:
            yield (decoder.raw_decode(text, start)[0],)
        except (ValueError, RecursionError):
            continue


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _reference(reference: Any) -> Any:
    """Read a reference that was given as JSON text."""
    if isinstance(reference, str):
        try:
            return json.loads(reference)
        except ValueError:
            return reference
    return reference
