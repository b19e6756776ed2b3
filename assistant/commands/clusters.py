"""`maple-chat clusters`: what is known about the machines, with sources and date."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import date
from pathlib import Path

from assistant.cluster_text import all_gpus, dated, describe, is_old
from assistant.compare_table import pick_rows, write_page
from assistant.errors import InputError
from graph.answering.machine_compare import machine_rows, table_text
from graph.planning.fields import shown
from knowledge.catalogue import Catalogue, catalogue
from knowledge.cluster import Cluster
from knowledge.fact_age import STALE_DAYS, stale


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="a machine, by any of its names; default: list all; or: compare, discover, check",
    )
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help="after compare: the machines; none: all")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN>=VALUE", help="compare: which rows")
    parser.add_argument("--sort", metavar="COLUMN", help="compare: by this column, the largest first")
    parser.add_argument("--html", metavar="FILE", help="compare: the table as a page of its own")
    parser.add_argument("-o", "--output", metavar="FILE", help="discover: write the cluster file there")
    parser.add_argument(
        "--node-job", action="store_true", help="discover: also a one-minute job on a node; shown, and sent after a yes"
    )
    parser.add_argument("--queue", default="", help="with --node-job: its queue; default: one for debugging")
    parser.add_argument("--account", default="", help="with --node-job: its account")
    parser.add_argument("--yes", action="store_true", help="with --node-job: do not ask")
    parser.add_argument("--node-output", default="", metavar="FILE", help="discover: the output of such a job")
    parser.add_argument("--stale", action="store_true", help="the facts of NAME (or of all) older than 120 days")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    known, today = catalogue(), date.today()
    if options.name == "discover":
        return discover(options)
    if options.name == "check":
        return check_facts(options, known)
    if options.stale:
        return show_stale(options, known, today)
    if options.name == "compare":
        return compare(options, known)
    if options.machines:
        raise InputError(f"one machine at a time; side by side: `maple-chat clusters compare {options.name} ...`")
    if options.name is None:
        print(listing_json(known, today) if options.json else listing(known, today))
        return 0
    cluster = known.find(options.name)
    if cluster is None:
        raise InputError(unknown(options.name, known))
    if options.json:
        print(json.dumps(as_json(cluster, known, today), ensure_ascii=False, indent=2))
    else:
        print(describe(cluster, known.files[cluster.id], today))
    return 0


def discover(options: argparse.Namespace) -> int:
    """Describe the machine that this runs on, from its scheduler; what nobody told is listed."""
    from assistant.discovering import discover_here

    wish = None
    if options.node_job or options.node_output:
        from assistant.node_job import NodeJobWish

        wish = NodeJobWish(queue=options.queue, account=options.account, agreed=options.yes, output=options.node_output)
    return discover_here(Path(options.output) if options.output else None, wish)


def check_facts(options: argparse.Namespace, known: Catalogue) -> int:
    """A known machine's facts against its scheduler; 1 where they differ."""
    from assistant.discovering import check_here

    name = options.machines[0] if options.machines else ""
    cluster = known.find(name) if name else None
    if cluster is None:
        raise InputError(
            unknown(name, known) if name else "name the machine that this is: `maple-chat clusters check NAME`"
        )
    return check_here(cluster)


def compare(options: argparse.Namespace, known: Catalogue) -> int:
    """The machines side by side, those that were named or all; exit 1 where no row is left."""
    found = [known.find(name) for name in options.machines]
    for name, cluster in zip(options.machines, found, strict=True):
        if cluster is None:
            raise InputError(unknown(name, known))
    rows = pick_rows(machine_rows([c for c in found if c] or known.clusters.values()), options.where, options.sort)
    if options.html:
        write_page(Path(options.html), rows)
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table_text(rows))
    return 0 if rows else 1


def show_stale(options: argparse.Namespace, known: Catalogue, today: date) -> int:
    """Facts older than 120 days, oldest first; exit 1 where there are some."""
    chosen = [known.find(options.name)] if options.name else list(known.clusters.values())
    if chosen == [None]:
        raise InputError(unknown(options.name, known))
    facts = [fact for cluster in chosen if cluster for fact in stale(cluster, today)]
    facts.sort(key=lambda fact: fact.as_of)
    if options.json:
        print(json.dumps([asdict(fact) for fact in facts], ensure_ascii=False))
        return int(bool(facts))
    for fact in facts:
        print(f"{fact.as_of:<8} {fact.machine}: {fact.what} ({fact.source or 'no page'})")
    print(f"{len(facts)} facts are older than {STALE_DAYS} days; read their pages again" if facts else "none is stale")
    return int(bool(facts))


def unknown(name: str, known: Catalogue) -> str:
    """One line with the nearest names."""
    near = known.nearest(name)
    where = f"nearest: {', '.join(near)}" if near else "`maple-chat clusters` lists them"
    return f"no machine {shown(name)} is known; {where}"


def listing(known: Catalogue, today: date) -> str:
    """A table: id, title, scheduler, date of the facts, GPUs of a node."""
    rows = [("id", "title", "scheduler", "as of", "GPUs of a node")]
    rows += [(c.id, c.title, c.scheduler, dated(c, today), all_gpus(c)) for c in known.clusters.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([*(f"{text:<{w}}" for text, w in zip(row, widths, strict=False)), row[4]]) for row in rows
    )


def listing_json(known: Catalogue, today: date) -> str:
    return json.dumps(
        [
            {
                "id": c.id,
                "title": c.title,
                "scheduler": c.scheduler,
                "gpus": all_gpus(c),
                "as_of": c.as_of,
                "old": is_old(c.as_of, today),
                "file": str(known.files[c.id]),
            }
            for c in known.clusters.values()
        ],
        ensure_ascii=False,
        indent=2,
    )


def as_json(cluster: Cluster, known: Catalogue, today: date) -> dict[str, object]:
    """The file's facts as read, with their file and whether they are old."""
    facts: dict[str, object] = asdict(cluster)
    return facts | {"old": is_old(cluster.as_of, today), "file": str(known.files[cluster.id])}
