"""Which launch form of the facts a job takes, and where its tasks find their rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graph.planning.filling import Values, fill_all
from graph.planning.strategies import Style
from knowledge.cluster import Cluster, LaunchForm, NodeType, RankVariables, RefusalFact, Software
from knowledge.types import Alternative, Assumption, Launch, Refusal

# What each launcher tells its tasks. The facts override it where a site's build differs.
RANKS: Mapping[str, RankVariables] = {
    "srun": RankVariables(rank="$SLURM_PROCID", local_rank="$SLURM_LOCALID"),
    "mpiexec": RankVariables(rank="$PALS_RANKID", local_rank="$PALS_LOCAL_RANKID"),
    "mpirun": RankVariables(rank="$OMPI_COMM_WORLD_RANK", local_rank="$OMPI_COMM_WORLD_LOCAL_RANK"),
    "jsrun": RankVariables(rank="$OMPI_COMM_WORLD_RANK", local_rank="$OMPI_COMM_WORLD_LOCAL_RANK"),
    "flux": RankVariables(rank="$FLUX_TASK_RANK", local_rank="$FLUX_TASK_LOCAL_ID"),
    "ibrun": RankVariables(rank="$PMI_RANK", local_rank="$((PMI_RANK % RANKS_PER_NODE))"),
    "none": RankVariables(rank="0", local_rank="0"),
}


LIGHTNING = ("torchrun", "srun", "other")
LIGHTNING_NOTE = (
    "Lightning takes each task's node and local rank to be its device: on this machine's form give the Trainer a "
    "ClusterEnvironment that reads RANK, WORLD_SIZE and LOCAL_RANK."
)


@dataclass(frozen=True, slots=True)
class LaunchChoice:
    """A form of the facts, the software it runs with, and what was assumed."""

    form: LaunchForm
    software: Software
    assumptions: tuple[Assumption, ...] = ()

    def launch(self, values: Values, whole_node: bool) -> Launch:
        """The form filled in. whole_node: all devices of a node are used, so binding masks hold."""
        form = self.form
        variables = form.rank_variables or RANKS[form.launcher]
        options = (*form.options, *(form.whole_node_options if whole_node else ()))
        cpus = values["cpus_per_task"]
        return Launch(
            launcher=form.launcher,
            workers=form.workers,
            tasks_per_node=int(values["tasks_per_node"] or 1),
            cpus_per_task=None if cpus is None else int(cpus),
            options=fill_all(options, values),
            rank=variables.rank,
            local_rank="0" if form.visible_devices == "one" and form.workers == "ranks" else variables.local_rank,
            wrapper=self.software.wrapper or "",
            python=self.software.python,
            torchrun=form.torchrun,
            torchrun_options=form.torchrun_options,
        )


def choose_launch(cluster: Cluster, style: Style, node: NodeType) -> LaunchChoice | Refusal:
    """The best form for the framework on that node type. Lightning and Megatron start as plain PyTorch does."""
    for fact in cluster.refusals:
        if refuses(fact, style, node):
            return refusal(fact)
    forms = cluster.launch.get(style.framework) or cluster.launch["pytorch"]
    fitting = [form for form in forms if not form.node_types or node.id in form.node_types]
    if style.framework == "lightning":
        fitting.sort(key=lambda form: LIGHTNING.index(kind_for_lightning(form)))
    if not fitting:
        return Refusal(f"How to start {style.framework} on {cluster.title} ({node.id}) is not known here.", "No form.")
    software = node.software or cluster.software.get(style.framework) or cluster.software["default"]
    return LaunchChoice(fitting[0], software)


def kind_for_lightning(form: LaunchForm) -> str:
    """Lightning reads torchrun's variables everywhere, and Slurm's where a task sees every GPU of its node."""
    if form.workers == "torchrun":
        return "torchrun"
    return "srun" if form.launcher == "srun" and form.visible_devices == "all" else "other"


def refuses(fact: RefusalFact, style: Style, node: NodeType) -> bool:
    return (
        fact.framework in (None, style.framework)
        and fact.strategy in (None, style.strategy)
        and (not fact.node_types or node.id in fact.node_types)
    )


def refusal(fact: RefusalFact) -> Refusal:
    return Refusal(fact.says, fact.why, fact.source, (Alternative(fact.instead, tuple(fact.change.items())),))
