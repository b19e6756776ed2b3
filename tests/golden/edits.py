"""What people add to a script, on each scheduler: the rows of docs/edits.md, and the golden scripts that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from graph.planning.plan import plan
from knowledge.cluster import Cluster
from knowledge.job_parts import (
    ArgumentEdit,
    ArrayAxis,
    Dependency,
    JobArray,
    LimitSignal,
    Mail,
    Program,
)
from knowledge.types import JobRequest, LaunchBundle, LaunchPlan, Refusal

# One machine a scheduler.
MACHINES = ("perlmutter", "polaris", "lassen", "tuolumne")
BASE = JobRequest(
    framework="pytorch",
    strategy="ddp",
    nodes=2,
    entry="train.py",
    args="--lr 1e-3",
    walltime="02:00:00",
)
LRS = JobArray((ArrayAxis("--lr", ("1e-3", "1e-4", "3e-4")),), None, 2)
SERVED = "mistralai/Mistral-7B"
SIM = Program("sim.py", gpus_per_node=1)


@dataclass(frozen=True, slots=True)
class CoveredEdit:
    """One change: its name, a sentence that asks for it, and what the request then says."""

    name: str
    sentence: str
    change: Callable[[JobRequest], JobRequest]


def edit(name: str, sentence: str, **fields: object) -> CoveredEdit:
    return CoveredEdit(name, sentence, lambda request: replace(request, **fields))  # type: ignore[arg-type]


EDITS = (
    edit("array", "an array over lr 1e-3, 1e-4, 3e-4, two at a time", array=LRS),
    edit("array of N", "20 copies of it", array=JobArray(count=20)),
    edit("dependency", "start after job 12345 ended well", dependency=Dependency("afterok", ("12345",))),
    edit("chain", "chain 4 of them", chain=4),
    edit("signal", "USR1 five minutes before the end", signal=LimitSignal()),
    edit("requeue", "requeue it", requeue=True),
    edit("requeue at the limit", "requeue it at the limit", requeue=True, signal=LimitSignal()),
    edit("mail", "mail me at end and fail", mail=Mail()),
    edit("exclusive", "exclusive nodes", exclusive=True),
    edit("reservation", "in reservation hack", reservation="hack"),
    edit("constraint", "only nodes with nvme", constraint="nvme"),
    edit("not before", "not before 2030-01-01T08:00", begin="2030-01-01T08:00"),
    edit("avoid nodes", "not on nid001234", exclude_nodes=("nid001234",)),
    edit("memory", "give it 100 GB of RAM", memory_gb=100),
    edit("job name", "call it vit", job_name="vit"),
    edit("output file", "log to vit.out", output="vit.out"),
    edit("conda environment", "my conda env vit", environment="vit", environment_kind="conda"),
    edit("virtual environment", "my venv $HOME/v", environment="$HOME/v", environment_kind="venv"),
    edit("uv project", "uv project $HOME/p", environment="$HOME/p", environment_kind="uv"),
    edit("modules", "load gcc too", modules=("gcc",)),
    edit("file to source", "source ~/env.sh", source_files=("~/env.sh",)),
    edit("container", "in the container site/torch:2.9", container="site/torch:2.9"),
    edit("staging", "copy data.tar to the local disk", stage_in=("data.tar",)),
    edit("argument", "set lr to 1e-4", argument_edits=(ArgumentEdit("set", "--lr", "1e-4"),)),
    edit("steps around it", "run prep.py before", before=("python prep.py",)),
    edit("a second program after it", "then eval.py", then=(Program("eval.py"),)),
    edit("a second program beside it", "run sim.py beside it on one GPU", beside=(SIM,)),
    edit(
        "a job of its own after it",
        "then eval.py, 1 node, 20 min",
        then=(Program("eval.py", nodes=1, walltime="00:20:00"),),
    ),
    edit("first run", "a short try first", first_run=True),
    edit("test of nodes", "try the nodes first, one spare", spare_nodes=1),
    edit("fewer nodes", "go on with at least 1 node when one dies", least_nodes=1),
    edit("offline", "offline", offline=True),
    edit("one GPU", "one GPU", strategy="none", nodes=1, gpus_per_node=1),
    edit("JAX", "it is JAX", framework="jax", strategy=None),
    edit("Ray", "it is Ray", framework="ray", strategy=None),
    edit(
        "vLLM",
        "serve mistralai/Mistral-7B with vLLM",
        framework="vllm",
        strategy=None,
        entry="vllm serve mistralai/Mistral-7B",
        args=None,
    ),
    edit("TensorFlow", "it is TensorFlow", framework="tensorflow", strategy=None),
    edit("Horovod", "it is Horovod", framework="horovod", strategy=None),
)
TOGETHER = ("array", "signal", "mail", "steps around it", "a second program after it", "offline", "conda environment")
SHOWN = (
    "requeue at the limit",
    "container",
    "staging",
    "a second program beside it",
    "first run",
    "test of nodes",
    "fewer nodes",
    "JAX",
    "Ray",
    "TensorFlow",
)
"""Edits that have a golden script of their own on each of the machines that do them; TOGETHER have one in common."""


def asked(cluster: Cluster, *edits: CoveredEdit) -> LaunchPlan | Refusal:
    """The plan of the usual request with these changes."""
    request = replace(BASE, machine=cluster.id)
    for one in edits:
        request = one.change(request)
    return plan(request, cluster)


def added_scripts(clusters: list[Cluster]) -> Iterator[tuple[Cluster, str, LaunchPlan]]:
    """The plans of the golden scripts, each with a name."""
    by_name = {one.name: one for one in EDITS}
    for cluster in (one for one in clusters if one.id in MACHINES):
        together = [by_name[name] for name in TOGETHER if isinstance(asked(cluster, by_name[name]), LaunchPlan)]
        sets = {"together": together} | {name.replace(" ", "-").lower(): [by_name[name]] for name in SHOWN}
        for name, edits in sets.items():
            made = asked(cluster, *edits)
            if isinstance(made, LaunchPlan):
                yield cluster, f"added-{name}", made


def edits_table(clusters: list[Cluster], render: Callable[[LaunchPlan], LaunchBundle]) -> str:
    """docs/edits.md: what each scheduler's script gains by each edit."""
    machines = [next(one for one in clusters if one.id == name) for name in MACHINES]
    rows = []
    for one in EDITS:
        cells = [cell(machine, one, render) for machine in machines]
        rows.append(f"| {one.name} | {one.sentence} | " + " | ".join(cells) + " |")
    heads = " | ".join(f"{machine.scheduler} ({machine.title})" for machine in machines)
    return "\n".join(
        [
            "# What a script takes",
            "",
            "Made by `uv run python tests/golden/make.py`; a test fails when it is out of date. Each cell is what the",
            "script gains on that scheduler: its first new line, or the nearest thing where there is no word for it.",
            "Each is checked; run on a stand-in of the machine, those of Ray and vLLM where these are installed:",
            "`MAPLE_CHAT_ALL_CELLS=1 uv run pytest tests/graph/verification/test_edit_cells.py` (without it one",
            "machine a group).",
            "Ask in words, or with flags: `maple-chat script --help`; `--set FIELD=VALUE` sets any field of a request.",
            "",
            f"| edit | in words | {heads} |",
            "|---|---|" + "---|" * len(machines),
            *rows,
            "",
            "## What is not done, and why",
            "",
            *(f"- {name}, {title}: {why}" for name, title, why in refusals(machines)),
            "",
        ]
    )


def refusals(machines: list[Cluster]) -> Iterator[tuple[str, str, str]]:
    """Edit, machine and reason of each cell that is refused."""
    for one in EDITS:
        for machine in machines:
            made = asked(machine, one)
            if isinstance(made, Refusal):
                yield one.name, machine.title, f"{made.says} {made.why}".strip()


def cell(machine: Cluster, one: CoveredEdit, render: Callable[[LaunchPlan], LaunchBundle]) -> str:
    before, after = asked(machine), asked(machine, one)
    if isinstance(after, Refusal):
        return f"no; nearest: {after.instead[0].says}" if after.instead else "no"
    assert isinstance(before, LaunchPlan)
    old, new = render(before), render(after)
    known = set(old.script.splitlines())
    lines = [line.strip() for line in new.script.splitlines() if line not in known and not line.startswith("# Facts")]
    own = [
        line
        for line in lines
        if line
        and not line.endswith("=")
        and (not line.startswith("#") or line.startswith(("#SBATCH", "#PBS", "#BSUB", "# flux:")))
    ]
    text = own[0] if own else f"{new.submit}"
    return f"`{text[:90].replace('|', chr(92) + '|')}`"
