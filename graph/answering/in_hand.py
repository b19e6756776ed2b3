"""The script that a question is about, ours or the person's own: read once, with its machine and its counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from graph.answering.ask import Ask
from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_record import ScriptRecord, record_of
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.document import Document, Paragraph
from knowledge.errors import InputError
from knowledge.types import LaunchPlan

NONE_HERE = (
    "I have no script in this conversation yet: paste it here, or say what to run and where, and I write one. "
    "Then I answer that from its own lines."
)


@dataclass(frozen=True, slots=True)
class InHand:
    """plan: what we decided where the script is ours; cluster None: no machine can be told."""

    name: str
    text: str
    script: ReadScript
    record: ScriptRecord
    cluster: Cluster | None = None
    plan: LaunchPlan | None = None

    @property
    def nodes(self) -> int | None:
        return self.plan.nodes if self.plan else self.record.nodes

    @property
    def per_node(self) -> int | None:
        """GPUs of one node, as a framework counts them."""
        return self.plan.ranks_per_node if self.plan else self.record.gpus_per_node

    @property
    def gpus(self) -> int | None:
        """GPUs in all."""
        return self.nodes * self.per_node if self.nodes and self.per_node else self.record.total_gpus

    @property
    def hours(self) -> float | None:
        text = self.plan.walltime if self.plan else self.record.walltime
        return walltime_seconds(text) / 3600 if text and re.fullmatch(r"\d+:\d\d:\d\d", text) else None

    @property
    def queue(self) -> Queue | None:
        name = self.plan.queue if self.plan else self.record.queue
        return self.cluster.queue(name) if self.cluster and name else None

    @property
    def layers(self) -> tuple[str, ...]:
        """What starts the ranks, outermost first."""
        return tuple(layer.name for layer in self.script.layers)

    @property
    def entry(self) -> str:
        """The program, or words for it."""
        return (self.plan.entry if self.plan else self.record.entry) or "your program"


def in_hand(ask: Ask) -> InHand | None:
    """The script of the thread; None where there is none, or it cannot be read."""
    pasted = ask.script
    text = pasted.text if pasted and pasted.text.strip() else (ask.bundle.script if ask.bundle else "")
    if not text.strip():
        return None
    read = read_for_answers(text)
    if read is None:
        return None
    script, record = read
    ours = ask.plan if ask.bundle and text == ask.bundle.script else None
    known = catalogue().find(record.machine) if record.machine else None
    own = catalogue().clusters.get(ours.cluster) if ours else known
    name = ask.bundle.name if ours and ask.bundle else pasted.name if pasted else "job.sh"
    return InHand(name, text, script, record, own or ask.machine, ours)


@lru_cache(maxsize=4)
def read_for_answers(text: str) -> tuple[ReadScript, ScriptRecord] | None:
    """Each topic that may answer a question asks for the script, so it is read once; None: it cannot be read."""
    try:
        script = read_script(text)
        return script, record_of(script)
    except (InputError, RecursionError):
        return None


def no_script() -> Document:
    return Document((Paragraph(NONE_HERE),))
