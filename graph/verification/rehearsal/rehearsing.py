"""Runs a launch script on a stand-in cluster and says whether its process group formed."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from graph.extraction.script import ReadScript, read_script
from graph.verification.rehearsal import judge
from graph.verification.rehearsal.types import Rehearsal
from graph.verification.simulator import isolation as isolations
from graph.verification.simulator import stage
from graph.verification.simulator.allocation import Allocation, allocation
from graph.verification.simulator.config import UNPROVED
from graph.verification.simulator.isolation import WAYS_OUT, Isolation
from graph.verification.simulator.jail import limits
from graph.verification.simulator.running import Progress, Ran, folder, run
from knowledge.cluster import Cluster
from knowledge.errors import UnavailableError, UnprovenJailError
from knowledge.types import Framework, SideFile, Strategy

MOST_RANKS = 64
MEMORY_OF_RANK = 120 << 20
"""Bytes that a rank of the mini-app has of its own, under DeepSpeed, where it has most."""


def rehearse(
    script_text: str,
    side_files: tuple[SideFile, ...],
    cluster: Cluster,
    *,
    nodes: int = 2,
    gpus_per_node: int | None = None,
    framework: Framework | None = None,
    strategy: Strategy | None = None,
    timeout: float = 150,
    isolation: Isolation | None = None,
    accepted: Collection[str] = (),
    progress: Progress = lambda _: None,
    still_wanted: Callable[[], object] = lambda: None,
) -> Rehearsal:
    """Run the script with at most `nodes` nodes (and gpus_per_node ranks a node) having processes.

    The script sees the allocation that its directives ask for; counts that say the whole job are cut to what runs.
    timeout is in seconds; still_wanted is called ten times a second, and what it raises ends the rehearsal. Raises
    UnavailableError where the extra `rehearse` is missing or nothing could keep the script in its folder,
    UnprovenJailError where the jail could break itself in a way that is not among those accepted (the script was then
    not started), InputError where a directive cannot be read. More ranks than this computer takes are cut, and told.
    """
    start = time.monotonic()
    script = read_script(script_text)
    job = allocation(script, cluster)
    kind = kind_of(script, script_text, side_files, framework, strategy)
    require(kind.tools)
    chosen = isolation or isolations.required()
    running, sampled = runnable(job, nodes, gpus_per_node)
    facts = stage.stand_in(
        cluster, script, job, kind.framework, kind.strategy, running, sampled, chosen, side_files, kind.tools
    )
    with folder() as place:
        inside = stage.IN_NAMESPACES if chosen == "namespaces" else str(place)
        stage.fill(place, inside, script_text, "job.sh", side_files, facts)
        ran = run(place, chosen, timeout, progress, still_wanted, accepted)
    refuse_unproved(ran)
    if not ran.timed_out and not any(one.get("kind") == "start" for one in ran.records):
        reason = (ran.output.strip().splitlines() or ["it said nothing"])[-1][:200]
        raise UnavailableError(
            f"the stand-in cluster did not start ({reason}); `maple-chat doctor` tells what is missing"
        )
    return judge.rehearsal(ran, facts, job, script, script_text, chosen, time.monotonic() - start)


def refuse_unproved(ran: Ran) -> None:
    """Raises UnprovenJailError where the script was not started, since it could have got out."""
    if ran.code == UNPROVED and not any(one["kind"] == "start" for one in ran.records):
        ways = tuple(way for one in ran.records if one["kind"] == "proved" for way in one["open"])
        could = "; ".join(WAYS_OUT.get(way, way) for way in ways)
        raise UnprovenJailError(
            f"not rehearsed: here the script could {could}. Where you trust it: maple-chat rehearse FILE --accept "
            + ",".join(ways), ways,
        )  # fmt: skip


def runnable(job: Allocation, nodes: int, gpus_per_node: int | None) -> tuple[int, int | None]:
    """How many nodes get processes, and how many ranks on each (None: all), as far as this computer goes."""
    most = max(1, min(MOST_RANKS, limits.most_memory() // MEMORY_OF_RANK))
    running = min(nodes, job.nodes, most)
    if not job.gpus_per_node:  # nothing but the launch line says how many tasks there are
        return running, min(gpus_per_node or most, most // running)
    here = min(gpus_per_node or job.gpus_per_node, job.gpus_per_node)
    return running, most // running if running * here > most else gpus_per_node


def require(tools: frozenset[str]) -> None:
    """Raises UnavailableError when what the rehearsal runs on is not installed."""
    missing = [name for name in ("torch", *sorted(tools)) if importlib.util.find_spec(name) is None]
    if missing:
        raise UnavailableError(
            f"the rehearsal needs {', '.join(missing)}; in a clone: uv sync --extra rehearse; elsewhere: "
            f"pip install {' '.join(missing)}"
        )


# Which framework and strategy the training program of a script stands for.


STAGE = re.compile(r"\"stage\"\s*:\s*([123])|zero[_-]?stage[\s=:]+([123])|zero[_-]?([123])\b", re.I)

ACCELERATES_DEEPSPEED = re.compile(r"use_deepspeed|distributed_type: DEEPSPEED")


@dataclass(frozen=True, slots=True)
class Kind:
    """framework: whose way of finding ranks is followed; strategy: what the mini-app trains with; tools: packages."""

    framework: str
    strategy: str
    tools: frozenset[str]


def kind_of(
    script: ReadScript, text: str, side_files: tuple[SideFile, ...], framework: str | None, strategy: str | None
) -> Kind:
    """From what was said, else from the launch chain, the program's arguments and the files that the script names."""
    launchers = {word.split("/")[-1] for command in script.commands for word in command.argv[:40]}
    everything = "\n".join([text, *(file.text for file in side_files if file.name in text)])
    framework = framework or framework_of(launchers, everything)
    strategy = strategy or strategy_of(framework, everything)
    if framework == "accelerate" or "accelerate" in launchers:
        strategy = "accelerate"
    elif strategy not in ("fsdp", "zero1", "zero2", "zero3"):
        strategy = "ddp"
    tools = {"accelerate"} if strategy == "accelerate" else set()
    if strategy.startswith("zero") or "deepspeed" in launchers or ACCELERATES_DEEPSPEED.search(everything):
        tools.add("deepspeed")
    return Kind(framework, strategy, frozenset(tools))


def strategy_of(framework: str, everything: str) -> str:
    """A ZeRO stage where DeepSpeed is at work, FSDP where it is named, else DDP."""
    stage = STAGE.search(everything)
    if stage and framework != "accelerate" and "deepspeed" in everything.lower():
        return f"zero{next(filter(None, stage.groups()))}"
    return "fsdp" if "fsdp" in everything.lower() else "ddp"


def framework_of(launchers: set[str], everything: str) -> str:
    low = everything.lower()
    if "accelerate" in launchers or "accelerate launch" in low:
        return "accelerate"
    if "pytorch_lightning" in low or "lightning" in low:
        return "lightning"
    if "megatron" in low or "pretrain_gpt" in low:
        return "megatron"
    return "deepspeed" if "deepspeed" in low else "pytorch"
