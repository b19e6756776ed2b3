"""`maple-chat slack`: the bot; --check and --manifest help to set it up."""

from __future__ import annotations

import argparse
import asyncio
import functools
import logging
import sys
from importlib.util import find_spec

from assistant.errors import InputError, MapleError, UnavailableError

EXIT_FINE, EXIT_NO, EXIT_USAGE = 0, 1, 2
NEEDED = ("aiohttp", "prometheus_client", "slack_bolt", "slack_sdk")
VIEWS = ("assistant", "agent", "none")
# Beside the time to finish in: closing sockets and files.
LEAVING_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="verify tokens and scopes, and say what is missing")
    parser.add_argument("--manifest", action="store_true", help="print the app's manifest for api.slack.com/apps")
    parser.add_argument("--http", type=int, metavar="PORT", default=0, help="take events over HTTP, not Socket Mode")
    parser.add_argument("--host", default="0.0.0.0", help="the address that --http listens on (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes on this computer (default: 1)")
    parser.add_argument(
        "--view", choices=VIEWS, default="assistant", help="kind of assistant view (default: assistant)"
    )
    parser.add_argument("--follow-ups", action="store_true", help="hear follow-ups in channels without a mention")
    parser.add_argument(
        "--url", default="", metavar="https://HOST/slack/events", help="HTTP mode's address, for --manifest"
    )


def run(options: argparse.Namespace) -> int:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UnavailableError(f"the bot needs {', '.join(missing)}: pip install 'maple-chat[slack]'")
    if not 1 <= options.workers <= 64 or not 0 <= options.http <= 65_535:
        raise InputError("--workers takes 1 to 64, --http a port up to 65535; correct it")
    if options.manifest:
        return manifest(options)
    return asyncio.run(check(options)) if options.check else start(options)


def manifest(options: argparse.Namespace) -> int:
    from assistant.slack.manifest import Way, as_yaml

    if options.http and not options.url.startswith("https://"):
        raise InputError("HTTP mode needs --url https://HOST/slack/events, the address at which Slack reaches it")
    print(as_yaml(Way(options.view, options.follow_ups, options.url if options.http else "")), end="")
    return EXIT_FINE


async def check(options: argparse.Namespace) -> int:
    from assistant.slack.check import findings
    from assistant.slack.manifest import Way
    from assistant.slack.settings import read_slack_settings

    way = Way(options.view, options.follow_ups, "http" if options.http else "")
    lines = [line async for line in findings(read_slack_settings(), way)]
    for line in lines:
        print(f"{'ok     ' if line.fine else 'missing'}  {line.says}")
    return EXIT_FINE if all(line.fine for line in lines) else EXIT_NO


def start(options: argparse.Namespace) -> int:
    """Run the bot: in this process, or in several that are looked after from here."""
    from assistant.slack.settings import read_slack_settings

    slack = read_slack_settings()
    token = "signing_secret" if options.http else "app_token"
    for name in ("bot_token", token):
        if not getattr(slack, name).get_secret_value():
            raise InputError(f"SLACK_{name.upper()} is not set; `maple-chat slack --check` tells where to find it")
    if options.workers == 1:
        guarded(options.http, options.host, None)
        return EXIT_FINE
    from assistant.slack.supervisor import supervise

    log_to_stderr()
    worker = functools.partial(guarded, options.http, options.host)
    return supervise(worker, options.workers, slack.drain_s + LEAVING_S)


def guarded(port: int, host: str, number: int | None) -> None:
    """A worker. Our own errors are one line; exit code 2: with this setting no other start helps, 1: one may."""
    try:
        work(port, host, number)
    except MapleError as error:
        print(f"maple-chat: {error}", file=sys.stderr)
        raise SystemExit(EXIT_USAGE if isinstance(error, InputError) else EXIT_NO) from error


def log_to_stderr() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("maple-slack").setLevel(logging.INFO)
    # It sets its own level to DEBUG when it is loaded, which is later.
    logging.getLogger("bm25s").addFilter(lambda record: record.levelno >= logging.WARNING)


def work(port: int, host: str, number: int | None) -> None:
    """One worker. number: which of several; they share the port for events, and each has its own for metrics."""
    from assistant.settings import read_settings
    from assistant.slack.app import Listen, serve
    from assistant.slack.settings import read_slack_settings

    log_to_stderr()
    settings, slack = read_settings().model_copy(update={"own_disk": True}), read_slack_settings()
    if number and slack.metrics_port:
        slack = slack.model_copy(update={"metrics_port": slack.metrics_port + number})
    asyncio.run(serve(settings, slack, Listen(port, host, shared=number is not None)))
