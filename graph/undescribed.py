"""A machine that nobody described: a stand-in for its facts, to write a draft from.

The stand-in holds what is certain of any machine under that scheduler. What differs from site to site is a placeholder
in the script, and is named as open with the command that tells it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from graph.extraction.sentences.lexicon import fold
from graph.planning.processors import without_gpus
from graph.reading.own_machine import NO_ACCOUNT, YOURS, card_told, scheduler_told
from knowledge.catalogue import Catalogue, catalogue, squash
from knowledge.cluster import (
    NEVER,
    Account,
    Cluster,
    Cpu,
    CpuNodeType,
    DirectiveFact,
    Gpus,
    Internet,
    LaunchForm,
    NodeType,
    Queue,
    Rendezvous,
    Setting,
    Software,
)
from knowledge.schedulers.anywhere import elsewhere, scheduler_form
from knowledge.types import Backend, JobRequest, Scheduler
from templates.nearest import vendor_of

MOST_OFF = 2
# Cores of a job without GPUs, where nobody said how many.
USUAL_CORES = 8
BY_GPU = re.compile(r"\bby[-_]?gpus?\b", re.I)
# The model of cards that nobody named.
NO_CARD = "own"
USUAL_GPUS = 4
BACKENDS: Mapping[str, Backend] = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu"}
Vendor = Literal["nvidia", "amd", "intel"]
ALSO_OPEN = "modules and your Python environment: `module avail` shows what there is"
DRAFT = (
    "A draft: nobody described {} here. Certain are {}'s own directives{} and the launch. What is open stands below; "
    "on its login node `maple-chat clusters discover -o FILE` reads all of that, and the script then has no gaps."
)
OPEN = "Open: {}."
TAKEN_SCHEDULER = " (taken for its scheduler as the usual one: say *PBS*, *LSF* or *Flux* if it is another)"


def slips(name: str, catalogue: Catalogue) -> tuple[str, ...]:
    """The machines that a name may be a slip of the pen for: a letter in three is off, two at most."""
    near = catalogue.nearest(name)
    most = min(MOST_OFF, len(squash(name)) // 3)
    return tuple(one for one in near if any(off(name, other) <= most for other in names_of(catalogue.clusters[one])))


def off(one: str, other: str) -> int:
    from rapidfuzz.distance import OSA

    return OSA.distance(squash(one), squash(other))


def names_of(cluster: Cluster) -> tuple[str, ...]:
    return (cluster.id, cluster.title, *cluster.names)


def is_stand_in(cluster: Cluster) -> bool:
    return cluster.as_of == NEVER


def told_draft(cluster: Cluster) -> str:
    """What is certain of a machine that nobody described, and what is open with the command that tells it."""
    if asks := not_drafted(cluster.title):
        return f"{asks}; nothing else is certain of it here"
    forms = "; ".join(one.text for one in cluster.directives)
    certain = f"{cluster.title}, under {cluster.scheduler}: handed in with {cluster.submit}; directives: {forms}"
    return "\n".join([certain, *cluster.node_types[0].advice])


def stand_in(request: JobRequest) -> Cluster:
    """The facts that a draft is written from. request names a machine, and site_words tell of it."""
    words = request.site_words
    told = draft_scheduler(words, request.machine)
    scheduler = told or "slurm"
    form = scheduler_form(scheduler, "drafted")
    vendor: Vendor = next((one for one in ("nvidia", "amd", "intel") if one == vendor_of(words)), "nvidia")
    gpus = request.gpus_per_node or gpus_of_total(request) or USUAL_GPUS
    charged = NO_ACCOUNT.search(words) is None
    name = request.machine or YOURS
    kind = request.node_type or "gpu"
    card = card_told(words) or request.node_type or NO_CARD
    taken = "" if told else TAKEN_SCHEDULER
    tells = [one for one in form.tells if not ("queue" in one[:12] or "partition" in one[:14]) or not request.queue]
    tells = [one for one in tells if "account" not in one[:13] or (charged and not request.account)]
    tells = [one for one in tells if "cores" not in one[:5] or not request.cpus_per_task]
    forms = with_cores(form.directives, scheduler) if request.cpus_per_task else form.directives
    forms = by_chunks_of_gpus(forms, request)
    # srun takes no cores over from the job's own directive since Slurm 22.05: https://slurm.schedmd.com/srun.html
    with_srun = request.cpus_per_task and scheduler == "slurm"
    options = ("--cpus-per-task={cpus_per_task}",) if with_srun else ()
    launch = LaunchForm(launcher=form.launcher, workers="torchrun", options=options)
    title = scheduler.upper() if scheduler in ("pbs", "lsf") else scheduler.title()
    advice = (DRAFT.format(name, title, taken), *map(OPEN.format, (*tells, ALSO_OPEN)))
    queue = Queue(id=request.queue or form.queue, node_types=(kind,), max_walltime=None, default=True)
    cpu_nodes: tuple[CpuNodeType, ...] = ()
    if without_gpus(request, None):
        advice = tuple(one for one in advice if "GPU" not in one and "-per-slot" not in one)
        cores = (request.cpus_per_task or USUAL_CORES) * (request.processes_per_node or 1)
        cpu_nodes = (CpuNodeType(id="cpu", cpu=Cpu(cores=cores), advice=advice),)
        queue, forms = replace(queue, cpu_nodes=("cpu",)), form.processors
    return Cluster(
        id=re.sub(r"[^a-z0-9]+", "-", fold(name)).strip("-") or "machine",
        title=name,
        names=(),
        site="",
        as_of=NEVER,
        scheduler=scheduler,
        submit=form.submit,
        node_types=(
            NodeType(
                id=kind,
                gpus=Gpus(vendor=vendor, model=card, per_node=gpus, backend=BACKENDS[vendor]),
                advice=advice,
            ),
        ),
        cpu_nodes=cpu_nodes,
        queues=(queue,),
        whole_nodes=False,
        directives=tuple(DirectiveFact(text=one) for one in ((form.account,) if charged else ()) + forms),
        account=Account(needed=charged),
        software={
            "default": Software(
                settings=(
                    Setting(name="VENV", value="$HOME/venvs/train", why="your Python environment", environment=True),
                ),
                lines=('source "$VENV/bin/activate"',),
            )
        },
        internet=Internet(access="unknown"),
        rendezvous=Rendezvous(host=form.host, port=form.port),
        preamble=form.preamble,
        launch={"pytorch": (launch,), "accelerate": (accelerated(launch),)},
        sources=(),
    )


def draft_scheduler(words: str, machine: str | None) -> Scheduler | None:
    """The scheduler of a machine that nobody described, as far as the words or its name tell it."""
    known: Scheduler | None = elsewhere(machine).get("scheduler")
    return scheduler_told(words) or known or scheduler_of_site(words)


def not_drafted(machine: str | None) -> str:
    """What a machine asks for that no template here can write; empty where a draft can be written."""
    row = elsewhere(machine)
    return f"{machine} runs {row['asks']}, by {row['source']}" if "asks" in row else ""


def scheduler_of_site(words: str) -> Scheduler | None:
    """The scheduler of a known site's machines, where the words name the site by its letters: `ALCF Sophia`."""
    named = set(re.findall(r"\b[A-Z]{4,}\b", words))
    found = {
        one.scheduler for one in catalogue().clusters.values() if named & set(re.findall(r"\b[A-Z]{4,}\b", one.site))
    }
    return next(iter(found)) if len(found) == 1 else None


def by_chunks_of_gpus(directives: tuple[str, ...], request: JobRequest) -> tuple[str, ...]:
    """The directives where the queue's chunks are single GPUs of one node, as its name says.

    Source: https://docs.alcf.anl.gov/sophia/queueing-and-running-jobs/running-jobs/
    """
    if not BY_GPU.search(request.queue or ""):
        return directives
    chunks = ("-l select={gpus_per_node}" if "select=" in one else one for one in directives)
    return tuple(one for one in chunks if one != "-l place=scatter")


def with_cores(directives: tuple[str, ...], scheduler: Scheduler) -> tuple[str, ...]:
    """The directives with the cores of a task, where the scheduler's own form asks for them in one way."""
    if scheduler == "slurm":
        return (*directives, "--cpus-per-task={cpus_per_task}")
    return tuple(one.replace(":ngpus=", ":ncpus={cpus_per_task}:ngpus=") for one in directives)


def accelerated(form: LaunchForm) -> LaunchForm:
    return replace(form, workers="accelerate")


def gpus_of_total(request: JobRequest) -> int | None:
    """GPUs of a node where a total was said: a lab's box has them all in one."""
    nodes = request.nodes or 1
    return request.total_gpus // nodes if request.total_gpus and request.total_gpus % nodes == 0 else None
