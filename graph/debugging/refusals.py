"""What a scheduler refuses at submission, held against the machine's own facts before any general rule.

A refusal names the matter in words (a QOS, a constraint, the time); the facts name it by options. Both meet here.
"""

from __future__ import annotations

import re

from knowledge.cluster import Cluster
from knowledge.types import Diagnosis

# A step of the facts: words, and the page they come from.
Step = tuple[str, str | None]
REFUSED = re.compile(r"\b(?:sbatch|salloc|srun|qsub|bsub|flux)\b.{0,40}(?:error|fatal|:)|job submission failed|esub")
# The refusal is of something that is not given, not of something that is wrong.
LACKS = re.compile(
    r"(?i)\bmissing\b|\brequire[sd]?\b|\bwithout\b|\bnot (?:set|given|specified|provided)\b"
    r"|\bno \w+ (?:given|specified|set)\b"
    r"|\b(?:must|should|need to|have to|please)\b.{0,30}\b(?:specify|set|give|use|select|request|provide|include|add)\b"
)
# The matter of a refusal -> the options by which the facts write it.
MATTERS = {
    r"\bqos\b": ("--qos", "-q"),
    r"\bconstraint|\bfeature": ("--constraint", "-C"),
    r"\baccount|\bproject|\ballocation|\bcharge": ("--account", "-A", "-P"),
    r"\bpartition|\bqueue": ("--partition", "-p", "-q"),
    r"\bgpus?\b|\bgres\b|generic resource": ("--gpus", "--gpus-per-node", "--gres", "ngpus"),
    r"\bfile ?systems?\b": ("-l filesystems", "filesystems"),
    r"\bwall ?time|\btime ?limit|\btime\b": ("--time", "-t", "-l walltime", "-W"),
    r"\bnodes?\b": ("--nodes", "-N", "-l select", "-nnodes"),
    r"\bmem(?:ory)?\b": ("--mem",),
}
# How a count of jobs is refused: no size of a job, and no queue's walltime, has to do with it.
OF_JOBS = re.compile(
    r"(?i)Max(?:Submit)?Jobs?|MaxSubmit|GrpSubmit|GrpJobs|job submit limit|jobs? (?:queued|per user)|limit of jobs"
)
SIGNS = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "flux": "# flux:"}
MOST = 3
PAGES = re.compile(r" (https://\S+?)(?:,? and,?(?: for [\w ]+,)? https://\S+)*$")


def is_of_count(diagnosis: Diagnosis) -> bool:
    """Whether a job is refused because there are too many: the limits of queues on one job say nothing of it."""
    return OF_JOBS.search(_line(diagnosis)) is not None


def is_of_gap(diagnosis: Diagnosis) -> bool:
    """Whether a job is refused because something is not given, rather than wrong."""
    return LACKS.search(_line(diagnosis)) is not None and diagnosis.cause != "sched-over-limit"


def _line(diagnosis: Diagnosis) -> str:
    return diagnosis.evidence[0].text if diagnosis.evidence else ""


def matters_of(text: str) -> list[tuple[str, ...]]:
    """Of each matter that a refusal speaks of, the options by which the facts write it."""
    return [options for words, options in MATTERS.items() if re.search(f"(?i){words}", text)]


def writes(text: str, option: str) -> bool:
    """Whether a directive or a sentence of the facts names an option."""
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) is not None


def facts_of_refusal(diagnosis: Diagnosis, cluster: Cluster) -> list[Step]:
    """What the machine's facts say of the matter of a refusal; nothing where it is no refusal, or they say nothing."""
    line = _line(diagnosis)
    if not diagnosis.cause.startswith("sched-") or not REFUSED.search(line) or OF_JOBS.search(line):
        return []
    options = [option for each in matters_of(line) for option in each]
    steps: list[Step] = []
    if is_of_gap(diagnosis):
        wanted = [fact for fact in cluster.directives if any(writes(fact.text, one) for one in options)]
        lines = dict.fromkeys(f"`{SIGNS[cluster.scheduler]} {_filled(fact.text)}`" for fact in wanted)
        source = next((fact.source for fact in wanted if fact.source), None)
        if lines:
            steps.append((f"{cluster.title} wants it said in the script: {', '.join(lines)}.", source))
    told = [text for text in cluster.gotchas if any(writes(text, one) for one in options)]
    steps += [with_page(text) for text in told[:MOST]]
    return steps


def _filled(text: str) -> str:
    """A directive as a person writes it: {account} as ACCOUNT."""
    return re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), text)


def with_page(text: str) -> Step:
    """A fact's sentence; the first page named at its end becomes the source."""
    found = PAGES.search(text)
    return (text[: found.start()], found[1]) if found else (text, None)
