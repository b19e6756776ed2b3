"""A stand-in for a machine that nobody described: what its script tells, and the number of GPUs on a node."""

from __future__ import annotations

import re

from graph.extraction.script_counts import count
from graph.verification.checks.subject import read_subject
from knowledge.cluster import (
    Cluster,
    DirectiveFact,
    Gpus,
    Internet,
    Launcher,
    LaunchForm,
    NodeType,
    Queue,
    Rendezvous,
    Software,
)
from knowledge.errors import InputError
from knowledge.types import SCHEDULERS, Scheduler

# Options that PALS and MPICH take and Open MPI does not: whose mpiexec the script is for.
OF_HYDRA = re.compile(r"\bmpi(exec|run)\b[^\n]*\s(-{1,2}ppn|--depth|-{1,2}genv(all)?)\b")
# A script that takes as many GPUs as it finds.
COUNTS_GPUS = re.compile(
    r"GPUS_ON_NODE|PBS_NGPUS|device_count|\b(nvidia|rocm)-smi\b.*(wc|-c)\b|--nproc[-_]per[-_]node[= ](gpu|auto)\b"
)
MARK = "an unknown machine"


def unknown_machine(text: str, gpus_per_node: int | None) -> Cluster:
    """A cluster of nodes alike, with the scheduler that the script's directives name (Slurm where none is told).

    gpus_per_node: devices of one node; None: as many as the script asks for or starts processes on, none where it does
    neither. Raises InputError, which asks, where the script itself counts what it finds.
    """
    subject = read_subject(text, None)
    told = gpus_per_node or subject.devices or count(subject.script, subject.scheduler).gpus_per_node
    if told is None and COUNTS_GPUS.search("\n".join(line for _, line in subject.code_lines)):
        raise InputError("how many GPUs has a node there? Give --gpus-per-node N, or --machine NAME where it is known")
    scheduler: Scheduler = next((one for one in SCHEDULERS if one == subject.scheduler), "slurm")
    launcher: Launcher = "mpiexec" if OF_HYDRA.search(text) else "mpirun"
    gpus = Gpus(vendor="nvidia", model="GPU" if told else "", per_node=told, backend="cuda")
    return Cluster(
        id="unknown", title=MARK, names=(), site="", as_of="2026", scheduler=scheduler, submit="",
        node_types=(NodeType(id="node", gpus=gpus),),
        queues=(Queue(id="queue", node_types=("node",), max_walltime=None, default=True),), whole_nodes=True,
        directives=(DirectiveFact(text="--nodes={nodes}"),), software={"default": Software()},
        internet=Internet(access="unknown"), rendezvous=Rendezvous(host="localhost"),
        launch={"pytorch": (LaunchForm(launcher=launcher, workers="ranks"),)}, sources=(),
    )  # fmt: skip
