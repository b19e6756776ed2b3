"""A question that goes on from a waiting job that was explained: another amount against the same limit, or when."""

from __future__ import annotations

import re

from graph.waiting.amounts import bare_amount, spoken_amount
from graph.waiting.case import WaitCase
from graph.waiting.limit_tables import LimitSeen, limits_pasted
from graph.waiting.limits_told import counts_for, freed, held_together, running_of, spoken_of
from graph.waiting.meant import jobs_meant, read_jobs
from graph.waiting.no_job import told_without_job
from graph.waiting.verdict import reason_of
from knowledge.cluster import Cluster
from knowledge.document import Document, Paragraph
from knowledge.schedulers.outputs import scheduler_output

# `if I ask 2 nodes?`, `4卡`: an amount of what the job may ask for.
ASKED = re.compile(
    r"(?i)(?<![A-Za-z0-9.])(\d{1,5})\s*-?(?:(gpus?|卡)|(nodes?|knoten|n(?:oe|œ)uds?|nod[oi]s?|节点)|(cores?|cpus?))(?![A-Za-z])"
)
OF = ("gpu", "node", "cpu")
WHEN = re.compile(r"(?i)\b(?:when|wann|quand|cu[aá]ndo|quando|how soon|at the latest|sp[aä]testens)\b|什么时候|いつ")
MOST_WORDS = 30


def follow_waiting(text: str, words: str, machine: Cluster | None = None) -> Document | None:
    """The answer from what was pasted before; None where the words ask neither, or the paste does not tell it."""
    if len(words.split()) > MOST_WORDS:
        return None
    case = case_of(text, machine)
    told = [asked_instead(case, ASKED.search(words)), when_free(case) if WHEN.search(words) else ""]
    says = " ".join(filter(None, told))
    return Document((Paragraph(says),)) if says else None


def case_of(text: str, machine: Cluster | None) -> WaitCase:
    """The job that was told of first, with what was pasted beside it."""
    outputs = scheduler_output(text)
    inside = {n for output in outputs for n in range(output.first, output.last + 1)}
    words = "\n".join(line for n, line in enumerate(text.split("\n")) if n not in inside)
    jobs = read_jobs(outputs)
    meant = jobs_meant(jobs, words, text) if jobs else []
    if not meant:
        return told_without_job(outputs, words, text, machine, jobs)
    others = tuple(job for job in jobs if job is not meant[0])
    return WaitCase(meant[0], reason_of(meant[0]), others, tuple(outputs), words, text, machine)


def asked_instead(case: WaitCase, asked: re.Match[str] | None) -> str:
    """The other amount against the limit that holds the job; empty where no such limit was printed."""
    of, whose, _ = spoken_of(case)
    name = next((one for one, said in zip(OF, asked.groups()[1:], strict=True) if said), "") if asked else ""
    if not asked or name != of or not case.found.reason.kind.startswith("limit"):
        return ""
    limits = [one for one in limits_pasted(case) if one.of == of and counts_for(one, whose, case)]
    value = float(asked[1])
    said = (against(case, one, value) for one in limits)
    return next(filter(None, said), "")


def against(case: WaitCase, limit: LimitSeen, value: float) -> str:
    of, most = limit.of, limit.most
    if not value or limit.counts == "minimum":
        return ""
    if limit.counts == "minutes":
        if limit.left is None:
            return ""
        minutes = int(limit.left / value)
        return (
            f"**With {spoken_amount(of, value)} at most {minutes // 60} h {minutes % 60:02d} min** fit what is left: "
            f"{limit.left:,.0f} minutes / {value:g}. The longest time of the partition holds, too, and other jobs "
            "of the account use the same budget."
        )
    used = limit.used if limit.used is not None else held_together(case, limit)
    if used is None or limit.counts != "held":
        return ""
    total = f"{bare_amount(of, used)} in use + {bare_amount(of, value)} = {bare_amount(of, used + value)}"
    if used + value <= most:
        return (
            f"**Yes, {spoken_amount(of, value)} fit this limit now**: {total} of {bare_amount(of, most)}. "
            "The job still needs free nodes, and its program has to run on that many."
        )
    return (
        f"**No, {spoken_amount(of, value)} are still too many now**: {total}, and {bare_amount(of, most)} are allowed."
    )


def when_free(case: WaitCase) -> str:
    """When running jobs end by their limits at the latest; empty where nothing tells it."""
    if case.found.reason.kind != "limit-aggregate":
        return ""
    return freed(case, running_of(case, "")).strip()
