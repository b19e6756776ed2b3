"""What the directives ask for, as numbers. None: not said, or not to be known from the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from graph.extraction.directives import DirectiveLine
from graph.extraction.script import ReadScript
from graph.extraction.walltime import seconds_of

Asked = Mapping[str, DirectiveLine]


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """asked holds option -> directive in force. GPU counts are the scheduler's; walltime is in seconds."""

    asked: Asked
    nodes: int | None = None
    ntasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    gpus_per_task: int | None = None
    memory_gb: float | None = None
    walltime: float | None = None
    exclusive: bool = False
    mixed: bool = False
    """Several components or node lists of different kinds: counts are left alone."""

    def line(self, *options: str) -> int:
        """The line of the first of these options that is asked; 0 where none is."""
        return next((self.asked[name].line for name in options if name in self.asked), 0)

    def value(self, *options: str) -> str:
        return next((self.asked[name].value for name in options if name in self.asked), "")


def read_job(script: ReadScript, scheduler: str) -> CheckedJob:
    asked = {name: one for name, one in script.active.items() if one.scheduler == scheduler}
    if re.search(r"(?m)^#SBATCH\s+(hetjob|packjob)", script.text):
        return CheckedJob(asked, mixed=True)
    reader = READERS.get(scheduler)
    return reader(asked, script) if reader else CheckedJob(asked)


def whole(text: str) -> int | None:
    """A plain number; nothing else, so that a range or a variable stays unknown."""
    return int(text) if re.fullmatch(r"\d{1,9}", text.strip()) else None


def gpus_of(text: str) -> int | None:
    """`4`, `a100:4`, `gpu:a100:4`, `gpu=4`, `gpu:4(S:0-1)`; bare `gpu` is one. Lists of several GPU kinds: None."""
    parts = [part for part in text.split(",") if part and not re.match(r"(?!gres|gpu)[a-z_]+[:/=]", part)]
    if len(parts) != 1:
        return None
    found = re.fullmatch(r"(?:gres[/:])?(?:gpu[:=/]?)?(?:[A-Za-z][\w.-]*[:=])?(\d{1,6})(?:\(.*\))?", parts[0])
    if found:
        return int(found[1])
    return 1 if re.fullmatch(r"gpu(:[A-Za-z][\w.-]*)?", parts[0]) else None


def memory_of(text: str) -> float | None:
    """Slurm's --mem in GB (a bare number is MB); 0 and odd forms are None."""
    found = re.fullmatch(r"(\d{1,9})([KMGT]?)B?", text.strip(), re.I)
    if not found or not int(found[1]):
        return None
    return int(found[1]) * {"K": 1e-6, "M": 1e-3, "": 1e-3, "G": 1.0, "T": 1000.0}[found[2].upper()]


def slurm(asked: Asked, script: ReadScript) -> CheckedJob:
    def number(name: str) -> int | None:
        return whole(asked[name].value) if name in asked else None

    nodes, ntasks, per_node = number("nodes"), number("ntasks"), number("ntasks-per-node")
    if "nodes" not in asked and ntasks and per_node:
        nodes = -(-ntasks // per_node)
    if "nodes" not in asked and ntasks == 1:
        nodes = 1
    here = next(
        (gpus_of(asked[n].value) for n in ("gpus-per-node", "gres") if n in asked and gpu_words(asked[n])), None
    )
    total = gpus_of(asked["gpus"].value) if "gpus" in asked else None
    return CheckedJob(
        asked, nodes, ntasks, per_node, number("cpus-per-task"),
        here if here is not None else (total // nodes if total and nodes and total % nodes == 0 else None),
        total, gpus_of(asked["gpus-per-task"].value) if "gpus-per-task" in asked else None,
        memory_of(asked["mem"].value) if "mem" in asked else None,
        seconds_of("slurm", asked["time"].value) if "time" in asked else None,
        "exclusive" in asked and asked["exclusive"].value in ("", "exclusive"),
    )  # fmt: skip


def gpu_words(one: DirectiveLine) -> bool:
    return one.option != "gres" or "gpu" in one.value


def pbs(asked: Asked, script: ReadScript) -> CheckedJob:
    select = asked["select"].value if "select" in asked else ""
    chunks = [chunk for chunk in select.split("+") if chunk]
    sizes = [whole(chunk.split(":")[0]) for chunk in chunks]
    known = [size for size in sizes if size is not None]
    nodes = sum(known) if chunks and len(known) == len(chunks) else None
    torque = re.fullmatch(r"(\d+)(:[\w=.:-]+)?", asked["nodes"].value) if "nodes" in asked and not select else None
    nodes = int(torque[1]) if torque else nodes
    parts = select if select else (torque[2] or "" if torque else "")
    time = asked["walltime"].value if "walltime" in asked else ""
    per_node = amount(parts, "mpiprocs") or amount(parts, "ppn")
    return CheckedJob(
        asked, nodes, per_node * nodes if per_node and nodes else None, per_node, None, amount(parts, "n?gpus"),
        walltime=seconds_of("pbs", time) if time else None, mixed=len(chunks) > 1,
    )  # fmt: skip


def amount(text: str, name: str) -> int | None:
    found = re.findall(rf":{name}=(\d+)", text)
    return int(found[0]) if len(set(found)) == 1 else None


def lsf(asked: Asked, script: ReadScript) -> CheckedJob:
    gpus = re.search(r"\bnum=(\d+)(?!\d*/task)", asked["gpu"].value) if "gpu" in asked else None
    return CheckedJob(
        asked, whole(asked["nodes"].value) if "nodes" in asked else None,
        gpus_per_node=int(gpus[1]) if gpus else None,
        walltime=seconds_of("lsf", asked["time"].value) if "time" in asked else None,
    )  # fmt: skip


def flux(asked: Asked, script: ReadScript) -> CheckedJob:
    def number(name: str) -> int | None:
        return whole(asked[name].value) if name in asked else None

    return CheckedJob(
        asked, number("nodes"), number("nslots"), None, number("cores-per-slot"), number("gpus-per-node"),
        walltime=seconds_of("flux", asked["time-limit"].value) if "time-limit" in asked else None,
        exclusive="exclusive" in asked,
    )  # fmt: skip


READERS = {"slurm": slurm, "pbs": pbs, "lsf": lsf, "flux": flux}
