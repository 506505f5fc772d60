"""What can go wrong with an HTTP answer, as `CallError`s with exact kinds."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import orjson

from fugu_lite.chat import Completion, Json
from fugu_lite.errors import CallError

LONGEST_MESSAGE = 300
LONGEST_ERROR_BODY = 65536
KINDS_BY_CODE = {
    "rate_limit_exceeded": "rate_limit",
    "invalid_api_key": "auth",
    "authentication_error": "auth",
    "invalid_request_error": "client",
    "insufficient_quota": "unavailable",
    "model_not_found": "unavailable",
    "context_length_exceeded": "context",
    "exceed_context_size_error": "context",  # llama.cpp's word
    "content_filter": "refused",
    "content_policy_violation": "refused",
}


def kind_of_status(status: int) -> str:
    """Return the `CallError` kind of a status.

    Only 400 and 422 say that the request itself is wrong. Other refusals are this worker's: no credit (402), no such
    model or address (404, redirects, which are not followed), a request too large for it (413).
    """
    if status in (401, 403):
        return "auth"
    if status == 408:
        return "timeout"
    if status == 429:
        return "rate_limit"
    if status == 413:
        return "context"
    if status >= 500:
        return "server"
    return "client" if status in (400, 422) else "unavailable"


def retry_after_s(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read `retry-after-ms`, or `Retry-After` as seconds or an HTTP date; None when absent or unusable.

    Args:
        headers: response headers.
        now: Unix seconds to measure an HTTP date from; the clock when None.
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("Retry-After")
    seconds = _seconds(value)
    if seconds is not None or value is None:
        return seconds
    try:
        until = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(until - (time.time() if now is None else now), 0.0)


def _seconds(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def redacted(text: str, key: str | None) -> str:
    """Return `text` without the key, without anything that looks like one, on one line, cut to 300 characters."""
    text = text.replace(key, "[redacted]") if key else text
    text = re.sub(r"(?i)\b(bearer\s+|sk-)[\w.~+/=-]{6,}", r"\1[redacted]", text)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 3] + "..."


async def refuse(response: aiohttp.ClientResponse, key: str | None) -> None:
    """Take a response with a good status only.

    Raises:
        CallError: the failure that any other status stands for.
    """
    if not 200 <= response.status < 300:
        raise await failure(response, key)


async def failure(response: aiohttp.ClientResponse, key: str | None) -> CallError:
    """Return the error that a response without success stands for."""
    raw = await response.content.read(LONGEST_ERROR_BODY)
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        body = None
    error = body.get("error", body) if isinstance(body, dict) else None
    message = _message(error) or response.reason or "no message"
    if 300 <= response.status < 400:
        message = "the server redirects, which is not followed; put the final address into base_url"
    kind = "refused" if _moderated(error) else _worker_limit(error) or kind_of_status(response.status)
    return CallError(kind, redacted(message, key), response.status, retry_after_s(response.headers))


def parsed(raw: bytes, status: int) -> Json:
    """Read a JSON object.

    Raises:
        CallError: `malformed`.
    """
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise CallError("malformed", f"the answer is not JSON ({len(raw)} bytes)", status) from None
    if not isinstance(body, dict):
        raise CallError("malformed", f"the answer is a JSON {type(body).__name__}, not an object", status)
    return body


def error_in(body: Json, status: int, key: str | None) -> CallError | None:
    """Return the error that an answer with a good status carries, on top or in its first choice; None if none."""
    choice = first_choice(body) or {}
    error = body.get("error") or choice.get("error")
    if error:
        return reported(error, status, key)
    if choice.get("finish_reason") == "error":
        return CallError("server", "the generation ended with an error", status)
    return None


def reported(error: Any, status: int, key: str | None) -> CallError:
    """Classify an error object by its code; one without a known code is the server's fault."""
    code = error.get("code") or error.get("type") if isinstance(error, dict) else None
    number = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else None
    if number is not None and 400 <= number < 600:
        kind, status = kind_of_status(number), number
    else:
        kind = KINDS_BY_CODE.get(str(code), "server")
    kind = "refused" if _moderated(error) else _worker_limit(error) or kind
    return CallError(kind, redacted(_message(error) or "no message", key), status)


def checked(body: Json, status: int, key: str | None) -> Json:
    """Return the body of a usable completion; empty text is usable, and so is a tool call.

    Raises:
        CallError: the error in the body, `malformed` without a message, `refused` when filtered away.
    """
    error = error_in(body, status, key)
    if error is not None:
        raise error
    if first_choice(body) is None:
        raise CallError("malformed", "the answer has no choices", status)
    answer = Completion(body)
    if not answer.message:
        raise CallError("malformed", "the first choice has no message", status)
    filtered = answer.finish_reason == "content_filter" or answer.message.get("refusal")
    if filtered and not answer.text and not answer.message.get("tool_calls"):
        raise CallError("refused", "the answer was withheld by a content filter or a refusal", status)
    return body


def first_choice(body: Json) -> Json | None:
    """Return the first choice of a completion or a chunk; None when there is none."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def transport_error(error: Exception, timeout_s: float, key: str | None = None) -> CallError:
    """Return the error for a call that broke below HTTP."""
    if isinstance(error, TimeoutError):
        return CallError("timeout", f"no answer within {timeout_s:g} s")
    message = redacted(str(error), key) or type(error).__name__
    if isinstance(error, aiohttp.ClientResponseError):
        return CallError("malformed", f"the answer is not valid HTTP: {message}")
    return CallError("connect", message)


def _message(error: Any) -> str:
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or ""
    return error if isinstance(error, str) else ""


def _worker_limit(error: Any) -> str | None:
    """Return `unavailable` or `context` when the error's code or type says so, whatever its status is."""
    if not isinstance(error, dict):
        return None
    kinds = (KINDS_BY_CODE.get(str(error.get(name))) for name in ("code", "type"))
    return next((kind for kind in kinds if kind in ("unavailable", "context")), None)


def _moderated(error: Any) -> bool:
    """Whether the provider refused the input for its content (OpenRouter's metadata, or a filter code)."""
    if not isinstance(error, dict):
        return False
    metadata = error.get("metadata")
    flagged = isinstance(metadata, dict) and ("flagged_input" in metadata or "reasons" in metadata)
    return flagged or KINDS_BY_CODE.get(str(error.get("code"))) == "refused"
