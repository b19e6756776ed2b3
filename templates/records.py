"""One record a template: what it is for, the words that describe it, and where it comes from.

Shipped records are made from the facts: one for every cluster, node type, framework and strategy that planning offers
there. Their script is written anew each time (templates/render.py); a saved one brings its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from knowledge.catalogue import Catalogue
from knowledge.cluster import Cluster, LaunchForm, NodeType
from knowledge.types import SCHEDULER_TITLES, Framework, Scheduler, Strategy

# What each framework runs, usual first: those that are found by their wording. Planning's own table says the same of
# them, and a test holds them together; the others are asked for by name.
RUNS: Mapping[Framework, tuple[Strategy, ...]] = {
    "pytorch": ("ddp", "fsdp", "tp", "pp", "3d", "none"),
    "deepspeed": ("zero3", "zero2", "zero1"),
    "accelerate": ("ddp", "fsdp", "zero3", "zero2", "zero1", "none"),
    "lightning": ("ddp", "fsdp", "zero3", "zero2", "zero1", "none"),
    "megatron": ("ddp", "zero1", "tp", "pp", "3d"),
}
# What a strategy is run with where nobody names a framework.
FRAMEWORK_OF: Mapping[Strategy, Framework] = {
    "none": "pytorch",
    "ddp": "pytorch",
    "fsdp": "pytorch",
    "zero1": "deepspeed",
    "zero2": "deepspeed",
    "zero3": "deepspeed",
    "tp": "megatron",
    "pp": "megatron",
    "3d": "megatron",
}
# What people call them. Short: search reads these words for every record, and 100 tokens cost 12 ms.
STRATEGY_WORDS: Mapping[Strategy, str] = {
    "none": "on one GPU, no parallel strategy",
    "ddp": "DDP, distributed data parallel",
    "fsdp": "FSDP, fully sharded data parallel, for a model too large for one GPU",
    "zero1": "ZeRO-1, ZeRO stage 1 (one), sharded optimizer state",
    "zero2": "ZeRO-2, ZeRO stage 2 (two), sharded optimizer state and gradients",
    "zero3": "ZeRO-3, ZeRO stage 3 (three), sharded parameters, for a model too large for one GPU",
    "tp": "TP, tensor parallel, layers split inside a node",
    "pp": "PP, pipeline parallel, layers in stages",
    "3d": "3D parallel, tensor, pipeline and data, for a very large language model",
}
FRAMEWORK_WORDS: Mapping[Framework, str] = {
    "pytorch": "PyTorch",
    "deepspeed": "DeepSpeed",
    "accelerate": "Hugging Face Accelerate",
    "lightning": "PyTorch Lightning",
    "megatron": "Megatron-LM",
    "hf-trainer": "Hugging Face Trainer",
    "torchtitan": "torchtitan",
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "horovod": "Horovod",
    "ray": "Ray",
    "vllm": "vLLM",
    "sglang": "SGLang",
}
VENDOR_WORDS: Mapping[str, str] = {
    "nvidia": "NVIDIA CUDA",
    "amd": "AMD ROCm",
    "intel": "Intel XPU",
}


Cell = tuple[str, Framework, Strategy]


@dataclass(frozen=True, slots=True)
class CatalogueRecord:
    """From the catalogue. documented: a page of the site shows this launch; else it is our reading of the facts."""

    as_of: str
    sources: tuple[str, ...]
    documented: bool


@dataclass(frozen=True, slots=True)
class Saved:
    """From a person: who, when (ISO date), on what evidence ("" : none), and the file."""

    who: str
    when: str
    evidence: str
    path: Path


@dataclass(frozen=True, slots=True)
class Template:
    """One template. Facts that nobody knows are empty ("" or None)."""

    id: str
    cluster: str
    framework: Framework
    strategy: Strategy
    node_type: str
    scheduler: Scheduler
    launcher: str
    gpu_vendor: str
    gpu_model: str
    gpus_per_node: int | None
    words: str
    provenance: CatalogueRecord | Saved

    @property
    def cell(self) -> Cell:
        return self.cluster, self.framework, self.strategy

    @property
    def date(self) -> str:
        return self.provenance.as_of if isinstance(self.provenance, CatalogueRecord) else self.provenance.when

    @property
    def standing(self) -> int:
        """3: saved with evidence; 2: a page of the site shows it; 1: our reading of the facts; 0: saved without."""
        if isinstance(self.provenance, Saved):
            return 3 if self.provenance.evidence else 0
        return 2 if self.provenance.documented else 1


def shipped(catalogue: Catalogue) -> Iterator[Template]:
    """Every template that the facts give, site files included."""
    for cluster in catalogue.clusters.values():
        for node in cluster.node_types:
            if node.gpus.devices_per_node is None:
                continue
            for framework, strategies in RUNS.items():
                form = launch_form(cluster, framework, node)
                for strategy in strategies if form else ():
                    if form and not refused(cluster, framework, strategy, node):
                        yield record(cluster, node, framework, strategy, form)


def launch_form(cluster: Cluster, framework: Framework, node: NodeType) -> LaunchForm | None:
    """The form that planning takes: the first that fits the node type; Lightning likes a task a rank."""
    forms = cluster.launch.get(framework) or cluster.launch["pytorch"]
    fitting = [form for form in forms if not form.node_types or node.id in form.node_types]
    if framework == "lightning":
        fitting.sort(key=lambda form: form.workers != "ranks")
    return fitting[0] if fitting else None


def refused(cluster: Cluster, framework: Framework, strategy: Strategy, node: NodeType) -> bool:
    return any(
        fact.framework in (None, framework)
        and fact.strategy in (None, strategy)
        and (not fact.node_types or node.id in fact.node_types)
        for fact in cluster.refusals
    )


def record(cluster: Cluster, node: NodeType, framework: Framework, strategy: Strategy, form: LaunchForm) -> Template:
    sources = dict.fromkeys(filter(None, (form.source, node.source, cluster.docs)))
    return Template(
        id=f"{cluster.id}/{node.id}/{framework}/{strategy}",
        cluster=cluster.id,
        framework=framework,
        strategy=strategy,
        node_type=node.id,
        scheduler=cluster.scheduler,
        launcher=form.launcher,
        gpu_vendor=node.gpus.vendor,
        gpu_model=node.gpus.model,
        gpus_per_node=node.gpus.devices_per_node,
        words=describe(cluster, node, framework, strategy, form),
        provenance=CatalogueRecord(cluster.as_of, tuple(sources), form.documented),
    )


def describe(cluster: Cluster, node: NodeType, framework: Framework, strategy: Strategy, form: LaunchForm) -> str:
    """The sentence that search goes by."""
    gpus = f"{node.gpus.per_node} {VENDOR_WORDS[node.gpus.vendor]} {node.gpus.model}"
    inner = "" if form.workers == "ranks" else f" {form.workers}"
    return (
        f"{FRAMEWORK_WORDS[framework]} {STRATEGY_WORDS[strategy]}. {cluster.title}, {short_site(cluster.site)}, "
        f"{node.id}: {gpus}. {SCHEDULER_TITLES[cluster.scheduler]} {form.launcher}{inner}."
    )


def short_site(site: str) -> str:
    """The acronyms in a site's name where it has any: what people call it."""
    return " ".join(dict.fromkeys(re.findall(r"\b[A-Z][A-Z0-9]{2,}\b", site))) or site
