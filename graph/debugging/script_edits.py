"""Small edits of a job script's text, one for one cause: nothing else of the person's file is touched.

Each gives the text and one sentence, or None where the text shows no place for it. Which cause calls for which edit is
remedies.py's table. What needs a person's knowledge (an account, a path) is left to the words of the diagnosis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache

from graph.debugging.advice import COLLECTIVES
from graph.debugging.refusals import LACKS, matters_of, writes
from graph.extraction.batch_numbers import shrink_batch
from graph.extraction.directive_tables import SLURM_FLAGS, SLURM_LONG
from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_record import ScriptRecord
from knowledge.cluster import Cluster, NodeType
from knowledge.signatures.loader import Cause, library
from knowledge.types import Diagnosis

PORTS = {"slurm": "$((10000 + SLURM_JOB_ID % 50000))", "pbs": "$((10000 + ${PBS_JOBID%%.*} % 50000))"}
PORT = re.compile(
    r"(?P<before>\bMASTER_PORT=|--(?:master|main_process)[_-]port[= ]|--rdzv[_-]endpoint[= ]\S*:)[\"']?\d{2,5}[\"']?"
)
LOCAL_HOST = r"(?:localhost|127\.0\.0\.1|\$\(hostname(?: -[fs])?\)|`hostname(?: -[fs])?`)"
LOCAL = re.compile(rf"(?P<before>\bMASTER_ADDR=|--master[_-]addr[= ]|--main_process_ip[= ])[\"']?{LOCAL_HOST}[\"']?")
LOCAL_MEETING = re.compile(rf"(?P<before>--rdzv[_-]endpoint[= ][\"']?){LOCAL_HOST}(?=[:\s\"'\\]|$)")
MEETING = re.compile(r"--rdzv[_-]endpoint[= ][\"']?(?P<host>[^\s:]+)")
# Variables of which a launcher's own option takes the place: where it is given, nothing reads them.
OVERRIDDEN = {
    "MASTER_ADDR": re.compile(r"--(?:rdzv[_-]endpoint|master[_-]addr|main_process_ip)[= ]"),
    "MASTER_PORT": re.compile(r"--(?:rdzv[_-]endpoint|master[_-]port|main_process_port)[= ]"),
}
# Variables that hide from a program what it did not find: without them it takes what the scheduler gave.
HIDING = {
    "gpu-not-visible": ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"),
    "sched-step-layout": ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
}
SETTING = re.compile(r"\s*export (?P<name>[A-Z][A-Z0-9_]*)=[\"']?(?P<value>[\w.,:-]*)[\"']?\s*(?:#.*)?$")
BACKEND = re.compile(r"(?P<before>(?:backend[= ]+|BACKEND=)[\"']?)(?:nccl|gloo|ccl|xccl|mpi|rccl)\b")
# What starts the ranks of a node -> its option for the port of the rendezvous; its default is the same for every job.
PORT_OPTIONS = {"torchrun": "--master-port", "accelerate": "--main_process_port", "deepspeed": "--master_port"}
# A line of a step that can be put into a script as it stands; its value is plain, whatever a log gave to the step.
LINE = re.compile(r"`(?P<line>export (?P<name>[A-Z]\w+)=[\w./:,^+-]+)`")
INTERFACE = re.compile(r"(?P<before>\b(?:NCCL|GLOO)_SOCKET_IFNAME=)[\"']?[^\s\"';&]+[\"']?")


@dataclass(frozen=True, slots=True)
class FailedScript:
    """What a rule is given: the script's text and reading, the diagnosis, the machine where it is known."""

    text: str
    script: ReadScript
    record: ScriptRecord
    diagnosis: Diagnosis
    cluster: Cluster | None

    @property
    def captured(self) -> dict[str, str]:
        return dict(self.diagnosis.captured)


# The corrected text and what was done; None: no safe change.
Edit = tuple[str, str] | None


def line_ends(case: FailedScript) -> Edit:
    return (case.text.replace("\r\n", "\n"), "Windows line ends removed.") if "\r\n" in case.text else None


def continuations(case: FailedScript) -> Edit:
    """Blanks after a backslash end the command there."""
    return re.sub(r"(?m)\\[ \t]+$", r"\\", case.text), "Blanks after the backslashes removed."


def option(case: FailedScript) -> Edit:
    """A misspelled Slurm option, where exactly one known option is near."""
    wrong = case.captured.get("option", "").lstrip("-").partition("=")[0]
    known = {*SLURM_LONG, *SLURM_FLAGS}
    near = get_close_matches(wrong, known, n=1, cutoff=0.85) if wrong and wrong not in known else []
    if not near:
        return None
    pattern = rf"(?m)^(#SBATCH\s+.*?--){re.escape(wrong)}(?=[=\s]|$)"
    return re.sub(pattern, rf"\g<1>{near[0]}", case.text), f"--{wrong} written as --{near[0]}."


def export(case: FailedScript) -> Edit:
    """The variables of the first node handed to every task."""
    text = re.sub(r"(?m)(^#SBATCH\s+--export[= ])NONE\b", r"\1ALL", case.text)
    pattern = r"(?m)^([^\S\n]*(?:exec |time )?srun )(?![^\n]*--export)"
    names = "ALL,PATH,PYTHONPATH,LD_LIBRARY_PATH"
    text = re.sub(r"(srun [^\n]*--export[= ])NONE\b", rf"\g<1>{names}", text)
    return re.sub(pattern, rf"\g<1>--export={names} ", text), "srun hands PATH, PYTHONPATH and LD_LIBRARY_PATH on."


def port(case: FailedScript) -> Edit:
    """A port of the job's own: where one is named there, else where the launcher, or the program, takes it from."""
    port = PORTS.get(case.record.scheduler)
    if port is None:
        return None
    says = "The port is taken from the job's number."
    if PORT.search(case.text):
        return PORT.sub(lambda found: found["before"] + port, case.text), says
    option = next((PORT_OPTIONS[one] for one in starters(case) if one in PORT_OPTIONS), "")
    text = behind_launcher(case, f'{option}="{port}"') if option else exported(case, "MASTER_PORT", port)
    return (text, says) if text else None


def address(case: FailedScript) -> Edit:
    """The first node's address in place of one that each node takes for itself."""
    hosts = {
        "slurm": '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
        "pbs": '$(head -n 1 "$PBS_NODEFILE")',
    }
    host = case.cluster.rendezvous.host if case.cluster else hosts.get(case.record.scheduler)
    if host is None:
        return None
    says = "The address of rank 0 is the first node's."
    if met := MEETING.search(case.text):
        # torchrun meets there and nowhere else; a variable counts only as far as the option reads it.
        if "MASTER_ADDR" not in met["host"]:
            return LOCAL_MEETING.sub(lambda found: f"{found['before']}{host}", case.text), says
    elif "MASTER_ADDR" not in case.text and not starters(case) & set(PORT_OPTIONS):
        text = exported(case, "MASTER_ADDR", host)
        return (text, says) if text else None
    return LOCAL.sub(lambda found: f"{found['before']}{host}", case.text), says


def module(case: FailedScript) -> Edit:
    """Another version of a module, where the facts name the one that this machine has."""
    wrong = case.captured.get("module", "").strip("'\"")
    if case.cluster is None or not wrong:
        return None
    lines = [line for software in case.cluster.software.values() for line in software.lines]
    named = {word for line in lines if "module load" in line for word in line.split() if "/" in word}
    right = next((word for word in sorted(named) if word.partition("/")[0] == wrong.partition("/")[0]), None)
    if right is None or right == wrong:
        return None
    pattern = rf"(?m)(^[^\S\n]*module\s+(?:load|add)\b[^\n#]*?){re.escape(wrong)}(?![\w./-])"
    return re.sub(pattern, rf"\g<1>{right}", case.text), f"module {right} in place of {wrong}."


def offline(case: FailedScript) -> Edit:
    """The site's proxy where it has one, else no attempts to reach the hub."""
    proxy = case.cluster.internet.proxy if case.cluster and case.cluster.internet.access == "proxy" else {}
    lines = [f"export {name}={value}" for name, value in proxy.items()] or ["export HF_HUB_OFFLINE=1"]
    first = "The hub is not asked: download model and data on a login node first."
    first = case.cluster.internet.as_there(first) if case.cluster else first
    return before_commands(case, lines), "The site's proxy is set." if proxy else first


def shared_devices(case: FailedScript) -> Edit:
    """The GPUs of a node for all of its tasks, where each was given one, number 0, and counts on by LOCAL_RANK."""
    each, tasks = case.script.active.get("gpus-per-task"), case.script.active.get("ntasks-per-node")
    counts_on = re.search(r"\bLOCAL_RANK=\S*SLURM_LOCALID", case.text)
    if each is None or tasks is None or each.value != "1" or not tasks.value.isdigit() or not counts_on:
        return None
    rows = whole_lines(case.text)
    written = f"--gpus-per-node={tasks.value}"
    rows[each.line - 1], put = re.subn(r"--gpus-per-task[= ]1(?!\S)", written, rows[each.line - 1])
    text = re.sub(r"\s--gpus-per-task[= ]1(?!\S)", "", "".join(rows))
    says = "Each task saw one GPU, number 0, while LOCAL_RANK counts up: the tasks of a node share its GPUs now."
    return (text, says) if put else None


def backend(case: FailedScript) -> Edit:
    """The backend of this machine's GPUs."""
    if case.cluster is None or len({node.gpus.backend for node in case.cluster.node_types}) != 1:
        return None
    right = COLLECTIVES[case.cluster.node_types[0].gpus.backend]
    return BACKEND.sub(lambda found: found["before"] + right, case.text), f"The backend is {right}."


def interface(case: FailedScript) -> Edit:
    """The interface that connects this machine's nodes."""
    names = {node.nics.interface for node in case.cluster.node_types} - {None} if case.cluster else set()
    if len(names) != 1:
        return None
    right = str(next(iter(names)))
    return INTERFACE.sub(lambda found: found["before"] + right, case.text), f"The network interface is {right}."


def memory(case: FailedScript) -> Edit:
    """All memory of the node, where nodes are not shared: in the place of less, or where none was asked for."""
    asked = [name for name in ("mem", "mem-per-cpu", "mem-per-gpu") if name in case.script.active]
    if case.record.scheduler != "slurm" or not has_whole_nodes(case):
        return None
    says = "`--mem=0` asks for all memory of the node, which its GPUs pay for already."
    if not asked:
        return after_directives(case, "#SBATCH --mem=0"), says
    line = case.script.active[asked[0]]
    if len(asked) > 1 or line.value in ("0", ""):
        return None
    rows = whole_lines(case.text)
    written, put = re.subn(rf"--{line.option}[= ]{re.escape(line.value)}(?!\S)", "--mem=0", rows[line.line - 1])
    rows[line.line - 1] = written
    return ("".join(rows), f"{says} `--{line.option}={line.value}` was a part of it.") if put else None


def has_whole_nodes(case: FailedScript) -> bool:
    """Whether the job has its nodes to itself, by the machine's rule or by taking all their GPUs."""
    if case.cluster is None:
        return False
    devices = {node.gpus.devices_per_node for node in nodes_of(case, case.cluster)}
    return case.cluster.whole_nodes or devices == {case.record.gpus_per_node}


def nodes_of(case: FailedScript, cluster: Cluster) -> list[NodeType]:
    """The kinds of node that the script's queue leads to; all of the machine where it names none."""
    queue = cluster.queue(case.record.queue) if case.record.queue else None
    return [node for node in cluster.node_types if queue is None or node.id in queue.node_types]


def required(case: FailedScript) -> Edit:
    """The directive whose lack the scheduler names, as the machine's facts write it: `filesystems is required`."""
    if case.cluster is None:
        return None
    told = " ".join(line.text for line in case.diagnosis.evidence)
    for options in matters_of(told) if LACKS.search(told) else ():
        facts = [one.text for one in case.cluster.directives if any(writes(one.text, option) for option in options)]
        written = any(writes(line.raw, option) for line in case.script.active.values() for option in options)
        sign = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB"}.get(case.record.scheduler)
        if sign and not written and facts and "{" not in facts[0]:
            return after_directives(case, f"{sign} {facts[0]}"), f"`{facts[0]}` added: {case.cluster.title} wants it."
    return None


def smaller_batch(case: FailedScript) -> Edit:
    """Fewer samples a GPU where the script names them, and more steps of accumulation where the program takes them."""
    return shrink_batch(case.text)


def grown_segments(case: FailedScript) -> Edit:
    """The allocator's own cure, where much is reserved and not used."""
    if "expandable_segments" in case.text or not is_fragmented(case.diagnosis):
        return None
    line = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    return before_launch(case, line), "`expandable_segments:True`: much memory is reserved and lies unused."


ASKED = re.compile(r"Tried to allocate ([\d.]+ [KMGT]i?B)")
FREE = re.compile(r"of which ([\d.]+ [KMGT]i?B) is free")
UNUSED = re.compile(r"([\d.]+ [KMGT]i?B) is reserved by PyTorch but unallocated")


def is_fragmented(diagnosis: Diagnosis) -> bool:
    """Whether what was reserved and not allocated, with what was free, would have held what was asked for."""
    told = " ".join(line.text for line in diagnosis.evidence)
    unused, asked, free = (size(found[1]) if (found := one.search(told)) else 0.0 for one in (UNUSED, ASKED, FREE))
    return bool(unused and asked and unused > asked - free > 0)


# A folder of a cache in a home -> the variable that puts it elsewhere.
CACHES = {
    "huggingface": "HF_HOME",
    "torch": "TORCH_HOME",
    "triton": "TRITON_CACHE_DIR",
    "pip": "PIP_CACHE_DIR",
    "wandb": "WANDB_CACHE_DIR",
    "vllm": "VLLM_CACHE_ROOT",
}
CACHE = re.compile(rf"\.cache/(?P<name>{'|'.join(CACHES)})\b|\.(?P<dot>triton)\b")
WORK = re.compile(r"\$\{?(?:SCRATCH|WORK|MEMBERWORK|PSCRATCH|CINECA_SCRATCH)\b")


def cache_elsewhere(case: FailedScript) -> Edit:
    """A cache that filled the home goes to scratch, where the text or the machine names one."""
    told = " ".join(line.text for line in case.diagnosis.evidence)
    found = CACHE.search(told)
    if not found:
        return None
    name = found["name"] or found["dot"]
    variable = CACHES[name]
    if f"{variable}=" in case.text:
        return None
    root = ((used := WORK.search(case.text)) and used[0].replace("{", "")) or "$SCRATCH"
    line = f'export {variable}="{root}/{name}"'
    return before_launch(case, line), f"`{variable}` takes that cache out of the home, to `{root}`."


def starters(case: FailedScript) -> frozenset[str]:
    """The launchers of the command that starts the training."""
    command = case.script.training
    return frozenset(layer.name for layer in command.chain.layers) if command else frozenset()


def behind_launcher(case: FailedScript, option: str) -> str | None:
    """The text with an option put behind the launcher of a node's ranks; None where its word is not to be seen."""
    lines = whole_lines(case.text)
    at = case.script.training.line - 1 if case.script.training else len(lines)
    for number in range(at, len(lines)):
        line, found = re.subn(
            r"(\btorchrun|\baccelerate launch|\bdeepspeed)(?=\s|$)", rf"\1 {option}", lines[number], count=1
        )
        if found:
            return "".join([*lines[:number], line, *lines[number + 1 :]])
        if not lines[number].rstrip().endswith("\\"):
            return None
    return None


def exported(case: FailedScript, name: str, value: str) -> str | None:
    """The text with a variable set above the launch, unless the script sets it or starts nothing."""
    overridden = (
        name in OVERRIDDEN and OVERRIDDEN[name].search(case.text) and not re.search(rf"\${{?{name}\b", case.text)
    )
    if case.script.training is None or overridden or re.search(rf"\b{name}=", case.text):
        return None
    return before_launch(case, f"export {name}={value}")


def put_lines(case: FailedScript, step: str) -> Edit:
    """What a step of the diagnosis wants set (`export NAME=VALUE`, written so in it), above the launch."""
    text, put, ours = case.text, [], own_lines() | site_lines(case.cluster)
    for found in LINE.finditer(step):
        if found["line"] not in ours:
            continue
        value = found["line"].partition("=")[2]
        edit = exported(replace(case, text=text, script=read_script(text)), found["name"], value)
        if edit:
            text = edit
            put.append(found[0])
    return (text, f"{' and '.join(put)} above the launch, as said there") if put else None


def without_setting(case: FailedScript) -> Edit:
    """The text without the one line that sets what the telling line complains of: its value, or what hides a device."""
    told = case.diagnosis.evidence[0].text if case.diagnosis.evidence else ""
    hiding = HIDING.get(case.diagnosis.cause, ())
    lines = whole_lines(case.text)
    for number, line in enumerate(lines):
        found = SETTING.match(line)
        value = found["value"] if found else ""
        named = len(value) > 2 and not value.isdigit() and re.search(rf"(?<![\w./-]){re.escape(value)}(?![\w/-])", told)
        if found and (found["name"] in hiding or named):
            says = f"`{line.strip()}` taken out: the program then takes what it finds by itself"
            return "".join([*lines[:number], *lines[number + 1 :]]), says
    return None


@cache
def own_lines() -> frozenset[str]:
    """The lines that steps of the library name. A step may quote a log, and a log's line is never put into a script."""
    told = [step for cause in library().causes.values() for step in all_steps(cause)]
    told += [step for one in library().signatures for step in one.fix]
    return frozenset(found["line"] for step in told for found in LINE.finditer(step))


def all_steps(cause: Cause) -> list[str]:
    by_scheduler = (step for steps in cause.by.values() for step in steps)
    return [*cause.fix, *by_scheduler, *(one.step for one in cause.specific)]


def site_lines(cluster: Cluster | None) -> frozenset[str]:
    """The variables that a machine's facts set, as lines."""
    facts = cluster.environment if cluster else ()
    return frozenset(f"export {fact.name}={fact.value}" for fact in facts)


def before_launch(case: FailedScript, line: str) -> str:
    """The text with a line right above the command that starts the training, or above all commands."""
    command = case.script.training
    if command is None:
        return before_commands(case, [line])
    lines = whole_lines(case.text)
    at = command.line - 1
    while at > 0 and lines[at - 1].rstrip().endswith("\\"):
        at -= 1
    return "".join([*lines[:at], f"{line}\n", *lines[at:]])


def size(text: str) -> float:
    """A size such as `1.96 GiB` in GiB; 0 where it is none."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B\s*", text)
    powers = {"K": -2, "M": -1, "G": 0, "T": 1}
    return float(found[1]) * 1024.0 ** powers[found[2]] if found else 0.0


def folder(case: FailedScript) -> Edit:
    """A PBS job starts in the home directory."""
    if case.record.scheduler != "pbs" or "PBS_O_WORKDIR" in case.text:
        return None
    return before_commands(case, ['cd "$PBS_O_WORKDIR"']), "The job goes to the directory it was submitted from."


def after_directives(case: FailedScript, line: str) -> str:
    lines = whole_lines(case.text)
    at = max((one.line for one in case.script.directives if one.active), default=1)
    return "".join([*lines[:at], f"{line}\n", *lines[at:]])


def whole_lines(text: str) -> list[str]:
    """The lines with their ends; the last has one too, so that a line may follow it."""
    return (text if text.endswith("\n") or not text else f"{text}\n").splitlines(keepends=True)


def before_commands(case: FailedScript, added: list[str]) -> str:
    """The text with lines put before the first command; nothing is added twice."""
    lines = whole_lines(case.text)
    missing = [line for line in added if line not in case.text]
    first = min([*(c.line for c in case.script.commands), *(a.line for a in case.script.assignments), len(lines) + 1])
    at = max(first - 1, 1)
    return "".join([*lines[:at], *(f"{line}\n" for line in missing), *lines[at:]])
