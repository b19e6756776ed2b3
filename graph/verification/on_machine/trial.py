"""What is sent to the machine: the mini-app with a launch script of its own, planned for the same machine, framework
and strategy, on two nodes at most and for ten minutes.

Nothing of the person's script is run: no `rm`, no download, no training. What goes along are its account, its Python
environment and its variables of the network libraries, because they decide whether the process group forms; no other
variable, which may be a key.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from graph.extraction.directives import is_placeholder
from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_record import ScriptRecord, record_of
from graph.planning.plan import ACCOUNT_PLACEHOLDER, plan
from graph.planning.queues import longest
from graph.planning.strategies import with_usual_framework
from graph.verification.on_machine.schedulers import SCHEDULERS
from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.errors import InputError, UnavailableError
from knowledge.types import (
    STRATEGIES,
    Framework,
    JobRequest,
    LaunchPlan,
    Refusal,
    SideFile,
    Strategy,
    Variable,
)
from templates.quoting import EXPANSION
from templates.records import RUNS
from templates.render import render

MINIAPP = Path(__file__).parents[3] / "templates" / "miniapp" / "preflight.py"
NODES, WALLTIME = 2, "00:10:00"
# NCCL and its plugins, RCCL, oneCCL, libfabric, UCX, Gloo, the MPIs, and torch's own switches.
NETWORK = re.compile(
    r"(TORCH_)?(NCCL|RCCL|CCL|FI|UCX|GLOO|MPICH|OMPI_MCA|I_MPI|MV2|PALS|CXI|OFI|TORCH_DISTRIBUTED)_\w+"
)
OWN_STRATEGIES = ("fsdp", "zero1", "zero2", "zero3")


@dataclass(frozen=True, slots=True)
class Trial:
    """All that is sent, and the command that submits it. The first of files is the script.

    by_hand is the command without our options, for systems that are not followed. notes: what the script left open.
    """

    plan: LaunchPlan
    files: tuple[SideFile, ...]
    submit: tuple[str, ...]
    by_hand: str
    folder: str
    notes: tuple[str, ...] = ()

    @property
    def account_open(self) -> bool:
        """Whether a placeholder still stands for the account."""
        return self.plan.account.startswith(ACCOUNT_PLACEHOLDER)


@dataclass(frozen=True, slots=True)
class TrialWishes:
    """What a person said beside the script; it wins over what the script says."""

    framework: Framework | None = None
    strategy: Strategy | None = None
    account: str | None = None
    queue: str | None = None
    environment: str | None = None


def trial_of(text: str, cluster: Cluster, asked: TrialWishes) -> Trial | Refusal:
    """The trial for a script. Raises InputError where the text is no script, or one of a framework without scripts."""
    script = read_script(text)
    record = record_of(script)
    if record.scheduler == "none" and script.program is None:
        raise InputError("this is no launch script: it holds no directive and starts no program; give the job's script")
    request = request_of(script, record, cluster, asked)
    decided = planned(request, cluster, asked.queue)
    if isinstance(decided, Refusal):
        return decided
    decided = with_variables(decided, script)
    bundle = render(decided)
    files = (SideFile(bundle.name, bundle.script), *bundle.files, SideFile(MINIAPP.name, miniapp()))
    submit = submit_words(decided, bundle.name)
    folder = f"maple-chat/{cluster.id}-{time.strftime('%Y%m%d-%H%M%S')}"
    return Trial(decided, files, submit, bundle.submit, folder, notes_on(record, asked))


def notes_on(record: ScriptRecord, asked: TrialWishes) -> tuple[str, ...]:
    """What a person should know of the choice."""
    said = []
    if record.strategy is None and asked.strategy is None:
        said.append("the script does not tell its strategy, and the launch is the same for most; --strategy names it")
    if record.nodes is not None and record.nodes > NODES:
        said.append(f"the script's {record.nodes} nodes are {NODES} here")
    return tuple(said)


def miniapp() -> str:
    try:
        return MINIAPP.read_text(encoding="utf-8")
    except OSError as error:
        raise UnavailableError(f"the mini-app {MINIAPP} cannot be read; install maple-chat again") from error


def submit_words(decided: LaunchPlan, name: str) -> tuple[str, ...]:
    """The submit command. A system that is not followed gets its plain one, for a person to type."""
    system = SCHEDULERS.get(decided.scheduler)
    return (*shlex.split(decided.submit), *(system.submit if system else ()), name)


def request_of(script: ReadScript, record: ScriptRecord, cluster: Cluster, asked: TrialWishes) -> JobRequest:
    """The script's own request, at the trial's size."""
    if record.framework is not None and record.framework not in RUNS and asked.framework is None:
        raise InputError(f"the script uses {record.framework}: a trial is written for {', '.join(RUNS)}")
    framework = asked.framework or next((name for name in RUNS if name == record.framework), None)
    strategy = asked.strategy or next((name for name in STRATEGIES if name == record.strategy), None)
    request = with_usual_framework(
        JobRequest(
            machine=cluster.id,
            framework=framework,
            strategy=strategy or ("zero2" if framework == "deepspeed" else "ddp"),
            nodes=min(record.nodes or NODES, NODES),
            gpus_per_node=record.gpus_per_node,
            walltime=WALLTIME,
            entry=MINIAPP.name,
            account=asked.account or own(record.account),
            queue=asked.queue or known_queue(record.queue, cluster),
            environment=asked.environment or environment_of(script, cluster),
        )
    )
    return replace(request, args=arguments(request))


def arguments(request: JobRequest) -> str:
    """What the mini-app is told. It needs no more than PyTorch for what it does not train in its own way."""
    strategy = str(request.strategy) if request.strategy in OWN_STRATEGIES else "ddp"
    if request.framework == "accelerate":
        strategy = "accelerate"
    return f"--strategy {strategy} --framework {request.framework or 'pytorch'}"


def own(account: str | None) -> str | None:
    """The account, unless it was left to be filled in."""
    if account is None or is_placeholder(account) or account.startswith(ACCOUNT_PLACEHOLDER):
        return None
    return account


def known_queue(name: str | None, cluster: Cluster) -> str | None:
    queue = cluster.queue(name) if name else None
    return queue.id if queue else None


def environment_of(script: ReadScript, cluster: Cluster) -> str | None:
    """The person's environment where the script names it as ours do, and names another than the facts' example."""
    facts = [fact for software in cluster.software.values() for fact in software.settings if fact.environment]
    for fact in facts:
        value = script.value_of(fact.name)
        if value and value != fact.value and "$" not in EXPANSION.sub("", value) and "`" not in value:
            return value
    return None


def with_variables(decided: LaunchPlan, script: ReadScript) -> LaunchPlan:
    """The plan with the script's own network variables. One that runs a command is left out."""
    own = {one.name: one for one in script.assignments if one.exported and NETWORK.fullmatch(one.name)}
    there = {(one.name, one.value) for one in decided.variables}
    added = tuple(
        Variable(one.name, one.value, "as in your script")
        for one in own.values()
        if (one.name, one.value) not in there and "$" not in EXPANSION.sub("", one.value) and "`" not in one.value
    )
    return replace(decided, user_variables=added)


def planned(request: JobRequest, cluster: Cluster, wanted: str | None) -> LaunchPlan | Refusal:
    """In the queue that a person wants; else a debug queue that takes it, the script's queue, the usual one."""
    first: Refusal | None = None
    for queue in queues(request.queue, cluster, wanted):
        fitted = replace(request, queue=queue.id, walltime=walltime(queue, request.nodes or NODES))
        decided = plan(fitted, cluster)
        if isinstance(decided, LaunchPlan):
            return decided
        first = first or decided
    if first is None:
        raise InputError(f"{cluster.title} has no queue that is known here; give --queue")
    return first


def queues(scripts: str | None, cluster: Cluster, wanted: str | None) -> Iterator[Queue]:
    """The queues to try, in order. Raises InputError where the wanted one is not known."""
    if wanted:
        named = cluster.queue(wanted)
        if named is None:
            known = ", ".join(queue.id for queue in cluster.queues)
            raise InputError(f"{cluster.title} has no queue '{wanted[:40]}'; known: {known}")
        yield named
        return
    usual = (cluster.queue(scripts) if scripts else None) or cluster.default_queue
    for queue in cluster.queues:
        if queue.purpose == "debug" and set(queue.node_types) & set(usual.node_types):
            yield queue
    yield usual
    yield cluster.default_queue


def walltime(queue: Queue, nodes: int) -> str:
    """Ten minutes, or what the queue makes of it."""
    limit = longest(queue, nodes)
    if limit is not None and walltime_seconds(limit) < walltime_seconds(WALLTIME):
        return limit
    if queue.min_walltime is not None and walltime_seconds(queue.min_walltime) > walltime_seconds(WALLTIME):
        return queue.min_walltime
    return WALLTIME
