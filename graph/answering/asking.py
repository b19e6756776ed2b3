"""What a question about one machine names: a queue, a GPU, a node count, a stretch of time."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.answering.ask import Ask
from knowledge.cluster import Cluster, NodeType, Queue

JOINING = r"(?:or|and|vs\.?|versus|than|to|from|oder|und|von|zu|ou|et|o|y|e|vers|de)"
# Queues' names that say something else too.
USUAL = frozenset(("small", "large", "long", "short", "normal", "regular", "shared", "low", "batch"))
QUEUE_WORD = r"(?:queues?|partitions?|qos)"


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question about one machine. text is in lower case; raw is as it was written.

    node_types: those whose GPU was named (empty: none was); nodes, seconds: None where not said.
    """

    raw: str
    text: str
    cluster: Cluster
    queue: Queue | None = None
    node_types: tuple[NodeType, ...] = ()
    nodes: int | None = None
    seconds: int | None = None


def inquiry_of(ask: Ask) -> Inquiry | None:
    """Everything that a question about the machine names; None: no machine is spoken of."""
    if ask.machine is None:
        return None
    text = " ".join(ask.text.lower().split())
    within = [*ask.utterance.within(ask.clause)] or [*ask.utterance.mentions]
    words = ask.utterance.text
    nodes = [
        int(m.value)
        for m in within
        if m.kind == "Quantity"
        and (m.unit == "node" or re.match(r"[\s-]*(?:gpu|compute)[\s-]+nodes?\b", words[m.end :]))
    ]
    seconds = [int(m.value) for m in within if m.kind == "Duration"]
    of_queue = named_queue(text, ask.machine) or re.search(QUEUE_WORD, text)
    if seconds and not nodes and not of_queue and (planned := ask.plan.nodes if ask.plan else ask.request.nodes):
        nodes = [planned]  # `can I have 3 days?` is asked for the job in hand
    return Inquiry(
        raw=ask.text,
        text=text,
        cluster=ask.machine,
        queue=named_queue(text, ask.machine),
        node_types=named_node_types(text, ask.machine),
        nodes=nodes[-1] if nodes else None,
        seconds=seconds[-1] if seconds else None,
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
                plain = is_common(name, cluster) and joined(text, match) if bare else not is_common(name, cluster)
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
    spaced = re.sub(r"(\d)\s?gb?\b", r"\1 gb", text)
    of_memory = [node for node in found if node.gpus.memory_gb and f"{node.gpus.memory_gb:g} gb" in spaced]
    return tuple(of_memory or found)


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
