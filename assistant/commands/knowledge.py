"""`maple-chat knowledge`: read in docs, issues and tickets, keep them fresh, look into them."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.errors import InputError, MapleError
from assistant.progress import ProgressCallback
from assistant.settings import Settings, read_settings
from knowledge.documents import COLLECTIONS, FILE, Documents, Origin
from knowledge.types import FRAMEWORKS, SCHEDULERS

if TYPE_CHECKING:
    from knowledge.ingest.adding import AddingReport

EXIT_FINE, EXIT_NO, EXIT_STOPPED = 0, 1, 130
STOPPED = "maple-chat: stopped; what was read is kept, the same command goes on from there"
STOPPED_INDEXING = (
    "maple-chat: stopped while the search index was made; all that was read is kept, and the rest is embedded at the "
    "next use"
)
ACTIONS = "add|sync|list|search|remove|web"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar=ACTIONS)
    add = actions.add_parser("add", help="read a file, a folder, a checkout or a site; with none: all those again")
    add.add_argument("given", metavar="PATH|URL", nargs="*", help="a site is read by its sitemap")
    add.add_argument("--collection", choices=COLLECTIONS, default="docs")
    add.add_argument("--site", default="", metavar="URL", help="where a checkout's pages are in public")
    sync = actions.add_parser("sync", help="issues, answered questions, tickets")
    sources = importlib.import_module("assistant.commands.knowledge_sync").add_arguments(sync)
    listing = actions.add_parser("list", help="what was read in, how much came of it, and when")
    search = actions.add_parser("search", help="the passages that fit a question best")
    search.add_argument("question", metavar="QUESTION")
    search.add_argument("--limit", type=int, default=5)
    remove = actions.add_parser("remove", help="forget what came from a path, an address or a sync")
    remove.add_argument("origin", metavar="ORIGIN", help="as `maple-chat knowledge list` shows it")
    web = actions.add_parser("web", help="search the web; shows what would be sent, and asks first")
    web.add_argument("query", metavar="QUERY")
    web.add_argument("--yes", action="store_true", help="do not ask")
    web.add_argument("--limit", type=int, default=5)
    for one in (add, *sources, search):
        one.add_argument("--machine", default="", help="the machine that it is about; default: any")
        one.add_argument("--scheduler", default="", choices=SCHEDULERS)
        one.add_argument("--framework", default="", choices=FRAMEWORKS)
    for one in (add, *sources, listing, search, remove, web):
        one.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    settings = read_settings()
    if options.action == "sync":
        return int(importlib.import_module("assistant.commands.knowledge_sync").run(settings, options))
    if options.action == "web":
        return int(importlib.import_module("assistant.commands.knowledge_web").run(settings, options))
    actions = {"add": add, "list": list_, "search": search, "remove": remove}
    return actions[options.action](settings, options)


def documents_of(settings: Settings) -> Documents:
    """What was read in with these settings."""
    return Documents(settings.data / FILE)


def machine_id(name: str) -> str:
    """A machine as the catalogue calls it, or else the name in lower case."""
    if not name:
        return ""
    from knowledge.catalogue import catalogue

    found = catalogue().find(name)
    return found.id if found else name.strip().lower()


def add(settings: Settings, options: argparse.Namespace) -> int:
    from knowledge.ingest.adding import About, again
    from knowledge.ingest.adding import add as read_in

    documents = documents_of(settings)
    about = About(options.collection, machine_id(options.machine), options.scheduler, options.framework, options.site)
    wanted = [(given, about) for given in options.given] or again(documents)
    if not wanted:
        raise InputError("nothing was added before; give a file, a folder or an address")
    reports: list[AddingReport] = []
    failed: list[MapleError] = []
    try:
        with ProgressCallback() as progress:
            for given, facts in wanted:
                try:
                    reports.append(read_in(documents, given, facts, progress))
                except MapleError as error:
                    failed.append(error)
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        return EXIT_STOPPED
    whole = refresh(settings)
    if len(wanted) == 1 and failed:
        raise failed[0]
    done = tell(reports, [str(error) for error in failed], options.json)
    return done if whole else EXIT_STOPPED


def refresh(settings: Settings) -> bool:
    """Make the search index of what is there now; free when nothing changed. Returns False when a person stopped it."""
    from assistant.stores import open_knowledge

    knowledge = open_knowledge(settings.data)
    try:
        with ProgressCallback() as progress:
            knowledge.refresh(progress=progress)
    except KeyboardInterrupt:
        print(STOPPED_INDEXING, file=sys.stderr)
        return False
    for notice in knowledge.notices:
        print(f"maple-chat: {notice}", file=sys.stderr)
    return True


def tell(reports: Sequence[AddingReport], failed: Sequence[str], as_json: bool) -> int:
    """What came of it: a line each on stdout, what went wrong on stderr."""
    if as_json:
        print(json.dumps({"read": [asdict(report) for report in reports], "failed": failed}, ensure_ascii=False))
    for report in reports:
        for problem in report.problems:
            print(f"note: {problem}", file=sys.stderr)
        if not as_json:
            print(summary(report))
    for problem in failed:
        print(f"maple-chat: {problem}", file=sys.stderr)
    return EXIT_NO if failed or not any(report.fruitful for report in reports) else EXIT_FINE


def summary(report: AddingReport) -> str:
    """`/docs: 250 read, 3 unchanged, 2 removed, 19 without text, 1 problem`."""
    problems = len(report.problems)
    counts = (
        f"{report.read} read",
        f"{report.unchanged} unchanged" if report.unchanged else "",
        f"{report.removed} removed" if report.removed else "",
        f"{report.empty} without text" if report.empty else "",
        f"{problems} problem{'s' * (problems != 1)}" if problems else "",
    )
    return f"{report.origin}: {', '.join(filter(None, counts))}"


def list_(settings: Settings, options: argparse.Namespace) -> int:
    found = documents_of(settings).origins()
    if options.json:
        print(json.dumps([asdict(one) for one in found], ensure_ascii=False))
    for one in [] if options.json else found:
        print(row(one))
    if not found:
        print("maple-chat: nothing was read in yet; try: maple-chat knowledge add PATH|URL", file=sys.stderr)
    return EXIT_FINE if found else EXIT_NO


def row(one: Origin) -> str:
    """One origin: how much, since when, and for which machine."""
    facts = ", ".join(f"{name} {value}" for name, value in one.options.items() if value)
    when = one.finished[:10] if one.finished else "not finished: run it again"
    return f"{one.origin}\n  {one.collection}: {one.documents} documents, {one.passages} passages ({when})" + (
        f"; {facts}" if facts else ""
    )


def search(settings: Settings, options: argparse.Namespace) -> int:
    from assistant.stores import open_knowledge
    from graph.answering.telling import source_of

    if not refresh(settings):
        return EXIT_STOPPED
    knowledge = open_knowledge(settings.data)
    found = knowledge.search(
        options.question,
        machine=machine_id(options.machine) or None,
        scheduler=options.scheduler or None,
        framework=options.framework or None,
        limit=max(1, options.limit),
    )
    if options.json:
        print(json.dumps([asdict(passage) for passage in found], ensure_ascii=False))
        return EXIT_FINE if found else EXIT_NO
    for number, passage in enumerate(found, 1):
        where = " > ".join((passage.title, *passage.path))
        print(f"{number}. {where}\n   {source_of(passage, date.today())}\n\n{passage.text}\n")
    if not found:
        print("maple-chat: nothing fits; use other words, or add docs: maple-chat knowledge add", file=sys.stderr)
    return EXIT_FINE if found else EXIT_NO


def remove(settings: Settings, options: argparse.Namespace) -> int:
    documents = documents_of(settings)
    resolved = str(Path(options.origin).expanduser().resolve())
    known = {one.origin for one in documents.origins()}
    origin = options.origin if options.origin in known else resolved
    if origin not in known:
        raise InputError(f"nothing came from '{options.origin}'; `maple-chat knowledge list` shows what did")
    gone = documents.forget(origin)
    print(json.dumps({"origin": origin, "removed": gone}) if options.json else f"{origin}: {gone} documents removed")
    return EXIT_FINE
