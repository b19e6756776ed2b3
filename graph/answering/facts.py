"""Answers a question out of the typed facts of a machine: no model, no store, no network.

The topics of topics.py are tried in turn; behind them the best matching gotcha or note; behind that None, and the
caller says that it does not know.
"""

from __future__ import annotations

import re

from graph.answering.asking import read
from graph.answering.fact_answer import FactAnswer, say
from graph.answering.machines import across, named
from graph.answering.passages import matching
from graph.answering.topics import TABLE
from knowledge.cluster import Cluster

__all__ = ["FactAnswer", "answer_from_facts"]

LONGEST_QUESTION = 2000
# What only the machine itself knows at this moment, or only the person's project: no file of facts has it.
LIVE = re.compile(
    r"\b(?:right now|at the moment|currently (?:down|busy|full|up)|is .{0,30}\b(?:down|busy|full)\b|how (?:busy|full)"
    r"|my (?:\w+ )?(?:balance|quota|priority|allocation|hours)\b.{0,20}(?:left|remain|\?|$)"
    r"|my jobs?\b.{0,20}(?:status|start|pending)"
    r"|(?:my )?remaining (?:allocation|hours|balance)|queue (?:like|wait)|wait(?:ing)? times?|when will my)\b"
)


# How each scheduler tells what only the machine knows.
COMMANDS = {
    "slurm": "`squeue --me --start` says when your jobs may start, `sinfo -s` how full the partitions are; `sshare -U` "
    "your share",
    "pbs": "`qstat -u $USER` shows your jobs, `qstat -Q` how full the queues are",
    "lsf": "`bjobs` shows your jobs, `bqueues` how full the queues are",
    "flux": "`flux jobs` shows your jobs, `flux resource list` how full the machine is",
}


def asked_of_the_machine(text: str, cluster: Cluster | None) -> FactAnswer | None:
    """Waiting times, balances, whether it is down: which command tells."""
    if cluster is None or not LIVE.search(text.lower()):
        return None
    return say(cluster, [f"Only {cluster.title} itself knows that, at this moment", COMMANDS[cluster.scheduler]])


def answer_from_facts(text: str, cluster: Cluster | None) -> FactAnswer | None:
    """What the facts say to a question, or None where they say nothing.

    cluster is the machine the talk is about; where it is None, the one that the question names, if any.
    """
    question = " ".join(text.split())[:LONGEST_QUESTION]
    if not question or LIVE.search(question.lower()):
        return None
    cluster = cluster or named(question)
    if cluster is None:
        return across(question)
    ask = read(question, cluster)
    for topic in TABLE:
        if any(re.search(pattern, ask.text) for pattern in topic.patterns):
            answer = topic.answer(ask)
            if answer and answer.text:
                return answer
    return matching(ask)
