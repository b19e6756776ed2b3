"""`maple-chat knowledge web`: shows what would be sent, asks, searches, reads and cites."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from assistant.errors import InputError, UnavailableError
from assistant.progress import ProgressCallback
from assistant.reading import is_agreed
from assistant.settings import Settings
from knowledge.web import open_web, to_send

EXIT_FINE, EXIT_NO = 0, 1
MOST_SHOWN = 700


def run(settings: Settings, options: argparse.Namespace) -> int:
    web = open_web(settings.web or "ask", settings.search_url)
    if web is None:
        raise UnavailableError("the web is switched off here (MAPLE_CHAT_WEB=never)")
    query = to_send(options.query)
    if not (options.yes or web.policy == "always" or agreed(query)):
        return EXIT_NO
    with ProgressCallback() as progress:
        found = web.search(query, max(1, options.limit), progress)
    if options.json:
        print(json.dumps({"sent": query, "found": [asdict(one) for one in found]}, ensure_ascii=False))
        return EXIT_FINE if found else EXIT_NO
    for number, one in enumerate(found, 1):
        dated = f" ({one.date})" if one.date else ""
        print(f"{number}. {one.title}{dated}, found on the web\n   {one.source}\n\n{one.text[:MOST_SHOWN]}\n")
    if not found:
        print("maple-chat: the web has nothing on that which could be read", file=sys.stderr)
    return EXIT_FINE if found else EXIT_NO


def agreed(query: str) -> bool:
    """Whether a person wants this sent. Raises InputError where nobody can be asked."""
    print(f"This would be sent: {query}", file=sys.stderr)
    if not sys.stdin.isatty():
        raise InputError("a web search asks first, and nobody is there to answer; add --yes")
    return is_agreed("Search the web for it?")
