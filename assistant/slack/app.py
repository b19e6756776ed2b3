"""The bot put together: the client, Bolt's app, the worker, and the two ways in which Slack reaches it."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import multiprocessing
import os
import re
import signal
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler, AsyncServerErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from assistant.errors import InputError, UnavailableError
from assistant.lanes import lanes
from assistant.session import Session
from assistant.settings import Settings
from assistant.slack.alive import Alive
from assistant.slack.answering import Responder
from assistant.slack.database import open_store
from assistant.slack.door import Door
from assistant.slack.feedback import Feedback
from assistant.slack.inbox import Inbox
from assistant.slack.incidents import TeamChannel
from assistant.slack.listeners import Listeners
from assistant.slack.metrics import Metrics, health_routes, metrics_routes
from assistant.slack.sending import Sender
from assistant.slack.settings import SlackSettings
from assistant.slack.worker import Worker
from assistant.storage.database import open_database
from assistant.storage.diagnoses import Diagnoses

PATH = "/slack/events"
THREADS, TIMEOUT_S, RATE_LIMIT_TRIES = 32, 30, 8
PING_S, CLOSING_S, GIVING_BACK_S = 5.0, 5.0, 1.0
LARGEST_BODY = 4 << 20
# What reading JSON of another form ends in.
ODD = (LookupError, TypeError, AttributeError, ValueError, RecursionError)
TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
logger = logging.getLogger("maple-slack")


@dataclass(frozen=True, slots=True)
class Listen:
    """Where HTTP mode listens; port 0 is Socket Mode. shared: several processes take the port together."""

    port: int = 0
    host: str = "0.0.0.0"
    shared: bool = False


def slack_client(settings: SlackSettings) -> AsyncWebClient:
    """The client. It waits where Slack says so; a cut connection is left to Sender, which knows what may come twice."""
    client = AsyncWebClient(token=settings.bot_token.get_secret_value(), base_url=settings.api, timeout=TIMEOUT_S)
    client.retry_handlers = [
        AsyncRateLimitErrorRetryHandler(max_retry_count=RATE_LIMIT_TRIES),
        AsyncServerErrorRetryHandler(max_retry_count=2),
    ]
    return client


class DeliveryApp(AsyncApp):
    """Bolt's app. What is signed and has not the form of Slack's is refused by a word, wherever that shows."""

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        try:
            return await super().async_dispatch(req)
        except ODD as error:
            logger.warning("a delivery of another form (%s)", type(error).__name__, exc_info=True)
            return BoltResponse(status=400)
        except Exception:
            logger.exception("a delivery was not taken; Slack sends it again")
            return BoltResponse(status=500)


async def pass_on(error: Exception) -> None:
    """To whoever asked for the dispatch."""
    raise error


class Bot:
    """One worker process."""

    def __init__(self, settings: Settings, slack: SlackSettings) -> None:
        # A channel has many readers: the web only where MAPLE_CHAT_WEB says so.
        self.settings = settings.model_copy(update={"web": settings.web or "never", "jobs": False})
        self.slack = slack
        self.metrics = Metrics()
        self.client = slack_client(slack)
        self.handler: AsyncSocketModeHandler | None = None
        self.runners: list[web.AppRunner] = []
        self.listening = False
        self.working: asyncio.Task[None] | None = None

    async def start(self, listen: Listen) -> None:
        """Open everything, then let Slack in. Raises InputError, UnavailableError."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "slack"))
        # Without a session of ours the SDK opens a connection, and says hello in TLS, for each call.
        self.client.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S), trust_env=True)
        who = await self._identity()
        database = await asyncio.to_thread(open_database, self.settings)
        store = await asyncio.to_thread(open_store, self.settings)
        self.alive = Alive(database, self.settings.data)
        await asyncio.to_thread(self.alive.start)
        self.inbox = Inbox(store, self.alive.name)
        team_channel = TeamChannel(database, self.inbox, self.slack, who["team_id"])
        answering = Responder(
            self.client, self.settings, self.slack, self.inbox, who["user_id"], team_channel, who.get("url", "")
        )
        sender = Sender(self.client, self.inbox, self.metrics)
        self.worker = Worker(self.inbox, self.alive, answering, sender, self.metrics, self.slack)
        self.door = Door(
            self.client,
            self.inbox,
            Feedback(store),
            Diagnoses(database),
            answering,
            self.slack,
            self.metrics,
            who["team_id"],
            self.worker.wake,
            self.settings.data,
        )
        await Session(self.settings, "slack-warm").warm()
        await self._let_in(self._bolt(who), listen)
        self.working = asyncio.create_task(self.worker.run())
        logger.info("answering as %s in %s", who["user"], who["team"])

    async def _identity(self) -> dict[str, Any]:
        try:
            return dict((await self.client.auth_test()).data)  # type: ignore[arg-type]
        except SlackApiError as error:
            word = error.response.get("error")
            raise InputError(
                f"Slack refuses SLACK_BOT_TOKEN ({word}); `maple-chat slack --check` tells more"
            ) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnavailableError(f"{self.slack.api} does not answer ({error}); check the network or proxy") from error

    def _bolt(self, who: dict[str, Any]) -> AsyncApp:
        """Bolt's app. The token is known to be good, so no delivery has to wait for another auth.test."""

        async def authorize() -> AuthorizeResult:
            return AuthorizeResult(
                enterprise_id=who.get("enterprise_id"),
                team_id=who["team_id"],
                bot_user_id=who["user_id"],
                bot_id=who.get("bot_id"),
                bot_token=self.slack.bot_token.get_secret_value(),
            )

        log = logging.getLogger("maple-slack.bolt")
        log.setLevel(logging.ERROR)
        app = DeliveryApp(
            client=AsyncWebClient(base_url=self.slack.api),
            signing_secret=self.slack.signing_secret.get_secret_value(),
            authorize=authorize,
            process_before_response=True,
            logger=log,
        )
        Listeners(self.door).register(app)
        app.error(pass_on)
        return app

    async def _let_in(self, app: AsyncApp, listen: Listen) -> None:
        """Metrics first: where their port is taken, nothing has come in yet."""
        health = health_routes(self.well)
        if self.slack.metrics_port:
            shown = [*metrics_routes(self.metrics, self.inbox.waiting, self.well), *health]
            await self._serve(shown, self.slack.metrics_host, self.slack.metrics_port, shared=False)
        if listen.port:

            async def event(request: web.Request) -> web.StreamResponse:
                try:
                    delivery = await to_bolt_request(request) if may_be_slack(request.headers) else None
                except ODD:  # JSON without end, or none, or of another form
                    delivery = None
                if delivery is None:
                    return web.Response(status=401)
                return await to_aiohttp_response(await app.async_dispatch(delivery))

            events = [web.post(PATH, event)]
            await self._serve([*events, *health], listen.host, listen.port, shared=listen.shared)
            self.listening = True
        else:
            token = self.slack.app_token.get_secret_value()
            await self._try_app_token(token)
            self.handler = AsyncSocketModeHandler(app, token, web_client=self.client, ping_interval=PING_S)
            await self.handler.connect_async()  # type: ignore[no-untyped-call]

    async def _try_app_token(self, token: str) -> None:
        """The SDK would try a wrong token for ever."""
        try:
            await self.client.apps_connections_open(app_token=token)
        except SlackApiError as error:
            word = error.response.get("error")
            raise InputError(f"Slack refuses SLACK_APP_TOKEN ({word}); it starts with xapp-") from error

    async def _serve(self, routes: list[web.RouteDef], host: str, port: int, *, shared: bool) -> None:
        application = web.Application(client_max_size=LARGEST_BODY)
        application.add_routes(routes)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=CLOSING_S)
        await runner.setup()
        self.runners.append(runner)
        try:
            await web.TCPSite(runner, host, port, reuse_port=shared or None).start()
        except OSError as error:
            raise InputError(f"port {port} cannot be opened ({error.strerror}); choose another") from error

    def well(self) -> bool:
        """Whether Slack can reach the bot and the worker runs."""
        session = self.handler.client.current_session if self.handler else None
        connected = self.listening or (session is not None and not session.closed)
        return connected and self.working is not None and not self.working.done()

    async def stop(self) -> None:
        """Let nothing more in, finish what is in the works, give back the rest; all of it in drain_s."""
        until = time.monotonic() + self.slack.drain_s
        if self.handler is not None:
            await self.handler.close_async()  # type: ignore[no-untyped-call]
        for runner in self.runners:
            await runner.cleanup()
        await self.door.answering.watches.stop()
        await self.worker.drain(max(0.0, until - time.monotonic() - GIVING_BACK_S))
        if self.working is not None:
            self.working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.working
        await asyncio.to_thread(self.alive.stop)
        await self.close_client()

    async def close_client(self) -> None:
        if self.client.session is not None:
            await self.client.session.close()


def may_be_slack(headers: Mapping[str, str]) -> bool:
    """Whether a signature has the form of Slack's; on what has not, Bolt fails instead of refusing it."""
    timestamp = headers.get("X-Slack-Request-Timestamp", "")
    return bool(TIMESTAMP.fullmatch(timestamp)) and headers.get("X-Slack-Signature", "").isascii()


async def serve(settings: Settings, slack: SlackSettings, listen: Listen) -> None:
    """Run until SIGTERM or SIGINT, or until the supervisor is gone; then drain."""
    ended = asyncio.Event()
    if supervisor := multiprocessing.parent_process():
        asyncio.get_running_loop().add_reader(supervisor.sentinel, ended.set)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    bot = Bot(settings, slack)
    try:
        await bot.start(listen)
    except BaseException:
        await bot.close_client()
        raise
    where = f"listening on port {listen.port}" if listen.port else "connected to Slack"
    print(f"maple-chat: {where}; Ctrl+C ends it", flush=True)
    await ended.wait()
    # Its thread ends the program whatever holds the interpreter.
    faulthandler.dump_traceback_later(slack.drain_s + CLOSING_S, exit=True)
    await bot.stop()
    faulthandler.cancel_dump_traceback_later()
    if lanes(settings.workers).busy():
        # A turn goes on in its thread; the next start does it again, or gives it up.
        logger.warning("ended in the middle of a turn, which goes on at the next start")
        logging.shutdown()
        os._exit(0)
