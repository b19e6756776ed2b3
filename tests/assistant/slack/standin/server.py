"""The stand-in of Slack as an HTTP and WebSocket server: `async with Slack() as slack`; a client goes to slack.api.

It stands in for the Web API, file storage, Socket Mode, and the sender of events over HTTP. See README.md here.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, Self

from aiohttp import web

from tests.assistant.slack.standin.delivery import Delivery
from tests.assistant.slack.standin.people import People
from tests.assistant.slack.standin.web_api import METHODS, Answer, decoded, wrong
from tests.assistant.slack.standin.workspace import APP_TOKEN, BOT_TOKEN, Call, Fault, Workspace


class Slack(Workspace, People):
    """One workspace behind one address. `api` is the base of the Web API: https://slack.com/api/ of this stand-in."""

    def __init__(self, port: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.port = port
        self.delivery = Delivery(self)
        self.base = ""

    @property
    def api(self) -> str:
        return f"{self.base}/api/"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/api/{method}", self.web_api)
        app.router.add_post("/upload/v1/{file}", self.take_upload)
        app.router.add_get("/files-pri/{which}/download/{name}", self.give_file)
        app.router.add_post("/response/{trigger}", self.take_response)
        app.router.add_get("/link", self.delivery.socket.connect)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self.runner.addresses[0][1]
        self.base = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.delivery.close()
        await self.runner.cleanup()

    async def web_api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        args = await arguments(request)
        args["_base"] = self.base
        fault = self.take_fault(method)
        if fault and fault.retry_after is not None:
            return self.limited(method, args, fault.retry_after)
        if fault and fault.status:
            return web.json_response(wrong("internal_error"), status=fault.status)
        if fault and fault.cut and not fault.after:
            return cut(request)
        if (wait := self.too_fast(method, args)) is not None:
            return self.limited(method, args, wait)
        answer = wrong(fault.error) if fault and fault.error else self.answer(method, args)
        self.calls.append(Call(method, args, time.monotonic(), answer))
        self.tell()
        if fault and fault.hold:
            await fault.hold.wait()
        if fault and fault.cut:
            return cut(request)
        return web.json_response(answer, headers={"x-oauth-scopes": ",".join(sorted(self.scopes))}, dumps=dumps)

    def answer(self, method: str, args: Answer) -> Answer:
        if method == "apps.connections.open":
            return self.delivery.socket.open(args, APP_TOKEN)
        if args.get("token") != BOT_TOKEN:
            return wrong("invalid_auth" if args.get("token") else "not_authed")
        if method not in METHODS:
            return wrong("unknown_method", req_method=method)
        scopes, function = METHODS[method]
        if scopes and not self.scopes & set(scopes):
            return wrong("missing_scope", needed=scopes[0], provided=",".join(sorted(self.scopes)))
        return function(self, args)

    def limited(self, method: str, args: Answer, seconds: int) -> web.Response:
        answer = wrong("ratelimited")
        self.calls.append(Call(method, args, time.monotonic(), answer))
        return web.json_response(answer, status=429, headers={"Retry-After": str(seconds)})

    def take_fault(self, method: str) -> Fault | None:
        fault = next((f for f in self.faults if f.method == method and f.times > 0), None)
        if fault:
            fault.times -= 1
        return fault

    def too_fast(self, method: str, args: Answer) -> int | None:
        """chat.postMessage: about one a second and channel, with room for a burst; the seconds to wait, or None."""
        if self.post_burst is None or method != "chat.postMessage":
            return None
        now, channel = time.monotonic(), str(args.get("channel"))
        full_at = max(self.full_at.get(channel, now), now) + 1.0
        if full_at - now > self.post_burst:
            return 1
        self.full_at[channel] = full_at
        return None

    async def take_upload(self, request: web.Request) -> web.Response:
        stored = self.files.get(request.match_info["file"])
        content = await request.read()
        if stored is None or len(content) != stored.length:
            return web.Response(status=400, text="bad upload")
        stored.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def give_file(self, request: web.Request) -> web.StreamResponse:
        """A private file: without the token or the scope Slack shows its sign-in page, with status 200."""
        stored = self.files.get(request.match_info["which"].partition("-")[2])
        allowed = request.headers.get("Authorization") == f"Bearer {BOT_TOKEN}" and "files:read" in self.scopes
        if stored is None or stored.content is None:
            return web.Response(status=404)
        if not allowed:
            return web.Response(text="<!DOCTYPE html><title>Sign in</title>", content_type="text/html")
        fault = self.take_fault("download")
        if fault and fault.status:
            return web.Response(status=fault.status)
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        half = len(stored.content) // 2
        await response.write(stored.content[:half])
        if fault:
            return cut(request)
        await response.write(stored.content[half:])
        await response.write_eof()
        return response

    async def take_response(self, request: web.Request) -> web.Response:
        self.responses.append(json.loads(await request.text()))
        self.tell()
        return web.Response(text="ok")


async def arguments(request: web.Request) -> dict[str, Any]:
    """A call's arguments from the query, a form or JSON, with the token of the header."""
    args: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        args |= json.loads(await request.text() or "{}")
    else:
        args |= {k: v for k, v in (await request.post()).items() if isinstance(v, str)}
    header = request.headers.get("Authorization", "")
    if header.startswith("Bearer "):
        args["token"] = header[7:]
    return decoded(args)


def cut(request: web.Request) -> web.StreamResponse:
    """Close the connection under the client's feet."""
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError


def dumps(answer: Answer) -> str:
    return json.dumps(answer)
