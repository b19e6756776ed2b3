# ruff: noqa: E501
"""Who tells each rank which one it is? The variables that each launcher sets, and where they are read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.launch_shape import LaunchShape, text_of
from graph.verification.checks import sources
from graph.verification.checks.rule import Edit, Hit, launch_rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.tasks import EACH_TASK, OF_TASK, Used, in_tasks, root_with_launcher, task_text, variables
from knowledge.types import Severity

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

# A number of a task, or one worked out from it: not a file's name with it inside.
ARITHMETIC = re.compile(r"[\"']?\$(\{?\w+\}?|\(\([^()]*\)\)|\[[^\[\]]*\])[\"']?")
# The same for all tasks of a node.
OF_NODE = ("SLURM_NODEID", "SLURM_TOPOLOGY_ADDR", "PALS_NODEID")

WHY_ONE_VALUE = "all tasks get the same value, or none, and no process group forms"


def other_launcher(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """SLURM_PROCID under mpiexec, OMPI_* under srun: not set, or set for another purpose."""
    if launch.parallel is None or launch.parallel.name not in SETS:
        return
    name, told = launch.parallel.name, set()
    allowed = [OF_TASK[family] for family in allowed_families(s, launch)]
    for used in variables(s):
        known = not EACH_TASK.fullmatch(used.name) or any(one.fullmatch(used.name) for one in allowed)
        if known or used.name in told or used.name == "SLURMD_NODENAME" or has_default(s, used.line, used.name):
            continue
        told.add(used.name)
        right = right_name(s, launch, used.name)
        says = f"{used.name} is not set by {name}" + (f"; its tasks find that in {right}" if right else "")
        page = sources.SRUN if name == "srun" else None
        if name == "srun" and used.name.startswith("PMI"):
            says = f"srun sets {used.name} only with --mpi=pmi2 or pmix; SLURM_PROCID is always there"
            yield Hit(used.line, says, WHY_ONE_VALUE, page, "warning")
            continue
        made = re.sub(rf"\b{used.name}\b", right, s.line(used.line))
        # mpirun's helpers on each node are steps of Slurm: the node's number may come through them.
        weight: Severity | None = "warning" if used.name == "SLURM_NODEID" else None
        edit = Edit(used.line, used.line, (made,)) if right else None
        yield Hit(used.line, says, WHY_ONE_VALUE, page, weight, edit=edit)


def allowed_families(s: Subject, launch: LaunchShape) -> tuple[str, ...]:
    """A launcher's families; on a machine that is known, one mpiexec means one MPI."""
    layer = launch.parallel
    name = layer.name if layer else ""
    families = SETS[name]
    forms = [form for listed in s.cluster.launch.values() for form in listed] if s.cluster else []
    own = [form.rank_variables for form in forms if form.launcher == name]
    if name == "mpiexec" and own and not any(one and "OMPI" in one.rank for one in own):
        return ("pmi", "pals", "pmix")
    if name == "srun" and layer is not None and not (text_of(layer, "--mpi") or "").startswith(("pmi", "cray")):
        # On Slingshot machines srun's default is Cray's own, which sets PMI variables.
        cray = any("slingshot" in (kind.nics.kind or "").lower() for kind in s.node_types)
        return ("srun", "pmi") if cray else ("srun",)
    if (
        name == "mpirun"
        and layer is not None
        and (layer.has("-x") or layer.has("--map-by") or layer.has("--mca") or layer.has("-mca"))
    ):
        return ("open-mpi", "pmix")
    return families


def has_default(s: Subject, line: int, name: str) -> bool:
    """`${SLURM_PROCID:-$PMI_RANK}`: a line that tries several."""
    return bool(re.search(rf"\$\{{{name}:?[-+]|:-\$\{{?{name}", s.line(line)))


def right_name(s: Subject, launch: LaunchShape, name: str) -> str:
    layer = launch.parallel
    names = NAMES.get(layer.name, ("", "", "")) if layer else ("", "", "")
    forms = [form.rank_variables for listed in s.cluster.launch.values() for form in listed
             if layer and form.launcher == layer.name and form.rank_variables] if s.cluster else []  # fmt: skip
    if forms and forms[0]:
        names = (forms[0].rank.strip("${}"), forms[0].local_rank.strip("${}"), "")
    kind = 2 if "NODEID" in name else 1 if "LOCAL" in name else 0
    found = names[kind]
    return found if re.fullmatch(r"[A-Z_0-9]+", found) and not found.isdigit() else ""


def early(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`bash -c "... $SLURM_PROCID"`: the batch shell puts its own value in, one for all tasks."""
    if launch.parallel is None or launch.tasks == 1:
        return
    told: set[tuple[str, int]] = set()
    elastic = is_elastic(launch)
    for used in variables(s):
        if (
            not used.early
            or not EACH_TASK.fullmatch(used.name)
            or (used.name, used.line) in told
            or used.name == "SLURMD_NODENAME"
        ):
            continue
        if used.name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE") or elastic or (used.name in OF_NODE and launch.nodes == 1):
            continue
        told.add((used.name, used.line))
        says = f"{used.name} is expanded by the batch shell, before {launch.parallel.name} starts the tasks: all get one value"
        yield Hit(used.line, says, edit=escaped(s, launch, used))


def is_elastic(launch: LaunchShape) -> bool:
    """Whether the nodes number themselves when they meet, so that a node's number given to the spawner is not read."""
    layer = launch.spawner
    named = layer is not None and layer.name in ("torchrun", "accelerate", "tune")
    return named and layer is not None and (text_of(layer, "--rdzv-backend") or "static") != "static"


def escaped(s: Subject, launch: LaunchShape, used: Used) -> Edit | None:
    """A backslash before the dollar sign, where a shell of the tasks will read the text."""
    command = root_with_launcher(launch)
    doubled = (
        command is not None
        and command.chain.shell_text is not None
        and any(word.startswith('"') and used.name in word for word in command.written)
    )
    line = s.line(used.line)
    made = re.sub(rf"(?<!\\)\$(?=\{{?{used.name}\b)", r"\\$", line)
    return Edit(used.line, used.line, (made,)) if doubled and made != line and "'" not in line else None


def set_in_batch(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """`export RANK=$SLURM_PROCID` in the batch script itself: 0 for every task."""
    if launch.parallel is None or launch.tasks == 1:
        return
    if is_elastic(launch):
        return
    own = in_tasks(s, RANK_NAMES)
    names = () if launch.spawner is not None else ("RANK", "LOCAL_RANK")
    handed = {used.name for used in variables(s) if used.early}
    for one in s.script.assignments:
        variable = re.search(rf"(?:\$\{{?|\(\(\s*)({EACH_TASK.pattern})\b", one.written)
        if not variable or one.inside or one.line > launch.line:
            continue
        read = one.name in names and one.name in s.exported and one.name not in own
        if read or (one.name in handed and ARITHMETIC.fullmatch(one.written) and "rank" in one.name.lower().split("_")):
            weight: Severity | None = None if read or is_given_as_rank(launch, one.name) else "warning"
            says = f"{one.name} is set in the batch script, where {variable[1]} has one value: every task gets the same"
            yield Hit(one.line, says, f"set it inside what {launch.parallel.name} starts: bash -c 'export {one.name}=${variable[1]}; exec ...'",
                      sources.SRUN if launch.parallel.name == "srun" else None, weight)  # fmt: skip


def is_given_as_rank(launch: LaunchShape, name: str) -> bool:
    """Whether an option or a variable of a rank takes it: `--node_rank=$NAME`, `RANK=$NAME`. A log's name may be one for all."""
    command = root_with_launcher(launch)
    text = " ".join(command.written) if command else ""
    return bool(re.search(rf"\b(?:[a-z]+[-_])*rank[=\s][\"']?\$\{{?{name}\b", text, re.I))


def half_set(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Tasks that are told one of RANK and LOCAL_RANK, and not the other."""
    if launch.parallel is None or launch.spawner is not None or launch.tasks == 1:
        return
    own = in_tasks(s, RANK_NAMES)
    elsewhere = s.names
    name = launch.parallel.name
    for needed, given, at in (("RANK", "LOCAL_RANK", 0), ("LOCAL_RANK", "RANK", 1)):
        if given in own and needed not in own and needed not in elsewhere:
            variable = NAMES.get(name, ("", "", ""))[at]
            says = f"the tasks are given {given} and not {needed}"
            yield Hit(own[given][0], says,
                      f"PyTorch's env:// needs both; {name} sets them under other names" + (f", here {variable}" if variable else ""))  # fmt: skip


def nothing_set(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Ranks started with no RANK anywhere: right only where the program finds it by itself."""
    if launch.parallel is None or launch.spawner is not None or not launch.tasks or launch.tasks == 1:
        return
    if launch.program.kind not in ("script", "module") or any(
        layer.kind == "wrapper" and layer.operand for layer in launch.layers
    ):
        return
    names = s.names | set(in_tasks(s, RANK_NAMES))
    env = {"MASTER_ADDR"} & names
    if env and "RANK" not in names and "RANK=" not in task_text(s) and not s.script.sourced and launch.per_node != 1:
        variable = NAMES.get(launch.parallel.name, ("",))[0]
        says = f"nothing sets RANK and LOCAL_RANK for the {launch.tasks} tasks of {launch.parallel.name}"
        yield Hit(launch.line, says,
                  f"right only if the program reads {variable or 'the variables of the launcher'} itself; env:// needs RANK, LOCAL_RANK and WORLD_SIZE")  # fmt: skip


RULES = (
    launch_rule("rank-variable-launcher", "rendezvous", "error", "a rank variable that this launcher does not set", other_launcher),
    launch_rule("rank-expanded-early", "rendezvous", "error", "a rank variable expanded by the batch shell instead of by each task", early, sources.BASH + "#Quoting",
                why="put the command into bash -c '...' with single quotes, or write \\$: then each task expands it"),
    launch_rule("rank-set-in-batch", "rendezvous", "error", "RANK or NODE_RANK set in the batch script, once for all", set_in_batch),
    launch_rule("rank-half-set", "rendezvous", "warning", "tasks that get only one of RANK and LOCAL_RANK", half_set, sources.TORCH_DISTRIBUTED),
    launch_rule("rank-not-set", "rendezvous", "info", "nothing sets RANK for ranks that a parallel launcher starts", nothing_set, sources.TORCH_DISTRIBUTED),
)  # fmt: skip
