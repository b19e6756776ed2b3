"""The flight recorder's dumps of a hang: which rank stands behind, in which collective, and where ranks disagree.

PyTorch writes one file a rank (TORCH_FR_DUMP_TEMP_FILE + rank): a pickle of plain values by NCCL's watchdog, or JSON.
A pickle is read in the process that reads pages, with every class refused: a file from elsewhere can run nothing, and
one that stands for gigabytes ends that process alone.
Source: https://docs.pytorch.org/tutorials/intermediate/debug_hangs_with_flight_recorder.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.data_file import parse_json
from knowledge.ingest.page import UnreadableError
from knowledge.ingest.parser import parser
from knowledge.long_numbers import LONG
from knowledge.opening import read_plain

LARGEST = 256 * 2**20
FEW = 8


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective as a rank recorded it. seq: its number in the group; sizes: of its inputs."""

    group: str
    seq: int
    name: str
    sizes: str
    state: str


@dataclass(frozen=True, slots=True)
class Dump:
    """What one rank recorded, oldest first; ranks: all members of each group, where the dump tells them."""

    rank: int
    collectives: tuple[Collective, ...]
    groups: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class HangFinding:
    """What the dumps show. behind: ranks that stand behind, with the number of collectives; without: ranks of the group
    that left no dump; says: sentences, the answer first."""

    behind: Mapping[int, int]
    without: tuple[int, ...]
    says: tuple[str, ...]


def read_dump(path: Path) -> Dump | None:
    """The dump in that file; None where it is something else."""
    rank = re.search(r"(\d+)(?:\.(?:json|pkl|pickle))?$", path.name)
    if rank is None:
        return None
    try:
        data = _load(read_plain(path, LARGEST))
    except OSError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("entries"), list) or "pg_config" not in data:
        return None
    collectives = tuple(_collective(entry) for entry in data["entries"] if _is_collective(entry))
    return Dump(int(rank[1]), collectives, _groups(data["pg_config"]))


def take_dumps(paths: Sequence[Path]) -> tuple[list[Dump], list[Path]]:
    """The dumps among files and folders (a folder counts where its first file is one), and the paths that are none."""
    dumps: list[Dump] = []
    rest = []
    for path in paths:
        files = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
        found = [dump for file in files if (dump := read_dump(file))] if files and read_dump(files[0]) else []
        dumps += found
        rest += [] if found else [path]
    return dumps, rest


def _load(raw: bytes) -> Any:
    try:
        if raw[:1] == b"{":
            return parse_json(raw)
        return parser().plain_values(raw) if raw[:1] == b"\x80" else None
    except (ValueError, UnreadableError):
        return None


def _is_collective(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("collective_seq_id"), int) and not entry.get("is_p2p")


def _collective(entry: Mapping[str, Any]) -> Collective:
    group = _list(entry.get("process_group"))
    name = str(entry.get("profiling_name", "")).split(":")[-1]
    state = "completed" if entry.get("time_discovered_completed_ns") else str(entry.get("state", ""))
    sizes = " ".join(str(size) for size in _list(entry.get("input_sizes")))
    return Collective(" ".join(map(str, group)).strip(), entry["collective_seq_id"], name, sizes, state)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _groups(config: object) -> dict[str, tuple[int, ...]]:
    """The members of each group by its name."""
    if not isinstance(config, dict):
        return {}
    found = {}
    for one in config.values():
        if isinstance(one, dict):
            members = tuple(int(n) for n in re.findall(r"\d+", str(one.get("ranks", ""))) if not LONG.fullmatch(n))
            found[f"{one.get('name', '')} {one.get('desc', '')}".strip()] = members
    return found


def find_hang(dumps: Sequence[Dump]) -> HangFinding | None:
    """Which rank is behind, by the first group in which ranks differ; None without at least two dumps."""
    if len(dumps) < 2:
        return None
    names = dict.fromkeys(one.group for dump in dumps for one in dump.collectives)
    without = _missing(dumps)
    for group in names:
        last = {dump.rank: _last(dump, group) for dump in dumps if _last(dump, group)}
        front = max(last.values(), default=0)
        behind = {rank: front - seq for rank, seq in sorted(last.items()) if seq < front}
        if behind:
            return HangFinding(behind, without, tuple(_behind_words(dumps, group, behind, front, without)))
        if unlike := _disagreement(dumps, group):
            return HangFinding({}, without, (unlike, *_absent_words(without)))
    return HangFinding({}, without, _even_words(dumps, without))


def _last(dump: Dump, group: str) -> int:
    return max((one.seq for one in dump.collectives if one.group == group), default=0)


def _missing(dumps: Sequence[Dump]) -> tuple[int, ...]:
    members = {rank for dump in dumps for ranks in dump.groups.values() for rank in ranks}
    return tuple(sorted(members - {dump.rank for dump in dumps}))


def _at(dumps: Iterable[Dump], group: str, seq: int) -> dict[int, Collective]:
    """That collective on each rank that recorded it."""
    return {d.rank: one for d in dumps for one in d.collectives if one.group == group and one.seq == seq}


def _behind_words(
    dumps: Sequence[Dump], group: str, behind: Mapping[int, int], front: int, without: Sequence[int]
) -> Iterable[str]:
    waiting = _at(dumps, group, front)
    first = next(iter(waiting.values()))
    slowest = max(behind, key=lambda rank: behind[rank])
    steps = "collective" if behind[slowest] == 1 else "collectives"
    more = [rank for rank in behind if rank != slowest]
    call = f"{first.name} number {front} {first.sizes}".strip()
    yield (
        f"Rank {slowest} is {behind[slowest]} {steps} behind in group {group}: it never reached {call}, in which "
        f"rank{'s' * (len(waiting) > 1)} {_listed(waiting)} wait."
    )
    done = _at([d for d in dumps if d.rank == slowest], group, front - behind[slowest])
    if done:
        yield f"The last that rank {slowest} took part in was {done[slowest].name} number {front - behind[slowest]}."
    if more:
        yield f"Also behind: rank{'s' * (len(more) > 1)} {_listed(more)}."
    yield (
        f"Look at what rank {slowest} did then: its own log, an `if rank == 0` around a collective, a batch less in "
        "its share of the data, a stuck read, a dead node."
    )
    yield from _absent_words(without)


def _disagreement(dumps: Sequence[Dump], group: str) -> str:
    """The first collective of a group that is not the same everywhere."""
    for seq in sorted({one.seq for dump in dumps for one in dump.collectives if one.group == group}):
        found = _at(dumps, group, seq)
        kinds = {(one.name, one.sizes) for one in found.values()}
        # Ranks give an all-to-all inputs of their own sizes.
        if len(kinds) > 1 and not any("all_to_all" in name or "alltoall" in name for name, _ in kinds):
            told = "; ".join(f"rank {rank}: {one.name} {one.sizes}".strip() for rank, one in list(found.items())[:FEW])
            return f"Ranks call different collectives as number {seq} of group {group}: {told}."
    return ""


def _absent_words(without: Sequence[int]) -> tuple[str, ...]:
    if not without:
        return ()
    return (
        f"No dump of rank{'s' * (len(without) > 1)} {_listed(without)}: it may have died before; read its log first.",
    )


def _even_words(dumps: Sequence[Dump], without: Sequence[int]) -> tuple[str, ...]:
    open_ones = {one.name for d in dumps for one in d.collectives[-1:] if one.state != "completed"}
    where = f" in {', '.join(sorted(open_ones))}" if open_ones else ""
    return (
        f"The {len(dumps)} ranks stand at the same collective{where}: the network or a rank without a dump holds them "
        "up, not the order of calls.",
        *_absent_words(without),
    )


def _listed(ranks: Iterable[int]) -> str:
    found = sorted(ranks)
    return ", ".join(map(str, found[:FEW])) + (f" and {len(found) - FEW} more" if len(found) > FEW else "")
