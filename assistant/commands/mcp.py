"""`maple-chat mcp`: the tools for an agent in an editor, and the entry that the editor needs."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import socket
import sys
from pathlib import Path

from assistant.errors import InputError, UnavailableError

# Where each client keeps its servers.
PLACES = {
    "claude": ".mcp.json in the project, or claude_desktop_config.json",
    "vscode": ".vscode/mcp.json in the project",
    "cursor": ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    "codex": "~/.codex/config.toml",
}
TOKEN = "MAPLE_CHAT_MCP_TOKEN"
SHORTEST_TOKEN = 16
BY_HAND = (
    "maple-chat: this waits for an agent, which starts it itself: `maple-chat mcp --config claude|vscode|cursor|codex` "
    "prints the entry; Ctrl+C ends it"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "The tools of maple-chat for an agent, by the Model Context Protocol, on standard input and output. They read "
        "and answer; nothing is submitted, changed or sent."
    )
    parser.add_argument("--config", choices=PLACES, help="print the entry to paste into that client's settings")
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder whose logs may be read, beside the client's",
    )
    parser.add_argument(
        "--http",
        nargs="?",
        type=int,
        const=8765,
        metavar="PORT",
        help=f"streamable HTTP on this computer alone (default %(const)s; 0 takes a free one), behind the token of "
        f"{TOKEN}, or one that is made and printed",
    )


def run(options: argparse.Namespace) -> int:
    roots = [folder(name) for name in options.root]
    if options.config:
        print(entry(options.config, roots))
        print(f"maple-chat: paste it into {PLACES[options.config]}", file=sys.stderr)
        return 0
    try:
        from assistant.mcp.server import serve_http, serve_stdio
    except ImportError as error:
        raise UnavailableError(f"{error.name} is not installed; install 'maple-chat[mcp]'") from error
    if options.http is None:
        if sys.stdin.isatty():
            print(BY_HAND, file=sys.stderr)
        serve_stdio(roots)
        return 0
    given, listening = chosen_token(), listen(options.http)
    where = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    made = "" if given else secrets.token_urlsafe(24)
    print(f"maple-chat: {where}" + (f"\nmaple-chat: token {made}" if made else ""), file=sys.stderr, flush=True)
    serve_http(roots, listening, given or made)
    return 0


def folder(name: str) -> Path:
    """A folder that is there. Raises InputError."""
    path = Path(name).expanduser().resolve()
    if not path.is_dir():
        raise InputError(f"{name} is no folder; --root takes one whose logs may be read")
    return path


def chosen_token() -> str:
    """The token of the environment, or empty. Raises InputError on one that can be guessed."""
    token = os.environ.get(TOKEN, "")
    if token and len(token) < SHORTEST_TOKEN:
        raise InputError(f"{TOKEN} has fewer than {SHORTEST_TOKEN} characters; give a longer one, or unset it")
    return token


def listen(port: int) -> socket.socket:
    """A socket of the loopback. Raises InputError where the port is taken or none."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise InputError(f"port {port} cannot be used ({error}); give another, or --http 0 for a free one") from error


def entry(client: str, roots: list[Path]) -> str:
    """The client's entry for this installation, in the client's own format."""
    command = shutil.which("maple-chat") or str(Path(sys.argv[0]).resolve())
    words = ["mcp", *(part for root in roots for part in ("--root", str(root)))]
    if client == "codex":
        return f"[mcp_servers.maple-chat]\ncommand = {json.dumps(command)}\nargs = {json.dumps(words)}"
    server = {"command": command, "args": words}
    if client == "vscode":
        return json.dumps({"servers": {"maple-chat": {"type": "stdio", **server}}}, indent=2)
    return json.dumps({"mcpServers": {"maple-chat": server}}, indent=2)
