"""What an answer about daily life may know: the words, the machine, the request, the file and the job."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from graph.reading.utterance import Mention
from knowledge.cluster import Cluster
from knowledge.document import Document, Paragraph, Part, Source, Sources, Step, Steps
from knowledge.types import JobRequest, Scheduler

ANY_JOB = "JOBID"
GPU_TOOLS = {"nvidia": "nvidia-smi", "amd": "rocm-smi", "intel": "xpu-smi dump -d 0 -m 0 -n 1"}
# Words that only one scheduler has.
WORDS_OF: dict[Scheduler, str] = {
    "slurm": r"slurm\w*|submitted batch job|"
    r"s(?:batch|run|queue|cancel|acct|control|info|alloc|prio|share|bcast|attach)",
    "pbs": r"pbs\w*|torque|q(?:sub|stat|del|hold|rls|alter|select|rerun)",
    "lsf": r"lsf|b(?:sub|jobs|kill|hist|peek|stop|resume|queues|mod)|jsrun",
    "flux": r"flux(?: (?:batch|jobs|submit|cancel|run|alloc|proxy))?",
}


@dataclass(frozen=True, slots=True)
class Situation:
    """text: the clause that asks; cluster None: no machine was named; script: the file in hand; job: its number; jobs:
    the numbers of those that are meant, where several may be; before: the question before; mentions: what the message
    names; by_hand: the talk is of an interactive session."""

    text: str
    cluster: Cluster | None = None
    request: JobRequest = field(default_factory=JobRequest)
    script: str = "job.sh"
    job: str = ANY_JOB
    scheduler: Scheduler | None = None
    before: str = ""
    mentions: tuple[Mention, ...] = ()
    by_hand: bool = False
    jobs: tuple[str, ...] = ()

    @property
    def queueing(self) -> Scheduler | None:
        """The scheduler: the machine's, else the one that was named or seen."""
        return self.cluster.scheduler if self.cluster else self.scheduler


def named_scheduler(*texts: str) -> Scheduler | None:
    """The scheduler whose commands or name the first telling text holds; None: none, or several at once."""
    for text in texts:
        named = [one for one, words in WORDS_OF.items() if re.search(rf"(?<![\w/-])(?:{words})(?![\w-])", text, re.I)]
        if len(named) == 1:
            return named[0]
    return None


def gpu_tool(cluster: Cluster | None) -> str:
    """The command that shows how the GPUs of a machine's nodes are used; NVIDIA's where that is not plain."""
    vendors = {kind.gpus.vendor for kind in cluster.node_types if kind.gpus.model} if cluster else set()
    return GPU_TOOLS[vendors.pop() if len(vendors) == 1 else "nvidia"]


def write_document(*parts: Part | str | None) -> Document:
    """An answer of these parts; a string is a paragraph, and what is empty is left out; pages alone are no answer."""
    made: list[Part] = []
    for part in parts:
        if isinstance(part, str):
            made += [Paragraph(" ".join(part.split()))] if part.strip() else []
        elif part is not None and part not in (Steps(()), Sources(())):
            made.append(part)
    return Document(() if all(isinstance(part, Sources) for part in made) else tuple(made))


def list_steps(*pairs: tuple[str, str]) -> Steps:
    """(what, command) pairs; those with neither are left out."""
    return Steps(tuple(Step(text, command) for text, command in pairs if text or command))


def cite(pages: Iterable[str], date: str) -> Sources:
    """Addresses as sources of one date; what is no address is left out, and no address comes twice."""
    addresses = dict.fromkeys(page for page in pages if page.startswith("http"))
    return Sources(tuple(Source("", address, date) for address in addresses))
