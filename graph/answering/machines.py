"""Questions over all machines: which have a GPU, a scheduler; which are known at all."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.answering.fact_answer import FactAnswer, listed
from knowledge.catalogue import catalogue, squash
from knowledge.cluster import Cluster

MANY = re.compile(
    r"\b(?:which|what|any|list|show|all)\b.{0,30}\b(?:machines?|clusters?|systems?|supercomputers?|sites?)\b"
    r"|\bwhere can i (?:get|use|find|run)\b"
)
SCHEDULERS = {"slurm": "slurm", "pbs": "pbs", "lsf": "lsf", "flux": "flux"}


def named(text: str) -> Cluster | None:
    """The machine that the question itself names: the longest name that stands in it as whole words."""
    words = re.findall(r"[a-z0-9.]+", text.lower())
    best: tuple[int, Cluster] | None = None
    for cluster in catalogue().clusters.values():
        for name in (cluster.id, cluster.title, *cluster.names):
            size = len(re.findall(r"[a-z0-9.]+", name.lower()))
            runs = {"".join(words[at : at + n]) for n in range(1, size + 2) for at in range(len(words) - n + 1)}
            if len(name) > 2 and squash(re.sub(r"[()]", "", name)) in runs and (best is None or len(name) > best[0]):
                best = (len(name), cluster)
    return best[1] if best else None


def across(text: str) -> FactAnswer | None:
    """`Which machines have H100s?`, `which clusters use PBS?`, `which machines do you know?`"""
    lower = text.lower()
    if not MANY.search(lower):
        return None
    clusters = catalogue().clusters
    for word, scheduler in SCHEDULERS.items():
        if re.search(rf"\b{word}\b", lower):
            return told(
                f"Machines with {word.upper() if len(word) < 4 else word.capitalize()}",
                {i: c for i, c in clusters.items() if c.scheduler == scheduler},
            )
    vendor = next((v for v in ("nvidia", "amd", "intel") if v in lower), None)
    models = re.findall(r"\b(?:[a-z]{1,2}\d{2,3}[a-z]?|pvc|gh200|mi\d{3}[a-z]?|max 1550)\b", lower.replace("00s", "00"))
    having = {
        i: c
        for i, c in clusters.items()
        if any(has(c, model) for model in models) or (vendor and has_vendor(c, vendor))
    }
    if models or vendor:
        what = " or ".join(model.upper() for model in models) or str(vendor).upper()
        return told(f"Machines with {what}", having)
    asks_for_list = re.search(r"\b(?:know|support|supported|available|list|cover)\b", lower)
    return told("Machines that I know", dict(clusters)) if asks_for_list else None


def has(cluster: Cluster, model: str) -> bool:
    return any(model in f"{node.gpus.model} {node.id}".lower() for node in cluster.node_types)


def has_vendor(cluster: Cluster, vendor: str) -> bool:
    return any(node.gpus.vendor == vendor for node in cluster.node_types)


def told(opening: str, clusters: Mapping[str, Cluster]) -> FactAnswer:
    """The machines found, with the date of the oldest facts among them."""
    if not clusters:
        return FactAnswer(f"{opening}: none in what I know.", (), "")
    titles = listed(sorted(cluster.title for cluster in clusters.values()))
    return FactAnswer(f"{opening}: {titles}.", (), min(cluster.as_of for cluster in clusters.values()))
