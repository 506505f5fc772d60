"""JSON in and out: what a request must have, and the one shape of every error."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from fugu_lite.chat import ChatRequest, Json
from fugu_lite.errors import CallError, ExhaustedError

Headers = Mapping[str, str]

# kind of a failed worker call -> status, error type
STATUS = {
    "client": (400, "invalid_request_error"),
    "rate_limit": (429, "rate_limit_error"),
    "timeout": (504, "upstream_error"),
    "context": (400, "invalid_request_error"),
    "unavailable": (502, "upstream_error"),
    "auth": (502, "upstream_error"),
    "connect": (502, "upstream_error"),
    "server": (502, "upstream_error"),
    "malformed": (502, "upstream_error"),
    "empty": (502, "upstream_error"),
    "refused": (502, "upstream_error"),
}


class ApiError(Exception):
    """What the client gets instead of an answer: a status and the OpenAI error object."""

    def __init__(
        self,
        status: int,
        message: str,
        type_: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        headers: Headers | None = None,
    ) -> None:
        super().__init__(status, message)
        self.status, self.headers = status, dict(headers or {})
        self.body: Json = {"error": {"message": message, "type": type_, "param": param, "code": code}}

    @classmethod
    def of(cls, error: CallError) -> ApiError:
        """Translate a failed call: the client's own fault keeps its status, everything else is the upstream's."""
        status, type_ = STATUS.get(error.kind, (502, "upstream_error"))
        if error.kind == "client" and error.http_status is not None and 400 <= error.http_status < 500:
            status = error.http_status
        headers = {}
        if error.retry_after_s is not None:
            headers["retry-after"] = str(max(1, round(error.retry_after_s)))
        if isinstance(error, ExhaustedError):
            headers["x-should-retry"] = "false"
        return cls(status, error.message, type_, code=error.kind, headers=headers)


INTERNAL = ApiError(500, "internal error; the server's log names it", "server_error", "internal_error")


def check_origin(headers: Headers) -> None:
    """Refuse what a web page could send to a server of this machine that asks for no key.

    A page of another site shows itself by its `Origin`, or, when its name was pointed at this machine, by its `Host`.

    Raises:
        ApiError: 403.
    """
    for name in ("origin", "host"):
        value = headers.get(name)
        if value is not None and not is_loopback(_host_of(value)):
            message = f"{name.capitalize()} {value[:100]!r} is not this machine, and the server asks for no API key"
            raise ApiError(403, message, "permission_error", "foreign_" + name)


def check_content_type(headers: Headers) -> None:
    """Refuse a body that does not say it is JSON: a web page may send other types without asking first.

    Raises:
        ApiError: 415.
    """
    found = headers.get("content-type", "")
    if found.partition(";")[0].strip().lower() != "application/json":
        message = f"the Content-Type must be application/json, found {found[:100] or 'none'}"
        raise ApiError(415, message, code="unsupported_media_type")


def is_loopback(host: str) -> bool:
    """Whether a name or address, without a port, always means this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_of(value: str) -> str:
    """Return the host of `scheme://host:port` or `host:port`; empty when there is none."""
    try:
        return urlsplit(value if "://" in value else f"//{value}").hostname or ""
    except ValueError:
        return ""


async def read_body(headers: Headers, messages: AsyncIterator[bytes], limit: int) -> bytes:
    """Collect the body of a request.

    Args:
        headers: of the request; a declared length over the limit is refused unread.
        messages: the body as it arrives.
        limit: bytes.

    Raises:
        ApiError: 413.
    """
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise _too_large(limit)
    parts, size = [], 0
    async for part in messages:
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
    return b"".join(parts)


def _too_large(limit: int) -> ApiError:
    return ApiError(413, f"the request body is larger than {limit} bytes", code="request_too_large")


def parse_request(body: bytes) -> ChatRequest:
    """Read a chat request. Only what the server itself needs is checked; the rest is the worker's to judge.

    Raises:
        ApiError: 400, naming the field and what was found.
    """
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ApiError(400, f"the request body is not valid JSON: {error.msg}", code="invalid_json") from None
    if not isinstance(data, dict):
        raise ApiError(400, f"the request body must be a JSON object, found {_kind(data)}", code="invalid_json")
    _expect(isinstance(data.get("model"), str), data, "model", "a model name")
    messages: Any = data.get("messages")
    _expect(isinstance(messages, list) and bool(messages), data, "messages", "a non-empty list of messages")
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ApiError(400, f"messages[{index}] must be an object with a 'role'", param=f"messages[{index}]")
    _expect(isinstance(data.get("stream"), bool | None), data, "stream", "true or false")
    return ChatRequest(data)


def _expect(holds: bool, data: Json, field: str, wanted: str) -> None:
    if not holds:
        found = _kind(data[field]) if field in data else "nothing"
        raise ApiError(400, f"'{field}' must be {wanted}, found {found}", param=field)


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a boolean"
    if not isinstance(value, str | list | dict):
        return "a number"
    name = "a string" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
    return name if value else f"{name} that is empty"


def label_headers(body: Json) -> dict[str, str]:
    """Return the essentials of the `fugu_lite` object of an answer or a first chunk as headers."""
    found = body.get("fugu_lite")
    labels = found if isinstance(found, dict) else {}
    values = {
        "worker": labels.get("worker_id") or body.get("model"),
        "reason": labels.get("reason"),
        "head": labels.get("head"),
    }
    # percent-encoded: a worker id may hold anything, also a line break
    return {
        f"x-fugu-lite-{name}": quote(value, safe="/:@+,() ") for name, value in values.items() if isinstance(value, str)
    }
