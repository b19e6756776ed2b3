"""A launch's own numbers after a change of the nodes: nodes, all ranks, and how the ranks of several nodes meet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

NODES = re.compile(
    r"(?P<before>(?<![\w-])(?:--?(?:nnodes|nodes|num[_-]nodes|num_machines|N)[= ]|-N))(?P<value>\d+)(?![\w.:])"
)
# The ranks of the whole job, behind what starts them.
RANKS = re.compile(
    r"(?P<before>(?:(?:mpiexec|mpirun|srun|jsrun|flux run)\b.*?\s(?:-np|-n|--ntasks|--nrs)"
    r"|\baccelerate\s+launch\b.*?\s--num_processes)[= ]?)(?P<value>\d{1,9})\b",
    re.S,
)
EACH = re.compile(r"(?:--ppn|--ntasks-per-node|-ppn|--npernode|jsrun\b.*\s(?:-r|--rs_per_host))[= ]?(\d{1,9})\b", re.S)
# A variable with a number, and names that count nodes, all ranks, or those of one node; singular words count nothing.
SETS = re.compile(
    r"^(?P<before>\s*(?:export\s+)?(?P<name>[A-Za-z]\w*)=[\"']?(?:\$\{\w+:?[-=])?)(?P<value>\d{1,9})(?![\w.])", re.M
)
COUNT = r"(?:n|num|nr|number|no|of|total|all|world|count|size)*"
NAMES_NODES = re.compile(rf"{COUNT}(?:nodes|machines|hosts){COUNT}|(?:n|num|nr)(?:node|machine|host)")
NAMES_RANKS = re.compile(
    rf"{COUNT}(?:gpus|ranks|procs|processes|tasks|devices){COUNT}|(?:n|num|nr)(?:gpu|rank|proc|process|task)|world(?:size)?"
)
NAMES_ALL = re.compile(r"total|all|world|tasks|ranks|proc")
# Options that count the ranks of one node: what they are given is not the whole job's.
OF_ONE_NODE = (
    r"--?(?:nproc[_-]per[_-]node|ppn|npernode|n?tasks-per-node|gpus[_-]per[_-]node|gpus-per-task|r|rs_per_host|a"
    r"|tasks_per_rs)[= ]?"
)
# What takes the place of `--standalone` where the ranks of several nodes have to meet.
MEETS = '--nnodes={} --rdzv-backend=c10d --rdzv-id={} --rdzv-endpoint="{}:29500"'
NUMBERS_NODES = "--rdzv-backend=c10d --rdzv-id={}"
TORCHRUN = re.compile(r"(?P<head>(?:^|[\s;&])(?:torchrun|python[\d.]*\s+-m\s+torch\.distributed\.run))(?=\s)")
# It stands alone in its command, behind no other launcher.
BARE = re.compile(
    r"\s*(?:(?:exec|time)\s+)?(?:\w+=\S*\s+)*(?=(?:torchrun|python[\d.]*\s+-m\s+torch\.\w+\.run|accelerate\s+launch)\s)"
)
ACCELERATE = re.compile(r"(?P<head>(?:^|[\s;&])accelerate\s+launch)(?=\s)")
PROCESSES = re.compile(r"\s--num_processes[= ](?P<value>\S{1,9})(?!\S)")
OTHER_STARTER = re.compile(r"\b(?:ssh|pdsh|srun|mpirun|mpiexec|jsrun|lrun|ibrun|flux)\b")


@dataclass(frozen=True, slots=True)
class Starter:
    """How a scheduler's job starts one task on each of its nodes, names its first node, and itself."""

    each_node: str
    first_node: str
    job_id: str


STARTERS: Mapping[str, Starter] = {
    "slurm": Starter(
        'srun --ntasks={} --ntasks-per-node=1 --cpus-per-task="$SLURM_CPUS_ON_NODE" ',
        '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
        '"$SLURM_JOB_ID"',
    ),
    "pbs": Starter(
        'mpirun -np {} --map-by ppr:1:node --bind-to none --hostfile "$PBS_NODEFILE" ',
        '$(head -n 1 "$PBS_NODEFILE")',
        '"$PBS_JOBID"',
    ),
    "lsf": Starter(
        "jsrun --nrs {} --rs_per_host 1 --tasks_per_rs 1 --cpu_per_rs ALL_CPUS --gpu_per_rs ALL_GPUS ",
        "$(cut -d ' ' -f 3 <<< \"$LSB_MCPU_HOSTS\")",
        '"$LSB_JOBID"',
    ),
    "flux": Starter(
        "flux run --nodes={0} --ntasks={0} --exclusive ",
        "$(flux hostlist -n 0 local)",
        '"$(flux getattr jobid)"',
    ),
}
# PALS, which comes with Cray's PBS machines.
PALS = 'mpiexec -n {} --ppn 1 --hostfile "$PBS_NODEFILE" --cpu-bind none '
ADDRESS = re.compile(r"\s--master[_-]addr(?:[= ])(?P<addr>\S+)")
PORT = re.compile(r"\s--master[_-]port(?:[= ])(?P<port>\S+)")
MEETING = re.compile(r"--(?:rdzv[_-]backend|node[_-]rank)\b")


@dataclass(frozen=True, slots=True)
class Nodes:
    """A change of the nodes. each: the ranks that a node may have, by its directives; scheduler: whose job it is;
    launcher: what starts tasks on its machine, where that is known."""

    old: int
    new: int
    each: tuple[int, ...] = ()
    scheduler: str = "slurm"
    launcher: str = ""

    def ranks(self, value: str) -> str | None:
        """What all ranks become; None where the number is not that of all."""
        fits = next((one for one in self.each if int(value) == one * self.old), None)
        return str(fits * self.new) if fits else None

    @property
    def starter(self) -> Starter | None:
        """How a task is started on each node; None where nothing here knows how."""
        known = STARTERS.get(self.scheduler)
        if known and self.scheduler == "pbs" and self.launcher == "mpiexec":
            return replace(known, each_node=PALS)
        return known


def with_nodes(lines: Sequence[str], change: Nodes) -> list[str]:
    """The lines with the launch's numbers for another number of nodes."""
    text = "".join(lines)
    return [counted(one, change, text) for one in commands(lines)]


def commands(lines: Sequence[str]) -> Iterator[str]:
    """The lines, those that go on behind a backslash in one."""
    whole = ""
    for line in lines:
        whole += line
        if not line.rstrip().endswith("\\") or line.lstrip().startswith("#"):
            yield whole
            whole = ""
    if whole:
        yield whole


def counted(line: str, change: Nodes, text: str) -> str:
    """One command of the text: its nodes, all its ranks where they are nodes times those of one, variables that count
    either."""
    if line.lstrip().startswith("#"):
        return line
    here = any(one["value"] == str(change.old) for one in NODES.finditer(line))
    met = meeting(line, change) if change.old == 1 else line
    met_so, line = met != line and ACCELERATE.search(met), met
    line = NODES.sub(lambda one: f"{one['before']}{change.new}" if one["value"] == str(change.old) else one[0], line)
    line = SETS.sub(lambda one: f"{one['before']}{variable(one, change, text)}", line)
    total, each = RANKS.search(line), EACH.search(line)
    if total is None or met_so:
        return line
    value = int(total["value"])
    if each:
        fits = value == change.old * int(each[1])
    else:
        fits = (here and value % change.old == 0) or change.ranks(total["value"]) is not None
    if not fits:
        return line
    return f"{line[: total.start('value')]}{value // change.old * change.new}{line[total.end('value') :]}"


def unsure(text: str, change: Nodes) -> tuple[str, ...]:
    """Variables that count GPUs of a job of one node: nothing tells whether its other nodes count."""
    if change.old != 1:
        return ()
    found = (one for one in SETS.finditer(text) if int(one["value"]) in change.each)
    names = ((one["name"], re.sub(r"[_\d]", "", one["name"]).lower()) for one in found)
    return tuple(
        name
        for name, plain in names
        if NAMES_RANKS.fullmatch(plain) and not NAMES_ALL.search(plain) and not is_of_one_node(name, text)
    )


def variable(found: re.Match[str], change: Nodes, text: str) -> str:
    """The value of a variable that counts the job's nodes or all its ranks, by the words of its name; else as it is."""
    value, name = found["value"], re.sub(r"[_\d]", "", found["name"]).lower()
    if NAMES_NODES.fullmatch(name):
        return str(change.new) if value == str(change.old) else value
    if not NAMES_RANKS.fullmatch(name) or is_of_one_node(found["name"], text):
        return value
    if change.old == 1 and not NAMES_ALL.search(name):
        return value  # of the job or of its one node
    return change.ranks(value) or value


def meeting(line: str, change: Nodes) -> str:
    """A torchrun or accelerate of one node as one of several: started on each, which all meet at the first."""
    starter = change.starter
    if starter is None or change.new == 1 or not (TORCHRUN.search(line) or ACCELERATE.search(line)):
        return line
    bare = BARE.match(line)
    if not bare and ("srun" not in line or OTHER_STARTER.findall(line) != ["srun"]):
        return line
    line = with_accelerate(line, change, starter) if ACCELERATE.search(line) else rendezvous(line, change, starter)
    return f"{bare[0]}{starter.each_node.format(change.new)}{line[bare.end() :]}" if bare else line


def with_accelerate(line: str, change: Nodes, starter: Starter) -> str:
    """`accelerate launch` with where its machines meet, and how many processes they have together."""
    found, processes = ACCELERATE.search(line), PROCESSES.search(line)
    each = processes["value"] if processes else str(max(change.each, default=0) or "")
    if found is None or not each.isdecimal() or re.search(r"--machine_rank\b", line):
        return line
    adds = {
        "--num_machines": change.new,
        "--num_processes": int(each) * change.new,
        "--machine_rank": 0,  # c10d numbers the machines itself, and accelerate stops without any
        "--rdzv_backend": "c10d",
        "--main_process_ip": f'"{starter.first_node}"',
        "--main_process_port": 29500,
    }
    more = "".join(f" {name} {value}" for name, value in adds.items() if not re.search(rf"{name}\b", line))
    if processes:
        line = f"{line[: processes.start('value')]}{int(each) * change.new}{line[processes.end('value') :]}"
    return f"{line[: found.end('head')]}{more}{line[found.end('head') :]}"


def rendezvous(line: str, change: Nodes, starter: Starter) -> str:
    """`torchrun` with where its nodes meet."""
    found, meets = TORCHRUN.search(line), MEETS.format(change.new, starter.job_id, starter.first_node)
    if found is None or (MEETING.search(line) and "--standalone" not in line):
        return line
    if "--standalone" in line:
        return line.replace("--standalone", meets)
    address, port, at = ADDRESS.search(line), PORT.search(line), found.end("head")
    numbers_nodes = NUMBERS_NODES.format(starter.job_id)
    if address and port:
        point = f"--rdzv-endpoint={address['addr']}:{port['port']}"
        rest = PORT.sub("", ADDRESS.sub("", line[at:]))
        nodes = "" if re.search(r"--nnodes", line) else f" --nnodes={change.new}"
        return f"{line[:at]}{nodes} {numbers_nodes} {point}{rest}"
    if re.search(r"--rdzv[_-]endpoint", line):
        return f"{line[:at]} {numbers_nodes}{line[at:]}"
    return line if re.search(r"--nnodes", line) else f"{line[:at]} {meets}{line[at:]}"


def with_gpus(text: str, nodes: int, old: int, each: int) -> str:
    """The text with its variables for another number of ranks a node: those of one node, and totals of the job."""

    def follow(found: re.Match[str]) -> str:
        value, name = int(found["value"]), re.sub(r"[_\d]", "", found["name"]).lower()
        of_one = name.endswith("pernode") or is_of_one_node(found["name"], text)
        if not (of_one or NAMES_RANKS.fullmatch(name)) or value not in (old, nodes * old):
            return found[0]
        total = value == nodes * old and not (of_one and value == old)
        return f"{found['before']}{nodes * each if total else each}"

    return SETS.sub(follow, text)


def is_of_one_node(name: str, text: str) -> bool:
    """Whether a variable is given to an option that counts one node's ranks."""
    return re.search(rf"{OF_ONE_NODE}[\"']?\$\{{?{name}\b", text) is not None
