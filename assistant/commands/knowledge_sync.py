"""`maple-chat knowledge sync`: issues of GitHub, answered questions of Stack Exchange, tickets of a file.

GITHUB_TOKEN (or GH_TOKEN) is sent to GITHUB_API_URL (default: GitHub) and nowhere else; it is never stored or shown.
STACKEXCHANGE_KEY allows more questions a day; STACKEXCHANGE_API_URL is for a server of one's own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.commands import knowledge as command
from assistant.errors import InputError
from assistant.progress import ProgressCallback
from assistant.settings import Settings
from knowledge.documents import Collection, Documents

if TYPE_CHECKING:
    from knowledge.ingest.adding import About, AddingReport

DAY = r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?"


def add_arguments(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Each source's own options. Returns their parsers, for what all of them take."""
    sources = parser.add_subparsers(dest="source", required=True, metavar="github|stackexchange|tickets")
    github = sources.add_parser("github", help="closed issues, with what resolved them")
    github.add_argument("repository", metavar="OWNER/REPO")
    github.add_argument("--label", action="append", default=[], help="only issues with this label (again: and this)")
    github.add_argument("--since", default="", metavar="DATE", help="only what changed since then, such as 2025-01-31")
    stack = sources.add_parser("stackexchange", help="questions with an accepted answer")
    stack.add_argument("--tag", required=True, help="such as slurm")
    stack.add_argument("--site", default="stackoverflow")
    tickets = sources.add_parser("tickets", help="an export, CSV or JSON lines; persons and secrets are masked")
    tickets.add_argument("file", metavar="FILE", type=Path)
    tickets.add_argument("--columns", nargs="+", default=[], metavar="WHAT=NAME", help="such as body=Text answer=Reply")
    for one in (github, stack):
        one.add_argument(
            "--limit", type=int, default=0, metavar="N", help="at most N in this run; the next one goes on"
        )
        one.add_argument("--wait", action="store_true", help="wait where the server allows no more for now")
    return [github, stack, tickets]


def run(settings: Settings, options: argparse.Namespace) -> int:
    from knowledge.ingest.adding import About

    collection: Collection = "tickets" if options.source == "tickets" else "issues"
    about = About(collection, command.machine_id(options.machine), options.scheduler, options.framework)
    sources: dict[str, Callable[[Documents, About, argparse.Namespace, ProgressCallback], AddingReport]] = {
        "github": github,
        "stackexchange": stackexchange,
        "tickets": tickets,
    }
    try:
        with ProgressCallback() as progress:
            report = sources[options.source](command.documents_of(settings), about, options, progress)
    except KeyboardInterrupt:
        print(command.STOPPED, file=sys.stderr)
        return command.EXIT_STOPPED
    whole = command.refresh(settings)
    command.tell([report], [], options.json)
    return command.EXIT_FINE if whole else command.EXIT_STOPPED


def github(documents: Documents, about: About, options: argparse.Namespace, progress: ProgressCallback) -> AddingReport:
    import re

    from knowledge.ingest import github as reader
    from knowledge.ingest.api import Patience

    if options.since and not re.fullmatch(DAY, options.since):
        raise InputError(f"--since takes a day such as 2025-01-31, not '{options.since[:40]}'")
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or ""
    server = reader.GitHub(os.environ.get("GITHUB_API_URL") or reader.ADDRESS, token, Patience(options.wait))
    wish = reader.IssueFilter(
        reader.repository_named(options.repository), tuple(options.label), options.since, options.limit, about
    )
    return reader.sync(documents, wish, server, progress)


def stackexchange(
    documents: Documents, about: About, options: argparse.Namespace, progress: ProgressCallback
) -> AddingReport:
    from knowledge.ingest import stackexchange as reader
    from knowledge.ingest.api import Patience

    base = os.environ.get("STACKEXCHANGE_API_URL") or reader.ADDRESS
    server = reader.StackExchange(base, os.environ.get("STACKEXCHANGE_KEY", ""), Patience(options.wait))
    return reader.sync(documents, reader.Tagged(options.tag, options.site, options.limit, about), server, progress)


def tickets(
    documents: Documents, about: About, options: argparse.Namespace, progress: ProgressCallback
) -> AddingReport:
    from knowledge.ingest import tickets as reader

    pairs = [given.partition("=") for given in options.columns]
    wrong = next((what for what, mark, name in pairs if not (mark and name)), None)
    if wrong is not None:
        raise InputError(f"--columns takes WHAT=NAME, such as body=Description, not '{wrong[:40]}'")
    columns = {what: name for what, _, name in pairs}
    return reader.sync(documents, reader.Export(options.file, columns, about), progress)
