"""Which launch form of the facts a job takes, and where its tasks find their rank."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from graph.planning.counting import Count
from graph.planning.filling import Values, fill_all
from graph.planning.strategies import Style
from knowledge.cluster import Cluster, LaunchForm, NodeType, RankVariables, RefusalFact, Software, Workers
from knowledge.job_parts import Starter
from knowledge.launcher_options import launcher_table
from knowledge.types import SERVERS, Alternative, Assumption, Launch, Refusal

LIGHTNING = ("srun", "torchrun", "other")
# Frameworks whose processes find each other by themselves: what each task of the launcher is.
RANKS_OF_THEIR_OWN = ("jax", "horovod")
# Options of a form for ranks that would hide a node's GPUs or cores from one task that has them all.
FOR_RANKS = re.compile(r"gpu|cpu-bind|depth|bind=|mpibind")
# One entry a task, by its number on the node: masks and numbers with commas, PALS' lists with colons.
BINDING = re.compile(r"(?P<head>--cpu-bind=(?:mask_cpu|map_cpu|list):)(?P<list>.+)")
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

    def launch(self, values: Values, whole_node: bool, own_node: bool = False) -> Launch:
        """The form filled in. whole_node: all devices of a node are used, so binding masks hold; own_node: the node is
        the job's alone, so the first of them hold for fewer."""
        form = self.form
        variables = form.rank_variables or rank_variables(form.launcher)
        first = first_bound(form.whole_node_options, int(values["tasks_per_node"] or 1)) if own_node else ()
        options = (*form.options, *(form.whole_node_options if whole_node else first or form.part_node_options))
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


def first_bound(options: tuple[str, ...], tasks: int) -> tuple[str, ...]:
    """The site's binding of a whole node cut to its first tasks; nothing where it lists fewer, or none."""
    cut = []
    for option in options:
        found = BINDING.fullmatch(option)
        entries = (
            found["list"].split(sign := "," if "mask" in found["head"] or "map" in found["head"] else ":")
            if found
            else []
        )
        if found and len(entries) < tasks:
            return ()
        cut.append(f"{found['head']}{sign.join(entries[:tasks])}" if found else option)
    return tuple(cut)


def binding_note(choice: LaunchChoice, made: Launch, tasks: int) -> tuple[str, ...]:
    """What became of the site's list of cores where not all of its entries are used."""
    bound = [found for one in choice.form.whole_node_options if (found := BINDING.fullmatch(one))]
    if not bound or bound[0][0] in made.options:
        return ()
    if any(one.startswith(bound[0]["head"]) for one in made.options):
        return (f"Each rank has its GPU's cores: the first {tasks} entries of the site's list for a whole node.",)
    return ("The site's list of cores is for whole nodes with a rank a GPU; here the scheduler spreads the ranks.",)


def rank_variables(launcher: str) -> RankVariables:
    """What a launcher tells its tasks. The facts override it where a site's build differs."""
    tool = launcher_table().by_name.get(launcher)
    return tool.ranks if tool and tool.ranks else RankVariables(rank="0", local_rank="0")


def choose_launch(
    cluster: Cluster,
    style: Style,
    node: NodeType,
    counted: Count,
    wished: Starter | None = None,
    processes: int | None = None,
) -> LaunchChoice | Refusal:
    """The best form for the framework on that node type; what has none of its own starts as plain PyTorch does.

    wished: what is to start the processes, where that was said; processes: how many of a node, where that was.
    """
    for fact in cluster.refusals:
        if refuses(fact, style, node):
            return refusal(fact)
    forms = cluster.launch.get(style.framework) or cluster.launch["pytorch"]
    fitting = [form for form in forms if not form.node_types or node.id in form.node_types]
    if style.framework == "lightning":
        fitting.sort(key=lambda form: LIGHTNING.index(kind_for_lightning(form)))
    if style.framework in RANKS_OF_THEIR_OWN:
        fitting.sort(key=lambda form: form.workers != "ranks")
        fitting[:1] = [as_ranks(form) for form in fitting[:1]]
    if not fitting:
        return Refusal(f"How to start {style.framework} on {cluster.title} ({node.id}) is not known here.", "No form.")
    wrapped = WRAPS.get(wished) if wished else None
    base = wrapped if any(form.launcher == wrapped for form in fitting) else wished
    chosen = as_wished(fitting, base, cluster) if base else fitting
    if isinstance(chosen, Refusal):
        return chosen
    fitting = chosen
    told = (Assumption("launcher", base, WRITTEN_BARE.format(wished)),) if base and base != wished else ()
    software = node.software or cluster.software.get(style.framework) or cluster.software["default"]
    workers = one_task_kind(style, counted, said=bool(wished or processes))
    if workers is None:
        return LaunchChoice(fitting[0], software, told)
    if workers in ("ray", "nodes") and cluster.scheduler == "lsf":
        says = f"{style.framework} over several nodes is not written for LSF ({cluster.title})."
        why = "Its batch script runs on a launch node, where no driver belongs."
        return Refusal(says, why, None, (Alternative("one node", (("nodes", 1), ("total_gpus", None))),))
    return LaunchChoice(for_one_task(fitting, workers, cluster), software, told)


# A site's own front of another launcher: LLNL's lrun (notes of knowledge/clusters/lassen.yaml).
WRAPS: Mapping[Starter, Starter] = {"lrun": "jsrun"}
WRITTEN_BARE = "{} only calls it; its options say outright which tasks, cores and GPUs a node gives"


def as_wished(forms: list[LaunchForm], wished: Starter, cluster: Cluster) -> list[LaunchForm] | Refusal:
    """The forms with torchrun on each node, or with a task of the launcher for each process."""
    if wished == "torchrun":
        return [form for form in forms if form.workers == "torchrun"] or [for_one_task(forms, "torchrun", cluster)]
    same = sorted((form for form in forms if form.launcher == wished), key=lambda form: form.workers != "ranks")
    own = forms[0].launcher
    return [as_ranks(form) for form in same] or Refusal(
        f"{cluster.title} starts tasks with {own}; how {wished} would is not known here.",
        "No page of the machine that is read here shows it.",
        forms[0].source,
        (Alternative(f"with {own}, a task for each process", (("launcher", own),)),),
    )


ONE_PROCESS = ("pytorch", "accelerate", "lightning", "hf-trainer", "jax")


def one_task_kind(style: Style, counted: Count, *, said: bool) -> Workers | None:
    """What starts where one task has a whole node (or the only GPU); None where the form's own workers do. said: how
    the processes are started, or how many."""
    if style.framework == "tensorflow" and style.strategy == "ddp" and counted.nodes > 1:
        return "tensorflow"
    if style.framework == "sglang" and counted.nodes > 1:
        return "nodes"
    if style.framework in ("ray", "vllm") and (counted.nodes > 1 or style.framework == "ray"):
        return "ray"
    if style.starts == "one":
        return "single"
    # A program that is not parallel is one process, however many GPUs it may use: copies of it would do the same.
    lone = style.strategy == "none" and style.framework in ONE_PROCESS and not (said or style.starts)
    alone = counted.nodes == 1 and (counted.ranks_per_node == 1 or lone or style.framework in ("tensorflow", *SERVERS))
    return "single" if alone and (style.strategy == "none" or style.framework in ("tensorflow", *SERVERS)) else None


def as_ranks(form: LaunchForm) -> LaunchForm:
    """The form with a task a rank, where the site shows only one that starts torchrun."""
    if form.workers == "ranks":
        return form
    return replace(form, workers="ranks", torchrun_options=(), rank_variables=None, documented=False)


def with_all_gpus(choice: LaunchChoice, cluster: Cluster) -> LaunchChoice:
    """The choice where one process a node has all its GPUs: options that hand each task one of them go."""
    if choice.form.workers != "ranks":
        return choice
    return replace(choice, form=for_one_task([choice.form], "ranks", cluster))


def for_a_tool(choice: LaunchChoice, cluster: Cluster) -> LaunchChoice:
    """The choice for a tool on Lightning, whose Trainer nobody can give another environment: every task of srun sees
    all GPUs of its node, and elsewhere torchrun starts the ranks."""
    if choice.form.workers == "single" or kind_for_lightning(choice.form) != "other":
        return choice
    workers: Workers = "ranks" if choice.form.launcher == "srun" else "torchrun"
    return replace(choice, form=replace(for_one_task([choice.form], workers, cluster), note=None))


def for_one_task(fitting: list[LaunchForm], workers: Workers, cluster: Cluster) -> LaunchForm:
    """The machine's form with one task a node, or the first form without what is for ranks alone."""
    one = next((form for form in fitting if form.workers != "ranks"), None)
    if one is not None:
        return replace(one, workers=workers, torchrun_options=())
    first = fitting[0]
    options = tuple(option for option in first.options if not FOR_RANKS.search(option))
    if first.visible_devices == "one" and cluster.scheduler == "slurm":
        options = (*options, "--gpus-per-node={gpus_per_node}")
    return replace(
        first, workers=workers, options=options, whole_node_options=(), part_node_options=(), visible_devices="all"
    )


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
