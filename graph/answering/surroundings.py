"""Questions about what a job finds around it: variables, the rendezvous, the scheduler, the site and its pages."""

from __future__ import annotations

import re

from graph.answering.asking import Inquiry
from graph.answering.fact_answer import FactAnswer, listed, say
from knowledge.cluster import Cluster, EnvironmentFact

VARIABLE = re.compile(r"(?<![\w$])\$?([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?!\w)")
FABRIC = ("NCCL", "RCCL", "CCL", "FI_", "UCX", "MPICH")
SET_BY_US = {
    "always": "; the scripts here set it",
    "multi_node": "; the scripts here set it on several nodes",
    "advice": "",
}
SCHEDULERS = {"slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "flux": "Flux"}


def variable(ask: Inquiry) -> FactAnswer | None:
    """One environment variable that is named."""
    names = VARIABLE.findall(ask.raw)
    if {"MASTER_ADDR", "MASTER_PORT"} & set(names):
        return rendezvous(ask.cluster)
    facts = [fact for fact in ask.cluster.environment if fact.name in names]
    if not facts:
        return None
    return say(ask.cluster, [one_variable(fact, ask.cluster) for fact in facts], [fact.source for fact in facts])


def one_variable(fact: EnvironmentFact, cluster: Cluster) -> str:
    when = f" ({fact.when})" if fact.when else ""
    why = f". {fact.why[0].upper()}{fact.why[1:]}" if fact.why else ""
    return f"On {cluster.title}: {fact.name}={fact.value}{when}{SET_BY_US[fact.apply]}{why}"


def variables(ask: Inquiry) -> FactAnswer | None:
    """Those that scripts set, and those that are advice; of the fabric only, where NCCL is asked for."""
    facts = [fact for fact in ask.cluster.environment if "nccl" not in ask.text or fact.name.startswith(FABRIC)]
    ours = [f"{fact.name}={fact.value}" for fact in facts if fact.apply != "advice"]
    rest = [fact for fact in facts if fact.apply == "advice"]
    advice = [f"{fact.name}={fact.value}" + (f" ({fact.when})" if fact.when else "") for fact in rest[:8]]
    title = ask.cluster.title
    sentences = [
        f"Variables that the scripts for {title} set: {'; '.join(ours)}" if ours else "",
        f"Advice for {title}, where it applies: {'; '.join(advice)}" if advice else "",
    ]
    return say(ask.cluster, sentences, [fact.source for fact in facts]) if facts else None


def rendezvous(cluster: Cluster) -> FactAnswer:
    """Where the ranks meet there."""
    fact = cluster.rendezvous
    lines = f"`MASTER_ADDR={fact.host}` and `MASTER_PORT={fact.port}`"
    return say(cluster, [f"On {cluster.title}, in the batch script: {lines}", fact.note or ""], [fact.source])


def scheduler(ask: Inquiry) -> FactAnswer:
    cluster = ask.cluster
    how = f"{cluster.submit}{' <' if cluster.submit == 'bsub' else ''} SCRIPT"
    return say(cluster, [f"{cluster.title} runs {SCHEDULERS[cluster.scheduler]}; a script is submitted with `{how}`"])


def documentation(ask: Inquiry) -> FactAnswer | None:
    docs = ask.cluster.docs
    return say(ask.cluster, [f"The site's pages on {ask.cluster.title} are the source below"], [docs]) if docs else None


def site(ask: Inquiry) -> FactAnswer:
    cluster = ask.cluster
    programmes = f"Programmes: {listed(cluster.programmes)}" if cluster.programmes else ""
    return say(cluster, [f"{cluster.title} is at {cluster.site}", programmes, cluster.status or ""])
