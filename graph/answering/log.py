"""Questions about a log that was diagnosed: the cause again, a line of it, which rank, whether to retry, what next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

from graph.answering.ask import Ask
from graph.answering.fact_answer import as_sentence
from graph.answering.situation import write_document
from graph.debugging.log import printable
from graph.planning.queues import plural
from graph.reading.defining import find_terms
from knowledge.data_file import read_data
from knowledge.document import Document, Quote
from knowledge.errors import InputError
from knowledge.glossary import glossary
from knowledge.opening import open_plain
from knowledge.types import Diagnosis, LogEvidence, Paste

NO_LOG = (
    "I have no log in this conversation yet: paste it (the last few hundred lines will often do) or name its file, as "
    "in "
    "*@slurm-123.out*, and I answer that from it."
)
UNDECIDED = ("unknown", "no-failure")
# Causes that come from outside the program: the same job may well run the next time.
PASSING = ("sched-node-failure", "sched-preempted", "sched-cancelled")
# Causes that may pass or come back: once more is fair, twice is not.
PERHAPS = (
    *("gpu-hardware", "comm-nccl-system", "comm-collective-timeout", "comm-remote-exit", "comm-rendezvous"),
    *("comm-port-in-use", "env-no-internet", "comm-mpi-init"),
)
# Causes for which the node itself may be at fault.
OF_THE_NODE = ("gpu-hardware", "sched-node-failure", "env-driver", "comm-nccl-system")
HOST = re.compile(
    r"(?<![\w.-])(?:nid\d{4,6}|x\d{4}c\d+s\d+b\d+n\d+|[a-z]{2,12}-?\d{2,5}(?:-\d+)?|c\d{3}-\d{3})(?=[\s:,\]\)]|$)"
)
NOT_HOSTS = re.compile(
    r"(?:cuda|rank|sm|step|epoch|fp|bf|int|gpu|line|node|task|device|torch|python|libc|mi|v|a|h)-?\d+$"
)
NODE = re.compile(r"\bnodes?\b|\bhost\b|\bmachine\b", re.I)
MARKED = re.compile(r"(?:^|\s)\[?(?:rank|default)[ _:]?(\d{1,6})\]?|^\s{0,6}(\d{1,6}): |\btask (\d{1,6}):", re.I)
LONGEST = 300
MOST_LINES = 2_000_000
# Characters: a longer line goes on as the next.
LONGEST_LINE = 8_000_000
MOST_RANKS = 8


# The framework by the files of its own that stand in a traceback; the first that fits, as they call one another.
BY_FILES = (
    ("trainer", re.compile(r"-packages/(?:transformers/trainer|trl/)")),
    ("lightning", re.compile(r"-packages/(?:lightning|pytorch_lightning)/")),
    ("megatron", re.compile(r"/(?:megatron|Megatron-LM|nemo)/")),
    ("torchtitan", re.compile(r"/torchtitan/")),
    ("deepspeed", re.compile(r"-packages/deepspeed/")),
    ("accelerate", re.compile(r"-packages/accelerate/")),
)
FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+)')


def frames_of(logs: Sequence[Paste]) -> Iterator[tuple[str, str]]:
    """(path, line) of each frame that the logs' tracebacks tell, in their order."""
    for log in logs:
        for row in rows(log):
            if found := FRAME.search(row):
                yield found["path"], found["line"]


def framework_of_logs(logs: Sequence[Paste]) -> str:
    """The framework whose files stand in the logs' tracebacks; empty where none of those that are known does."""
    paths = [path for path, _ in frames_of(logs)]
    return next((name for name, files in BY_FILES if any(files.search(path) for path in paths)), "")


@cache
def after_failure() -> Mapping[str, Any]:
    """The words that are asked in after a diagnosis, and what is said then. Raises FactsError on a wrong file."""
    found: Mapping[str, Any] = read_data(Path(__file__).with_name("after_failure.yaml"))
    return found


def means(name: str, text: str) -> re.Match[str] | None:
    """The words of that name in a text."""
    return re.search(after_failure()["words"][name], text)


def tell_cause(ask: Ask) -> Document | None:
    """The cause once more, with the line that shows it and the first step."""
    report = ask.report
    if report is None:
        return write_document(NO_LOG)
    return write_document(report.says, shown(report), first_step(report))


def first_step(report: Diagnosis) -> str:
    return f"First: {report.fix[0]}" if report.fix else ""


def shown(report: Diagnosis) -> Quote | None:
    return quote(report.evidence[0]) if report.evidence else None


def quote(evidence: LogEvidence) -> Quote:
    where = f"{evidence.file or 'line'}{':' if evidence.file else ' '}{evidence.line}"
    return Quote(evidence.text[:LONGEST], f"{where}, rank {evidence.rank}" if evidence.rank is not None else where)


def tell_proof(ask: Ask) -> Document | None:
    """The lines behind the cause, how sure it is, and what else was weighed."""
    report = ask.report
    if report is None:
        return write_document(NO_LOG)
    if not report.evidence:
        return write_document("No single line proves it.", report.says, send(report))
    sure = "sure" if report.confidence >= 0.9 else "fairly sure" if report.confidence >= 0.7 else "not sure"
    others = [f"Not {title(one.cause)}: {as_sentence(one.why_not)}" for one in report.considered[:2]]
    opening = f"By {plural(len(report.evidence), 'line')} of the log; I am {sure} ({report.confidence:.0%})."
    doubt = send(report) if report.confidence < 0.7 else ""
    other = after_failure()["would-show"].get(report.cause)
    others = [other["says"], *others] if other and re.search(other["words"], ask.text) else others
    return write_document(opening, *(quote(one) for one in report.evidence[:3]), *others, doubt)


def send(report: Diagnosis) -> str:
    return f"What would settle it: {'; '.join(report.send_next)}." if report.send_next else ""


def title(cause: str) -> str:
    from knowledge.signatures.loader import library

    known = library().causes.get(cause)
    return known.means if known else cause


def tell_line(ask: Ask) -> Document | None:
    """What one line means, by its number or a telling word; else the words themselves, from the glossary."""
    number = next((int(m.value) for m in ask.utterance.within(ask.clause) if m.kind == "LineNumber"), None)
    found = line_of_number(ask.logs, number) if number is not None else line_of_words(ask)
    if number is not None and found is None:
        length = sum(1 for log in ask.logs for _ in rows(log))
        return write_document(f"The log has {plural(length, 'line')}." if length else NO_LOG)
    if found is None:
        terms = [glossary()[term].text for term in find_terms(ask.text)[:2]]
        return write_document(*terms) if terms else None
    at, text = found
    return write_document(*meaning(at, text, ask.report), Quote(text[:LONGEST], f"line {at}"))


def line_of_number(logs: Sequence[Paste], number: int) -> tuple[int, str] | None:
    for log in logs:
        row = next(islice(rows(log), number - 1, number), None) if number > 0 else None
        if row is not None:
            return number, row
    return None


def line_of_words(ask: Ask) -> tuple[int, str] | None:
    """The first line with the most telling word of the question that the log has."""
    words = re.findall(r"[A-Za-z_][\w.:-]{3,}|signal \d+", ask.text)
    asked = [
        w for w in words if w.lower() not in ("what", "does", "that", "line", "mean", "this", "with", "about", "which")
    ]
    for word in sorted(asked, key=len, reverse=True):
        for log in ask.logs:
            for at, row in enumerate(rows(log), 1):
                if word.lower() in row.lower():
                    return at, row
    return None


def rows(log: Paste) -> Iterator[str]:
    """The lines of a log, pasted or in a file, without control characters; none where the file has gone."""
    if log.text or not log.path:
        yield from (printable(row) for row in log.text.splitlines())
        return
    try:
        with open_plain(log.path) as file, TextIOWrapper(file, encoding="utf-8", errors="replace") as text:
            for _ in range(MOST_LINES):
                if not (row := text.readline(LONGEST_LINE)):
                    return
                yield printable(row.rstrip("\n"))
    except OSError:
        return


def meaning(at: int, text: str, report: Diagnosis | None) -> list[str]:
    """What the line says by itself, and what it is to the cause that was found."""
    from graph.debugging.diagnosis import diagnose

    try:
        alone = diagnose(text)
    except InputError:
        return ["That line cannot be read."]
    is_evidence = report is not None and any(one.line == at for one in report.evidence)
    terms = [glossary()[term].text for term in find_terms(text)[:1]]
    says = alone.says if alone.cause not in UNDECIDED else ""
    told = [says] if says else terms or ["By itself the line tells of no failure that I know."]
    if report is None or report.cause in UNDECIDED:
        return told
    if says and alone.cause != report.cause:
        return [*told, f"Here it is a consequence; what went wrong first is another thing: {as_sentence(report.says)}"]
    return [*told, "It is one of the lines that the cause stands on."] if is_evidence else told


def tell_rank(ask: Ask) -> Document | None:
    """Which rank or node was first, by the evidence; where the log marks none, how to have it marked."""
    report = ask.report
    if report is None:
        return write_document(NO_LOG)
    first = next((one for one in report.evidence if one.rank is not None), None)
    hosts = list(dict.fromkeys(host for one in report.evidence for host in hosts_of(one.text)))
    others = sorted({rank for log in ask.logs for row in islice(rows(log), MOST_LINES) for rank in ranks_of(row)})
    told = [f"Rank {first.rank}, by line {first.line}."] if first else []
    told += [f"On {', '.join(hosts[:3])}."] if hosts and report.cause != "sched-node-failure" else []
    if not told and len(others) == 1:
        told = [f"Rank {others[0]} is the only one that the log names."]
    if not (told or hosts):
        return write_document(
            "The log does not say: its lines carry no rank or host. Next time start with `srun -l` (Slurm), `mpiexec "
            "-l` "
            "(PBS) or `torchrun --log-dir logs --tee 3`, which mark each line."
        )
    named = f"Ranks that the log names: {', '.join(map(str, others[:MOST_RANKS]))}." if len(others) > 1 else ""
    node = node_at_fault(report, hosts) if NODE.search(ask.text) else ""
    return write_document(node, " ".join(told), shown_of(first), named)


def shown_of(evidence: LogEvidence | None) -> Quote | None:
    return quote(evidence) if evidence else None


def hosts_of(text: str) -> list[str]:
    return [name for name in HOST.findall(text) if not NOT_HOSTS.match(name)]


def ranks_of(row: str) -> list[int]:
    found = MARKED.search(row[:200])
    return [int(next(filter(None, found.groups())))] if found else []


def node_at_fault(report: Diagnosis, hosts: Sequence[str]) -> str:
    """Whether it smells of the node, and how to keep off it."""
    if report.cause not in OF_THE_NODE:
        return "Nothing points to the node itself: this cause lies in the job or its environment."
    # Where a node failed, the host that prints so is another one.
    seen = hosts[:1] if report.cause != "sched-node-failure" else []
    name = next(iter([*filter(None, [dict((*report.facts, *report.captured)).get("node")]), *seen]), "NODE")
    return (
        f"It may be the node: keep off it once (`#SBATCH --exclude={name}` in Slurm) and tell the site's support its "
        f"name. "
        "If it fails on another node as well, it was not."
    )


def tell_retry(ask: Ask) -> Document | None:
    """Whether the same job may run the next time, by the cause."""
    report = ask.report
    if report is None:
        return write_document(NO_LOG)
    if report.cause in UNDECIDED:
        return write_document("I cannot tell: the cause is not found yet. Once more is fair.", send(report))
    because = as_sentence(report.says)
    resume = "Start it from the newest checkpoint."
    if report.cause in PASSING:
        return write_document(f"Yes: {because} Nothing in the job has to change. {resume}")
    if report.cause in PERHAPS:
        return write_document(f"Once, yes; twice, no: it may pass by itself. {because} {resume}", first_step(report))
    if report.cause == "sched-time-limit":
        return write_document(
            f"Only from a checkpoint: started over, it stops at the same limit. {because}", first_step(report)
        )
    return write_document(f"No: the same job fails the same way. {because}", first_step(report))
