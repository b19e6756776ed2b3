"""For a machine that nobody described: the nearest template, and the questions that would make it certain.

The scheduler decides the directives, the GPU's vendor the communication library and its variables, the model the
precision and memory. What differs from site to site (account, queue, modules, interface) cannot be borrowed: it is
asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from knowledge.types import SCHEDULER_TITLES, SCHEDULERS, Question, Scheduler
from templates.records import Template

# Words that tell the vendor of a GPU.
VENDOR_MARKS: tuple[tuple[str, str], ...] = (
    ("nvidia", r"nvidia|geforce|rtx|quadro|tesla|\b[abghlvpt]\d{1,3}s?\b|\bg[bh]200\b|cuda"),
    ("amd", r"\bamd\b|radeon|instinct|\bmi\d{2,3}[axi]?\b|rocm|\bgcds?\b"),
    ("intel", r"intel|ponte vecchio|\bpvc\b|data cent(?:er|re) gpu max|\bmax 1[15]\d0\b|\bxpu\b|gaudi"),
)
# Launchers of one site only: a script from elsewhere is better started with something else.
SITE_LAUNCHERS = frozenset({"ibrun", "jsrun", "lrun"})
# How a job asks for GPUs differs from site to site under the same scheduler.
GPU_REQUESTS: dict[Scheduler, tuple[str, ...]] = {
    "slurm": ("--gpus-per-node=N", "--gres=gpu:N", "--gpus=N for the whole job", "nothing: nodes come whole"),
    "pbs": ("-l select=NODES:ngpus=N", "-l select=NODES: nodes come whole"),
    "lsf": ('-gpu "num=N"', "-nnodes: nodes come whole"),
    "flux": ("--gpus-per-slot=N", "-N alone: nodes come whole"),
}
LAUNCHER_CHOICES: dict[Scheduler, tuple[str, ...]] = {
    "slurm": ("srun", "mpirun", "mpiexec"),
    "pbs": ("mpiexec", "mpirun", "pbsdsh"),
    "lsf": ("jsrun", "mpirun", "blaunch"),
    "flux": ("flux run",),
}


@dataclass(frozen=True, slots=True)
class Undescribed:
    """What is known of a machine that has no file: its name as said, and perhaps scheduler, GPU and GPUs a node."""

    name: str
    scheduler: Scheduler | None = None
    gpu: str = ""
    gpus_per_node: int | None = None

    @property
    def vendor(self) -> str:
        return vendor_of(self.gpu)


def vendor_of(gpu: str) -> str:
    """nvidia, amd, intel, or "" when the words do not tell."""
    return next((vendor for vendor, marks in VENDOR_MARKS if re.search(marks, gpu.lower())), "")


def same_model(model: str, said: str) -> bool:
    """Whether the model's telling word (A100, MI250X, 1550) is among what was said: letters and digits together."""
    telling = {word for word in re.findall(r"[a-z0-9]+", model.lower()) if re.search(r"\d{2}", word)}
    return bool(telling & set(re.findall(r"[a-z0-9]+", said.lower())))


def closeness(template: Template, machine: Undescribed) -> tuple[int, ...]:
    """How near, most deciding first: scheduler, vendor, model, GPUs a node, a launcher found elsewhere too."""
    return (
        int(machine.scheduler == template.scheduler),
        int(bool(machine.vendor) and machine.vendor == template.gpu_vendor),
        int(same_model(template.gpu_model, machine.gpu)),
        int(machine.gpus_per_node is not None and machine.gpus_per_node == template.gpus_per_node),
        int(template.launcher not in SITE_LAUNCHERS),
    )


def order(templates: Iterable[Template], machine: Undescribed) -> list[Template]:
    """Nearest first; equally near ones by standing, then newer, then as they come."""
    return sorted(templates, key=lambda one: (closeness(one, machine), one.standing, one.date), reverse=True)


def why_near(template: Template, machine: Undescribed) -> str:
    """What the two machines share, in words, and that nothing of it is verified."""
    near = closeness(template, machine)
    shared = [
        text
        for fits, text in zip(
            near,
            (
                SCHEDULER_TITLES[template.scheduler],
                f"{template.gpu_vendor} GPUs",
                template.gpu_model,
                f"{template.gpus_per_node} GPUs a node",
            ),
            strict=False,
        )
        if fits
    ]
    told = f"same {', '.join(shared)}" if shared else "nothing is known of the machine that would tell"
    name = "".join(letter for letter in machine.name if letter.isprintable())[:60]
    return f"unverified: nobody described {name}; nearest is {template.cluster} ({told})"


def questions(machine: Undescribed) -> tuple[Question, ...]:
    """What would make a script for that machine certain, most deciding first; what is known is not asked."""
    likely: Scheduler = machine.scheduler or "slurm"
    asked = [
        Question("scheduler", "Which scheduler takes the jobs there?", SCHEDULERS) if not machine.scheduler else None,
        Question("gpu", "Which GPUs are in a node (vendor and model)?") if not machine.gpu else None,
        Question("gpus_per_node", "How many GPUs are in a node?") if not machine.gpus_per_node else None,
        Question("gpu_request", "How does a job ask for GPUs there?", GPU_REQUESTS[likely]),
        Question("queue", "Which queue or partition has these GPUs, and what is its longest walltime?"),
        Question("account", "Must a job name an account or project, and which is yours?"),
        Question("launcher", "What starts tasks on the nodes there?", LAUNCHER_CHOICES[likely]),
        Question("setup", "Which module loads, or which environment or container, give Python and the framework?"),
        Question("interface", "Which network interface joins the nodes (for NCCL or gloo; `ip -br addr` on a node)?"),
        Question("internet", "Do compute nodes reach the internet, or only through a proxy?", ("yes", "no", "proxy")),
        Question(
            "docs", "Is there a page of the site with an example job script? Its address would settle most of this."
        ),
    ]
    return tuple(question for question in asked if question)
