"""Where a launcher puts its tasks: how many on which node, and which devices each may see.

One function a launcher. Each reads the options and the job, and refuses what the real one refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from graph.verification.simulator.cluster.hostlist import expand
from graph.verification.simulator.cluster.options import LayoutRefusedError, Parsed
from graph.verification.simulator.config import StandIn

MORE_THAN_PERMITTED = "error: Unable to create step for job {job}: More processors requested than permitted"
BAD_GRES = "error: Unable to create step for job {job}: Invalid generic resource (gres) specification"

SLOTS = """There are not enough slots available in the system to satisfy the {ntasks}
slots that were requested by the application:

  {app}
"""
PPR = """Your job has requested more processes than the ppr for
this topology can support:

  App: {app}
  Number of procs:  {ntasks}
  PPR: {per_node}:node

Please revise the conflict and try again."""
OFFSET = (
    "ERROR: Number of hosts (requested through -n) plus offset (via -o) exceeds the total number of slots available."
)


@dataclass(frozen=True, slots=True)
class TaskLayout:
    """Tasks by node, in rank order node by node. devices: those of each local task, or None (all of the node's)."""

    nodes: tuple[str, ...]
    counts: tuple[int, ...]
    devices: tuple[tuple[int, ...], ...] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def ntasks(self) -> int:
        return sum(self.counts)


def whole(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def blocks(ntasks: int, nodes: int) -> tuple[int, ...]:
    """Tasks over nodes as evenly as it goes, the first ones taking the rest."""
    return tuple(ntasks // nodes + (number < ntasks % nodes) for number in range(nodes))


def packed(ntasks: int, per_node: int) -> tuple[int, ...]:
    full, rest = divmod(ntasks, per_node)
    return (per_node,) * full + ((rest,) if rest else ())


def srun(parsed: Parsed, job: StandIn, variables: Mapping[str, str]) -> TaskLayout:
    """Slurm: options first, then the job's own variables (which is how sbatch hands its options down)."""
    named = expand(parsed.last("hosts") or "")
    if not set(named) <= set(job.nodes):
        raise LayoutRefusedError(
            f"error: Unable to create step for job {job.job_id}: Requested node configuration is not available"
        )
    low, _, high = (parsed.last("nodes") or "").partition("-")
    nodes = whole(high or low) or len(named) or whole(variables.get("SLURM_NNODES")) or len(job.nodes)
    if nodes > len(job.nodes):
        raise LayoutRefusedError(f"error: Only allocated {len(job.nodes)} nodes asked for {nodes}")
    per_node = parsed.count("per_node") or whole(variables.get("SLURM_NTASKS_PER_NODE"))
    ntasks = parsed.count("tasks") or whole(variables.get("SLURM_NTASKS")) or (per_node or 1) * nodes
    warnings: list[str] = []
    if ntasks < nodes:
        warnings.append(f"Warning: can't run {ntasks} processes on {nodes} nodes, setting nnodes to {ntasks}")
        nodes = ntasks
    if per_node and ntasks > per_node * nodes:
        warnings.append(
            f"Warning: can't honor --ntasks-per-node set to {per_node} which doesn't match the requested tasks "
            f"{ntasks} with the number of requested nodes {nodes}. Ignoring --ntasks-per-node."
        )
        per_node = None
    counts = packed(ntasks, per_node) if per_node and parsed.last("per_node") else blocks(ntasks, nodes)
    refuse_too_many_cpus(parsed, job, variables, max(counts))
    devices = srun_devices(parsed, job, variables, max(counts))
    return TaskLayout((tuple(named) or job.nodes)[: len(counts)], counts, devices, tuple(warnings))


def refuse_too_many_cpus(parsed: Parsed, job: StandIn, variables: Mapping[str, str], per_node: int) -> None:
    """srun takes --cpus-per-task from its own option or SRUN_CPUS_PER_TASK only, as in Slurm 22.05 and 23.02.

    From 23.11 on it takes it from sbatch again (changelog of 23.11).
    """
    cpus = parsed.count("cpus") or whole(variables.get("SRUN_CPUS_PER_TASK")) or 1
    if cpus * per_node > job.cpus_per_node and "O" not in parsed.options and "overcommit" not in parsed.options:
        raise LayoutRefusedError(MORE_THAN_PERMITTED.format(job=job.job_id))


def srun_devices(
    parsed: Parsed, job: StandIn, variables: Mapping[str, str], per_node: int
) -> tuple[tuple[int, ...], ...] | None:
    """What --gpus-per-task and --gpu-bind leave a task to see; None: all devices of the job on the node."""
    have = job.gpus_per_node
    asked = parsed.count("gpus_per_node")
    if asked and asked > have:
        raise LayoutRefusedError(BAD_GRES.format(job=job.job_id))
    per_task = parsed.count("gpus_per_task") or whole(variables.get("SLURM_GPUS_PER_TASK"))
    if per_task and per_task * per_node > have:
        raise LayoutRefusedError(BAD_GRES.format(job=job.job_id))
    bind = parsed.last("gpu_bind") or variables.get("SLURM_GPU_BIND") or ""
    if bind == "none" or (not per_task and not bind and not job.one_device):
        return tuple(tuple(range(asked)) for _ in range(per_node)) if asked and asked < have else None
    if per_task:
        return tuple(tuple(range(n * per_task, (n + 1) * per_task)) for n in range(per_node))
    if "map_gpu:" in bind:
        numbers = [int(n) for n in bind.split("map_gpu:")[1].split(",") if n.isdigit()]
        return tuple((numbers[n % len(numbers)],) for n in range(per_node)) if numbers else None
    share = max(1, have // per_node) if per_node else 1
    return tuple(tuple(range(n * share, min(have, (n + 1) * share))) or (n % max(have, 1),) for n in range(per_node))


def hosts_of(parsed: Parsed, job: StandIn) -> list[str]:
    """Hosts of --hosts or --hostfile, in order, repeated lines once; the job's nodes when none are given."""
    text = parsed.last("hosts")
    names = re.split(r"[,\s]+", text) if text else []
    path = parsed.last("hostfile")
    if path:
        if not Path(path).is_file():
            raise LayoutRefusedError(f"error: hostfile {path} cannot be read")
        names = [line.split()[0] for line in Path(path).read_text().splitlines() if line.strip() and line[0] != "#"]
    short = [name.split(":")[0].split(".")[0] if not name[:1].isdigit() else name.split(":")[0] for name in names]
    unknown = [name for name in short if name and name not in job.nodes]
    if unknown:
        raise LayoutRefusedError(f"error: host {unknown[0]} is not part of this job")
    return list(dict.fromkeys(name for name in short if name)) or list(job.nodes)


def pals(parsed: Parsed, job: StandIn, variables: Mapping[str, str]) -> TaskLayout:
    """mpiexec of PALS, and Hydra's: --ppn ranks on each host in turn.

    Without --ppn, PALS fills the CPUs of the first host before the next (so 8 ranks land on one node); Hydra under
    Slurm takes the job's tasks a node.
    """
    hosts = hosts_of(parsed, job)
    depth = parsed.count("cpus") or 1
    filled = job.tasks_per_node if job.mpi == "impi" else job.cpus_per_node // depth
    per_node = parsed.count("per_node")
    ntasks = parsed.count("tasks") or (per_node * len(hosts) if per_node else 1)
    counts = packed(ntasks, per_node or filled or -(-ntasks // len(hosts)))
    if len(counts) > len(hosts):
        raise LayoutRefusedError(
            f"error: {ntasks} ranks need {len(counts)} nodes of {counts[0]}, the job has {len(hosts)}"
        )
    if depth * max(counts) > job.cpus_per_node:
        raise LayoutRefusedError(f"error: {max(counts)} ranks of depth {depth} are more than a node's CPUs")
    bind = parsed.last("gpu_bind") or ""
    devices = None
    if bind and bind != "none":
        text = bind.split("list:")[-1]
        groups = [tuple(int(n) for n in group.split(",") if n.isdigit()) for group in text.split(":")]
        devices = tuple(groups[n % len(groups)] for n in range(max(counts)))
    return TaskLayout(tuple(hosts[: len(counts)]), counts, devices)


def open_mpi(parsed: Parsed, job: StandIn, variables: Mapping[str, str]) -> TaskLayout:
    """mpirun fills slots host by host, unless --map-by or -npernode says otherwise."""
    hosts = hosts_of(parsed, job)
    mapped = re.match(r"ppr:(\d+):node", parsed.last("map") or "")
    per_node = (
        parsed.count("per_node") or (int(mapped[1]) if mapped else None) or (1 if "pernode" in parsed.options else None)
    )
    slots = slots_per_node(parsed, job)
    ntasks = parsed.count("tasks") or (per_node or slots) * len(hosts)
    by_node = parsed.last("map") == "node" or "bynode" in parsed.options
    counts = packed(ntasks, per_node or slots) if not by_node else blocks(ntasks, len(hosts))
    if per_node and ntasks > per_node * len(hosts):
        raise LayoutRefusedError(PPR.format(app=" ".join(parsed.command[:1]), ntasks=ntasks, per_node=per_node))
    if len(counts) > len(hosts) or (per_node and per_node > slots and "oversubscribe" not in parsed.options):
        raise LayoutRefusedError(SLOTS.format(app=" ".join(parsed.command[:1]), ntasks=ntasks))
    return TaskLayout(tuple(hosts[: len(counts)]), counts)


def slots_per_node(parsed: Parsed, job: StandIn) -> int:
    """Slots of a node: said in the hostfile or by -H, repeated in it, by the job's tasks a node; else its cores."""
    path, text = parsed.last("hostfile"), parsed.last("hosts")
    listed = Path(path).read_text() if path else ""
    said = re.findall(r"slots\s*=\s*(\d+)", listed) if path else re.findall(r":(\d+)", text or "")
    if said:
        return int(said[0])
    names = [line.split()[0] for line in listed.splitlines() if line.strip() and line[0] != "#"]
    if len(names) > len(set(names)):
        return names.count(names[0])
    if job.scheduler == "slurm" and not path and not text:
        return job.tasks_per_node or (-(-job.ntasks // len(job.nodes)) if job.ntasks else 1)
    if job.scheduler == "pbs" and not path and not text and job.tasks_per_node:
        return job.tasks_per_node
    return job.cpus_per_node


def ibrun(parsed: Parsed, job: StandIn, variables: Mapping[str, str]) -> TaskLayout:
    """TACC's ibrun starts the job's -n tasks over its -N nodes."""
    total = job.ntasks or (job.tasks_per_node or 1) * len(job.nodes)
    ntasks = parsed.count("tasks") or total
    if ntasks > total:
        raise LayoutRefusedError(OFFSET)
    per_node = -(-total // len(job.nodes))
    counts = blocks(ntasks, len(job.nodes)) if ntasks == total else packed(ntasks, per_node)
    return TaskLayout(job.nodes[: len(counts)], tuple(c for c in counts if c))


def jsrun(parsed: Parsed, job: StandIn, variables: Mapping[str, str]) -> TaskLayout:
    """Resource sets: each is some tasks, cores and GPUs of one host; its tasks see its GPUs only."""
    gpus = amount(parsed, "set_gpus", job.gpus_per_node, 0)
    cpus = amount(parsed, "set_cpus", job.cpus_per_node, 1)
    sets = amount(parsed, "sets", 10**6, len(job.nodes) * (whole(parsed.last("sets_per_node")) or 1))
    fit = min(job.gpus_per_node // gpus if gpus else 10**6, job.cpus_per_node // max(cpus, 1))
    per_host = whole(parsed.last("sets_per_node")) or min(fit, -(-sets // len(job.nodes)))
    tasks = amount(parsed, "set_tasks", cpus, 1)
    ntasks = parsed.count("total_tasks")
    if ntasks and "sets" not in parsed.options:
        sets, per_host = 1, 1
        return TaskLayout(job.nodes[:1], (ntasks,))
    if per_host > fit or per_host < 1 or sets > per_host * len(job.nodes):
        raise LayoutRefusedError("Error: Resource sets requested do not fit on the hosts of this job")
    hosted = packed(sets, per_host)
    devices = tuple(tuple(range(s * gpus, (s + 1) * gpus)) for s in range(per_host) for _ in range(tasks))
    return TaskLayout(job.nodes[: len(hosted)], tuple(count * tasks for count in hosted), devices)


def amount(parsed: Parsed, name: str, everything: int, default: int) -> int:
    text = parsed.last(name)
    if text is None:
        return default
    if text.upper().startswith("ALL"):
        return everything
    return whole(text) or 0


def lrun(parsed: Parsed, job: StandIn, variables: Mapping[str, str]) -> TaskLayout:
    """LLNL's wrapper of jsrun: the GPUs of a node are shared out among its tasks."""
    nodes = parsed.count("nodes") or len(job.nodes)
    if nodes > len(job.nodes):
        raise LayoutRefusedError(f"error: job has {len(job.nodes)} nodes, {nodes} asked for")
    per_node, ntasks = parsed.count("per_node"), parsed.count("tasks")
    if not per_node and not ntasks and "1" not in parsed.options:
        raise LayoutRefusedError("error: one of -1, -n, -T is needed")
    counts = (
        (1,)
        if "1" in parsed.options
        else packed(ntasks or (per_node or 1) * nodes, per_node or -(-(ntasks or 1) // nodes))
    )
    share = max(1, job.gpus_per_node // max(counts))
    devices = tuple(tuple(range(n * share, (n + 1) * share)) for n in range(max(counts)))
    return TaskLayout(job.nodes[: len(counts)], counts, devices)


def flux_run(parsed: Parsed, job: StandIn, variables: Mapping[str, str]) -> TaskLayout:
    """flux run: tasks in even blocks; no GPU is shown that was not asked for."""
    nodes = parsed.count("nodes")
    per_node = parsed.count("per_node")
    ntasks = parsed.count("tasks") or (nodes or 1) * (per_node or 1)
    per_task = parsed.count("gpus_per_task") or 0
    used = nodes or min(len(job.nodes), max(1, -(-ntasks * per_task // max(1, job.gpus_per_node)) if per_task else 1))
    counts = blocks(ntasks, min(used, ntasks))
    if used > len(job.nodes) or per_task * max(counts) > job.gpus_per_node:
        raise LayoutRefusedError("flux-job: job alloc exception: unsatisfiable request")
    if nodes and ntasks < nodes:
        raise LayoutRefusedError(f"flux-run: ERROR: node count must not be greater than task count: {nodes} > {ntasks}")
    settings = dict(o.partition("=")[::2] for o in parsed.options.get("setting", []))
    if settings.get("gpu-affinity") == "per-task" or settings.get("mpibind", "off") != "off":
        share = per_task or max(1, job.gpus_per_node // max(counts))
        devices = tuple(tuple(range(n * share, (n + 1) * share)) for n in range(max(counts)))
        return TaskLayout(job.nodes[: len(counts)], counts, devices)
    exclusive = bool({"x", "exclusive", "gpus_per_node"} & set(parsed.options))
    shown = job.gpus_per_node if exclusive else per_task * max(counts)
    return TaskLayout(job.nodes[: len(counts)], counts, tuple(tuple(range(shown)) for _ in range(max(counts))))


LAYOUTS: dict[str, Callable[[Parsed, StandIn, Mapping[str, str]], TaskLayout]] = {
    "srun": srun, "mpiexec": pals, "mpirun": open_mpi, "ibrun": ibrun, "jsrun": jsrun, "lrun": lrun,
    "flux run": flux_run,
}  # fmt: skip
