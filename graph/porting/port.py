"""From a script that works on one machine to the script for another: read, keep the user's part, plan the rest anew.

The number of ranks stays, and with it the global batch; where the new machine's nodes hold another number of GPUs,
the nodes change. What has no counterpart is a note, what was decided an assumption of the plan.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from itertools import pairwise

from graph.extraction.script import Script, read_script
from graph.extraction.script_counts import DEVICE_OPTIONS
from graph.extraction.script_record import ScriptRecord, record_of
from graph.planning.plan import plan
from graph.porting.parts import Note, UserPart, user_part
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import (
    FRAMEWORKS,
    STRATEGIES,
    Heard,
    JobRequest,
    LaunchBundle,
    LaunchPlan,
    Refusal,
    Strategy,
)
from templates.render import render

NODE_OPTIONS = re.compile(r"(?:--?)?(?:trainer\.)?(num[_-]nodes|nnodes|n[_-]nodes|nodes)")
GOES_ALONG = ("framework", "strategy", "total_gpus", "walltime", "model", "entry", "args", "setup", "variables")


@dataclass(frozen=True, slots=True)
class Ported:
    """The new script with all that led to it. notes are for a person: what to look at before submitting."""

    source: Script
    record: ScriptRecord
    part: UserPart
    plan: LaunchPlan
    bundle: LaunchBundle
    notes: tuple[Note, ...]


def port(text: str, target: Cluster, changes: JobRequest | None = None) -> Ported | Refusal:
    """The script for the target machine. `changes` holds what was said beside (account, queue, nodes, ...).

    Raises InputError where the text is no script, starts no training program, or leaves something open.
    """
    script = read_script(text)
    record = record_of(script)
    source = catalogue().find(record.machine) if record.machine else None
    part = user_part(script, source, target)
    if part is None:
        raise InputError(
            "no training program can be seen in the script; name it with --entry, or give the file it runs"
        )
    request, notes = request_for(record, part, target, changes or JobRequest())
    decided, more = planned(request, target)
    if isinstance(decided, Refusal):
        return decided
    args, counted = counted_args(split(request.args), record, decided)
    decided = own_sizes(replace(decided, args=args))
    notes += (*more, *counted, *part.notes, *lost(script, record, target))
    return Ported(script, record, part, decided, render(decided), notes)


def carried_over(text: str, target: Cluster | None = None) -> JobRequest:
    """The part of a request that a script gives, for a conversation that goes on. Raises InputError as `port` does."""
    script = read_script(text)
    record = record_of(script)
    source = catalogue().find(record.machine) if record.machine else None
    machine = target or source or next(iter(catalogue().clusters.values()))
    part = user_part(script, source, machine)
    if part is None:
        raise InputError("no training program can be seen in the script; paste the script that starts it")
    return own_request(record, part)


def own_request(record: ScriptRecord, part: UserPart) -> JobRequest:
    """What the script says about the job itself; GPUs go along as a total."""
    total = record.total_gpus
    if record.nodes and record.gpus_per_node:
        total = record.nodes * record.gpus_per_node
    known = next((name for name in FRAMEWORKS if name == record.framework), None)
    return JobRequest(
        source_machine=record.machine,
        framework=known,
        strategy=next((name for name in STRATEGIES if name == record.strategy), None),
        total_gpus=total,
        walltime=record.walltime,
        model=record.model,
        entry=f"-m {part.entry}" if part.is_module else part.entry,
        args=shlex.join(part.args) or None,
        setup=part.setup,
        variables=part.variables,
        heard=tuple(Heard(name, "script", "the script") for name in GOES_ALONG if getattr(record, name, None)),
    )


def request_for(
    record: ScriptRecord, part: UserPart, target: Cluster, changes: JobRequest
) -> tuple[JobRequest, tuple[Note, ...]]:
    """The request for the new machine: the script's own part, then what was said beside it."""
    if record.framework is not None and record.framework not in FRAMEWORKS and changes.framework is None:
        raise InputError(f"the script uses {record.framework}: scripts are written for {', '.join(FRAMEWORKS)}")
    notes: tuple[Note, ...] = ()
    request = own_request(record, part)
    said = {
        name: value
        for name in (
            "framework",
            "strategy",
            "nodes",
            "gpus_per_node",
            "account",
            "queue",
            "walltime",
            "entry",
            "args",
            "environment",
        )
        if (value := getattr(changes, name)) is not None
    }
    request = replace(request, machine=target.id, **said)
    if request.strategy is None:
        usual = usual_strategy(request.framework)
        request = replace(request, strategy=usual)
        notes += (Note(0, f"The script does not tell the strategy: {usual} assumed; the launch is the same."),)
    if changes.nodes or changes.gpus_per_node:
        notes += ranks_change(request)
        return replace(request, total_gpus=None), notes
    if request.total_gpus is None:
        if record.nodes is None:
            raise InputError("the script does not tell how many nodes and GPUs it runs on; give --nodes")
        return replace(request, nodes=record.nodes), notes
    spread, said_spread = spread_evenly(request, record, target)
    return spread, (*notes, *said_spread)


def usual_strategy(framework: str | None) -> Strategy:
    return "zero2" if framework == "deepspeed" else "ddp"


def ranks_change(request: JobRequest) -> tuple[Note, ...]:
    before = request.total_gpus
    after = (request.nodes or 1) * (request.gpus_per_node or 0)
    if not before or not after or before == after:
        return ()
    return (Note(0, f"{before} ranks become {after}: the global batch changes unless you change the batch a rank."),)


def spread_evenly(request: JobRequest, record: ScriptRecord, target: Cluster) -> tuple[JobRequest, tuple[Note, ...]]:
    """The same number of ranks on the new nodes: whole nodes where it comes out even, else fewer GPUs each."""
    total = request.total_gpus or 1
    queue = (target.queue(request.queue) if request.queue else None) or target.default_queue
    devices = target.node_type(queue.node_types[0]).gpus.devices_per_node or 1
    each = next(n for n in range(min(devices, total), 0, -1) if total % n == 0)
    spread = replace(request, nodes=total // each, gpus_per_node=each, total_gpus=None)
    if (spread.nodes, each) == (record.nodes, record.gpus_per_node):
        return spread, ()
    before = f"{record.nodes} x {record.gpus_per_node}" if record.nodes else str(total)
    says = f"{before} ranks become {spread.nodes} x {each}: the same {total}, so the global batch stays."
    if each < min(devices, total):
        rest = devices - each
        says += f" {rest} of {devices} GPUs of each node stay idle; --nodes with all GPUs would change the batch."
    return spread, (Note(0, says),)


def planned(request: JobRequest, target: Cluster) -> tuple[LaunchPlan | Refusal, tuple[Note, ...]]:
    """The plan; where only the walltime does not fit the machine, the longest that does, said."""
    decided = plan(request, target)
    if not isinstance(decided, Refusal):
        return decided, ()
    for way in decided.instead:
        change = dict(way.change)
        if set(change) <= {"walltime", "queue"} and isinstance(change.get("walltime"), str):
            again = plan(replace(request, **change), target)  # type: ignore[arg-type]
            if not isinstance(again, Refusal):
                return again, (Note(0, f"{decided.says} Taken instead: {way.says}."),)
    return decided, ()


def split(args: str | None) -> tuple[str, ...]:
    return tuple(shlex.split(args or ""))


def counted_args(
    args: tuple[str, ...], record: ScriptRecord, decided: LaunchPlan
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Arguments that tell the program its nodes and GPUs (`--devices 4`) follow the new counts."""
    made, notes, i = list(args), [], 0
    while i < len(made):
        name, equals, value = made[i].partition("=")
        following = i + 1 < len(made) and not equals
        at = i + 1 if following else i
        old = made[at] if following else value
        new = new_count(name, old, record, decided)
        if new is not None and (equals or following) and str(new) != old:
            made[at] = f"{name}={new}" if equals else str(new)
            notes.append(Note(0, f"{name} {old} becomes {new}: the program is told its nodes and GPUs."))
        i = at + 1 if new is not None and following else i + 1
    return tuple(made), tuple(notes)


def new_count(name: str, value: str, record: ScriptRecord, decided: LaunchPlan) -> int | None:
    """The new number for an option that holds the old node or GPU count; None for any other option."""
    if NODE_OPTIONS.fullmatch(name) and (value == str(record.nodes) or value.startswith("$")):
        return decided.nodes
    if DEVICE_OPTIONS.fullmatch(name) and (value == str(record.gpus_per_node) or value.startswith("$")):
        return decided.ranks_per_node
    return None


def own_sizes(decided: LaunchPlan) -> LaunchPlan:
    """Tensor and pipeline sizes that the program is told already are the user's, not the plan's default."""
    sizes = {"--tensor-model-parallel-size": 1, "--pipeline-model-parallel-size": 1}
    words = [part for word in decided.args for part in word.split("=", 1)]
    told = {name: int(after) for name, after in pairwise(words) if name in sizes and after.isdigit()}
    if not told:
        return decided
    sizes |= told
    return replace(
        decided,
        tensor_parallel=sizes["--tensor-model-parallel-size"],
        pipeline_parallel=sizes["--pipeline-model-parallel-size"],
        assumptions=tuple(a for a in decided.assumptions if a.field != "parallel sizes"),
    )


def lost(script: Script, record: ScriptRecord, target: Cluster) -> tuple[Note, ...]:
    """What belongs to the machine that is left and has no counterpart by itself."""
    notes = []
    if record.queue:
        notes.append(Note(line(script, "partition", "queue", "qos"), f"Queue {record.queue} is the old machine's."))
    if record.account:
        where = line(script, "account", "project", "bank", "group")
        notes.append(
            Note(where, f"Account {record.account} is the old machine's: give {target.title}'s with --account.")
        )
    if record.container:
        says = f"Container {record.container} is not carried over: {target.title}'s own software is loaded instead."
        notes.append(Note(0, says))
    for option in ("array", "dependency"):
        if option in script.active:
            says = f"--{option} {script.active[option].value} is not carried over: submit the new script with it."
            notes.append(Note(script.active[option].line, says))
    return tuple(notes)


def line(script: Script, *options: str) -> int:
    return next((script.active[name].line for name in options if name in script.active), 0)
