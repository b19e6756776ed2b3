"""The accounting of ended jobs, of all users: asked from the scheduler here, or read from what its command printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial

from knowledge.schedulers.asking import CouldNotAsk, Printed, ask_command
from knowledge.schedulers.outputs import scheduler_output
from knowledge.schedulers.records import QueuedJob, Scheduler
from knowledge.schedulers.slurm import accounted_job

# The accounting of weeks takes a while.
PATIENCE = 600.0
# No name of a job holds it, as many hold a bar.
APART = "\x1f"
SLURM = (
    "JobIDRaw,JobID,JobName,User,Account,Partition,QOS,Cluster,State,ExitCode,Submit,Start,End,Elapsed,Timelimit,"
    "NNodes,NodeList,AllocTRES,WorkDir,Reason"
)
# Slurm 24.05 and newer tell where the output is; before, the script does. What somebody typed may have several lines:
# it stands last, so that the others stay whole.
NEWER = ("StdOut", "StdErr", "SubmitLine")
LSF = (
    "jobid user proj_name queue stat exit_code job_name submit_time start_time finish_time exec_host output_file "
    "error_file exec_cwd gpu_num"
)
# Job ids in one command line.
BATCH = 400
# Nodes of one job; no machine has more.
WIDEST = 12_000
Ask = Callable[[Sequence[str]], Printed | CouldNotAsk]
ask_patiently: Ask = partial(ask_command, patience=PATIENCE)


@dataclass(frozen=True, slots=True)
class Accounted:
    """Ended jobs, and what could not be asked."""

    jobs: tuple[QueuedJob, ...]
    failures: tuple[CouldNotAsk, ...] = ()


def ended_since(scheduler: Scheduler, since: float, ask: Ask = ask_patiently) -> Accounted:
    """All users' jobs that ended after `since` (seconds since 1970), as far as this user may see them."""
    begin = datetime.fromtimestamp(since)
    if scheduler == "slurm":
        columns = ",".join((SLURM, *(name for name in NEWER if name in _columns(ask))))
        start = begin.strftime("%Y-%m-%dT%H:%M:%S")
        command = ["sacct", "-a", "-X", "-P", f"--delimiter={APART}", "-S", start, "-E", "now", "-o", columns]
    else:
        command = {
            "pbs": ["qstat", "-x", "-f", "-F", "json"],
            "lsf": ["bjobs", "-u", "all", "-a", "-json", "-o", LSF],
            "flux": ["flux", "jobs", "-A", "-a", "--json", f"--since={since:.0f}"],
        }[scheduler]
    printed = ask(command)
    if isinstance(printed, CouldNotAsk):
        return Accounted((), (printed,))
    ended = (job for job in read_accounting(printed.text) if job.phase == "ended")
    return Accounted(tuple(job for job in ended if (end_of(job) or since) >= since))


def _columns(ask: Ask) -> frozenset[str]:
    printed = ask(["sacct", "--helpformat"])
    return frozenset(printed.text.split()) if isinstance(printed, Printed) else frozenset()


def read_accounting(text: str) -> tuple[QueuedJob, ...]:
    """The jobs of an accounting that was printed: `sacct -P` in any columns, or any output that outputs.py reads.

    Steps of a job are left out.
    """
    head = text.lstrip().partition("\n")[0]
    apart = APART if APART in head else "|"
    names = [name.strip() for name in head.split(apart)]
    if {"JobID", "JobIDRaw"} & set(names):
        whole = [line for line in text.lstrip().splitlines()[1:] if apart in line or len(names) == 1]
        rows = (line.split(apart) for line in whole if line.strip())
        # Users, queues, states and times of an hour are the same in many rows: kept once, they take half the memory.
        pairs: dict[tuple[str, str], tuple[str, str]] = {}
        told = (tuple(pairs.setdefault(one, one) for one in zip(names, row, strict=False)) for row in rows)
        found: Iterable[QueuedJob] = map(accounted_job, told)
    else:
        found = (job for output in scheduler_output(text) for job in output.jobs)
    return tuple(job for job in found if job.id and not (job.scheduler == "slurm" and "." in job.id))


def scripts_of(jobs: Sequence[QueuedJob], ask: Ask = ask_patiently) -> dict[str, str]:
    """The scripts that Slurm's accounting keeps, by id; empty where it keeps none (AccountingStoreFlags=job_script)."""
    ids = [job.printed("JobIDRaw") or job.id for job in jobs if job.scheduler == "slurm"]
    found: dict[str, str] = {}
    for at in range(0, len(ids), BATCH):
        printed = ask(["sacct", "-B", "-j", ",".join(ids[at : at + BATCH])])
        if isinstance(printed, Printed):
            found |= _parted(printed.text)
        if at == 0 and not found:
            break
    return found


def _parted(text: str) -> dict[str, str]:
    """`Batch Script for 12` and a rule of dashes head each script."""
    parts = re.split(r"^Batch Script for (\S+)\n-+\n", text, flags=re.MULTILINE)
    return {job: script for job, script in zip(parts[1::2], parts[2::2], strict=False) if script.startswith("#!")}


def gpus_of(job: QueuedJob) -> int | None:
    """GPUs of the whole job; 0 where what it was given is told and holds none, None where nothing is told."""
    given = job.printed("AllocTRES") or job.printed("tres_alloc_str")
    if given:
        counts = re.findall(r"gres/gpu(?::[^=,]+)?=(\d+)", given)
        whole = re.search(r"gres/gpu=(\d+)", given)
        return int(whole[1]) if whole else sum(map(int, counts))
    if asked := job.printed("Resource_List.ngpus") or job.printed("GPU_NUM"):
        return int(asked) if asked.isdigit() else None
    if select := job.printed("Resource_List.select"):
        parts = [re.match(r"(\d*)(.*)", part) for part in select.split("+")]
        each = [(int(p[1] or 1), re.search(r"ngpus=(\d+)", p[2])) for p in parts if p]
        return sum(count * int(found[1]) for count, found in each if found)
    return None


def nodes_of(job: QueuedJob) -> tuple[str, ...]:
    """The names of its nodes, each once: `n[1-2]`, PBS's `x1/0*64+x2/0*64`, LSF's `8*h1:8*h2`."""
    if job.scheduler == "pbs":
        names: Iterable[str] = (part.partition("/")[0] for part in job.where.split("+"))
    elif job.scheduler == "lsf":
        names = (part.rpartition("*")[2] for part in re.split(r"[:\s]+", job.where))
    else:
        names = host_names(job.where)
    return tuple(dict.fromkeys(name for name in names if name and name != "None assigned"))


def host_names(text: str) -> Iterator[str]:
    """`nid[001-003,007],login1` name by name; digits keep their width. At most WIDEST of them."""
    left = WIDEST
    for part in re.findall(r"[^,\[\]]+(?:\[[^\]]*\][^,\[\]]*)?", text):
        found = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)
        if not found:
            yield part.strip()
            continue
        for piece in found[2].split(","):
            low, _, high = piece.partition("-")
            if not low.isdigit() or not (high or low).isdigit():
                continue
            for number in range(int(low), min(int(high or low), int(low) + left) + 1):
                left -= 1
                yield f"{found[1]}{number:0{len(low)}d}{found[3]}"
            if left <= 0:
                return


def start_of(job: QueuedJob) -> float | None:
    return moment(job.printed("stime") or job.printed("t_run") or job.printed("START_TIME") or job.start)


def submit_of(job: QueuedJob) -> float | None:
    return moment(job.submitted)


def end_of(job: QueuedJob) -> float | None:
    """When it ended: as printed, else its start and how long it ran."""
    names = ("End", "mtime", "FINISH_TIME", "t_inactive", "t_cleanup", "end_time")
    told = next((found for name in names if (found := moment(job.printed(name))) is not None), None)
    start = start_of(job)
    return told if told is not None else start + job.elapsed if start is not None and job.elapsed is not None else None


def moment(text: str) -> float | None:
    """Seconds since 1970 of a printed time: ISO (of this place where it names none), C's, LSF's, or the seconds."""
    text = text.strip().removesuffix(" L").removesuffix(" E").removesuffix(" X").strip()
    if re.fullmatch(r"\d{9,11}(?:\.\d+)?", text):
        return float(text)
    if re.match(r"\d{4}-\d\d-\d\dT", text):
        try:
            return datetime.fromisoformat(text).timestamp()
        except ValueError:
            return None
    return _worded_moment(text) if re.match(r"[A-Z][a-z]{2} ", text) else None


def _worded_moment(text: str) -> float | None:
    """`Fri Nov 20 10:00:00 2026`, `Nov 20 10:00:00 2026`, `Nov 20 10:00`: of last year where it would be ahead."""
    words = text.split()
    if words[0] in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"):
        words = words[1:]
    now = datetime.now()
    try:
        month, day, clock = words[:3]
        year = int(words[3]) if len(words) > 3 else now.year
        made = parsedate_to_datetime(f"{day} {month} {year} {clock if clock.count(':') == 2 else clock + ':00'}")
    except (ValueError, TypeError, IndexError):
        return None
    made = made.replace(tzinfo=None)
    return (made.replace(year=year - 1) if len(words) < 4 and made > now else made).timestamp()
