"""What a machine's facts add to a diagnosis: its queues, modules, variables, rendezvous in place of general words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from graph.debugging.refusals import Step, facts_of_refusal, is_of_count, is_of_gap, with_page
from graph.debugging.settings import NAMES, holds, settings_of_machine, settings_told, steps_of
from knowledge.cluster import Cluster, EnvironmentFact, Queue
from knowledge.signatures.loader import library
from knowledge.site import site_of
from knowledge.types import Diagnosis
from templates.quoting import shell_word

MOST_QUEUES = 6
MOST_GOTCHAS = 2
MOST_VARIABLES = 4
NETWORK = ("NCCL_", "FI_", "MPICH_", "CCL_", "GLOO_", "UCX_", "RCCL_", "HSA_")
# What torch.distributed calls the collectives of each kind of GPU; xccl is built in since PyTorch 2.8.
COLLECTIVES = {"cuda": "nccl", "rocm": "nccl", "xpu": "xccl"}
NAME = re.compile(r"\{\w+\}")
MEETS = "`MASTER_ADDR="
# What a batch script's own shell would decide once, on the first node.
EACH_NODE = ", all of it inside `srun bash -c '...'` (single quotes), so that each node decides for itself"
OWN_TORCHRUN = re.compile(r"\btorchrun_\w+")
SETS = re.compile(r"\bexport ([A-Z]\w+)=([^\s`]+)")


def for_cluster(diagnosis: Diagnosis, cluster: Cluster) -> Diagnosis:
    """The same diagnosis with this machine's steps first, and the pages that they come from."""
    cause, here = library().causes[diagnosis.cause], settings_told(diagnosis) | settings_of_machine(cluster)
    refused = facts_of_refusal(diagnosis, cluster)
    known = FACTS[diagnosis.cause](cluster) if diagnosis.cause in FACTS and not is_of_count(diagnosis) else []
    if diagnosis.cause == "env-disk" and not any(FULL.search(one.text) for one in diagnosis.evidence):
        known = []  # a file system that fails lacks no space
    # What is missing is told first; of what is wrong the cause's own facts come before all that names the option too.
    facts = [*refused, *known] if is_of_gap(diagnosis) else [*known, *refused]
    facts += _forbidden(diagnosis, cluster) + _gotchas(diagnosis, cluster)
    steps = [(step, source) for step, source in facts if holds(step, here)]
    others = {step for name, each in cause.by.items() if name in NAMES["scheduler"] for step in each}
    exact = {step for one in library().signatures if one.id == diagnosis.signature for step in one.fix}
    closer = [] if exact & set(diagnosis.fix) else steps_of(cause, here, ("vendor",))
    own = [] if exact & set(diagnosis.fix) else steps_of(cause, here, ("scheduler",))
    met = any(
        f"{MEETS}{cluster.rendezvous.host}" in step for step, _ in facts
    )  # then the general address is a wrong one
    own = [step for step in own if not (met and MEETS in step)]
    kept = [step for step in diagnosis.fix if step not in (*others, *closer) and holds(step, here)]
    kept = kept or [step for step in cause.fix if not NAME.search(step) and holds(step, here)]
    general = [step for step in kept if not _contradicted(step, cluster)]
    sources = dict.fromkeys([*diagnosis.sources, *(source for _, source in steps if source)])
    told = [*closer, *(step for step, _ in steps)]
    fix = (*general, *own, *told) if diagnosis.cause in GENERAL_FIRST else (*told, *general, *own)
    return replace(diagnosis, fix=tuple(dict.fromkeys(map(cluster.internet.as_there, fix))), sources=tuple(sources))


def _contradicted(step: str, cluster: Cluster) -> bool:
    """Whether a step sets a variable to something else than this machine's jobs must have there."""
    here = {fact.name: fact.value for fact in cluster.environment if fact.apply == "always"}
    return any(here.get(name, value) != value for name, value in SETS.findall(step))


def _queues(cluster: Cluster) -> list[Step]:
    """The queues a GPU job may name, with their limits."""
    told = [_queue(queue) for queue in cluster.gpu_queues if queue.purpose != "special"][:MOST_QUEUES]
    source = next((queue.source for queue in cluster.queues if queue.source), None)
    return [(f"Queues of {cluster.title}: {'; '.join(told)}.", source)]


def _queue(queue: Queue) -> str:
    limits = [f"{queue.max_nodes} nodes" if queue.max_nodes else "", queue.max_walltime or ""]
    most = ", ".join(limit for limit in limits if limit)
    return f"{queue.id} (at most {most})" if most else queue.id


def _account(cluster: Cluster) -> list[Step]:
    fact = cluster.account
    suffix = f" GPU projects end on '{fact.suffix}'." if fact.suffix else ""
    if not (fact.note or suffix):
        return []
    return [(f"Accounts on {cluster.title}: {fact.note or ''}{suffix}".strip(), fact.source)]


def _software(cluster: Cluster) -> list[Step]:
    """What a job loads there before it starts Python."""
    software = cluster.software.get("default") or next(iter(cluster.software.values()), None)
    if software is None or not software.lines:
        return []
    lines = "; ".join(line for line in software.lines if not line.startswith("#"))
    return [(f"On {cluster.title} a job sets up its software with: {lines}", software.source)]


def _network(cluster: Cluster) -> list[Step]:
    """The network variables that this machine's jobs set."""
    return [(f"On {cluster.title}: {_variable(fact)}", fact.source) for fact in _set(cluster)[:MOST_VARIABLES]]


def _set(cluster: Cluster) -> list[EnvironmentFact]:
    return [fact for fact in cluster.environment if fact.name.startswith(NETWORK) and fact.apply != "advice"]


def _variable(fact: EnvironmentFact) -> str:
    told = "; ".join(filter(None, (fact.why, fact.when)))
    why = f" ({told})" if told else ""
    return f"`export {fact.name}={shell_word(fact.value)}`{why}."


def _hung(cluster: Cluster) -> list[Step]:
    """The same variables for who lacks them, but for those that a gotcha says to unset where collectives hang."""
    unset = " ".join(text for text in cluster.gotchas if any(word in text for word in HUNG))
    facts = [fact for fact in _set(cluster) if fact.name not in unset]
    lacking = f"If your script does not set what {cluster.title} documents"
    return [(f"{lacking}: {_variable(fact)}", fact.source) for fact in facts[:MOST_VARIABLES]]


def _rendezvous(cluster: Cluster) -> list[Step]:
    fact = cluster.rendezvous
    own = f"On {cluster.title}, exported in the job script above the line that starts the program: "
    steps: list[Step] = [(f"{own}`MASTER_ADDR={fact.host}`, `MASTER_PORT={fact.port}`.", fact.source)]
    for form in cluster.launch.get("pytorch", ()):
        options = [one for one in form.torchrun_options if "is_host" in one]
        if form.workers == "torchrun" and (options or OWN_TORCHRUN.search(form.torchrun)):
            call = " ".join((form.torchrun, *options))
            note = f" ({form.note})" if form.note else ""
            each = EACH_NODE if "SLURM_NODEID" in call else ""
            steps.append((f"With torchrun there: `{call}` in place of plain torchrun{note}{each}.", form.source))
    return steps


def _internet(cluster: Cluster) -> list[Step]:
    fact = cluster.internet
    if fact.access == "proxy":
        exports = " ".join(f"{name}={value}" for name, value in fact.proxy.items())
        return [
            (f"Compute nodes of {cluster.title} reach the internet through a proxy: `export {exports}`.", fact.source)
        ]
    if fact.access == "no":
        return [(f"Compute nodes of {cluster.title} have no way to the internet: stage files first.", fact.source)]
    return []


def _devices(cluster: Cluster) -> list[Step]:
    told = [
        f"{node.gpus.devices_per_node} x {node.gpus.model} ({node.id})"
        for node in cluster.node_types
        if node.gpus.devices_per_node
    ]
    return (
        [(f"GPUs of a node on {cluster.title}, as the framework counts them: {', '.join(told)}.", None)] if told else []
    )


def _quota(cluster: Cluster) -> list[Step]:
    """How much space there is by kind, and what shows what is used of it."""
    site = site_of(cluster.id)
    if site is None or not site.quota.limits:
        return []
    limits = "; ".join(f"{name} {most.partition(';')[0]}" for name, most in site.quota.limits.items())
    command = site.quota.command.partition(";")[0].partition(" (")[0].strip()
    shows = f" `{command}` shows what is used." if command else ""
    return [(f"Space on {cluster.title}: {limits}.{shows}", next(iter(site.quota.sources), None))]


def _backend(cluster: Cluster) -> list[Step]:
    backends = " or ".join(sorted({COLLECTIVES[node.gpus.backend] for node in cluster.node_types}))
    return [(f"The backend of torch.distributed for the GPUs of {cluster.title} is {backends}.", None)]


def _refusals(cluster: Cluster) -> list[Step]:
    return [(f"{fact.says} {fact.instead}", fact.source) for fact in cluster.refusals[:2]]


def _forbidden(diagnosis: Diagnosis, cluster: Cluster) -> list[Step]:
    """Options that this machine refuses, where a line of the evidence names one."""
    shown = " ".join(evidence.text for evidence in diagnosis.evidence)
    return [
        (f"{fact.option}: {fact.why}", fact.source) for fact in cluster.forbidden if fact.option.split("=")[0] in shown
    ]


def _gotchas(diagnosis: Diagnosis, cluster: Cluster) -> list[Step]:
    """What people stumble over there, where it speaks of this cause; a page named at its end becomes the source."""
    words = GOTCHAS.get(diagnosis.cause, ())
    told = [text for text in cluster.gotchas if any(word in text for word in words)][:MOST_GOTCHAS]
    return [with_page(text) for text in told]


FULL = re.compile(r"(?i)quota|space|full\b|Errno (?:28|122)")
# A collective that hung after good steps is seldom the network's doing: who stayed away is asked first. Numbers that
# disagree are made equal before a rendezvous matters.
GENERAL_FIRST = ("comm-collective-timeout", "comm-world-size", "env-disk")
HUNG = ("time out in NCCL", "FI_ variables unset")
# Words by which a machine's gotchas are known to be about a cause.
GOTCHAS = {
    "env-compiler": ("compiler", "CUDA toolkit", "gcc"),
    "env-module": ("finds no module", "module is not there", "may not find", "cannot be loaded"),
    "env-not-propagated": ("propagat", "--export", "environment of"),
    "fw-op-build": ("DeepSpeed", "compil", "Apex", "flash"),
    "comm-collective-timeout": HUNG,
    "comm-oneccl": ("CCL",),
    "comm-world-size": ("RANK", "WORLD_SIZE", "SLURM_PROCID"),
    "env-container": ("container", "image"),
}
FACTS: dict[str, Callable[[Cluster], list[Step]]] = {
    "sched-bad-queue": _queues,
    "env-disk": _quota,
    "env-driver": _software,
    "sched-over-limit": _queues,
    "sched-time-limit": _queues,
    "sched-bad-account": _account,
    "env-module": _software,
    "env-python-package": _software,
    "env-shared-library": _software,
    "env-not-propagated": _software,
    "env-compiler": _software,
    "env-no-internet": _internet,
    "gpu-not-visible": lambda cluster: [*_devices(cluster), *_software(cluster)],
    "sched-step-layout": _devices,
    "comm-rendezvous": _rendezvous,
    "comm-world-size": _rendezvous,
    "comm-interface": _network,
    "comm-nccl-system": _network,
    "comm-collective-timeout": _hung,
    "comm-oneccl": _network,
    "comm-mpi-init": _network,
    "fw-backend": _backend,
    "fw-op-build": _refusals,
}
