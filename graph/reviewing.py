"""A pasted script that is asked about, and not for another machine: `check this`, `what does this do?`"""

from __future__ import annotations

import re

from graph.answering.fact_answer import as_sentence
from graph.answering.script_lines import explained, lines
from graph.porting.port import carried_over
from graph.verification.checks import check
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, Say

CHECK = re.compile(
    r"\b(?:check|review|verify|validate|look (?:at|over)|proof-?read|lint"
    r"|is (?:this|it|that) (?:\w+ )?(?:ok|okay|right|correct|fine|valid|good)|what(?:'s| is) wrong"
    r"|(?:any|find|spot) (?:the )?(?:problems?|mistakes?|errors?|issues?|bugs?)"
    r"|will (?:this|it) (?:work|run)|does (?:this|it) look)\b",
    re.I,
)
EXPLAIN = re.compile(
    r"\bwhat (?:does|do|is|will)\b.{0,40}\b(?:do|does|mean|this|for|happen)\b|\bexplain\b|\bwalk me through\b", re.I
)
MOVES = re.compile(
    r"\b(?:port|move|convert|adapt|migrate|translate|rewrite|make (?:this|it)|run (?:this|it) on)\b", re.I
)
MOST_LINES, MOST_FINDINGS, LONGEST = 30, 12, 100
NO_MACHINE = "Name its machine and I check it against that machine's facts too."
FINE = "Checked by its text against {}: nothing found. Your account, modules and program are not proved by that."
NEXT = "Say *make it run on Frontier* (or another machine) and I write it anew from this."


def reviewed(words: str, script: str, named: Cluster | None) -> tuple[Say, ...]:
    """What is said of the script where it is only asked about; empty where it is to be carried over."""
    checks, explains = CHECK.search(words), EXPLAIN.search(words)
    if MOVES.search(words) or not (checks or explains):
        return ()
    try:
        found = carried_over(script)
    except InputError as error:
        return (Say(f"I cannot read that script: {error}."),)
    cluster = named or catalogue().find(found.source_machine or "")
    parts = [summary(found), findings(script, cluster) if checks else line_by_line(script)]
    return (Say("\n\n".join([*filter(None, parts), NEXT])),)


def summary(found: JobRequest) -> str:
    """What it asks for and starts, as far as it can be read."""
    shown = ("source_machine", "framework", "strategy", "total_gpus", "walltime", "entry", "args")
    read = [f"{name.replace('_', ' ')} `{value}`" for name in shown if (value := getattr(found, name)) is not None]
    return f"I read in it: {', '.join(read) or 'no launch of a training'}."


def findings(script: str, cluster: Cluster | None) -> str:
    found = [one for one in check(script, cluster) if one.severity != "info"][:MOST_FINDINGS]
    listed = "\n".join(
        f"- {'line ' + str(one.line) + ': ' if one.line else ''}{as_sentence(one.says)} {as_sentence(one.why)}"
        for one in found
    )
    against = f"{cluster.title}'s facts" if cluster else "what holds everywhere"
    return "\n\n".join(filter(None, (listed or FINE.format(against), "" if cluster else NO_MACHINE)))


def line_by_line(script: str) -> str:
    """The lines whose meaning is known here."""
    told = []
    for line in lines(script)[:MOST_LINES]:
        says = " ".join(explained(line.text, ""))
        shown = " ".join(line.text.split())
        if says:
            told.append(f"- line {line.number}, `{shown[:LONGEST]}`: {says}")
    return "\n".join(told)
