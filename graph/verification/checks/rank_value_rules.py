# ruff: noqa: E501
"""Does each rank get a number of its own, and the right one? And the names of the scheduler's variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import product

from graph.extraction.launch_shape import LaunchShape, text_of
from graph.verification.checks import sources
from graph.verification.checks.rank_rules import RANK_NAMES
from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.subject import Subject, number_of
from graph.verification.checks.tasks import EACH_TASK, in_tasks
from knowledge.word_lists import word_set

# Tasks times the variables that each sets.
MOST_VALUES = 20_000
FAMILY = re.compile(r"(SLURM|PBS|LSB|FLUX|OMPI_COMM|PMI|PALS|JSM|MPI_LOCAL)\w*")


def constant(s: Subject) -> Iterator[Hit]:
    """RANK=0 for all tasks, or LOCAL_RANK=0 where every task sees all devices."""
    launch = s.launch
    if launch is None or launch.parallel is None or launch.spawner is not None or (launch.tasks or 0) < 2:
        return
    own = in_tasks(s, RANK_NAMES)
    rank = own.get("RANK")
    if rank and rank[1].strip("'\"").isdigit():
        yield Hit(
            rank[0],
            f"RANK is {rank[1]} for all {launch.tasks} tasks",
            "each rank needs a number of its own, or the group never forms",
            sources.TORCH_DISTRIBUTED,
        )
    local = own.get("LOCAL_RANK")
    one_each = sees_one(s, launch)
    if local and local[1].strip("'\"") == "0" and not one_each and (launch.per_node or 0) > 1 and not limited(s):
        says = (
            f"LOCAL_RANK is 0 for all {launch.per_node} tasks of a node, and each sees all devices: they share one GPU"
        )
        yield Hit(
            local[0],
            says,
            "cuda:LOCAL_RANK is the same device for all: 'Duplicate GPU detected'",
            sources.TORCH_DISTRIBUTED,
        )
    if local and EACH_TASK.search(local[1]) and one_each and (launch.per_node or 0) > 1 and "LOCAL" in local[1]:
        says = "each task sees one device, number 0, and LOCAL_RANK counts up: 'invalid device ordinal' on all but the first"
        yield Hit(local[0], says, "with one GPU bound to each task LOCAL_RANK is 0, or leave all visible (--gpu-bind=none)", sources.SRUN,
                  "warning")  # fmt: skip


def limited(s: Subject) -> bool:
    """Whether the tasks choose their device by themselves."""
    return bool(
        re.search(r"(CUDA|HIP|ROCR)_VISIBLE_DEVICES|ZE_AFFINITY_MASK|gpu_tile|set_affinity|select_gpu", s.script.text)
    )


def sees_one(s: Subject, launch: LaunchShape) -> bool:
    """Whether the launcher binds one device to each task."""
    layer = launch.parallel
    if layer is None:
        return False
    bind = text_of(layer, "--gpu-bind") or s.job.value("gpu-bind")
    each = launch.number(layer, "gpus_per_task") or (s.job.gpus_per_task if layer.name == "srun" else None)
    if layer.name == "srun":
        return bind != "none" and (
            each == 1 or bind.startswith(("single:1", "per_task:1", "map_gpu")) or layer.has("--ntasks-per-gpu")
        )
    if layer.name == "flux":
        return each == 1
    if layer.name == "mpiexec" and layer.has("--gpu-bind"):
        return True
    gpus, tasks = launch.number(layer, "set_gpus"), launch.number(layer, "set_tasks") or 1
    return layer.name == "jsrun" and gpus == 1 and tasks == 1


def mixed_up(s: Subject) -> Iterator[Hit]:
    """A number on the node where the number in the job is wanted, or the reverse."""
    launch = s.launch
    if launch is None or launch.parallel is None or not s.several_nodes or (launch.tasks or 2) < 2:
        return
    own = in_tasks(s, RANK_NAMES)
    spawner = launch.spawner
    if "RANK" in own and spawner is None:
        yield from worked_out(s, launch)
    told: list[tuple[int, str, str]] = [
        (own[name][0], name, own[name][1])
        for name in ("RANK", "LOCAL_RANK", "NODE_RANK")
        if name in own and spawner is None
    ]
    if spawner is not None and (text_of(spawner, "--rdzv-backend") or "static") == "static":
        value = text_of(spawner, "--node-rank", "--machine-rank")
        told += [(launch.line, "the node's rank", value)] if value else []
    for line, name, value in told:
        variable = re.fullmatch(r"[\"']?\$\{?(\w+)\}?[\"']?", value)
        if not variable or not EACH_TASK.fullmatch(variable[1]):
            continue
        local = bool(re.search(r"LOCAL", variable[1]))
        if name != "LOCAL_RANK" and local:
            yield Hit(
                line,
                f"{name} is {variable[1]}, which begins at 0 on every node",
                "two nodes then claim the same numbers",
                sources.TORCH_DISTRIBUTED,
            )
        elif (
            name == "LOCAL_RANK"
            and re.search(r"PROCID|(?<!LOCAL_)RANK(ID)?$", variable[1])
            and not local
            and (launch.per_node or 2) > 1
        ):
            yield Hit(
                line,
                f"{name} is {variable[1]}, which counts over all nodes",
                "'invalid device ordinal' on every node but the first",
                sources.TORCH_DISTRIBUTED,
            )


def worked_out(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """RANK as arithmetic, for each task: the tasks of a launch are 0 to n - 1, each once."""
    nodes, each = launch.nodes or 0, launch.per_node or 0
    own = in_tasks(s, frozenset(one.name for one in s.script.assignments) | RANK_NAMES)
    line, written = own["RANK"]
    unclear = {name for name in own if len(s.set_to(name)) > 1}
    whole = launch.tasks == nodes * each and 1 < nodes * each * len(own) <= MOST_VALUES
    if "((" not in written or "RANK" in unclear or not whole:
        return
    names = {name for _, value in own.values() for name in re.findall(r"[A-Z]\w+", value) if EACH_TASK.fullmatch(name)}
    numbers = [name for name in names if re.search(r"NODEID|LOCALID|LOCAL_?RANK|PROCID|(?<!NODE_)RANK", name)]
    ranks: list[int | None] = []
    for node, local in product(range(nodes), range(each)):
        known = {**launch.facts, "SLURM_NNODES": nodes, "SLURM_NTASKS": nodes * each}
        for name in numbers:
            known[name] = node if "NODEID" in name else local if "LOCAL" in name else node * each + local
        for name, (_, value) in own.items():
            number = number_of(value, known) if name not in unclear else None
            known.pop(name, None)
            if number is not None:
                known[name] = number
        ranks.append(known.get("RANK"))
    given = {one for one in ranks if one is not None}
    # Rank 0 may be a step of its own, beside this one.
    beside = len(given) == len(ranks) and any(one.background for one in s.script.commands)
    if None not in ranks and given != set(range(len(ranks))) and not beside:
        yield Hit(line, f"RANK takes {len(given)} values, {min(given)} to {max(given)}, in {nodes} nodes x {each} = {len(ranks)} tasks",
                  "each rank from 0 up is wanted once: the node's number times the tasks a node, plus the number on the node", sources.TORCH_DISTRIBUTED)  # fmt: skip


def misspelt(s: Subject) -> Iterator[Hit]:
    """A scheduler's variable that does not exist, and nearly does."""
    told: set[str] = set()
    set_here = {one.name for one in s.script.assignments} | s.exported
    for number, line in s.code_lines:
        for found in re.finditer(r"\$\{?#?([A-Z][A-Z0-9_]+)", line):
            name = found[1]
            if name in KNOWN or name in told or name in set_here or not FAMILY.match(name):
                continue
            near = get_close_matches(name, KNOWN, 1, 0.85) or [one for one in KNOWN if same_words(one, name)]
            if near and not re.search(rf"\$\{{{name}:?[-+?]", line) and not optional(name):
                told.add(name)
                printed = re.match(r"\s*(echo|printf)\b", line) is not None
                yield Hit(number, f"{name} is set by nobody; the nearest is {near[0]}", "an unset variable is empty, or ends the script under set -u",
                          sources.SRUN, "warning" if printed else None, edit=Edit(number, number, (line.replace(name, near[0]),)))  # fmt: skip


def same_words(known: str, name: str) -> bool:
    """Whether a name holds another's words in another order: SLURM_TASK_ARRAY_ID."""
    return sorted(known.split("_")) == sorted(name.split("_"))


def optional(name: str) -> bool:
    """Real variables that are set only now and then."""
    return bool(
        re.fullmatch(r"SLURM_(JOB|STEP|ARRAY|GPUS|MEM|CPUS|TRES|HET)\w*|PBS_O_\w+|PMI_\w+|SLURM_NTASKS_PER_\w+", name)
    ) and not re.fullmatch(
        r"SLURM_JOB_(NUM_NODE|NODE_LIST|NODELISTS|NUMNODES)|SLURM_NTASKS_PER_NODES|SLURM_CPUS_PER_TASKS", name
    )


RULES = (
    Rule("rank-constant", "rendezvous", "error", "RANK or LOCAL_RANK the same for all, or LOCAL_RANK counting where one device is seen", constant),
    Rule("rank-mixed-up", "rendezvous", "error", "the rank on the node taken for the rank in the job, or the reverse; ranks that are not 0 to n - 1, each once", mixed_up),
    Rule("variable-misspelt", "shell", "error", "a scheduler's variable that does not exist, and nearly does", misspelt),
)  # fmt: skip


# The variables that batch systems, launchers and a rendezvous set: what a misspelt one is held against.


KNOWN = tuple(
    sorted(
        word_set(
            "SLURM_PROCID SLURM_LOCALID SLURM_NODEID SLURM_NTASKS SLURM_NPROCS SLURM_NNODES SLURM_JOB_NUM_NODES "
            "SLURM_JOB_ID SLURM_JOBID SLURM_JOB_NODELIST SLURM_NODELIST SLURM_NTASKS_PER_NODE "
            "SLURM_TASKS_PER_NODE SLURM_GPUS_ON_NODE SLURM_GPUS_PER_NODE SLURM_CPUS_PER_TASK SLURM_CPUS_ON_NODE "
            "SLURM_SUBMIT_DIR SLURM_ARRAY_TASK_ID SLURM_ARRAY_JOB_ID SLURM_JOB_NAME SLURM_STEP_NUM_TASKS "
            "SLURM_STEP_NODELIST SLURM_GPUS SLURM_JOB_PARTITION SLURM_JOB_ACCOUNT SLURM_SUBMIT_HOST "
            "SLURM_LAUNCH_NODE_IPADDR SLURM_JOB_USER SLURM_TMPDIR SLURM_JOB_CPUS_PER_NODE SLURM_MEM_PER_NODE "
            "SLURM_CLUSTER_NAME SLURM_GPUS_PER_TASK SLURM_STEP_GPUS SLURM_JOB_GPUS SLURM_MEM_PER_CPU "
            "SLURM_STEP_ID SLURM_STEPID SLURM_CONF SLURM_EXPORT_ENV PBS_NODEFILE PBS_JOBID PBS_O_WORKDIR "
            "PBS_JOBNAME PBS_O_HOST PBS_NUM_NODES PBS_NUM_PPN PBS_NGPUS PBS_NCPUS PBS_QUEUE PBS_O_HOME "
            "PBS_ARRAY_INDEX PBS_JOBDIR PBS_O_PATH PBS_NP PBS_TASKNUM PBS_NODENUM PBS_ENVIRONMENT PBS_O_QUEUE "
            "PBS_ACCOUNT LSB_JOBID LSB_MCPU_HOSTS LSB_HOSTS LSB_DJOB_HOSTFILE LSB_DJOB_NUMPROC LSB_JOBINDEX "
            "LSB_JOBNAME FLUX_JOB_ID FLUX_JOB_NNODES FLUX_JOB_SIZE FLUX_TASK_RANK FLUX_TASK_LOCAL_ID FLUX_URI "
            "FLUX_ENCLOSING_ID FLUX_JOB_TMPDIR OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_SIZE "
            "OMPI_COMM_WORLD_LOCAL_SIZE OMPI_COMM_WORLD_NODE_RANK PMI_RANK PMI_SIZE PMI_LOCAL_RANK PMI_LOCAL_SIZE "
            "SLURMTMPDIR SLURM_ACCOUNT SLURM_PARTITION SLURM_TIMELIMIT SLURM_GRES SLURM_MPI_TYPE SLURM_CPU_BIND "
            "SLURM_GPU_BIND SLURM_DISTRIBUTION SLURM_HINT SLURM_QOS SLURM_RESERVATION SLURM_JOB_QOS SLURM_JOB_UID "
            "SLURM_JOB_GID SLURM_TOPOLOGY_ADDR SLURM_TASK_PID SLURM_GTIDS PBS_ARRAYID PBS_O_SHELL PBS_SERVER "
            "PALS_RANKID PALS_LOCAL_RANKID PALS_NODEID MPI_LOCALRANKID MPI_LOCALNRANKS JSM_NAMESPACE_RANK "
            "JSM_NAMESPACE_LOCAL_RANK JSM_NAMESPACE_SIZE PMIX_RANK MASTER_ADDR MASTER_PORT WORLD_SIZE LOCAL_RANK "
        )
    )
)
