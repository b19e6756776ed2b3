"""A machine that nobody described: a stand-in for its facts, to write a draft from.

The stand-in holds what is certain of any machine under that scheduler. What differs from site to site is a placeholder
in the script, and is named as open with the command that tells it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from graph.extraction.sentences.lexicon import fold
from graph.reading.own_machine import NO_ACCOUNT, YOURS, card_told, scheduler_told
from knowledge.catalogue import Catalogue, squash
from knowledge.cluster import (
    NEVER,
    Account,
    Cluster,
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
from knowledge.types import Backend, JobRequest, Scheduler
from templates.nearest import vendor_of

MOST_OFF = 2
# The model of cards that nobody named.
NO_CARD = "own"
USUAL_GPUS = 4
BACKENDS: Mapping[str, Backend] = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu"}
Vendor = Literal["nvidia", "amd", "intel"]


SRUN = LaunchForm(launcher="srun", workers="torchrun")


@dataclass(frozen=True, slots=True)
class Form:
    """What holds under a scheduler anywhere, and what tells the rest."""

    submit: str
    queue: str
    directives: tuple[str, ...]
    account: str
    host: str
    tells: tuple[str, ...]
    preamble: tuple[str, ...] = ()
    launch: LaunchForm = SRUN


FORMS: Mapping[Scheduler, Form] = {
    "slurm": Form(
        "sbatch",
        "YOUR_PARTITION",
        (
            "--partition={queue}",
            "--nodes={nodes}",
            "--ntasks-per-node={tasks_per_node}",
            "--gpus-per-node={gpus_per_node}",
            "--time={walltime}",
        ),
        "--account={account}",
        '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)',
        (
            "the partition and its longest time: `sinfo -o '%P %l %D %G'` prints them",
            "the account: `sacctmgr -n show assoc user=$USER format=account,partition` (a site without accounts prints "
            "none: leave the line out)",
            "how GPUs are asked for: `--gpus-per-node` is the usual form; where sinfo's GRES column names a type, or "
            "sbatch refuses it, take `--gres=gpu:N`",
            "cores: some sites give a task one core only; `scontrol show node NODE | grep CPUTot` tells how many "
            "there are, for `--cpus-per-task`",
        ),
    ),
    "pbs": Form(
        "qsub",
        "YOUR_QUEUE",
        ("-q {queue}", "-l select={nodes}:ngpus={gpus_per_node}", "-l place=scatter", "-l walltime={walltime}"),
        "-A {account}",
        '$(head -n 1 "$PBS_NODEFILE")',
        (
            "the queue and its longest time: `qstat -Q` and `qstat -Qf QUEUE` print them",
            "the account: your site's portal names it (a site without accounts: leave the line out)",
            "how a chunk asks for its GPUs and cores: `ngpus=N` and `ncpus=N` are usual; `pbsnodes -av | grep "
            "resources_available` shows the names there",
            "what starts tasks: `mpirun` of Open MPI is taken; with MPICH or Cray it is `mpiexec --ppn`",
        ),
        ('cd "$PBS_O_WORKDIR"',),
        LaunchForm(launcher="mpirun", workers="torchrun"),
    ),
    "lsf": Form(
        "bsub",
        "YOUR_QUEUE",
        (
            "-q {queue}",
            "-n {nodes}",
            '-R "span[ptile=1]"',
            '-gpu "num={gpus_per_node}:mode=shared"',
            "-W {walltime_hm}",
        ),
        "-P {account}",
        '$(sort -u "$LSB_DJOB_HOSTFILE" | sed -n 1p)',
        (
            "the queue and its longest time: `bqueues -l` prints them",
            "the project (-P): leave the line out where your site has none",
            "slots: `-n` with `ptile=1` takes one slot a host; `bhosts` shows how many a host has, and a site may want "
            "more of them for its cores",
            "what starts tasks: `mpirun` of Open MPI is taken; `blaunch` where it knows nothing of LSF",
        ),
        (),
        LaunchForm(launcher="mpirun", workers="torchrun"),
    ),
    "flux": Form(
        "flux batch",
        "YOUR_QUEUE",
        ("--queue={queue}", "-N {nodes}", "--time-limit={minutes}m"),
        "--setattr=bank={account}",
        "$(flux hostlist -n 0 local)",
        (
            "the queue and its longest time: `flux queue list` prints them",
            "the bank: `flux account view-user $USER`, where the site counts by banks",
            "whether nodes come whole: else `--gpus-per-slot` with `-n`",
        ),
        (),
        LaunchForm(launcher="flux", workers="torchrun"),
    ),
}
ALSO_OPEN = "modules and your Python environment: `module avail` shows what there is"
DRAFT = (
    "A draft: nobody described {} here. Certain are {}'s own directives{} and the launch. What is open stands below; "
    "on its login node `maple-chat clusters discover -o FILE` reads all of that, and the script then has no gaps."
)
OPEN = "Open: {}."
TAKEN_SCHEDULER = " (taken for its scheduler as the usual one: say *PBS*, *LSF* or *Flux* if it is another)"


def slips(name: str, catalogue: Catalogue) -> tuple[str, ...]:
    """The machines that a name may be a slip of the pen for: two letters off at most, the names being alike."""
    near = catalogue.nearest(name)
    return tuple(
        one for one in near if any(off(name, other) <= MOST_OFF for other in names_of(catalogue.clusters[one]))
    )


def off(one: str, other: str) -> int:
    from rapidfuzz.distance import OSA

    return OSA.distance(squash(one), squash(other))


def names_of(cluster: Cluster) -> tuple[str, ...]:
    return (cluster.id, cluster.title, *cluster.names)


def is_stand_in(cluster: Cluster) -> bool:
    return cluster.as_of == NEVER


def told_draft(cluster: Cluster) -> str:
    """What is certain of a machine that nobody described, and what is open with the command that tells it."""
    forms = "; ".join(one.text for one in cluster.directives)
    certain = f"{cluster.title}, under {cluster.scheduler}: handed in with {cluster.submit}; directives: {forms}"
    return "\n".join([certain, *cluster.node_types[0].advice])


def stand_in(request: JobRequest) -> Cluster:
    """The facts that a draft is written from. request names a machine, and site_words tell of it."""
    words = request.site_words
    told = scheduler_told(words)
    scheduler = told or "slurm"
    form = FORMS[scheduler]
    vendor: Vendor = next((one for one in ("nvidia", "amd", "intel") if one == vendor_of(words)), "nvidia")
    gpus = request.gpus_per_node or gpus_of_total(request) or USUAL_GPUS
    charged = NO_ACCOUNT.search(words) is None
    name = request.machine or YOURS
    kind = request.node_type or "gpu"
    card = card_told(words) or request.node_type or NO_CARD
    taken = "" if told else TAKEN_SCHEDULER
    tells = [one for one in form.tells if not ("queue" in one[:12] or "partition" in one[:14]) or not request.queue]
    tells = [one for one in tells if "account" not in one[:13] or (charged and not request.account)]
    forms = with_cores(form.directives, scheduler) if request.cpus_per_task else form.directives
    # srun takes no cores over from the job's own directive since Slurm 22.05: https://slurm.schedmd.com/srun.html
    with_srun = request.cpus_per_task and scheduler == "slurm"
    launch = replace(form.launch, options=("--cpus-per-task={cpus_per_task}",)) if with_srun else form.launch
    title = scheduler.upper() if scheduler in ("pbs", "lsf") else scheduler.title()
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
                advice=(DRAFT.format(name, title, taken), *map(OPEN.format, (*tells, ALSO_OPEN))),
            ),
        ),
        queues=(Queue(id=request.queue or form.queue, node_types=(kind,), max_walltime=None, default=True),),
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
        rendezvous=Rendezvous(host=form.host),
        preamble=form.preamble,
        launch={"pytorch": (launch,), "accelerate": (accelerated(launch),)},
        sources=(),
    )


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
