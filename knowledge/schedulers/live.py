"""What a scheduler says on this machine, in the forms that the readers of pasted output know (outputs.py)."""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from knowledge.data_file import parse_json
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.schedulers.accounting import LSF, read_accounting
from knowledge.schedulers.asking import CouldNotAsk, Printed, ask_command
from knowledge.schedulers.outputs import scheduler_output
from knowledge.schedulers.records import QueuedJob, Scheduler, SchedulerOutput

# The script of a job whose scheduler keeps none for its user: in the record's own words, or the file that it names.


WORKDIR = re.compile(r"PBS_O_WORKDIR=([^,]+)")
ARGUMENT = re.compile(r"<jsdl-hpcpa:Argument>([^<]*)</jsdl-hpcpa:Argument>")
LINE_END = re.compile(r"(?<!;);(?!;)")


def submitted_script(job: QueuedJob) -> str:
    """LSF prints the text of `bsub < FILE` with `;` for line ends; a file is read as it is now. Empty: none is told."""
    if job.scheduler == "lsf":
        command = job.printed("Command")
        if command.startswith("#!"):
            return LINE_END.sub("\n", command).strip() + "\n"
        return text_of(Path(job.printed("CWD") or "."), command.split())
    if job.scheduler == "pbs":
        folder = WORKDIR.search(job.printed("Variable_List"))
        told = job.printed("Submit_arguments")
        return text_of(Path(folder[1] if folder else "."), ARGUMENT.findall(told) or told.split())
    return ""


def script_in_jobspec(jobspec: str) -> str:
    """The script of `flux batch` in what `flux job info ID jobspec` prints; empty for `flux submit`, which has none.

    https://flux-framework.readthedocs.io/projects/flux-rfc/en/latest/spec_14.html; the older place is `batch.script`.
    """
    try:
        told = parse_json(jobspec)
    except ValueError:
        return ""
    system = under(under(told, "attributes"), "system")
    kept = under(under(under(system, "files"), "script"), "data") or under(under(system, "batch"), "script")
    return kept if isinstance(kept, str) else ""


def under(value: object, name: str) -> object:
    """What stands under the name; None where that is no mapping."""
    return value.get(name) if isinstance(value, dict) else None


def text_of(folder: Path, words: list[str]) -> str:
    """The text of the last word that is a script there."""
    for word in reversed(words):
        path = folder.expanduser() / word
        try:
            text = read_plain(path, LARGEST_SCRIPT).decode("utf-8", "replace") if path.is_file() else ""
        except OSError:
            continue
        if text.startswith("#!"):
            return text
    return ""


Ask = Callable[[Sequence[str]], Printed | CouldNotAsk]
JOB_ID = re.compile(r"\d+(?:[_+.]\w+|\[\d*\])?(?:\.[\w.-]+)?|[ƒf][1-9A-HJ-NP-Za-km-z]{4,}")
COLUMNS = "%i|%P|%j|%u|%T|%M|%l|%D|%S|%q|%a|%r|%N"
ACCOUNTED = (
    "JobID,JobName,User,Partition,Account,QOS,State,ExitCode,Elapsed,Timelimit,Start,End,Submit,NNodes,ReqMem,MaxRSS,"
    "NodeList,Reason,WorkDir"
)
QOS_COLUMNS = "Name,GrpTRES,GrpJobs,MaxTRES,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MaxJobsPA,MinTRES"
# The scheduler is asked for what stands beside so many waiting jobs, not of hundreds.
MOST_ASKED = 3
MOST_ENDED = 50
# No such job: an answer, and no failure to ask.
GONE = re.compile(
    r"(?i)Invalid job id|not found|Unknown Job|JobID \S+ unknown|No (?:unfinished|matching|running|pending) "
    r"job|has finished|invalid jobid"
)


@dataclass(frozen=True, slots=True)
class LiveOutput:
    """What all questions together brought: the text as if pasted, and what could not be asked."""

    text: str
    failures: tuple[CouldNotAsk, ...] = ()
    outputs: tuple[SchedulerOutput, ...] = field(default=())

    @property
    def jobs(self) -> tuple[QueuedJob, ...]:
        return tuple(job for output in self.outputs for job in output.jobs)


def own_queue(scheduler: Scheduler, ask: Ask = ask_command) -> LiveOutput:
    """My jobs that wait or run, with their reasons."""
    user = getpass.getuser()
    first = {
        "slurm": ["squeue", "-u", user, "-o", COLUMNS],
        "pbs": ["qstat", "-was1", "-u", user],
        "lsf": ["bjobs", "-p3"],
        "flux": ["flux", "jobs", "-f", "pending,running"],
    }[scheduler]
    commands = [first, ["bjobs", "-r"]] if scheduler == "lsf" else [first]
    return gathered(commands, ask)


def one_job(scheduler: Scheduler, job: str, ask: Ask = ask_command) -> LiveOutput:
    """A job by its id, from the queue, or from the accounting where it has left the queue."""
    if not JOB_ID.fullmatch(job):
        return LiveOutput("", (CouldNotAsk("", f"'{job[:40]}' is no job id"),))
    commands = {
        "slurm": [["scontrol", "show", "job", job]],
        "pbs": [["qstat", "-xf", job]],
        "lsf": [["bjobs", "-l", job]],
        "flux": [["flux", "jobs", "--json", job]],
    }[scheduler]
    found = gathered(commands, ask)
    if scheduler == "flux" and found.failures:  # a version that prints no JSON
        found = gathered([["flux", "jobs", job], ["flux", "job", "eventlog", job]], ask)
    if scheduler == "slurm" and not found.jobs and not found.failures:
        return accounted(job, ask)
    return found


def accounted(job: str, ask: Ask = ask_command) -> LiveOutput:
    """A job of Slurm's accounting, with its steps; also what a purged or unknown id gives: no job."""
    return gathered([["sacct", "-P", "-j", job, "-o", ACCOUNTED]], ask)


def submit_line(job: str, ask: Ask = ask_command) -> str:
    """The command line of Slurm's job (accounting of 21.08 and newer); empty where it is not kept."""
    printed = ask(["sacct", "-X", "-n", "-P", "-j", job, "-o", "SubmitLine"])
    return printed.text.strip() if isinstance(printed, Printed) else ""


def around(job: QueuedJob, ask: Ask = ask_command) -> LiveOutput:
    """What stands beside a waiting job: own running jobs, its partition or queue, its nodes, its limits."""
    if job.scheduler == "flux":
        return gathered([["flux", "queue", "status", *filter(None, [job.queue])]], ask)
    if job.scheduler == "pbs" and job.queue:
        return gathered([["qstat", "-Q", job.queue], ["qstat", "-was1", "-u", getpass.getuser()]], ask)
    if job.scheduler != "slurm":
        return LiveOutput("")
    commands = [["squeue", "-u", getpass.getuser(), "-t", "R", "-o", COLUMNS]]
    if job.queue:
        commands += [
            ["scontrol", "show", "partition", job.queue.split(",")[0]],
            ["sinfo", "-p", job.queue.split(",")[0]],
        ]
    if job.qos and job.reason.startswith(("QOS", "Max")):
        commands.append(["sacctmgr", "-P", "show", "qos", "where", f"name={job.qos}", f"format={QOS_COLUMNS}"])
    if job.reason.startswith("Assoc"):
        columns = "Account,User,Partition,QOS,GrpTRES,GrpJobs,MaxTRES,MaxWall,MaxJobs,MaxSubmit"
        commands.append(["sacctmgr", "-P", "show", "assoc", "where", f"account={job.account}", f"format={columns}"])
    if "Reservation" in job.reason or "aintenance" in job.reason:
        commands.append(["scontrol", "show", "reservation"])
    if job.reason == "Licenses":
        commands.append(["scontrol", "show", "licenses"])
    parents = ",".join(re.findall(r"(?<=:)\d+", job.depends))
    if parents:
        commands.append(["sacct", "-P", "-X", "-j", parents, "-o", ACCOUNTED])
    return gathered(commands, ask)


def with_surroundings(asked: LiveOutput, ask: Ask = ask_command) -> LiveOutput:
    """The same with what stands beside the first waiting jobs."""
    waiting = [job for job in asked.jobs if job.phase == "waiting"][:MOST_ASKED]
    beside = [around(job, ask) for job in waiting]
    text = "\n\n".join(dict.fromkeys([asked.text, *(one.text for one in beside)]))
    failures = dict.fromkeys([*asked.failures, *(failure for one in beside for failure in one.failures)])
    return LiveOutput(text, tuple(failures), asked.outputs)


def ended_mine(scheduler: Scheduler, ask: Ask = ask_command) -> tuple[QueuedJob, ...] | CouldNotAsk:
    """My jobs that ended in the last days, as far as the scheduler remembers them; why not, where it is silent."""
    user = getpass.getuser()
    if scheduler == "pbs":
        found = ask(["qselect", "-x", "-s", "F", "-u", user])
        if isinstance(found, CouldNotAsk):
            return found
        ids = found.text.split()[-MOST_ENDED:]
        command = ["qstat", "-x", "-f", *ids]
        if not ids:
            return ()
    else:
        command = {
            "slurm": ["sacct", "-P", "-X", "-u", user, "-S", "now-7days", "-o", ACCOUNTED],
            "lsf": ["bjobs", "-d", "-u", user, "-json", "-o", LSF],
            "flux": ["flux", "jobs", "-f", "inactive", "-c", str(MOST_ENDED), "--json"],
        }[scheduler]
    printed = ask(command)
    if isinstance(printed, CouldNotAsk):
        return () if GONE.search(printed.why) else printed
    return tuple(job for job in read_accounting(printed.text) if job.phase == "ended")


def script_of(scheduler: Scheduler, job: str, ask: Ask = ask_command, told: QueuedJob | None = None) -> str:
    """The job's script as the scheduler keeps it; empty where it does not, or it is not mine.

    PBS and LSF keep none that a user may read: what they tell of the job (`told`) names the file, or holds the text.
    """
    if not JOB_ID.fullmatch(job):
        return ""
    if scheduler == "flux":
        printed = ask(["flux", "job", "info", job, "jobspec"])
        return script_in_jobspec(printed.text) if isinstance(printed, Printed) else ""
    commands = [["scontrol", "write", "batch_script", job, "-"], ["sacct", "-B", "-j", job]]
    for command in commands if scheduler == "slurm" else ():
        printed = ask(command)
        if isinstance(printed, Printed) and (at := printed.text.find("#!")) >= 0:
            return printed.text[at:]
    return submitted_script(told) if told else ""


def gathered(commands: Sequence[Sequence[str]], ask: Ask) -> LiveOutput:
    """The answers of several commands, one below the other; no such job is an answer."""
    texts: list[str] = []
    failures: list[CouldNotAsk] = []
    for command in commands:
        printed = ask(command)
        if isinstance(printed, Printed):
            texts.append(printed.text.rstrip())
        elif not GONE.search(printed.why):
            failures.append(printed)
    text = "\n\n".join(text for text in texts if text)
    return LiveOutput(text, tuple(failures), tuple(scheduler_output(text)))
