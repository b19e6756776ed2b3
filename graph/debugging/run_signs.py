"""What a log tells of how a run went, whether it failed or not: the network that NCCL took, how far its steps spread,
how busy the GPUs were, what a cache of keys and values gave. Told beside the cause; nothing where the log is silent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import mean, median, pstdev

from graph.debugging.log import message
from knowledge.cluster import Cluster
from knowledge.types import Diagnosis

# So much of the start of a log is looked through, and so many lines of it kept.
LOOKED_THROUGH, MOST_NOTED = 8 << 20, 20_000
NOTED = re.compile(
    rb"via (?:P2P/|SHM)|NET/IB : Using|[Ss]elected [Pp]rovider is|found \d+ nics|Using network \S|via NET/"
    rb"|elapsed time per iteration|step[_ ]time|[Tt]ime per step|LMCache hit tokens"
    rb"|--overwrite|--no[-_]resume|--from[-_]scratch"
    rb"|num[-_](?:key[-_]value[-_]heads|query[-_]groups)|[Ww]orld[ _-][Ss]ize|WORLD_SIZE"
    rb"|(?<!\d)\d{1,3} ?%, +\d{1,7} ?MiB"
)
CARDS = re.compile(r"\[\d+\][A-Za-z]")
OFI_CARDS = re.compile(r"found (\d+) nics")
NETWORK = re.compile(r"Using network (\S+)")
PATH = re.compile(r"via NET/(\w+)/\d+(/GDRDMA)?")
STEP_TIME = re.compile(
    r"(?i)(?:elapsed time per iteration \((?P<unit>ms|s)\)|step[_ ]time(?: \((?P<unit2>ms|s)\))?|time per step)"
    r"\W{1,4}(?P<time>\d+(?:\.\d+)?)\s?(?P<unit3>ms|s)?"
)
HITS = re.compile(r"Total tokens:? (\d+).{0,80}?LMCache hit tokens:? (\d+)")
USE = re.compile(r"(\d{1,3}) ?%, +(\d+) ?MiB(?:, +(\d+) ?MiB)?")
# Steps under which a spread says nothing, and over which it does; a save's step is so much longer than others.
FEWEST_STEPS, WIDE, LONGER = 20, 0.15, 3.0
# A longer step is no time, and one of nothing is a clock too coarse.
LONGEST_STEP_S = 1e6
# A rank is slow where its usual step is so much longer than that of the middle rank.
SLOW_RANK = 1.1
LOW_USE, LOW_MEMORY, FEWEST_SAMPLES = 30.0, 40.0, 5


@dataclass(slots=True)
class Noted:
    """Lines of the start of the logs that tell of the run itself, in their order."""

    lines: list[str] = field(default_factory=list)

    def take(self, data: bytes, limit: int) -> None:
        """Keep the telling lines of a block."""
        last = -1
        for found in NOTED.finditer(data, 0, limit):
            if len(self.lines) >= MOST_NOTED:
                return
            start = data.rfind(b"\n", 0, found.start()) + 1
            if start == last:
                continue
            last, end = start, data.find(b"\n", found.end())
            line = data[start : end if end > 0 else len(data)][:600]
            self.lines.append(line.decode("utf-8", "replace"))


def signs_of(lines: Sequence[str]) -> dict[str, str]:
    """The signs by name, as text: network, cards (the fewest that a process uses), direct, spread, stall_every,
    stall_times, slow_rank, use, use_memory, hits."""
    return _network(lines) | _steps(lines) | _use(lines) | _cache(lines)


def _network(lines: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    cards: list[int] = []
    paths: list[tuple[str, bool]] = []
    within = False
    for line in lines:
        within = within or "via P2P/" in line or "via SHM" in line
        if name := NETWORK.search(line):
            found["network"] = name[1].strip(".,")
        if "NET/IB : Using" in line:
            cards.append(len(CARDS.findall(line.partition("Using")[2])))
        elif nics := OFI_CARDS.search(line):
            cards.append(int(nics[1]))
        if path := PATH.search(line):
            paths.append((path[1], bool(path[2])))
    if cards and min(cards) > 0:
        found["cards"] = str(min(cards))
    if "network" not in found and paths:
        found["network"] = paths[-1][0]
    if paths and paths[-1][0] == "IB":
        found["direct"] = "yes" if any(direct for _, direct in paths) else "no"
    # Within one node nothing goes over the network that NCCL names.
    if within and found.get("network", "").lower() == "socket" and not any(name == "Socket" for name, _ in paths):
        del found["network"]
    return found


def _steps(lines: Iterable[str]) -> dict[str, str]:
    """How far step times spread: a regular stall, one slow rank, or all ranks together."""
    times: dict[int | None, list[float]] = defaultdict(list)
    for line in lines:
        if told := STEP_TIME.search(line):
            unit = told["unit"] or told["unit2"] or told["unit3"] or "s"
            seconds = float(told["time"]) / (1000 if unit == "ms" else 1)
            if 0 < seconds < LONGEST_STEP_S:
                times[message(line)[1]].append(seconds)
    usual = {rank: median(seconds) for rank, seconds in times.items() if len(seconds) >= FEWEST_STEPS}
    if not usual:
        return {}
    found: dict[str, str] = {}
    ranked = {rank: value for rank, value in usual.items() if rank is not None}
    if len(ranked) > 1:
        worst = max(ranked, key=lambda rank: ranked[rank])
        if ranked[worst] > SLOW_RANK * median(ranked.values()):
            found |= {"slow_rank": str(worst), "slow_by": f"{100 * (ranked[worst] / median(ranked.values()) - 1):.0f}"}
    steps = times[max(usual, key=lambda rank: len(times[rank]))][1:]  # the first compiles and warms up
    return found | _spread(steps)


def _spread(steps: Sequence[float]) -> dict[str, str]:
    typical = median(steps)
    long = [at for at, seconds in enumerate(steps) if seconds > LONGER * typical]
    gaps = {after - before for before, after in pairwise(long)}
    if len(long) >= 2 and max(gaps) - min(gaps) <= 1 and min(gaps) > 1:
        times = mean(steps[at] for at in long) / typical
        return {"stall_every": str(round(mean(gaps))), "stall_times": f"{times:.1f}"}
    spread = pstdev(steps) / mean(steps)
    return {"spread": f"{100 * spread:.0f}"} if spread > WIDE else {}


def _use(lines: Iterable[str]) -> dict[str, str]:
    rows = [found for line in lines if (found := USE.search(line))]
    if len(rows) < FEWEST_SAMPLES:
        return {}
    shares = [100 * int(row[2]) / int(row[3]) for row in rows if row[3] and int(row[3])]
    use = {"use": f"{mean(int(row[1]) for row in rows):.0f}"}
    return use | ({"use_memory": f"{mean(shares):.0f}"} if shares else {})


def _cache(lines: Iterable[str]) -> dict[str, str]:
    rows = [(int(found[1]), int(found[2])) for line in lines if (found := HITS.search(line))]
    total = sum(row[0] for row in rows)
    return {"hits": f"{100 * sum(row[1] for row in rows) / total:.0f}"} if total else {}


def with_signs(found: Diagnosis, cluster: Cluster | None = None) -> Diagnosis:
    """The diagnosis with what its signs say, on that machine where one is known."""
    signs = dict(found.facts)
    told = [*network_words(signs, cluster), *step_words(signs), *use_words(signs)]
    return replace(found, noticed=tuple(told))


def network_words(signs: Mapping[str, str], cluster: Cluster | None) -> list[str]:
    told = []
    most = max((node.nics.count or 0 for node in cluster.node_types), default=0) if cluster else 0
    where = cluster.title if cluster else ""
    if signs.get("network", "").lower() == "socket":
        fast = f"a node of {where} has {most} fast network card(s)" if most else "if the machine has a fast network"
        told.append(
            f"NCCL ran on TCP sockets (`Using network Socket`): {fast}, that is a few per cent of the speed. Look at "
            "NCCL_IB_DISABLE, NCCL_NET and NCCL_SOCKET_IFNAME, then at the site's plug-in (aws-ofi-nccl on Slingshot)."
        )
    if signs.get("cards") and most > int(signs["cards"]):
        told.append(
            f"NCCL uses {signs['cards']} of {most} network cards of a node of {where}: NCCL_IB_HCA, if set, must name "
            "them all."
        )
    if signs.get("direct") == "no":
        told.append(
            "InfiniBand is used without GPU direct (no `GDRDMA` in the log): each message is copied through main "
            "memory. nvidia-peermem or dma-buf is the site's to load; ask its support."
        )
    return told


def step_words(signs: Mapping[str, str]) -> list[str]:
    told = []
    if every := signs.get("stall_every"):
        told.append(
            f"Every {every} steps one takes {signs['stall_times']} times as long: that is a save or an evaluation. "
            "`torch.distributed.checkpoint.async_save` lets the training go on meanwhile."
        )
    if rank := signs.get("slow_rank"):
        told.append(
            f"Rank {rank} is always slow ({signs['slow_by']} % above the middle rank): its node or GPU, not the "
            "network. Try the nodes in pairs first, and leave its node out (`--exclude`)."
        )
    elif spread := signs.get("spread"):
        told.append(
            f"Step times spread by {spread} % of their mean with no fixed period, all ranks together as far as the log "
            "shows: a shared network or file system, or uneven input. `--exclusive` and `--switches=1@MAX` help where "
            "the site allows them."
        )
    return told


def use_words(signs: Mapping[str, str]) -> list[str]:
    told = []
    if "use" in signs and float(signs["use"]) < LOW_USE and float(signs.get("use_memory", "0")) < LOW_MEMORY:
        memory = f", with {signs['use_memory']} % of its memory" if "use_memory" in signs else ""
        told.append(
            f"The GPUs were busy {signs['use']} % of the time{memory}: several such runs can share one (MPS, a MIG "
            "slice or `--gres=shard` where `sinfo -o %G` lists them), or more dataloader workers feed it."
        )
    if hits := signs.get("hits"):
        told.append(f"LMCache found {hits} % of the tokens of all requests in its cache.")
    return told
