"""Questions about a script's directives: an option, what is required, the account, part of a node."""

from __future__ import annotations

import re

from graph.answering.asking import Inquiry, plain
from graph.answering.fact_answer import FactAnswer, listed, say

OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z][\w-]*)")
BARE = ("gres", "mem", "exclusive", "constraint", "gpus-per-node", "gpus-per-task", "cpus-per-task")
RESOURCES = ("filesystems", "place", "select")


def option(ask: Inquiry) -> FactAnswer | None:
    """Whether an option of the batch system is forbidden or part of each script; None where the facts name it not."""
    cluster, named = ask.cluster, options_in(ask)
    named |= {f"-l {word}" for word in RESOURCES if re.search(rf"\b{word}\b", ask.text)}
    for ban in cluster.forbidden:
        if ban.option.split("=")[0] in named:
            return say(cluster, [f"Not {ban.option} on {cluster.title} ({ban.effect}): {ban.why}"], [ban.source])
    for fact in cluster.directives:
        if any(re.match(rf"{re.escape(word)}(?![\w-])", fact.text) for word in named):
            when = "" if fact.when == "always" else f" ({fact.when.replace('_', ' ')} jobs)"
            yes = f"Yes: scripts for {cluster.title} have {plain(fact.text)}{when}"
            return say(cluster, [yes, fact.comment], [fact.source])
    for word in sorted(named):
        if "gpu" in word:
            lines = [plain(fact.text) for fact in cluster.directives if "gpu" in fact.text]
            instead = (
                f"GPUs are asked for with {listed(lines, 'or')}" if lines else "the nodes come with all their GPUs"
            )
            return say(cluster, [f"Scripts for {cluster.title} do not have {word}: {instead}"])
    return None


def options_in(ask: Inquiry) -> set[str]:
    bare = {f"--{word}" for word in BARE if re.search(rf"(?<![\w-]){word}(?![\w-])", ask.text)}
    return {*OPTION.findall(ask.raw), *bare}


def directives(ask: Inquiry) -> FactAnswer:
    """The option that is named; else what a script needs there, and what it must not have."""
    cluster = ask.cluster
    one = option(ask)
    if one:
        return one
    always = [fact.text for fact in cluster.directives if fact.when == "always" and not fact.queues]
    lines = [plain(text) for text in always if cluster.account.needed or "{account}" not in text]
    no_account = "" if cluster.account.needed else f"A job on {cluster.title} need not name an account"
    must = [fact.key + (f" ({fact.why})" if fact.why else "") for fact in cluster.required]
    bans = [f"{ban.option} ({ban.effect}: {ban.why})" for ban in cluster.forbidden]
    sentences = [
        no_account,
        f"A script for {cluster.title} has: {'; '.join(lines)}",
        f"Required: {'; '.join(must)}" if must else "",
        f"To leave out: {'; '.join(bans)}" if bans else "",
    ]
    sources = [fact.source for fact in cluster.required] + [fact.source for fact in cluster.directives]
    return say(cluster, sentences, sources)


def account(ask: Inquiry) -> FactAnswer:
    cluster, fact = ask.cluster, ask.cluster.account
    line = next((plain(item.text) for item in cluster.directives if "{account}" in item.text), "")
    opening = f"A job on {cluster.title} {'names its account' if fact.needed else 'need not name an account'}"
    opening += f" ({line})" if line else ""
    return say(cluster, [opening, suffix(ask), fact.note or ""], [fact.source])


def suffix(ask: Inquiry) -> str:
    """What the GPU account's name ends on, by node type where it differs."""
    fact = ask.cluster.account
    known = {node.id: end for node in ask.cluster.node_types if (end := fact.suffix_for(node.id))}
    if not known:
        return "No suffix of the account is known to be needed"
    same = len(set(known.values())) == 1
    ends = next(iter(known.values())) if same else listed(f"{end} (for {node})" for node, end in known.items())
    return f"The GPU account ends on {ends}" + (", and must" if fact.suffix_required else "")


def whole_nodes(ask: Inquiry) -> FactAnswer:
    """Whether a job may have part of a node."""
    cluster = ask.cluster
    shared = [queue for queue in cluster.queues if queue.purpose == "shared" and queue.node_types]
    notes = [f"Queue {queue.id}: {queue.note or 'part of a node'}" for queue in shared]
    sources = [queue.source for queue in shared]
    if cluster.whole_nodes and not shared:
        return say(cluster, [f"No: a job on {cluster.title} always gets whole nodes, with all their GPUs"])
    line = next((plain(fact.text) for fact in cluster.directives if "{gpus_per_node}" in fact.text), "")
    yes = f"Yes: a job on {cluster.title} may have part of a node" + (f" ({line})" if line else "")
    return say(cluster, [yes, *notes], sources)
