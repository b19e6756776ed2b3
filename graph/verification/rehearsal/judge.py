"""From what the stand-in cluster recorded to the outcome of a rehearsal."""

from __future__ import annotations

from typing import Any

from graph.extraction.script import Script
from graph.verification.rehearsal.allocation import Allocation
from graph.verification.rehearsal.isolation import LIMITS, Isolation
from graph.verification.rehearsal.questions import QUESTIONS, Evidence, modules
from graph.verification.rehearsal.standin.config import StandIn
from graph.verification.rehearsal.types import Call, Ran, Rank, Rehearsal

UNSEEN = (
    "the real network and its libraries: NCCL, RCCL and oneCCL settings are carried, not used",
    "real GPUs, their drivers and memory",
    "the queue: limits, accounts and waiting",
    "the modules' and environments' contents, and your training program and its data",
)


def rehearsal(
    ran: Ran, facts: StandIn, job: Allocation, script: Script, text: str, isolation: Isolation, seconds: float
) -> Rehearsal:
    """Everything put together."""
    ranks = tuple(sorted((rank_of(one) for one in ran.ranks), key=lambda rank: (rank.rank, rank.node)))
    evidence = Evidence(ran, facts, job, script, text, ranks, job.nodes * (job.gpus_per_node or 1))
    findings = tuple(found for question in QUESTIONS for found in question(evidence))
    seen: dict[str, str] = next((one["variables"] for one in evidence.of("seen")), {})
    return Rehearsal(
        passed=not any(one.severity == "error" for one in findings), findings=findings, ranks=ranks,
        promised=evidence.promised, nodes=facts.running, nodes_of_job=job.nodes, framework=facts.framework,
        strategy=facts.strategy, calls=tuple(call_of(one) for one in evidence.of("launch")), modules=modules(evidence),
        variables=tuple(sorted(seen.items())), not_run=not_run(evidence), unseen=unseen(evidence, isolation),
        isolation=next((one["isolation"] for one in evidence.of("jail")), isolation), output=ran.output[-8000:],
        exit_code=ran.code, seconds=round(seconds, 1),
    )  # fmt: skip


def rank_of(one: dict[str, Any]) -> Rank:
    return Rank(
        rank=one["rank"], local_rank=one["local_rank"], world_size=one["world_size"], node=one["node"],
        device=one["device"], devices_seen=tuple(one["devices_seen"]), master=one["master"], backend=one["backend"],
        strategy=one["strategy"], sums_right=one["sums_right"], loss=one["loss"], wrapper=one["wrapper"],
        error=one["error"], seconds=one["seconds"].get("all", 0.0),
    )  # fmt: skip


def call_of(one: dict[str, Any]) -> Call:
    return Call(one["launcher"], one["ntasks"], len(one["counts"]), " ".join(one["command"])[:200])


def not_run(e: Evidence) -> tuple[str, ...]:
    calls = [" ".join([one["name"], *one["words"]])[:120] for one in e.of("not_run")]
    return tuple(dict.fromkeys(calls))


def unseen(e: Evidence, isolation: Isolation) -> tuple[str, ...]:
    """What this rung cannot see, here and in general."""
    texts = [f"{path}: not on this computer, taken as fine" for path in e.facts.programs]
    for one in e.of("shell"):
        if one["what"] == "source" and one["words"]:
            texts.append(f"{one['words'][0]}: not on this computer, taken as fine")
    if e.facts.running < e.job.nodes:
        texts.append(
            f"{e.job.nodes - e.facts.running} of the job's {e.job.nodes} nodes: only {e.facts.running} had processes"
        )
    texts += [f"what is inside the container image {one['image']}" for one in e.of("container") if one["image"]]
    if e.facts.framework == "megatron":
        texts.append("tensor and pipeline parallelism: the mini-app trained with DDP over the same ranks")
    if any(one.get("network") == "loopback" for one in e.of("jail")):
        texts.append(
            "node-private networks: all nodes share one here, so a port or an address of the wrong node may pass"
        )
    return (*dict.fromkeys(texts), *LIMITS[isolation], *UNSEEN)
