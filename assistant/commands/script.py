"""`maple-chat script`: the launch script, with no conversation; with --from, ported from another machine's script."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from assistant.errors import InputError
from assistant.saving import in_the_way, save
from graph.planning.fields import shown
from graph.planning.plan import plan
from graph.planning.strategies import with_usual_framework
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.types import FRAMEWORKS, STRATEGIES, JobRequest, LaunchBundle, LaunchPlan, Refusal
from templates.render import render

MOST_BYTES = 5_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", required=True, help="a machine of `maple-chat clusters`")
    parser.add_argument("--from", dest="source", metavar="FILE", help="port this machine's script; - reads stdin")
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--strategy", choices=STRATEGIES, help="needed without --from")
    parser.add_argument("--nodes", type=int, help="needed without --from")
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
    request = request_of(options, cluster)
    if options.source:
        return run_port(options, request, cluster)
    missing = [f"--{name}" for name in ("strategy", "nodes") if getattr(options, name) is None]
    if missing:
        raise InputError(f"{' and '.join(missing)} is needed; `maple-chat ask` asks you instead")
    decided = plan(with_usual_framework(request), cluster)
    if isinstance(decided, Refusal):
        return refuse(decided, options.json)
    bundle = render(decided)
    hand_over(bundle, {"bundle": asdict(bundle), "plan": asdict(decided)}, options)
    tell(decided, bundle, options.output)
    return 0


def run_port(options: argparse.Namespace, request: JobRequest, cluster: Cluster) -> int:
    """The user's part of a script, on another machine; the two side by side with a reason for each change."""
    from graph.porting.diff import as_text, side_by_side
    from graph.porting.port import port

    ported = port(read(options.source), cluster, request)
    if isinstance(ported, Refusal):
        return refuse(ported, options.json)
    rows = side_by_side(ported, cluster)
    answer: dict[str, object] = {
        "bundle": asdict(ported.bundle),
        "plan": asdict(ported.plan),
        "notes": [asdict(note) for note in ported.notes],
        "side_by_side": [asdict(row) for row in rows],
    }
    hand_over(ported.bundle, answer, options)
    if not options.json:
        print(as_text(rows, shutil.get_terminal_size((150, 24)).columns), file=sys.stderr)
        print(file=sys.stderr)
    for note in ported.notes:
        print(f"look at: {f'line {note.line}: ' if note.line else ''}{note.says}", file=sys.stderr)
    tell(ported.plan, ported.bundle, options.output)
    return 0


def read(name: str) -> str:
    """The script's text; bytes that are no UTF-8 are shown as such. Raises InputError."""
    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1) if name == "-" else first_bytes(Path(name))
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} has more than {MOST_BYTES // 1_000_000} MB; give the launch script alone")
    return data.decode("utf-8", "replace")


def first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def machine(name: str) -> Cluster:
    found = catalogue().find(name)
    if found is None:
        near = ", ".join(catalogue().nearest(name))
        hint = f"did you mean {near}? " if near else ""
        raise InputError(f"no machine {shown(name)} is known; {hint}`maple-chat clusters` lists them")
    return found


def request_of(options: argparse.Namespace, cluster: Cluster) -> JobRequest:
    return JobRequest(
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


def refuse(refusal: Refusal, as_json: bool) -> int:
    """The machine cannot do it: what it can, on stderr; exit 1."""
    if as_json:
        print(json.dumps({"refusal": asdict(refusal)}, ensure_ascii=False))
    nearest = "; ".join(way.says for way in refusal.instead)
    print(f"maple-chat: {refusal.says} Nearest: {nearest or 'nothing known'}.", file=sys.stderr)
    print(f"  {refusal.why}" + (f" ({refusal.source})" if refusal.source else ""), file=sys.stderr)
    return 1


def hand_over(bundle: LaunchBundle, answer: dict[str, object], options: argparse.Namespace) -> None:
    """The script to stdout or into the folder, or everything as JSON."""
    if options.output:
        write(bundle, Path(options.output), options.force)
    if options.json:
        print(json.dumps(answer, ensure_ascii=False))
    elif not options.output:
        sys.stdout.write(bundle.script)
        sys.stdout.flush()


def write(bundle: LaunchBundle, folder: Path, force: bool) -> None:
    """Script and files into the folder. Raises InputError rather than overwrite."""
    there = [] if force else in_the_way(bundle, folder)
    if there:
        raise InputError(f"{there[0]} exists and differs; give --force to overwrite, or another folder")
    save(bundle, folder, overwrite=True)


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
