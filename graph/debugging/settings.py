"""What a step holds for: the vendor, scheduler, kind of work or program whose tools and variables it names.

The words of a step are its condition, so none can lack it: a step that names `nvidia-smi` is for NVIDIA's GPUs. It is
shown where that is true or not known. The log tells some of it, the machine's facts the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from graph.debugging.events import Event, Scan
from knowledge.cluster import Cluster
from knowledge.data_file import read_data
from knowledge.signatures.loader import Cause
from knowledge.types import Diagnosis

# kind -> the names that are true there. A kind that is not known is not there.
Settings = Mapping[str, frozenset[str]]
# What settings.yaml tells: kind -> name -> the words that show it.
NAMES, SHOWN = (
    {kind: {name: re.compile(words) for name, words in named.items()} for kind, named in table.items()}
    for table in read_data(Path(__file__).with_suffix(".yaml")).values()
)
BACKENDS = {"cuda": "nvidia", "rocm": "amd", "xpu": "intel"}
SCHEDULERS = {"slurm": ("slurm", "srun"), "pbs": ("pbs", "pals"), "lsf": ("lsf", "jsrun"), "flux": ("flux",)}


def holds(step: str, settings: Settings) -> bool:
    """Whether nothing that a step names is known to be absent."""
    for kind, here in settings.items():
        named = {name for name, words in NAMES.get(kind, {}).items() if words.search(step)}
        if named and not named & here:
            return False
    return True


def settings_of_log(winner: Event, scan: Scan) -> Settings:
    """What the telling line and its frames tell, else what else was found, else the log's end."""
    frames = winner.error.frames if winner.error else ()
    return settings_of_text([winner.text, *(frame.file for frame in frames)], scan, winner.file)


def settings_of_text(said: Iterable[str], scan: Scan, file: str | None = None) -> Settings:
    """What a text tells, and of what it tells nothing the other lines that were noted, then the end of the log."""
    tail = scan.tails.get(file)
    texts = (
        "\n".join(said),
        "\n".join(e.raw.decode("utf-8", "replace") for e in scan.events),
        tail.data.decode("utf-8", "replace") if tail else "",
    )
    found = {kind: _first_shown(kind, texts[:2] if kind == "vendor" else texts) for kind in SHOWN}
    ids = [event.signature.id for event in scan.events]
    named = (name for name, starts in SCHEDULERS.items() if any(one.startswith(starts) for one in ids))
    found["scheduler"] = frozenset([next(named, "")]) - {""}
    return {kind: names for kind, names in found.items() if names}


def _first_shown(kind: str, texts: Iterable[str]) -> frozenset[str]:
    """The names that the first of the texts shows that shows any."""
    each = (frozenset(n for n, words in SHOWN[kind].items() if words.search(text)) for text in texts)
    return next(filter(None, each), frozenset())


def settings_told(diagnosis: Diagnosis) -> dict[str, frozenset[str]]:
    """What a diagnosis knows of it from its log."""
    return {name: frozenset([value]) for name, value in diagnosis.facts if name in NAMES or name in SHOWN}


def settings_of_machine(cluster: Cluster) -> dict[str, frozenset[str]]:
    """The vendors of a machine's GPUs and its scheduler."""
    vendors = frozenset(BACKENDS[node.gpus.backend] for node in cluster.node_types if node.gpus.backend in BACKENDS)
    found = {"scheduler": frozenset([cluster.scheduler])}
    return found | ({"vendor": vendors} if vendors else {})


def steps_of(cause: Cause, settings: Settings, kinds: Iterable[str]) -> list[str]:
    """The cause's own steps for what is the one thing known of these kinds."""
    known = [next(iter(settings[kind])) for kind in kinds if len(settings.get(kind, ())) == 1]
    return [step for name in known for step in cause.by.get(name, ())]
