"""`maple-chat script`: the launch script, with no conversation; with --from, ported from another machine's script."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from assistant.errors import InputError
from assistant.reading import shown_script
from assistant.saving import in_the_way, save
from graph.changes import lines_of
from graph.planning.request_fields import array_of, variable_of, with_fields
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.job_parts import Dependency, LimitSignal, Mail
from knowledge.masking import hide
from knowledge.types import FRAMEWORKS, STRATEGIES, Finding, JobRequest, LaunchBundle, LaunchPlan, Refusal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", required=True, help="a machine of `maple-chat clusters`")
    parser.add_argument("--from", dest="source", metavar="FILE", help="port this machine's script; - reads stdin")
    parser.add_argument("--framework", choices=FRAMEWORKS)
    parser.add_argument("--strategy", choices=STRATEGIES, help="needed without --from")
    parser.add_argument("--nodes", type=int, help="needed without --from")
    parser.add_argument(
        "--gpus-per-node", type=int, help="cards, or tiles where a card has several; default: all; 0: no GPUs"
    )
    parser.add_argument("--account")
    parser.add_argument("--queue", help="partition, queue or QOS")
    parser.add_argument("--walltime", metavar="HH:MM:SS")
    parser.add_argument("--entry", metavar="PROGRAM", help="train.py, or '-m package.module'")
    parser.add_argument("--args", metavar="'...'", help="the program's arguments, as on a command line")
    parser.add_argument("--env", metavar="NAME", help="your environment: a path, a conda name, an image, an EDF file")
    parser.add_argument("--container", metavar="IMAGE", help="run in this image, by the machine's own runtime")
    parser.add_argument(
        "--node-type", metavar="KIND", help="a kind of node of that machine, or its GPU: h100, gpu-a100-80"
    )
    parser.add_argument(
        "--array", metavar="OPTION=V,V", action="append", help="an array over values: --array lr=1e-3,1e-4"
    )
    parser.add_argument("--after", metavar="JOBID", help="start after this job ended well")
    parser.add_argument("--chain", type=int, metavar="N", help="N jobs one after another")
    parser.add_argument("--requeue", action="store_true", default=None, help="signal before the limit, save, run again")
    parser.add_argument("--mail", metavar="ADDRESS")
    parser.add_argument("--module", action="append", default=[], metavar="NAME", help="one more module, in this order")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE", help="export a variable")
    parser.add_argument(
        "--directive", action="append", default=[], metavar="'--opt'", help="a directive, word for word"
    )
    parser.add_argument(
        "--offline", action="store_true", default=None, help="wandb, Hugging Face and pip off the network"
    )
    parser.add_argument("--first-run", action="store_true", default=None, help="a short try in the debug queue")
    parser.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="any field of a request; 'help' lists"
    )
    parser.add_argument("-o", "--output", metavar="DIR", help="write the script and the files beside it there")
    parser.add_argument("--force", action="store_true", help="with -o: overwrite files")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    cluster = catalogue().named(options.machine)
    request = request_of(options, cluster)
    if options.source:
        return run_port(options, request, cluster)
    from graph.usecases.write_script import Open, write_script  # the checks take a while to load

    made = write_script(request, cluster)
    if isinstance(made, Open):
        missing = " and ".join(f"--{one.field}" for one in made.questions)
        raise InputError(f"{missing} is needed; `maple-chat ask` asks you instead")
    if isinstance(made, Refusal):
        return refuse(made, options.json)
    answer: dict[str, object] = {"bundle": asdict(made.bundle), "plan": asdict(made.plan)}
    answer["findings"] = [asdict(one) for one in made.findings]
    hand_over(made.bundle, answer, options)
    tell_findings(made.findings)
    tell(made.plan, made.bundle, options.output)
    return 0


def run_port(options: argparse.Namespace, request: JobRequest, cluster: Cluster) -> int:
    """A person's script for another machine, and what changed in it."""
    from graph.porting.account import counts
    from graph.usecases.port_script import port_script

    made = port_script(shown_script(options.source), cluster, request)
    if isinstance(made, Refusal):
        return refuse(made, options.json)
    ported = made.ported
    rows = lines_of("your script", hide(ported.source.text), ported.bundle.name, ported.bundle.script)
    answer: dict[str, object] = {
        "bundle": asdict(ported.bundle),
        "plan": asdict(ported.plan),
        "notes": [asdict(note) for note in ported.notes],
        "account": [asdict(line) for line in ported.account],
        "findings": [asdict(one) for one in made.findings],
        "difference": rows,
    }
    hand_over(ported.bundle, answer, options)
    if not options.json:
        print("\n".join(rows), end="\n\n", file=sys.stderr)
    for note in ported.notes:
        print(f"look at: {f'line {note.line}: ' if note.line else ''}{note.says}", file=sys.stderr)
    tell_findings(made.findings)
    print(f"statements of the old script: {counts(ported.account)} (--json lists them)", file=sys.stderr)
    tell(ported.plan, ported.bundle, options.output)
    return 0


def tell_findings(findings: Iterable[Finding]) -> None:
    for one in findings:
        print(f"check: line {one.line}: {one.severity}: {one.says}", file=sys.stderr)


def request_of(options: argparse.Namespace, cluster: Cluster) -> JobRequest:
    asked = JobRequest(
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
        container=options.container,
        node_type=options.node_type,
        array=array_of(options.array),
        dependency=Dependency("afterok", (options.after,)) if options.after else None,
        chain=options.chain,
        requeue=options.requeue,
        signal=LimitSignal() if options.requeue else None,
        mail=Mail(options.mail) if options.mail else None,
        modules=tuple(options.module),
        variables=tuple(variable_of(text) for text in options.var),
        extra_directives=tuple(options.directive),
        offline=options.offline,
        first_run=options.first_run,
    )
    return with_fields(asked, options.set)


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
