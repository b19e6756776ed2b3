"""What was said before and what is said now, put together, with no contradiction of its own making."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graph.extraction.sentences.choose import IMPLIED, SaidValue, implied
from graph.extraction.sentences.labels import queue_ids
from graph.extraction.sentences.lexicon import fold
from knowledge.types import Heard, JobRequest, Origin

# In the order in which they are noted: the count that a bare correction means ("no, 8") comes last.
FIELDS = (
    *("machine", "source_machine", "framework", "strategy", "model", "entry", "args", "account", "queue"),
    *("environment", "container", "walltime", "total_gpus", "gpus_per_node", "nodes"),
)
OWN = ("strategy", "framework", "queue", "account", "entry", "model", "walltime")
Denied = Mapping[str, frozenset[str]]


def merge(
    before: JobRequest,
    said: Mapping[str, SaidValue],
    answered: Mapping[str, SaidValue],
    quoted: Mapping[str, SaidValue],
    denied: Denied,
    asked: str | None,
) -> JobRequest:
    """The request after this turn. Words go before quotes, both before what stood there."""
    new = {**quoted, **answered, **said}
    taken_back = _taken_back(before, new, denied)
    _frameworks(before, new, taken_back, denied)
    _totals(before, new, taken_back, asked)
    _queues(before, new, taken_back)
    if new.get("machine") and new.get("source_machine") and new["machine"].value == new["source_machine"].value:
        del new["source_machine"]
    values: dict[str, Any] = dict.fromkeys(taken_back) | {name: new[name].value for name in FIELDS if name in new}
    heard = tuple(h for h in before.heard if h.field not in values)
    heard += tuple(
        Heard(name, _origin(name, new[name], said, answered, quoted, asked), new[name].words)
        for name in FIELDS
        if name in new
    )
    return replace(before, **values, heard=heard)


def _origin(
    name: str,
    value: SaidValue,
    said: Mapping[str, SaidValue],
    answered: Mapping[str, SaidValue],
    quoted: Mapping[str, SaidValue],
    asked: str | None,
) -> Origin:
    if name in answered or name == asked:
        return "answer"
    return "script" if name in quoted and name not in said else "said"


def _taken_back(before: JobRequest, new: Mapping[str, SaidValue], denied: Denied) -> set[str]:
    """Fields whose value was refused without another in its place."""
    gone = {name for name in OWN if getattr(before, name) in denied.get(name, ()) and name not in new}
    if (
        "deepspeed" in denied.get("framework", ())
        and IMPLIED.get(before.strategy or "") == "deepspeed"
        and "strategy" not in new
    ):
        gone.add("strategy")
    if before.strategy == "3d" and "strategy" not in new and isinstance(new, dict):
        left = {"pp": "tp", "tp": "pp"}
        for refused in left.keys() & denied.get("strategy", frozenset()):
            new["strategy"] = SaidValue(left[refused], f"not {refused}")
    return gone


def _frameworks(before: JobRequest, new: dict[str, SaidValue], gone: set[str], denied: Denied) -> None:
    """DDP and FSDP bring PyTorch, ZeRO brings DeepSpeed, unless another framework is named or was named before."""
    strategy, brought = new.get("strategy"), implied(new.get("strategy"))
    named = new.get("framework")
    if named and brought and named.value == "pytorch":
        new["framework"] = SaidValue(brought.value, brought.words if brought.value != "pytorch" else named.words)
    if named and not strategy and before.strategy:
        unfit = {"pytorch": "deepspeed", "deepspeed": "pytorch"}.get(str(named.value))
        if IMPLIED.get(before.strategy) == unfit and not (named.value == "deepspeed" and before.strategy == "ddp"):
            gone.add("strategy")
    if named or brought is None:
        return
    kept = None if "framework" in gone else before.framework
    forced = (
        brought.value == "deepspeed"
        or strategy is None
        or strategy.value == "fsdp"
        or IMPLIED.get(before.strategy or "") == "deepspeed"
    )
    if kept is None or (kept in ("pytorch", "deepspeed") and kept != brought.value and forced):
        new["framework"] = brought
        gone.discard("framework")


def _totals(before: JobRequest, new: dict[str, SaidValue], gone: set[str], asked: str | None) -> None:
    """Keep nodes x GPUs per node = total where all three are known."""
    value = {
        name: new[name].value if name in new else getattr(before, name)
        for name in ("nodes", "gpus_per_node", "total_gpus")
    }
    nodes, each, total = (int(v) if v else None for v in value.values())
    if not total:
        return
    if (
        asked is None
        and "nodes" in new
        and (before.strategy or before.source_machine)
        and before.total_gpus
        and "total_gpus" not in new
        and not each
    ):
        gone.add("total_gpus")  # a script stands: other nodes are not the same GPUs spread thinner
        return
    if nodes and not each and total % nodes == 0:
        new["gpus_per_node"] = SaidValue(
            total // nodes, (new.get("nodes") or new.get("total_gpus") or SaidValue(0, "")).words
        )
    elif each and not nodes and total % each == 0:
        new["nodes"] = SaidValue(
            total // each, (new.get("gpus_per_node") or new.get("total_gpus") or SaidValue(0, "")).words
        )
    elif nodes and each and nodes * each != total:
        if "total_gpus" not in new:
            gone.add("total_gpus")
        elif "nodes" not in new and total % each == 0:
            new["nodes"] = SaidValue(total // each, new["total_gpus"].words)
        elif "gpus_per_node" not in new and total % nodes == 0:
            new["gpus_per_node"] = SaidValue(total // nodes, new["total_gpus"].words)


def _queues(before: JobRequest, new: dict[str, SaidValue], gone: set[str]) -> None:
    """A queue of another machine, left or only compared, is dropped where the machine has none of that name."""
    machine, queue = new.get("machine"), before.queue
    if machine and queue and "queue" not in new and is_foreign(queue, str(machine.value), before.machine):
        gone.add("queue")


def is_foreign(queue: str, machine: str, before: str | None) -> bool:
    """Whether a queue is none of the machine's, but that of the one before, or of any other that is known."""
    ids = queue_ids()
    elsewhere = machine != before or any(fold(queue) in known for known in ids.values())
    return elsewhere and machine in ids and fold(queue) not in ids[machine]
