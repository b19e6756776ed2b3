"""`maple-chat pending`: why a job is not starting, whether it starts by itself, and what helps."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from assistant.errors import InputError
from assistant.printing.markdown import print_markdown
from assistant.printing.plain import print_plain
from assistant.reading import json_cases
from graph.usecases.explain_pending import PendingAnswer, explain_pending
from graph.usecases.explain_waiting_here import explain_waiting_here
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.opening import open_plain
from knowledge.schedulers.asking import BoundedAsking, ask_command, scheduler_here
from knowledge.schedulers.live import JOB_ID, Ask, LiveOutput, one_job, own_queue
from knowledge.schedulers.records import Scheduler


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Why a job is not starting: by its id on the cluster's login node, or from what squeue, scontrol, qstat, bjobs "
        "or flux print. Exit: 0 it starts by itself or does not wait, 1 somebody has to do something, 2 bad input."
    )
    parser.add_argument(
        "job", nargs="?", default="", help="a job id; a file with pasted output, or - for standard input; none: my jobs"
    )
    parser.add_argument("--machine", metavar="M", help="the machine it waits on")
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    parser.add_argument("--jsonl", action="store_true", help='read {"id", "text"} lines, answer one JSON line each')


def run(options: argparse.Namespace) -> int:
    machine = catalogue().named(options.machine) if options.machine else None
    if options.jsonl:
        return answer_lines(sys.stdin.buffer, machine)
    on_cluster = not options.job or (JOB_ID.fullmatch(options.job) and not Path(options.job).exists())
    ask = BoundedAsking()
    answer = (
        explained_here(options.job, ask, machine)
        if on_cluster
        else explain_pending(pasted(options.job), machine=machine)
    )
    print(json.dumps(as_json(answer), indent=2, ensure_ascii=False) if options.json else print_plain(answer.document))
    return 0 if answer.starts != "no" and answer.kind != "client-error" else 1


def explained_here(job: str, ask: Ask, machine: Cluster | None = None) -> PendingAnswer:
    """What holds the job, or all mine, by the scheduler here. Raises InputError where it could not be asked."""
    found = explain_waiting_here(asked_here(job, ask), ask, machine)
    for failure in found.failures:
        print(f"maple-chat: {failure.says}", file=sys.stderr)
    return found.answer


def asked_here(job: str, ask: Ask = ask_command) -> LiveOutput:
    """What the scheduler here says of the job, or of all mine. Raises InputError where it could not be asked."""
    scheduler = scheduler_here()
    if scheduler is None:
        raise InputError(
            "no squeue, bjobs, qstat or flux is here; run this on the cluster's login node, or paste what they print: "
            "maple-chat pending -"
        )
    asked = one_job(scheduler, job, ask) if job else own_queue(scheduler, ask)
    if asked.failures and not asked.jobs:
        raise InputError(f"{asked.failures[0].says}; that says nothing of the job, try later")
    if not asked.jobs:
        raise InputError(nothing_found(scheduler, job))
    return asked


LARGEST_LISTING = 32 << 20
PAST = {"slurm": "sacct -X -S now-7days", "pbs": "qstat -x", "lsf": "bhist -a", "flux": "flux jobs -a"}


def nothing_found(scheduler: Scheduler, job: str) -> str:
    """The scheduler was asked and knows of no such job."""
    if job:
        return f"the scheduler knows no job {job}: mistyped, or purged; `{PAST[scheduler]}` lists those that have ended"
    return f"no job of yours waits or runs (the scheduler was asked); `{PAST[scheduler]}` lists those that have ended"


def pasted(name: str) -> str:
    """What was pasted, of a file or of standard input. Raises InputError."""
    try:
        with sys.stdin.buffer if name == "-" else open_plain(name) as stream:
            data = stream.read(LARGEST_LISTING + 1)
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}); give a file, or - and paste the output") from error
    if len(data) > LARGEST_LISTING:
        raise InputError(f"{name} is larger than any listing ({LARGEST_LISTING >> 20} MiB); cut out the job's part")
    text = data.decode("utf-8", "replace")
    if not text.strip():
        raise InputError("nothing was pasted; give what squeue, scontrol, qstat, bjobs or flux prints")
    return text


def as_json(answer: PendingAnswer) -> dict[str, object]:
    """The answer as JSON: says are sentences in English, look are commands, change is what helps with its command.

    answer is the whole in the language of the question, as it is printed.
    """
    return {
        "job": answer.job,
        "class": answer.kind,
        "starts_by_itself": answer.starts,
        "reason": answer.reason,
        "says": list(answer.says),
        "look": [step.command for step in answer.look],
        "change": [{"text": step.text, "command": step.command} for step in answer.change],
        "answer": print_markdown(answer.document),
    }


def answer_lines(lines: Iterable[bytes], machine: Cluster | None) -> int:
    """One JSON object a line in and out. A line that is no such object is an error."""
    for name, text in json_cases(lines, "text"):
        print(json.dumps({"id": name, **as_json(explain_pending(text, machine=machine))}), flush=True)
    return 0
