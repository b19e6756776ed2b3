"""`maple-chat serve`: the chat in a browser, on this computer alone unless told otherwise."""

from __future__ import annotations

import argparse
import ipaddress
import socket
import sys

from assistant.errors import InputError, UnavailableError
from assistant.settings import read_settings

LOOPBACK = "127.0.0.1"
OPEN_TO_OTHERS = (
    "maple-chat: warning: {host} can be reached from other computers, and nothing is encrypted. Better: leave --host "
    "away and open a tunnel from your own computer: ssh -L {port}:127.0.0.1:{port} LOGIN_NODE"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "The chat in a browser. The address that is printed holds a token; without it nothing is served."
    )
    parser.add_argument("--port", type=int, default=8000, help="default: %(default)s; 0 takes a free one")
    parser.add_argument(
        "--host", default=LOOPBACK, help="the address to listen on (default: %(default)s, this computer)"
    )
    parser.add_argument("--thread", metavar="ID", help="the conversation to open (default: the one left open)")


def run(options: argparse.Namespace) -> int:
    read_settings()
    port = free_port(options.host, options.port)
    if not is_loopback(options.host):
        print(OPEN_TO_OTHERS.format(host=options.host, port=port), file=sys.stderr)
    try:
        from assistant.serving import TokenServer
    except ImportError as error:
        raise UnavailableError(f"{error.name} is not installed; install 'maple-chat[serve]'") from error
    TokenServer(options.host, port, ("--thread", options.thread) if options.thread else ()).serve()
    return 0


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_port(host: str, port: int) -> int:
    """The port, or a free one for 0. Raises InputError for one that cannot be, UnavailableError where it is taken."""
    if not 0 <= port <= 65535:
        raise InputError(f"{port} is no port; give a number up to 65535")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, port))
            return int(tried.getsockname()[1])
    except OSError as error:
        why = error.strerror or str(error)
        raise UnavailableError(f"cannot listen on {host}:{port} ({why}); give another --port or --host") from error
