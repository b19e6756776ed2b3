"""`maple-chat clusters`: what is known about the machines, with sources and date."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import date

from assistant.cluster_text import all_gpus, dated, describe, is_old
from assistant.errors import InputError
from graph.planning.fields import shown
from knowledge.catalogue import Catalogue, catalogue
from knowledge.cluster import Cluster


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="a machine, by any of its names; default: list all")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    known, today = catalogue(), date.today()
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
