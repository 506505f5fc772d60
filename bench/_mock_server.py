"""A chat-completions server that says one sentence after a fixed wait.

Run as a child process; it ends when its standard input closes.
"""

from __future__ import annotations

import asyncio
import sys

import orjson
from aiohttp import web

from fugu_lite.chat import completion_body

ANSWER = orjson.dumps(
    completion_body("Answer: 42", "mock", {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15})
)


async def serve(latency_s: float) -> None:
    """Print the port, then answer until standard input closes."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(latency_s)
        return web.Response(body=ANSWER, content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2048)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
