"""`maple-chat rehearse`: runs a launch script on a stand-in cluster, before a node hour is spent."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import date
from pathlib import Path

from assistant.attachments import clean
from assistant.errors import InputError, UnprovenJailError
from assistant.reading import files_beside, is_agreed, script_text
from graph.verification.rehearsal import rehearse
from graph.verification.rehearsal.grid import rehearse_all, table
from graph.verification.rehearsal.report import text_of
from graph.verification.rehearsal.types import Rehearsal
from graph.verification.rehearsal.unknown_machine import unknown_machine
from graph.verification.script_machine import script_machine
from graph.verification.simulator.isolation import WAYS_OUT
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.types import FRAMEWORKS, STRATEGIES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", help="the script; - reads it from standard input")
    parser.add_argument(
        "--machine", help="a machine of `maple-chat clusters`; default: what the script's marks tell, else unknown"
    )
    parser.add_argument("--nodes", type=positive, default=2, help="nodes that get processes, at most (default 2)")
    parser.add_argument(
        "--gpus-per-node",
        type=positive,
        help="ranks a node that get processes (default: all); the GPUs of a node where the machine is unknown",
    )
    parser.add_argument("--framework", choices=FRAMEWORKS, help="default: read from the script")
    parser.add_argument("--strategy", choices=STRATEGIES, help="default: read from the script")
    parser.add_argument("--timeout", type=positive, default=150, metavar="SECONDS")
    parser.add_argument("--isolation", choices=("namespaces", "landlock"), help="default: the best there is")
    parser.add_argument(
        "--accept",
        default="",
        metavar="WAYS",
        help="run the script although it could get out in these ways (named when it is not run), with commas",
    )
    parser.add_argument("--grid", metavar="DIR", help="rehearse all DIR/MACHINE/*.sh and print the table")
    parser.add_argument("--only", default="", metavar="TEXT", help="with --grid: those with TEXT in MACHINE/NAME")
    parser.add_argument("-o", "--output", metavar="FILE", help="with --grid: write the table there")
    parser.add_argument("--json", action="store_true")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("a number from 1 on is needed")
    return number


def run(options: argparse.Namespace) -> int:
    if options.grid:
        return run_grid(options)
    if not options.file:
        raise InputError("name the script, or give --grid DIR")
    script = script_text(options.file)
    files = () if options.file == "-" else files_beside(options.file)
    cluster = machine_of(options.machine, script, options.gpus_per_node)
    accepted = tuple(filter(None, options.accept.split(",")))
    if unknown := set(accepted) - set(WAYS_OUT):
        raise InputError(f"--accept: {', '.join(sorted(unknown))[:60]} is none of {', '.join(WAYS_OUT)}")

    def go(accepted: tuple[str, ...]) -> Rehearsal:
        return rehearse(
            script,
            files,
            cluster,
            nodes=options.nodes,
            gpus_per_node=options.gpus_per_node,
            framework=options.framework,
            strategy=options.strategy,
            timeout=options.timeout,
            isolation=options.isolation,
            accepted=accepted,
            progress=lambda text: print(f"  {text}", file=sys.stderr, flush=True),
        )

    try:
        outcome = go(accepted)
    except UnprovenJailError as error:
        if not (sys.stdin.isatty() and sys.stderr.isatty()) or not agreed(error.ways):
            raise
        outcome = go(error.ways)
    print(json.dumps(asdict(outcome), ensure_ascii=False) if options.json else clean(text_of(outcome)))
    return 0 if outcome.passed else 1


def agreed(ways: tuple[str, ...]) -> bool:
    """Ask the person at the terminal whether the script may run where it could do these things."""
    print("This computer cannot close every way out of the rehearsal. The script could:", file=sys.stderr)
    for way in ways:
        print(f"  - {WAYS_OUT.get(way, way)}", file=sys.stderr)
    return is_agreed("Run it all the same?")


def machine_of(name: str | None, script: str, gpus_per_node: int | None) -> Cluster:
    """The machine named or told by a strong mark, else an unknown one with that many GPUs on a node.

    Raises InputError on a name that is not known, or where nothing tells the number of GPUs.
    """
    return known_machine(name, script) or unknown_machine(script, gpus_per_node)


def known_machine(name: str | None, script: str) -> Cluster | None:
    """The machine named, or the one that a strong mark tells, said. Raises InputError on a name that is not known."""
    if name is None:
        chosen = script_machine(script)
        if chosen.cluster is not None:
            print(f"  {chosen.says}", file=sys.stderr)
        return chosen.cluster
    return catalogue().named(name)


def run_grid(options: argparse.Namespace) -> int:
    rows = rehearse_all(Path(options.grid), options.only, lambda text: print(text, file=sys.stderr, flush=True))
    text = table(rows, date.today().isoformat())
    if options.output:
        try:
            Path(options.output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {options.output}: {error.strerror}; give another file") from error
    else:
        print(text, end="")
    return 0 if rows and all(row.outcome.passed for row in rows) else 1
