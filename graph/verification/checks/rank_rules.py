# ruff: noqa: E501
"""Who tells each rank which one it is? The variables that each launcher sets, and where they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from graph.verification.checks import sources
from graph.verification.checks.launch import Launch, text_of
from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.tasks import EACH_TASK, OF_TASK, Used, in_tasks, root_with_launcher, task_text, variables

RANK_NAMES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_RANK", "GROUP_RANK"})
# The families that each launcher may set; what is in none of them for a launcher is empty or wrong there.
SETS = {
    "srun": ("srun", "pmi", "pmix"), "mpirun": ("open-mpi", "pmi", "pmix", "intel-mpi", "mvapich"),
    "mpiexec": ("open-mpi", "pmi", "pmix", "intel-mpi", "mvapich", "pals"), "ibrun": ("open-mpi", "pmi", "pmix", "intel-mpi", "mvapich"),
    "jsrun": ("jsrun", "open-mpi", "pmix"), "lrun": ("jsrun", "open-mpi", "pmix"), "flux": ("flux", "pmi"),
}  # fmt: skip
# What a rank, its number on the node and the node's number are called, for each launcher.
NAMES = {
    "srun": ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"), "jsrun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", ""),
    "mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", ""), "flux": ("FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", ""),
    "ibrun": ("PMI_RANK", "MPI_LOCALRANKID", ""), "mpiexec": ("PMI_RANK", "PMI_LOCAL_RANK", ""),
}  # fmt: skip
KNOWN = ["SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE", "SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_SUBMIT_DIR", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_JOB_ID", "SLURM_JOB_NAME", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST", "SLURM_GPUS", "SLURM_JOB_PARTITION", "SLURM_JOB_ACCOUNT", "SLURM_SUBMIT_HOST", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_JOB_USER", "SLURM_TMPDIR", "SLURM_JOB_CPUS_PER_NODE", "SLURM_MEM_PER_NODE", "SLURM_CLUSTER_NAME", "SLURM_GPUS_PER_TASK", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_MEM_PER_CPU", "SLURM_STEP_ID", "SLURM_STEPID", "SLURM_CONF", "SLURM_EXPORT_ENV", "PBS_NODEFILE", "PBS_JOBID", "PBS_O_WORKDIR", "PBS_JOBNAME", "PBS_O_HOST", "PBS_NUM_NODES", "PBS_NUM_PPN", "PBS_NGPUS", "PBS_NCPUS", "PBS_QUEUE", "PBS_O_HOME", "PBS_ARRAY_INDEX", "PBS_JOBDIR", "PBS_O_PATH", "PBS_NP", "PBS_TASKNUM", "PBS_NODENUM", "PBS_ENVIRONMENT", "PBS_O_QUEUE", "PBS_ACCOUNT", "LSB_JOBID", "LSB_MCPU_HOSTS", "LSB_HOSTS", "LSB_DJOB_HOSTFILE", "LSB_DJOB_NUMPROC", "LSB_JOBINDEX", "LSB_JOBNAME", "FLUX_JOB_ID", "FLUX_JOB_NNODES", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_URI", "FLUX_JOB_TMPDIR", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_NODE_RANK", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", "PALS_RANKID", "PALS_LOCAL_RANKID", "PALS_NODEID", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE", "PMIX_RANK", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "LOCAL_RANK"]  # fmt: skip
FAMILY = re.compile(r"(SLURM|PBS|LSB|FLUX|OMPI_COMM|PMI|PALS|JSM|MPI_LOCAL)\w*")


def other_launcher(s: Subject) -> Iterator[Hit]:
    """SLURM_PROCID under mpiexec, OMPI_* under srun: not set, or set for another purpose."""
    launch = s.launch
    if launch is None or launch.parallel is None or launch.parallel.name not in SETS:
        return
    name, told = launch.parallel.name, set()
    allowed = [OF_TASK[family] for family in allowed_families(s, launch)]
    for used in variables(s):
        if EACH_TASK.fullmatch(used.name) and used.name not in told and not any(one.fullmatch(used.name) for one in allowed):
            if used.name == "SLURMD_NODENAME" or has_default(s, used.line, used.name):
                continue
            told.add(used.name)
            right = right_name(s, launch, used.name)
            says = f"{used.name} is not set by {name}" + (f"; its tasks find that in {right}" if right else "")
            why = "all tasks get the same value, or none, and no process group forms"
            if name == "srun" and used.name.startswith("PMI"):
                yield Hit(used.line, f"srun sets {used.name} only with --mpi=pmi2 or pmix; SLURM_PROCID is always there", why, sources.SRUN, "warning")
                continue
            edit = Edit(used.line, used.line, (re.sub(rf"\b{used.name}\b", right, s.line(used.line)),)) if right else None
            yield Hit(used.line, says, why, sources.SRUN if name == "srun" else None, edit=edit)


def allowed_families(s: Subject, launch: Launch) -> tuple[str, ...]:
    """A launcher's families; on a machine that is known, one mpiexec means one MPI."""
    layer = launch.parallel
    name = layer.name if layer else ""
    families = SETS[name]
    forms = [form for listed in s.cluster.launch.values() for form in listed] if s.cluster else []
    own = [form.rank_variables for form in forms if form.launcher == name]
    if name == "mpiexec" and own and not any(one and "OMPI" in one.rank for one in own):
        return ("pmi", "pals", "pmix")
    if name == "srun" and layer is not None and not (text_of(layer, "--mpi") or "").startswith(("pmi", "cray")):
        return ("srun",) if s.cluster is None or s.cluster.id not in ("perlmutter", "frontier", "lumi") else ("srun", "pmi")
    if name == "mpirun" and layer is not None and (layer.has("-x") or layer.has("--map-by") or layer.has("--mca") or layer.has("-mca")):
        return ("open-mpi", "pmix")
    return families


def has_default(s: Subject, line: int, name: str) -> bool:
    """`${SLURM_PROCID:-$PMI_RANK}`: a line that tries several."""
    return bool(re.search(rf"\$\{{{name}:?[-+]|:-\$\{{?{name}", s.line(line)))


def right_name(s: Subject, launch: Launch, name: str) -> str:
    layer = launch.parallel
    names = NAMES.get(layer.name, ("", "", "")) if layer else ("", "", "")
    forms = [form.rank_variables for listed in s.cluster.launch.values() for form in listed
             if layer and form.launcher == layer.name and form.rank_variables] if s.cluster else []  # fmt: skip
    if forms and forms[0]:
        names = (forms[0].rank.strip("${}"), forms[0].local_rank.strip("${}"), "")
    kind = 2 if "NODEID" in name else 1 if "LOCAL" in name else 0
    found = names[kind]
    return found if re.fullmatch(r"[A-Z_0-9]+", found) and not found.isdigit() else ""


def early(s: Subject) -> Iterator[Hit]:
    """`bash -c "... $SLURM_PROCID"`: the batch shell puts its own value in, one for all tasks."""
    launch = s.launch
    if launch is None or launch.parallel is None or launch.tasks == 1:
        return
    told: set[tuple[str, int]] = set()
    elastic = launch.spawner is not None and launch.spawner.name == "torchrun" and (text_of(launch.spawner, "--rdzv-backend") or "static") != "static"
    for used in variables(s):
        if not used.early or not EACH_TASK.fullmatch(used.name) or (used.name, used.line) in told or used.name == "SLURMD_NODENAME":
            continue
        if used.name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE") or elastic:
            continue
        told.add((used.name, used.line))
        says = f"{used.name} is expanded by the batch shell, before {launch.parallel.name} starts the tasks: all get one value"
        yield Hit(used.line, says, "put the command into bash -c '...' with single quotes, or write \\$: then each task expands it",
                  sources.BASH + "#Quoting", edit=escaped(s, launch, used))  # fmt: skip


def escaped(s: Subject, launch: Launch, used: Used) -> Edit | None:
    """A backslash before the dollar sign, where a shell of the tasks will read the text."""
    command = root_with_launcher(launch)
    doubled = command is not None and command.chain.shell_text is not None and any(word.startswith('"') and used.name in word for word in command.written)
    line = s.line(used.line)
    made = re.sub(rf"(?<!\\)\$(?=\{{?{used.name}\b)", r"\\$", line)
    return Edit(used.line, used.line, (made,)) if doubled and made != line and "'" not in line else None


def set_in_batch(s: Subject) -> Iterator[Hit]:
    """`export RANK=$SLURM_PROCID` in the batch script itself: 0 for every task."""
    launch = s.launch
    if launch is None or launch.parallel is None or launch.tasks == 1:
        return
    own = in_tasks(s, RANK_NAMES)
    spawner = launch.spawner is not None
    for one in s.script.assignments:
        names = ("NODE_RANK", "MACHINE_RANK") if spawner else ("RANK", "LOCAL_RANK", "NODE_RANK")
        if one.name not in names or one.inside or one.name in own or one.line > launch.line:
            continue
        variable = re.search(r"\$\{?(\w+)", one.written)
        used = not spawner or re.search(rf"\$\{{?{one.name}\b", " ".join(launch.root.written))
        if variable and EACH_TASK.fullmatch(variable[1]) and used and one.name in s.exported | {"NODE_RANK", "MACHINE_RANK"}:
            says = f"{one.name} is set in the batch script, where {variable[1]} has one value: every task gets the same"
            yield Hit(one.line, says, f"set it inside what {launch.parallel.name} starts: bash -c 'export {one.name}=${variable[1]}; exec ...'",
                      sources.SRUN if launch.parallel.name == "srun" else None)  # fmt: skip


def half_set(s: Subject) -> Iterator[Hit]:
    """Tasks that are told one of RANK and LOCAL_RANK, and not the other."""
    launch = s.launch
    if launch is None or launch.parallel is None or launch.spawner is not None or launch.tasks == 1:
        return
    own = in_tasks(s, RANK_NAMES)
    elsewhere = {one.name for one in s.script.assignments} | s.exported
    name = launch.parallel.name
    for needed, given, at in (("RANK", "LOCAL_RANK", 0), ("LOCAL_RANK", "RANK", 1)):
        if given in own and needed not in own and needed not in elsewhere:
            variable = NAMES.get(name, ("", "", ""))[at]
            says = f"the tasks are given {given} and not {needed}"
            yield Hit(own[given][0], says, f"PyTorch's env:// needs both; {name} sets them under other names" + (f", here {variable}" if variable else ""),
                      sources.TORCH_DISTRIBUTED, "error" if needed == "RANK" else "warning")  # fmt: skip


def nothing_set(s: Subject) -> Iterator[Hit]:
    """Ranks started with no RANK anywhere: right only where the program finds it by itself."""
    launch = s.launch
    if launch is None or launch.parallel is None or launch.spawner is not None or not launch.tasks or launch.tasks == 1:
        return
    if launch.program.kind not in ("script", "module") or any(layer.kind == "wrapper" and layer.operand for layer in launch.layers):
        return
    names = {one.name for one in s.script.assignments} | s.exported | set(in_tasks(s, RANK_NAMES))
    env = {"MASTER_ADDR"} & names
    if env and "RANK" not in names and "RANK=" not in task_text(s) and not s.script.sourced and launch.per_node != 1:
        variable = NAMES.get(launch.parallel.name, ("",))[0]
        says = f"nothing sets RANK and LOCAL_RANK for the {launch.tasks} tasks of {launch.parallel.name}"
        yield Hit(launch.line, says, f"right only if the program reads {variable or 'the variables of the launcher'} itself; env:// needs RANK, LOCAL_RANK and WORLD_SIZE",
                  sources.TORCH_DISTRIBUTED)  # fmt: skip


def constant(s: Subject) -> Iterator[Hit]:
    """RANK=0 for all tasks, or LOCAL_RANK=0 where every task sees all devices."""
    launch = s.launch
    if launch is None or launch.parallel is None or launch.spawner is not None or (launch.tasks or 0) < 2:
        return
    own = in_tasks(s, RANK_NAMES)
    rank = own.get("RANK")
    if rank and rank[1].strip("'\"").isdigit():
        yield Hit(rank[0], f"RANK is {rank[1]} for all {launch.tasks} tasks", "each rank needs a number of its own, or the group never forms", sources.TORCH_DISTRIBUTED)
    local = own.get("LOCAL_RANK")
    one_each = sees_one(s, launch)
    if local and local[1].strip("'\"") == "0" and not one_each and (launch.per_node or 0) > 1 and not limited(s):
        says = f"LOCAL_RANK is 0 for all {launch.per_node} tasks of a node, and each sees all devices: they share one GPU"
        yield Hit(local[0], says, "cuda:LOCAL_RANK is the same device for all: 'Duplicate GPU detected'", sources.TORCH_DISTRIBUTED)
    if local and EACH_TASK.search(local[1]) and one_each and (launch.per_node or 0) > 1 and local_kind(local[1]):
        says = "each task sees one device, number 0, and LOCAL_RANK counts up: 'invalid device ordinal' on all but the first"
        yield Hit(local[0], says, "with one GPU bound to each task LOCAL_RANK is 0, or leave all visible (--gpu-bind=none)", sources.SRUN,
                  "warning")  # fmt: skip


def local_kind(value: str) -> bool:
    return bool(re.search(r"LOCAL", value))


def limited(s: Subject) -> bool:
    """Whether the tasks choose their device by themselves."""
    return bool(re.search(r"(CUDA|HIP|ROCR)_VISIBLE_DEVICES|ZE_AFFINITY_MASK|gpu_tile|set_affinity|select_gpu", s.script.text))


def sees_one(s: Subject, launch: Launch) -> bool:
    """Whether the launcher binds one device to each task."""
    layer = launch.parallel
    if layer is None:
        return False
    bind = text_of(layer, "--gpu-bind") or s.job.value("gpu-bind")
    each = launch.number(layer, "gpus_per_task") or (s.job.gpus_per_task if layer.name == "srun" else None)
    if layer.name == "srun":
        return bind != "none" and (each == 1 or bind.startswith(("single:1", "per_task:1", "map_gpu")) or layer.has("--ntasks-per-gpu"))
    if layer.name == "flux":
        return each == 1
    gpus, tasks = launch.number(layer, "set_gpus"), launch.number(layer, "set_tasks") or 1
    return layer.name == "jsrun" and gpus == 1 and tasks == 1


def mixed_up(s: Subject) -> Iterator[Hit]:
    """A number on the node where the number in the job is wanted, or the reverse."""
    launch = s.launch
    if launch is None or launch.parallel is None or not s.several_nodes or (launch.tasks or 2) < 2:
        return
    own = in_tasks(s, RANK_NAMES)
    spawner = launch.spawner
    told = [(own[name][0], name, own[name][1]) for name in ("RANK", "LOCAL_RANK", "NODE_RANK") if name in own and spawner is None]
    if spawner is not None and (text_of(spawner, "--rdzv-backend") or "static") == "static":
        value = text_of(spawner, "--node-rank", "--machine-rank")
        told += [(launch.line, "the node's rank", value)] if value else []
    for line, name, value in told:
        variable = re.fullmatch(r"[\"']?\$\{?(\w+)\}?[\"']?", value)
        if not variable or not EACH_TASK.fullmatch(variable[1]):
            continue
        local = bool(re.search(r"LOCAL", variable[1]))
        if name != "LOCAL_RANK" and local:
            yield Hit(line, f"{name} is {variable[1]}, which begins at 0 on every node", "two nodes then claim the same numbers", sources.TORCH_DISTRIBUTED)
        elif name == "LOCAL_RANK" and re.search(r"PROCID|(?<!LOCAL_)RANK(ID)?$", variable[1]) and not local and (launch.per_node or 2) > 1:
            yield Hit(line, f"{name} is {variable[1]}, which counts over all nodes", "'invalid device ordinal' on every node but the first", sources.TORCH_DISTRIBUTED)


def misspelt(s: Subject) -> Iterator[Hit]:
    """A scheduler's variable that does not exist, and nearly does."""
    told: set[str] = set()
    set_here = {one.name for one in s.script.assignments} | s.exported
    for number, line in s.code_lines:
        for found in re.finditer(r"\$\{?#?([A-Z][A-Z0-9_]+)", line):
            name = found[1]
            if name in KNOWN or name in told or name in set_here or not FAMILY.match(name):
                continue
            near = get_close_matches(name, KNOWN, 1, 0.85)
            if near and not re.search(rf"\$\{{{name}:?[-+?]", line) and not optional(name):
                told.add(name)
                yield Hit(number, f"{name} is set by nobody; the nearest is {near[0]}", "an unset variable is empty, or ends the script under set -u",
                          sources.SRUN, edit=Edit(number, number, (line.replace(name, near[0]),)))  # fmt: skip


def optional(name: str) -> bool:
    """Real variables that are set only now and then."""
    return bool(re.fullmatch(r"SLURM_(JOB|STEP|ARRAY|GPUS|MEM|CPUS|TRES|HET)\w*|PBS_O_\w+|PMI_\w+|SLURM_NTASKS_PER_\w+", name)) and not re.fullmatch(
        r"SLURM_JOB_(NUM_NODE|NODE_LIST|NODELISTS|NUMNODES)|SLURM_NTASKS_PER_NODES|SLURM_CPUS_PER_TASKS", name
    )


RULES = (
    Rule("rank-variable-launcher", "rendezvous", "error", "a rank variable that this launcher does not set", other_launcher),
    Rule("rank-expanded-early", "rendezvous", "error", "a rank variable expanded by the batch shell instead of by each task", early),
    Rule("rank-set-in-batch", "rendezvous", "error", "RANK or NODE_RANK set in the batch script, once for all", set_in_batch),
    Rule("rank-half-set", "rendezvous", "error", "tasks that get only one of RANK and LOCAL_RANK", half_set),
    Rule("rank-not-set", "rendezvous", "info", "nothing sets RANK for ranks that a parallel launcher starts", nothing_set),
    Rule("rank-constant", "rendezvous", "error", "RANK or LOCAL_RANK the same for all, or LOCAL_RANK counting where one device is seen", constant),
    Rule("rank-mixed-up", "rendezvous", "error", "the rank on the node taken for the rank in the job, or the reverse", mixed_up),
    Rule("variable-misspelt", "shell", "error", "a scheduler's variable that does not exist, and nearly does", misspelt),
)  # fmt: skip
