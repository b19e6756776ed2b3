"""The job script corrected where a change of its text is safe: one small edit for one cause, nothing else touched.

A change that needs a person's knowledge (an account, a path, a batch size) is left to the words of the diagnosis.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches, unified_diff

from graph.debugging.advice import COLLECTIVES
from graph.debugging.revise import revise
from graph.extraction.directive_tables import SLURM_FLAGS, SLURM_LONG
from graph.extraction.script import Script, read_script
from graph.extraction.script_record import ScriptRecord, record_of
from knowledge.cluster import Cluster
from knowledge.types import Diagnosis, JobRequest

PORTS = {"slurm": "$((10000 + SLURM_JOB_ID % 50000))", "pbs": "$((10000 + ${PBS_JOBID%%.*} % 50000))"}
PORT = re.compile(
    r"(?P<before>\bMASTER_PORT=|--(?:master|main_process)[_-]port[= ]|--rdzv[_-]endpoint[= ]\S*:)[\"']?\d{2,5}[\"']?"
)
LOCAL = re.compile(
    r"(?P<before>\bMASTER_ADDR=|--master[_-]addr[= ])[\"']?(?:localhost|127\.0\.0\.1|\$\(hostname\)|`hostname`)[\"']?"
)
BACKEND = re.compile(r"(?P<before>(?:backend[= ]+|BACKEND=)[\"']?)(?:nccl|gloo|ccl|xccl|mpi|rccl)\b")
INTERFACE = re.compile(r"(?P<before>\b(?:NCCL|GLOO)_SOCKET_IFNAME=)[\"']?[^\s\"';&]+[\"']?")


@dataclass(frozen=True, slots=True)
class Correction:
    """A corrected script: its text, what was done, and the difference as a unified diff."""

    text: str
    says: str
    diff: str


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule is given: the script's text and reading, the diagnosis, the machine where it is known."""

    text: str
    script: Script
    record: ScriptRecord
    diagnosis: Diagnosis
    cluster: Cluster | None

    @property
    def captured(self) -> dict[str, str]:
        return dict(self.diagnosis.captured)


# The corrected text and what was done; None: no safe change.
Edit = tuple[str, str] | None


def correct(text: str, diagnosis: Diagnosis, cluster: Cluster | None = None, name: str = "script") -> Correction | None:
    """The script with the cause removed, or None: no safe change is known. Raises InputError."""
    script = read_script(text)
    case = Case(text, script, record_of(script), diagnosis, cluster)
    for rule in RULES.get(diagnosis.cause, ()):
        edit = rule(case)
        if edit and edit[0] != text:
            lines = unified_diff(text.splitlines(), edit[0].splitlines(), name, f"{name} (corrected)", lineterm="")
            return Correction(edit[0], edit[1], "\n".join(lines) or "(only line ends differ)")
    return None


def request_of(record: ScriptRecord) -> JobRequest:
    """What the script asks for, as a request: what revise() goes on from."""
    known = {"pytorch", "deepspeed", "accelerate"}
    return JobRequest(
        machine=record.machine,
        framework=record.framework if record.framework in known else None,  # type: ignore[arg-type]
        strategy=record.strategy,  # type: ignore[arg-type]
        nodes=record.nodes,
        gpus_per_node=record.gpus_per_node,
        walltime=record.walltime,
        queue=record.queue,
        account=record.account,
    )


def _line_ends(case: Case) -> Edit:
    return (case.text.replace("\r\n", "\n"), "Windows line ends removed.") if "\r\n" in case.text else None


def _continuations(case: Case) -> Edit:
    """Blanks after a backslash end the command there."""
    return re.sub(r"(?m)\\[ \t]+$", r"\\", case.text), "Blanks after the backslashes removed."


def _directive(case: Case, option: str, value: str) -> str | None:
    """The text with a directive's value replaced; None where the script has no such directive in force."""
    found = case.script.active.get(option)
    if found is None or found.value not in found.raw:
        return None
    lines = case.text.splitlines(keepends=True)
    head, _, tail = lines[found.line - 1].rpartition(found.value)
    lines[found.line - 1] = head + value + tail
    return "".join(lines)


def _time(case: Case) -> Edit:
    """A longer time, as far as the queue allows."""
    if case.cluster is None:
        return None
    change = dict(revise(case.diagnosis, case.cluster, request_of(case.record)).change)
    wanted = change.get("walltime")
    for option in ("time", "walltime", "time-limit", "W"):
        if wanted and (text := _directive(case, option, str(wanted))):
            return text, f"The time limit raised from {case.record.walltime} to {wanted}."
    return None


def _devices(case: Case) -> Edit:
    """As many GPUs a node as the machine has."""
    if case.cluster is None:
        return None
    change = dict(revise(case.diagnosis, case.cluster, request_of(case.record)).change)
    wanted, asked = change.get("gpus_per_node"), case.record.gpus_per_node
    found = case.script.active.get("gpus-per-node") or case.script.active.get("gres")
    if not wanted or asked is None or found is None:
        return None
    value = re.sub(rf"\b{asked}\b", str(wanted), found.value)
    text = _directive(case, found.option, value)
    return (text, f"GPUs a node: {wanted} instead of {asked}.") if text else None


def _option(case: Case) -> Edit:
    """A misspelled Slurm option, where exactly one known option is near."""
    wrong = case.captured.get("option", "").lstrip("-").partition("=")[0]
    known = {*SLURM_LONG, *SLURM_FLAGS}
    near = get_close_matches(wrong, known, n=1, cutoff=0.85) if wrong and wrong not in known else []
    if not near:
        return None
    pattern = rf"(?m)^(#SBATCH\s+.*?--){re.escape(wrong)}(?=[=\s]|$)"
    return re.sub(pattern, rf"\g<1>{near[0]}", case.text), f"--{wrong} written as --{near[0]}."


def _export(case: Case) -> Edit:
    """The variables of the first node handed to every task."""
    text = re.sub(r"(?m)(^#SBATCH\s+--export[= ])NONE\b", r"\1ALL", case.text)
    pattern = r"(?m)^(\s*(?:exec |time )?srun )(?![^\n]*--export)"
    names = "ALL,PATH,PYTHONPATH,LD_LIBRARY_PATH"
    text = re.sub(r"(srun [^\n]*--export[= ])NONE\b", rf"\g<1>{names}", text)
    return re.sub(pattern, rf"\g<1>--export={names} ", text), "srun hands PATH, PYTHONPATH and LD_LIBRARY_PATH on."


def _port(case: Case) -> Edit:
    """A port of the job's own."""
    port = PORTS.get(case.record.scheduler)
    if port is None:
        return None
    return PORT.sub(lambda found: found["before"] + port, case.text), "The port is taken from the job's number."


def _address(case: Case) -> Edit:
    """The first node's address in place of one that each node takes for itself."""
    hosts = {
        "slurm": '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
        "pbs": '$(head -n 1 "$PBS_NODEFILE")',
    }
    host = case.cluster.rendezvous.host if case.cluster else hosts.get(case.record.scheduler)
    if host is None:
        return None
    return LOCAL.sub(lambda found: f"{found['before']}{host}", case.text), "The address of rank 0 is the first node's."


def _module(case: Case) -> Edit:
    """Another version of a module, where the facts name the one that this machine has."""
    wrong = case.captured.get("module", "").strip("'\"")
    if case.cluster is None or not wrong:
        return None
    lines = [line for software in case.cluster.software.values() for line in software.lines]
    named = {word for line in lines if "module load" in line for word in line.split() if "/" in word}
    right = next((word for word in sorted(named) if word.partition("/")[0] == wrong.partition("/")[0]), None)
    if right is None or right == wrong:
        return None
    pattern = rf"(?m)(^\s*module\s+(?:load|add)\b[^\n#]*?){re.escape(wrong)}(?![\w./-])"
    return re.sub(pattern, rf"\g<1>{right}", case.text), f"module {right} in place of {wrong}."


def _offline(case: Case) -> Edit:
    """The site's proxy where it has one, else no attempts to reach the hub."""
    proxy = case.cluster.internet.proxy if case.cluster and case.cluster.internet.access == "proxy" else {}
    lines = [f"export {name}={value}" for name, value in proxy.items()] or ["export HF_HUB_OFFLINE=1"]
    says = (
        "The site's proxy is set." if proxy else "The hub is not asked: download model and data on a login node first."
    )
    return _before_commands(case, lines), says


def _backend(case: Case) -> Edit:
    """The backend of this machine's GPUs."""
    if case.cluster is None or len({node.gpus.backend for node in case.cluster.node_types}) != 1:
        return None
    right = COLLECTIVES[case.cluster.node_types[0].gpus.backend]
    return BACKEND.sub(lambda found: found["before"] + right, case.text), f"The backend is {right}."


def _interface(case: Case) -> Edit:
    """The interface that connects this machine's nodes."""
    names = {node.nics.interface for node in case.cluster.node_types} - {None} if case.cluster else set()
    if len(names) != 1:
        return None
    right = str(next(iter(names)))
    return INTERFACE.sub(lambda found: found["before"] + right, case.text), f"The network interface is {right}."


def _memory(case: Case) -> Edit:
    """All memory of the node, where nodes are not shared and none was asked for."""
    asked = {"mem", "mem-per-cpu", "mem-per-gpu"} & set(case.script.active)
    whole = case.cluster is not None and case.cluster.whole_nodes
    if case.record.scheduler != "slurm" or asked or not whole:
        return None
    return _after_directives(case, "#SBATCH --mem=0"), "All host memory of the node is asked for."


def _folder(case: Case) -> Edit:
    """A PBS job starts in the home directory."""
    if case.record.scheduler != "pbs" or "PBS_O_WORKDIR" in case.text:
        return None
    return _before_commands(case, ['cd "$PBS_O_WORKDIR"']), "The job goes to the directory it was submitted from."


def _after_directives(case: Case, line: str) -> str:
    lines = case.text.splitlines(keepends=True)
    at = max((one.line for one in case.script.directives if one.active), default=1)
    return "".join([*lines[:at], f"{line}\n", *lines[at:]])


def _before_commands(case: Case, added: list[str]) -> str:
    """The text with lines put before the first command; nothing is added twice."""
    lines = case.text.splitlines(keepends=True)
    missing = [line for line in added if line not in case.text]
    first = min([*(c.line for c in case.script.commands), *(a.line for a in case.script.assignments), len(lines) + 1])
    at = max(first - 1, 1)
    return "".join([*lines[:at], *(f"{line}\n" for line in missing), *lines[at:]])


RULES: dict[str, tuple[Callable[[Case], Edit], ...]] = {
    "user-shell": (_line_ends, _continuations),
    "sched-time-limit": (_time,),
    "sched-over-limit": (_time, _devices),
    "sched-bad-directive": (_option,),
    "sched-host-oom": (_memory,),
    "env-not-propagated": (_export,),
    "env-module": (_module,),
    "env-no-internet": (_offline,),
    "env-file-missing": (_folder,),
    "gpu-not-visible": (_devices,),
    "comm-port-in-use": (_port,),
    "comm-rendezvous": (_address,),
    "comm-interface": (_interface,),
    "fw-backend": (_backend,),
}
