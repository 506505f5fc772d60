"""json_schema: where the document is found, and what is refused."""

from typing import Any

import pytest

from fugu_lite.errors import GradingError
from fugu_lite.graders import Grade, build
from fugu_lite.tasks import Task

PERSON = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer", "minimum": 0}}}


def grade(response: str, schema: Any = PERSON, reference: Any = None) -> Grade:
    task = Task(task_id="t", prompt="?", reference_answer=reference)
    return build({"type": "json_schema", "schema": schema}).grade(response, task)


@pytest.mark.parametrize(
    "response",
    [
        '{"age": 3}',
        ' {"age": 3, "name": "x"}\n',
        '```json\n{"age": 3}\n```',
        'Here:\n```\n{"age": 3}\n```\nDone.',
        'Sure: {"age": 3}.',
        '<answer>{"age": 3}</answer>',
        '<think>{"age": -1}</think>{"age": 3}',
    ],
)
def test_the_document_is_found(response: str) -> None:
    assert grade(response).quality == 1.0


@pytest.mark.parametrize("response", ['{"age": -1}', "{}", '{"age": "3"}', "[]", "age 3", '{"age": NaN}', '{"age": 3'])
def test_what_does_not_fit(response: str) -> None:
    assert grade(response).quality == 0.0


def test_the_reason_names_the_place() -> None:
    assert "$.age" in grade('{"age": -1}').reason


def test_null_is_a_document() -> None:
    assert grade("null", {"type": "null"}).quality == 1.0


def test_a_reference_must_be_met_too() -> None:
    assert grade('{"age": 3}', reference={"age": 3}).quality == 1.0
    assert grade('{"age": 4}', reference='{"age": 3}').quality == 0.0


def test_a_bad_schema_is_no_zero() -> None:
    with pytest.raises(GradingError, match="not a JSON schema"):
        grade("{}", {"type": "nothing"})


def test_a_schema_elsewhere_is_never_fetched() -> None:
    with pytest.raises(GradingError, match="Unresolvable"):
        grade("{}", {"$ref": "http://127.0.0.1:9/schema.json"})


def test_deep_nesting_is_no_crash() -> None:
    assert grade("[" * 100_000).quality == 0.0
