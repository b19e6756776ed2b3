"""What a question about resources says; it travels with a conversation, so that the next turn need not say it again."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Literal

Task = Literal["train", "lora", "qlora", "serve"]
# What is asked: graph/planning/resources/aims.yaml has their words.
Aim = Literal[
    "why_not", "host", "largest", "batch", "sequence", "checkpoint", "saves", "jobs", "split", "network", "ways",
    "budget", "fastest", "cheapest", "machine", "hours", "cost", "nodes", "memory", "fit", "speed",
    "accumulation", "card", "recompute", "hybrid",
]  # fmt: skip
# Of one job on one machine, or of one number of GPUs: what another of them says takes the place of all.
PLACE = ("nodes", "gpus", "each")
WORK = ("tokens", "samples", "epochs", "steps", "flops")
# Settings that are on or off, whatever their value.
SETTINGS = ("offload", "beside", "loss")
SIZE = re.compile(r"(?i)[-_ ]?\d+(?:\.\d+)?(?:x\d+)?[bm]\b")


@dataclass(frozen=True, slots=True)
class ResourceQuestion:
    """None or empty: not said. machines: catalogue ids; gpu, gpu_gb: a GPU that is named, and the GB beside it; gpus:
    in all, or of each node where nodes are said too; each: GPUs of the kind of node that is meant; hours: of one job or
    for the whole, job_h: what one of its jobs may take; measured_gb: what the person saw it take; samples: images or
    sequences; speed: tokens a second that the person saw, on all GPUs or on each (speed_each); pace_s: measured seconds
    of one of pace_of (sample, step or epoch) on pace_gpus GPUs or pace_nodes nodes (neither: on those that are asked
    about) of pace_card; compute_s: seconds of a step that are arithmetic; scaling: the share of the ideal that is kept
    on more GPUs; paces: several measured paces, each with its GPUs and nodes; points: micro-batches with the GB that
    each was seen to take; worker_rate: samples a second of one of `workers` data loading processes; flops: the work as
    arithmetic; start_h: hours lost at each start; save_steps: steps between two saves; gpu_hours, node_hours: a
    budget, as site_units in what the site counts (SU, core hours); runs: how many such trainings;
    or_precisions: others that are asked about too; or_gpus: further GPUs that are asked about; host_gb: a node's main
    memory; disk_gb: room for files; save_s: seconds of a save, save_every_h: hours between two as told,
    save_gb: its size, write_gbs: GB/s at which it is
    written; mtbf_h: hours between failures of the job, or of one node or GPU (mtbf_of); accumulation: micro-batches of
    a step; queue: a queue or partition; steps: of the optimizer; epochs_done: those that are trained already; kept:
    what of a checkpoint is saved (weights); aim: what is asked; offload: what lies in the node's main memory
    (optimizer, or parameters too); recompute: activation checkpointing, on or off; beside: a further model in memory (a
    frozen reference, an average, several); attention: eager (written out) or flash; learning_rate: one with the batch
    that it is for; kept_count: checkpoints that are kept; lora_rank: of the adapters; per_job: the hours are those of
    one job of several; mine: the machines are those that the person has."""

    aim: Aim | None = None
    model: str | None = None
    task: Task | None = None
    machines: tuple[str, ...] = ()
    gpu: str | None = None
    or_gpus: tuple[str, ...] = ()
    gpu_gb: float | None = None
    nodes: int | None = None
    gpus: int | None = None
    each: int | None = None
    strategy: str | None = None
    tensor: int | None = None
    pipeline: int | None = None
    tokens: float | None = None
    samples: float | None = None
    epochs: float | None = None
    epochs_done: float | None = None
    steps: float | None = None
    sequence: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    accumulation: int | None = None
    precision: str | None = None
    or_precisions: tuple[str, ...] = ()
    optimizer: str | None = None
    recompute: str | None = None
    beside: str | None = None
    loss: str | None = None
    attention: str | None = None
    learning_rate: tuple[float, int] | None = None
    kept_count: int | None = None
    lora_rank: int | None = None
    hours: float | None = None
    job_h: float | None = None
    node_hours: float | None = None
    gpu_hours: float | None = None
    site_units: float | None = None
    runs: int | None = None
    speed: float | None = None
    speed_each: bool = False
    pace_s: float | None = None
    pace_of: str | None = None
    pace_gpus: int | None = None
    pace_nodes: int | None = None
    pace_card: str | None = None
    compute_s: float | None = None
    scaling: float | None = None
    paces: tuple[tuple[float, int, int], ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    worker_rate: float | None = None
    workers: int | None = None
    flops: float | None = None
    start_h: float | None = None
    save_steps: float | None = None
    kept: str | None = None
    measured_gb: float | None = None
    host_gb: float | None = None
    disk_gb: float | None = None
    save_s: float | None = None
    save_every_h: float | None = None
    save_gb: float | None = None
    write_gbs: float | None = None
    mtbf_h: float | None = None
    mtbf_of: str | None = None
    queue: str | None = None
    users: int | None = None
    offload: str | None = None
    denied: tuple[tuple[str, str], ...] = ()
    also: tuple[Aim, ...] = ()
    per_job: bool = False
    mine: bool = False

    def over(self, own: tuple[str, ...]) -> ResourceQuestion:
        """The question over the person's own machines, where neither a machine nor a GPU was named."""
        return self if self.machines or self.gpu or not own else replace(self, machines=own, mine=True)

    def said(self) -> dict[str, object]:
        """The values that are there, by field."""
        return {f.name: v for f in fields(self) if (v := getattr(self, f.name)) not in (None, (), False)}

    def after(self, before: ResourceQuestion | None) -> ResourceQuestion:
        """This question with what only the one before it said.

        The work and GPUs of another model carry over only where its name is all that is said; a GPU goes with its
        machine; nodes take the place of GPUs, and the other way round; a size alone (`and the 70B?`) is of the family
        before it.
        """
        if before is None:
            return self
        model = self.model and of_family(self.model, before.model)
        gone = {"measured_gb"}
        if model and before.model and model != before.model and (self.said().keys() - {"aim"}) > {"model"}:
            gone |= {*WORK, *PLACE, "strategy", "tensor", "pipeline"}
        if self.machines and self.machines != before.machines:
            gone |= {"gpu", "gpu_gb", "each", "or_gpus", "queue", "host_gb"}
        if self.gpu and self.gpu != before.gpu:
            gone |= {"gpu_gb", "or_gpus", "queue"} | ({"machines"} if not self.machines and before.gpu else set())
        if self.nodes or self.gpus or self.aim == "nodes":  # how many is asked: none is given
            gone |= {*PLACE}
        elsewhere = (self.machines and self.machines != before.machines) or (self.gpu and self.gpu != before.gpu)
        fewer = any((self.nodes, self.gpus)) or self.aim == "nodes"
        if model or self.speed or elsewhere or (fewer and not before.speed_each):  # measured of something else, or anew
            gone |= {"speed", "speed_each"}
        if self.global_batch and self.aim != "accumulation":  # what each takes of it is another part now
            gone.add("micro_batch")
        if model or self.pace_s:
            gone |= {"pace_s", "pace_of", "pace_gpus", "pace_nodes", "pace_card", "paces", "compute_s"}
        if self.task and self.task != before.task:
            gone |= {"strategy", "precision"} if "serve" in (self.task, before.task) else {"strategy"}
        if self.tokens or self.samples or self.steps or self.flops:
            gone |= {*WORK}
        if self.aim in ("batch", "sequence"):  # the largest is asked: no size is given
            gone |= {"micro_batch", "global_batch"} if self.aim == "batch" else {"sequence"}
        for name, value in self.denied:  # a setting that is denied as such; of several ways one
            gone |= {name} if name in SETTINGS or getattr(before, name) == value else set()
        if self.aim:
            gone.add("also")
        if self.tokens and before.aim == "budget":  # what the work takes is asked, against that budget
            gone.add("aim")
        if self.aim == "largest":  # which model is asked: none is given
            gone |= {"model", *WORK}
        if (model or self.tokens) and before.aim == "largest":  # one is named, against what there is room for
            gone.add("aim")
        kept = {name: value for name, value in before.said().items() if name not in gone}
        mine = self.mine or (before.mine and not self.machines)

        both = {**kept, **self.said(), "model": model or kept.get("model"), "mine": mine}
        told, now = before.gpus or before.nodes, self.gpus or self.nodes
        if before.mtbf_of == "job" and before.mtbf_h and told and now and not self.mtbf_h:
            both["mtbf_h"] = before.mtbf_h * told / now  # more of them fail more often
        both["denied"] = self.denials_after(before)
        return ResourceQuestion(**both)  # type: ignore[arg-type]

    def denials_after(self, before: ResourceQuestion) -> tuple[tuple[str, str], ...]:
        """What is denied here, and what was before unless it is wanted now."""
        kept = [(name, value) for name, value in before.denied if getattr(self, name) is None]
        return tuple(dict.fromkeys((*kept, *self.denied)))

    def denies(self, field: str, value: str) -> bool:
        return (field, value) in self.denied


def of_family(model: str, before: str | None) -> str:
    """`70B` after `Llama-3-8B` is `Llama-3-70B`."""
    bare = SIZE.fullmatch(model.strip())
    named = SIZE.search(before or "")
    if not bare or not before or not named or not before[: named.start()].strip("-_ "):
        return model
    return f"{before[: named.start()].rstrip('-_ ')}-{model.strip()}"
