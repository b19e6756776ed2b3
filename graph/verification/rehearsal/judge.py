"""From what the stand-in cluster recorded to the outcome of a rehearsal."""

from __future__ import annotations

from typing import Any

from graph.extraction.script import ReadScript
from graph.verification.rehearsal.questions import QUESTIONS, Evidence, modules
from graph.verification.rehearsal.types import LauncherCall, Rank, Rehearsal
from graph.verification.simulator.allocation import Allocation
from graph.verification.simulator.config import StandIn
from graph.verification.simulator.guards import arguments_wanted, files_read, outside
from graph.verification.simulator.isolation import LIMITS, WAYS_OUT, Isolation
from graph.verification.simulator.running import Ran
from knowledge.types import Finding
from knowledge.word_lists import word_set

# What kept the training from starting, and what sets its ranks at odds: from these come ranks that wait, groups that do
# not form, a code that is not 0.
NOT_STARTED = word_set("refused unknown-command wrong-folder own-failure from-outside guard")
AT_ODDS = word_set("rank-twice nodes master-differs master-local")
CAUSES = NOT_STARTED | AT_ODDS
# Finding -> the errors that say it already. None of these follows from one that follows from it.
FOLLOWS = {
    "no-ranks": NOT_STARTED | {"inner-failed"}, "inner-failed": frozenset({"refused"}),
    "world-size": CAUSES - {"nodes"},
    "rank-failed": CAUSES, "wrong-sum": AT_ODDS | {"world-size"}, "spread": CAUSES | {"world-size"},
    "shared-gpu": AT_ODDS | {"world-size", "no-gpus"}, "no-gpus": NOT_STARTED,
    "timeout": CAUSES | {"world-size", "rank-failed"},
    "exit-code": CAUSES | {"inner-failed", "world-size", "rank-failed"},
}  # fmt: skip
GUARDS = {
    "guard": "the script ends without it; not on this computer, stood in for",
    "guard-missing": "the script ends without it; it cannot be put there without namespaces",
}
UNSEEN = (
    "the real network and its libraries: NCCL, RCCL and oneCCL settings are carried, not used",
    "real GPUs, their drivers and memory",
    "the queue: limits, accounts and waiting",
    "the modules' and environments' contents, and your training program and its data",
)


def rehearsal(
    ran: Ran, facts: StandIn, job: Allocation, script: ReadScript, text: str, isolation: Isolation, seconds: float
) -> Rehearsal:
    """Everything put together."""
    everyone = tuple(sorted((rank_of(one) for one in ran.ranks), key=lambda rank: (rank.rank, rank.node)))
    ranks = of_training(everyone)
    evidence = Evidence(ran, facts, job, script, text, ranks, promised(job))
    findings = tuple(causes([found for question in QUESTIONS for found in question(evidence)]))
    seen: dict[str, str] = next((one["variables"] for one in evidence.of("seen")), {})
    return Rehearsal(
        passed=not any(one.severity == "error" for one in findings), findings=findings, ranks=ranks,
        promised=evidence.promised, nodes=facts.running, nodes_of_job=job.nodes, framework=facts.framework,
        strategy=facts.strategy, calls=tuple(call_of(one) for one in evidence.of("launch")), modules=modules(evidence),
        variables=tuple(sorted(seen.items())), not_run=not_run(evidence), unseen=unseen(evidence, isolation),
        isolation=next((one["isolation"] for one in evidence.of("jail")), isolation), output=ran.output[-8000:],
        exit_code=ran.code, seconds=round(seconds, 1),
    )  # fmt: skip


def promised(job: Allocation) -> int:
    """The ranks that the job's GPUs call for; 0 on nodes that have none."""
    return job.nodes * (job.gpus_per_node or 1) if job.node_type.gpus.model else 0


def causes(found: list[Finding]) -> list[Finding]:
    """The findings without those that only follow from an error among them."""
    errors = {one.rule.removeprefix("rehearsal-") for one in found if one.severity == "error"}
    # What a loop met in each of its rounds is one finding.
    once = {(one.rule, one.line, one.says): one for one in reversed(found)}
    found = [one for one in found if once.pop((one.rule, one.line, one.says), None)]
    return [one for one in found if not errors & FOLLOWS.get(one.rule.removeprefix("rehearsal-"), frozenset())]


def rank_of(one: dict[str, Any]) -> Rank:
    return Rank(
        rank=one["rank"], local_rank=one["local_rank"], world_size=one["world_size"], node=one["node"],
        device=one["device"], devices_seen=tuple(one["devices_seen"]), master=one["master"], backend=one["backend"],
        strategy=one["strategy"], sums_right=one["sums_right"], loss=one["loss"], wrapper=one["wrapper"],
        error=one["error"], group=one["group"], seconds=one["seconds"],
    )  # fmt: skip


def of_training(everyone: tuple[Rank, ...]) -> tuple[Rank, ...]:
    """The ranks of the training, among all programs that the script ran one after another.

    Programs whose ranks formed a group of their own size stand for themselves: the largest of them is the training,
    the last of equals. Where ranks are left over, they are one training that did not form, perhaps from several steps.
    """
    groups: dict[str, list[Rank]] = {}
    for rank in everyone:
        groups.setdefault(rank.group, []).append(rank)
    whole = [group for group in groups.values() if is_whole(group)]
    left = [rank for group in groups.values() if group not in whole for rank in group]
    largest: list[Rank] = max(reversed(whole), key=lambda group: len(group), default=[])
    return tuple(left or largest)


def is_whole(group: list[Rank]) -> bool:
    sizes = {rank.world_size for rank in group}
    return sizes == {len(group)} and len({rank.rank for rank in group}) == len(group)


def call_of(one: dict[str, Any]) -> LauncherCall:
    return LauncherCall(one["launcher"], one["ntasks"], len(one["counts"]), " ".join(one["command"])[:200])


def not_run(e: Evidence) -> tuple[str, ...]:
    calls = [" ".join([one["name"], *one["words"]])[:120] for one in e.of("not_run")]
    return tuple(dict.fromkeys(calls))


def stood_in(e: Evidence) -> list[str]:
    return [path for path in files_read(e.script) if path.rpartition("/")[2] not in e.facts.side_files]


def unseen(e: Evidence, isolation: Isolation) -> tuple[str, ...]:
    """What this rung cannot see, here and in general."""
    texts = [f"{path}: not on this computer, taken as fine" for path in e.facts.programs]
    for one in e.of("shell"):
        if one["what"] == "source" and one["words"]:
            texts.append(f"{one['words'][0]}: not on this computer, taken as fine")
    for one in e.of("shell"):
        if one["what"] in GUARDS and one["words"]:
            texts.append(f"{one['words'][0]}: {GUARDS[one['what']]}")
    texts += [f"{path}: not given here, two lines stood in for it" for path in stood_in(e)]
    if given := arguments_wanted(e.text, e.job.nodes):
        texts.append(f"{' '.join(given)}: in the place of the script's arguments")
    texts += [f"${name}: set outside the script, a folder stood in for it" for name in outside(e.script)]
    if e.facts.running < e.job.nodes:
        texts.append(
            f"{e.job.nodes - e.facts.running} of the job's {e.job.nodes} nodes: only {e.facts.running} had processes"
        )
    if e.facts.sampled and e.facts.sampled < e.facts.gpus_per_node:
        texts.append(
            f"{e.facts.gpus_per_node - e.facts.sampled} of a node's {e.facts.gpus_per_node} ranks: only "
            f"{e.facts.sampled} had processes"
        )
    absent = [one["name"] for one in e.of("missing")]
    absent += [" ".join(one["words"]) for one in e.of("shell") if one["what"] == "missing" and one["words"]]
    texts += [f"{' '.join(name.split())[:100]}: not on this computer, stood in for" for name in absent]
    texts += [f"{one['launcher']} {one['option']}: not modelled here, taken as fine" for one in e.of("not_modelled")]
    texts += [f"what is inside the container image {one['image']}" for one in e.of("container") if one["image"]]
    if e.facts.framework == "megatron":
        texts.append("tensor and pipeline parallelism: the mini-app trained with DDP over the same ranks")
    if any(one.get("network") == "loopback" for one in e.of("jail")):
        texts.append(
            "node-private networks: all nodes share one here, so a port or an address of the wrong node may pass"
        )
    if e.ran.left_out:
        texts.append(f"{e.ran.left_out} records of what ran: beyond those that are kept")
    got_out = [
        f"not closed here: the script could {WAYS_OUT.get(way, way)}" for one in e.of("proved") for way in one["open"]
    ]
    return (*dict.fromkeys(texts), *got_out, *LIMITS[isolation], *UNSEEN)
