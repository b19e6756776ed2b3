"""`maple-chat script`: the launch script, with no conversation."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from assistant.errors import InputError
from graph.planning.fields import shown
from graph.planning.plan import plan
from graph.planning.strategies import with_usual_framework
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.types import FRAMEWORKS, STRATEGIES, JobRequest, LaunchBundle, LaunchPlan, Refusal
from templates.render import render


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", required=True, help="a machine of `maple-chat clusters`")
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--strategy", required=True, choices=STRATEGIES)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--gpus-per-node", type=int, help="cards, or tiles where a card has several; default: all")
    parser.add_argument("--account")
    parser.add_argument("--queue", help="partition, queue or QOS")
    parser.add_argument("--walltime", metavar="HH:MM:SS")
    parser.add_argument("--entry", metavar="PROGRAM", help="train.py, or '-m package.module'")
    parser.add_argument("--args", metavar="'...'", help="the program's arguments, as on a command line")
    parser.add_argument("--env", metavar="PATH", help="your Python environment or container image")
    parser.add_argument("-o", "--output", metavar="DIR", help="write the script and the files beside it there")
    parser.add_argument("--force", action="store_true", help="with -o: overwrite files")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    cluster = machine(options.machine)
    decided = plan(request_of(options, cluster), cluster)
    if isinstance(decided, Refusal):
        return refuse(decided, options.json)
    bundle = render(decided)
    if options.output:
        write(bundle, Path(options.output), options.force)
    if options.json:
        print(json.dumps({"bundle": asdict(bundle), "plan": asdict(decided)}, ensure_ascii=False))
    elif not options.output:
        sys.stdout.write(bundle.script)
    tell(decided, bundle, options.output)
    return 0


def machine(name: str) -> Cluster:
    found = catalogue().find(name)
    if found is None:
        raise InputError(f"no machine {shown(name)} is known; `maple-chat clusters` lists them")
    return found


def request_of(options: argparse.Namespace, cluster: Cluster) -> JobRequest:
    return with_usual_framework(
        JobRequest(
            machine=cluster.id,
            framework=options.framework,
            strategy=options.strategy,
            nodes=options.nodes,
            gpus_per_node=options.gpus_per_node,
            account=options.account,
            queue=options.queue,
            walltime=options.walltime,
            entry=options.entry,
            args=options.args,
            environment=options.env,
        )
    )


def refuse(refusal: Refusal, as_json: bool) -> int:
    """The machine cannot do it: what it can, on stderr; exit 1."""
    if as_json:
        print(json.dumps({"refusal": asdict(refusal)}, ensure_ascii=False))
    nearest = "; ".join(way.says for way in refusal.instead)
    print(f"maple-chat: {refusal.says} Nearest: {nearest or 'nothing known'}.", file=sys.stderr)
    print(f"  {refusal.why}" + (f" ({refusal.source})" if refusal.source else ""), file=sys.stderr)
    return 1


def write(bundle: LaunchBundle, folder: Path, force: bool) -> None:
    """Script and files into the folder. Raises InputError rather than overwrite."""
    texts = {bundle.name: bundle.script, **{file.name: file.text for file in bundle.files}}
    there = [name for name in texts if (folder / name).exists()]
    if there and not force:
        raise InputError(f"{folder / there[0]} exists; give --force to overwrite, or another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error


def tell(decided: LaunchPlan, bundle: LaunchBundle, output: str | None) -> None:
    """What was assumed, on stderr: stdout stays the script alone."""
    for taken in decided.assumptions:
        source = f" ({taken.source})" if taken.source else ""
        print(f"assumed {taken.field} = {taken.value}: {taken.why}{source}", file=sys.stderr)
    for note in decided.notes:
        print(f"note: {note}", file=sys.stderr)
    if output:
        names = ", ".join([bundle.name, *(file.name for file in bundle.files)])
        print(f"wrote {names} to {output}; submit there: {bundle.submit}", file=sys.stderr)
    elif bundle.files:
        names = ", ".join(file.name for file in bundle.files)
        print(f"note: the script needs {names} beside it; -o DIR writes all", file=sys.stderr)
