"""What a question names: a queue, a GPU, a node count, a stretch of time. The topic is found by facts.py."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.cluster import Cluster, NodeType, Queue

NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS = {word: at for at, word in enumerate(NUMBER_WORDS, 1)}
NUMBER = rf"(\d+(?:\.\d+)?|{'|'.join(NUMBERS)}|an?|half an?)"
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
STRETCH = re.compile(rf"(?<![\w.]){NUMBER}[\s-]*(seconds?|secs?|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?)(?!\w)")
CLOCK = re.compile(r"(?<![\w:])(\d{1,3}):([0-5]\d):([0-5]\d)(?![\w:])")
NODES = re.compile(rf"(?<![\w.-]){NUMBER}[\s-]*(?:compute |gpu )?nodes?(?!\w)(?![\s-]*h(?:ou)?rs?\b)")
JOINING = r"(?:or|and|vs\.?|versus|than|to|from)"
# Queues' names that say something else too.
USUAL = frozenset(("small", "large", "long", "short", "normal", "regular", "shared", "low", "batch"))
QUEUE_WORD = r"(?:queues?|partitions?|qos)"


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about one machine. text is in lower case; raw is as it was written."""

    raw: str
    text: str
    cluster: Cluster
    queue: Queue | None = None
    node_types: tuple[NodeType, ...] = ()
    """The node types whose GPU was named; empty: none was."""
    nodes: int | None = None
    seconds: int | None = None


def read(raw: str, cluster: Cluster) -> Ask:
    """Everything that a question about this machine names."""
    text = " ".join(raw.lower().split())
    return Ask(
        raw=raw,
        text=text,
        cluster=cluster,
        queue=named_queue(text, cluster),
        node_types=named_node_types(text, cluster),
        nodes=named_nodes(text),
        seconds=named_seconds(text),
    )


def named_queue(text: str, cluster: Cluster) -> Queue | None:
    """The queue that is named, by the longest name."""
    found = named_queues(text, cluster)
    return max(found, key=lambda pair: pair[0])[1] if found else None


def named_queues(text: str, cluster: Cluster, *, bare: bool = False) -> list[tuple[int, Queue]]:
    """Queues with the length of the name used.

    One that is a common word too counts only beside `queue` or the like; with bare, beside an `or` or the like.
    """
    found = []
    for queue in cluster.queues:
        for name in (queue.id, *queue.names):
            for match in re.finditer(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", text):
                plain = name.lower() in USUAL and joined(text, match) if bare else not is_common(name, cluster)
                if plain or beside_queue_word(text, match):
                    found.append((len(name), queue))
    return found


def is_common(name: str, cluster: Cluster) -> bool:
    """Whether the bare word says something else too: the machine's own name, `gpu`, `job`, a GPU's model."""
    squashed = name.lower()
    models = {word for node in cluster.node_types for word in node.gpus.model.lower().split()}
    own = {cluster.id, cluster.title.lower(), *(name.lower() for name in cluster.names)}
    return squashed in {"gpu", "gpus", "cpu"} | USUAL | models | own


def joined(text: str, match: re.Match[str]) -> bool:
    """Whether it is set against another name: `preempt or regular`, `regular vs. preempt`."""
    before, after = text[: match.start()], text[match.end() :]
    with_it = rf"{JOINING}(?: the)? $"
    return bool(re.match(rf" {JOINING}(?!\w)", after) or re.search(rf"(?<!\w){with_it}", before))


def beside_queue_word(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    near = re.search(rf"{QUEUE_WORD}(?: named| called|:)? ?['\"`]?$|(?:-p|-q|partition=|qos=|queue=) ?['\"`]?$", before)
    return bool(near or re.match(rf"['\"`]? {QUEUE_WORD}\b", after))


def named_node_types(text: str, cluster: Cluster) -> tuple[NodeType, ...]:
    """The node types whose GPU model is named, such as H100 on a machine that has A100 too."""
    found = []
    for node in cluster.node_types:
        words = [
            word for word in re.findall(r"[a-z]+\d+\w*|pvc", f"{node.gpus.model} {node.id}".lower()) if len(word) > 2
        ]
        if any(re.search(rf"(?<![a-z0-9]){re.escape(word)}s?(?![a-z0-9])", text) for word in words):
            found.append(node)
    named_by_memory = [node for node in found if node.gpus.memory_gb and f"{node.gpus.memory_gb:g} gb" in spaced(text)]
    return tuple(named_by_memory or found)


def spaced(text: str) -> str:
    return re.sub(r"(\d)\s?gb?\b", r"\1 gb", text)


def number(word: str) -> float:
    if word.startswith("half"):
        return 0.5
    return float(NUMBERS.get(word, 1 if word in ("a", "an") else 0) or word)


def named_nodes(text: str) -> int | None:
    found = NODES.search(text)
    return int(number(found[1])) if found and found[1] not in ("a", "an") else None


def named_seconds(text: str) -> int | None:
    clock = CLOCK.search(text)
    if clock:
        hours, minutes, seconds = (int(part) for part in clock.groups())
        return hours * 3600 + minutes * 60 + seconds
    found = STRETCH.search(text)
    return int(number(found[1]) * SECONDS[found[2][0]]) if found else None


# Words that name a framework, in the order in which they are looked for.
FRAMEWORK_WORDS: dict[str, str] = {
    "deepspeed": "deepspeed",
    "zero-": "deepspeed",
    "accelerate": "accelerate",
    "megatron": "megatron",
    "lightning": "lightning",
}


def framework(text: str) -> str | None:
    """The framework that is named; None: none was, or PyTorch itself."""
    return next((name for word, name in FRAMEWORK_WORDS.items() if word in text), None)


def plain(directive: str) -> str:
    """A directive for people: `<nodes>` in place of a placeholder."""
    return re.sub(r"\{(\w+)\}", r"<\1>", directive)
