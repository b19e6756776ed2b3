# ruff: noqa: E501
"""Does the parallel launcher's own arithmetic hold: tasks, tasks a node, nodes, CPUs, GPUs?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import LaunchShape, text_of
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.limit_rules import cpus_for_jobs
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.subject import Subject, number_of
from graph.verification.checks.tasks import option_pairs


def launcher_tasks(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """The launcher's own numbers: total, a node, and the nodes of the job."""
    layer = launch.parallel
    nodes = s.job.nodes
    if layer is None or nodes is None or s.job.mixed or layer.role("hosts") is not None:
        return
    if s.set_to("PBS_NODEFILE") or s.set_to("PART_DEVICES"):
        return  # programs side by side: each has a part of the nodes or GPUs
    total, each = launch.number(layer, "tasks"), launch.per_node
    wanted = launch.nodes if layer.name in ("srun", "flux") else nodes
    if wanted is not None and layer.name in ("srun", "flux", "jsrun") and (launch.nodes or 0) > nodes:
        yield Hit(launch.line, f"{layer.name} asks for {launch.nodes} nodes; the job has {nodes}", "the step is refused, or waits for ever",
                  sources.SRUN if layer.name == "srun" else None)  # fmt: skip
    elif total and each and wanted and total > each * wanted and stated(launch, layer):
        yield Hit(launch.line, f"{layer.name} is told {total} tasks with {each} a node: that takes {-(-total // each)} nodes; the job has {wanted}",
                  "the launcher refuses it or puts too many on a node")  # fmt: skip
    elif total and each and wanted and total < each * wanted and stated(launch, layer) and total > 1:
        needed = -(-total // each)
        says = f"{layer.name} is told {total} tasks, {each} a node on {wanted} nodes would be {each * wanted}"
        if needed < wanted:
            says = (
                f"{layer.name} is told {total} tasks with {each} a node: {wanted - needed} of {wanted} nodes get none"
            )
        yield Hit(launch.line, says, "the counts of one launch line should agree", severity="warning")


def stated(launch: LaunchShape, layer: Layer) -> bool:
    """Whether the number a node stands on the launch line itself."""
    return any(layer.role(role) is not None for role in ("per_node", "map", "sets_per_node"))


def missing_nodes(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """Ranks started on fewer nodes than the job pays for, where only the total is given."""
    layer = launch.parallel
    if layer is None or not s.several_nodes or launch.spawner or s.job.mixed or launch.remote or layer.has("-o"):
        return
    total, devices, nodes = launch.tasks, s.devices, s.job.nodes or 1
    bare = layer.name in ("ibrun", "mpirun", "mpiexec") and not stated(launch, layer) and layer.role("hosts") is None
    if bare and total and devices and 1 < total < devices * nodes and total != nodes:
        says = f"{layer.name} starts {total} ranks; the job has {nodes} x {devices} = {nodes * devices} GPUs"
        yield Hit(launch.line, says, severity="warning")


# A script that picks its nodes by name keeps the others in reserve on purpose.
NODE_LIST = re.compile(r"--nodelist=\"?\$")


def idle_nodes(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A launch on fewer nodes than the job has: hot spares are so, and forgotten counts."""
    nodes = s.job.nodes
    if (
        launch.parallel is None
        or nodes is None
        or launch.nodes is None
        or launch.remote
        or s.job.mixed
        or NODE_LIST.search(s.script.text)
    ):
        return
    if 1 < launch.nodes < nodes:
        yield Hit(launch.line, f"{launch.parallel.name} starts on {launch.nodes} of the job's {nodes} nodes")


def no_gpus(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """jsrun gives a resource set no GPU unless it is told."""
    layer = launch.parallel
    if layer is None or layer.name != "jsrun" or launch.open:
        return
    if not re.search(r"torch|tensorflow|horovod|nccl|cuda|gpu", s.script.text, re.I):
        return  # nothing says that the program wants any
    gpus = layer.role("set_gpus")
    if (gpus is None or plain(gpus) == "0") and not any(name in ("-U", "--erf_input") for name, _ in layer.options):
        says = "jsrun gives these ranks no GPU: --gpu_per_rs is " + ("missing" if gpus is None else "0")
        yield Hit(launch.line, says)


def step_cpus(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """srun's tasks x CPUs against the CPUs that the job has on a node."""
    job = s.job
    layer = launch.parallel
    if layer is None or layer.name != "srun" or launch.per_node is None:
        return
    each = next((launch.number_of(value) for name, value in layer.options if name in ("-c", "--cpus-per-task")), None)
    whole = job.exclusive or (s.cluster is not None and s.cluster.whole_nodes)
    sizes = [cpus_for_jobs(s, kind) for kind in s.node_types]
    has = max(sizes) if whole and sizes and all(sizes) else None
    if not whole and job.tasks_per_node and job.cpus_per_task:
        has = job.tasks_per_node * job.cpus_per_task
    if each and has and each * launch.per_node > has:
        says = f"srun asks for {launch.per_node} tasks a node with {each} CPUs each; the job has {has} CPUs there"
        fewer = re.sub(
            rf"((?:--cpus-per-task|(?<=\s)-c)[= ]?){each}\b", rf"\g<1>{has // launch.per_node}", s.line(launch.line)
        )
        cure = fewer != s.line(launch.line) and has >= launch.per_node
        yield Hit(launch.line, says, edit=Edit(launch.line, launch.line, (fewer,)) if cure else None)


# Options that say how many processes or threads a task keeps busy.
WORKERS = re.compile(r"--?(?:(?:data|dataloader|num)[-_])*(?:workers|threads|cpus)")


def step_without_cpus(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A step that is not told the CPUs a task, whose threads or workers count on those of the directives."""
    job = s.job
    layer = launch.parallel
    whole = {"SRUN_CPUS_PER_TASK", "SLURM_CPU_BIND"} & {*s.exported, *(one.name for one in s.script.assignments)}
    if layer is None or layer.name != "srun" or (job.cpus_per_task or 1) < 2 or whole or launch.open:
        return
    if any(name.startswith(("-c", "--cpu", "--exact", "--overlap", "--mem-bind")) for name, _ in layer.options):
        return
    told = [(name, value) for name, value in option_pairs(launch) if WORKERS.fullmatch(name)]
    told += [("OMP_NUM_THREADS", one.written) for one in s.set_to("OMP_NUM_THREADS") if not one.inside]
    for name, value in told:
        wanted = number_of(value, s.facts)
        if wanted and wanted > 1:
            count = job.cpus_per_task
            says = f"srun is not told the CPUs a task, and {name} counts on {wanted}: it may bind each task to one"
            why = f"since Slurm 22.05 srun does not take --cpus-per-task={count} over from sbatch: srun -c {count}, or export SRUN_CPUS_PER_TASK"
            yield Hit(launch.line, says, why, severity=None if (launch.per_node or 0) > 1 else "info")
            return


def step_gpus(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """srun's tasks x GPUs against the GPUs that the job has: on a node, or in all where only --gpus is asked (3 + 1 is an allocation, too)."""
    job = s.job
    layer = launch.parallel
    each = launch.number(layer, "gpus_per_task") if launch is not None and layer is not None else None
    if layer is None or layer.name != "srun" or not each or job.exclusive:
        return
    if not {"gpus-per-node", "gres"} & set(job.asked):
        if launch.tasks and job.total_gpus and each * launch.tasks > job.total_gpus:
            says = f"srun asks for {launch.tasks} tasks with {each} GPUs each; the job has {job.total_gpus} GPUs"
            yield Hit(launch.line, says, "the step is refused, or waits for ever", severity="warning")
    elif launch.per_node and job.gpus_per_node and each * launch.per_node > job.gpus_per_node:
        has = job.gpus_per_node
        says = f"srun asks for {launch.per_node} tasks a node with {each} GPUs each; the job has {has} GPUs there"
        yield Hit(launch.line, says, "'Unable to create step: Invalid generic resource (gres) specification'")


def other_job(s: Subject) -> Iterator[Hit]:
    """A job's number left in the launch line of a batch script: `srun --jobid=4711`."""
    layer = s.launch.parallel if s.launch else None
    named = text_of(layer, "--jobid") if layer is not None and layer.name == "srun" and s.job.asked else None
    if s.launch is not None and named and named.isdigit():
        yield Hit(s.launch.line, f"srun --jobid={named} starts the step in that job, not in this one")


RULES = (
    launch_rule("launch-step-gpus", "launch", "error", "tasks x GPUs of the step are more than the job has on a node", step_gpus, sources.SRUN),
    launch_rule("launch-step-no-cpus", "launch", "warning", "--cpus-per-task in the directives, which srun does not take over, and workers or threads that need it", step_without_cpus, sources.SRUN),
    Rule("launch-other-job", "launch", "warning", "srun --jobid with a number: the step of another job", other_job, sources.SRUN,
         why="when it has ended: 'Invalid job id specified'; srun finds its own job without the option"),
    launch_rule("launch-tasks", "launch", "error", "the launcher's total, number a node and the job's nodes disagree", launcher_tasks),
    launch_rule("launch-ranks-total", "launch", "warning", "fewer ranks than GPUs where only a total is given", missing_nodes, sources.TORCH_DISTRIBUTED,
                why="one rank drives one device"),
    launch_rule("launch-nodes-idle", "launch", "info", "a launch on fewer nodes than the job has", idle_nodes,
                why="the others are charged and idle"),
    launch_rule("launch-no-gpus", "launch", "warning", "jsrun without GPUs for its resource sets", no_gpus, sources.JSRUN,
                why="a resource set has none by default"),
    launch_rule("launch-step-cpus", "launch", "error", "tasks x CPUs of the step are more than the job has on a node", step_cpus, sources.SRUN,
                why="'Unable to create step: More processors requested than permitted'"),
)  # fmt: skip
