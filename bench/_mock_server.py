"""A chat-completions server over HTTP/1.1 that says one sentence after a fixed wait.

Written on bare sockets, because it shares the machine with the client that is measured. Run as a child process; it
ends when its standard input closes.
"""

from __future__ import annotations

import asyncio
import sys

import orjson

from fugu_lite.chat import completion_body

ANSWER = orjson.dumps(
    completion_body("Answer: 42", "mock", {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15})
)
LONGEST_HEAD = 65536


def response(status: str, body: bytes, last: bool = False) -> bytes:
    """Return a whole response; `last` announces that the connection closes after it."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *(["Connection: close"] if last else []), "", ""]).encode() + body


OK = response("200 OK", ANSWER)
UNKNOWN = response("404 Not Found", b'{"error":{"message":"POST /v1/chat/completions is all there is"}}')
REFUSED = response(
    "400 Bad Request", b'{"error":{"message":"not an HTTP/1.1 request with a Content-Length"}}', last=True
)


class Connection(asyncio.Protocol):
    """One client: reads whole requests and answers each after the wait, in order, the connection kept open."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._loop = asyncio.get_running_loop()
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take as many whole requests as have arrived."""
        self._read += data
        while self._read:
            head, found, rest = self._read.partition(b"\r\n\r\n")
            if not found and len(head) <= LONGEST_HEAD:
                return
            length = body_length(head) if found else None
            if length is None:
                self._transport.write(REFUSED)
                self._transport.close()
                return
            if len(rest) < length:
                return
            self._read = rest[length:]
            known = head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
            self._loop.call_later(self._latency_s, self._answer, OK if known else UNKNOWN)

    def _answer(self, whole: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(whole)


def body_length(head: bytes) -> int | None:
    """Return the bytes that follow a head; None for a head that is not understood."""
    first, *lines = head.lower().split(b"\r\n")
    fields = {name: value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    stated = fields.get(b"content-length", b"" if b"transfer-encoding" in fields else b"0")
    return int(stated) if stated.isdigit() and first.endswith(b" http/1.1") and b"host" in fields else None


async def serve(latency_s: float) -> None:
    """Print the port, then answer until standard input closes."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(latency_s), "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
