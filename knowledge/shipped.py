"""What comes with the program, as passages: facts of every machine, network variables, guides, causes, known issues.

Made by code from the files, so that they never say anything else than the files do; kept between processes (kept.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.catalogue import Catalogue, catalogue
from knowledge.cluster import VENDORS, Cluster, LaunchForm, NodeType, Queue
from knowledge.kept import keep, kept
from knowledge.processors import cores_of
from knowledge.types import SCHEDULER_TITLES, Passage
from knowledge.wording import stems

if TYPE_CHECKING:
    from knowledge.cards import Card

# Passages made from a machine's typed facts: by code, so that they say what the facts say.


ADDRESS = re.compile(r"(?:^|\s)\(?(?:[Ss]ources?:? )?(https?://[^\s,;)]+)\)?\.?")
REMARKS = frozenset({"Gotchas", "Notes", "Not known", "File systems", "Nodes"})
"""Headings whose texts name their page in the sentence itself."""
ACCESS = {
    "yes": "reach the internet without a proxy",
    "no": "have no internet",
    "proxy": "reach the internet only through a proxy",
    "unknown": "may or may not reach the internet: not known",
}
WORKERS = {
    "ranks": "each task is one rank",
    "torchrun": "one torchrun a node",
    "accelerate": "one accelerate launch a node",
}


def cluster_passages(cluster: Cluster) -> Iterator[Passage]:
    """What a machine's users must know, one subject a passage."""
    for heading, title, text, source in (*hardware(cluster), *batch(cluster), *around(cluster), *remarks(cluster)):
        named = ADDRESS.findall(text) if heading in REMARKS else []
        said = " ".join((ADDRESS.sub("", text) if named else text).split())
        found = source or next(iter(named), "") or cluster.docs or cluster.sources[0]
        if said:
            yield Passage(
                text=f"{cluster.title}: {said}",
                title=f"{cluster.title}, {title}",
                source=found.rstrip("."),
                date=cluster.as_of,
                path=(cluster.title, heading),
                kind="fact",
                machine=cluster.id,
                scheduler=cluster.scheduler,
            )


Row = tuple[str, str, str, str | None]
"""Heading, title, text, source."""


def hardware(cluster: Cluster) -> Iterator[Row]:
    for node in cluster.node_types:
        yield "Nodes", f"node type {node.id}", node_text(node), node.source
        if node.nics.kind:
            face = f", interface {node.nics.interface}" if node.nics.interface else ""
            speed = f", {node.nics.gbps_each:g} Gb/s each" if node.nics.gbps_each else ""
            text = f"{node.id} nodes are on {node.nics.count or ''} {node.nics.kind}{speed}{face}."
            yield "Network", f"network of {node.id}", text, node.source
        for note in node.notes:
            yield "Nodes", f"node type {node.id}", f"{node.id}: {note}", node.source
    for plain in cluster.cpu_nodes:
        count = f"{plain.count} nodes of type {plain.id}" if plain.count else f"nodes of type {plain.id}"
        memory = f" and {plain.memory_gb:g} GB of memory" if plain.memory_gb else ""
        model = f" ({plain.cpu.model})" if plain.cpu.model else ""
        text = f"{count}, without GPUs; each has {cores_of(plain)} CPU cores{model}{memory}."
        yield "Nodes", f"CPU nodes {plain.id}", text, plain.source


def node_text(node: NodeType) -> str:
    gpus, parts = node.gpus, [f"{node.count} nodes of type {node.id}" if node.count else f"nodes of type {node.id}"]
    memory = f" with {gpus.memory_gb:g} GB each" if gpus.memory_gb else ""
    parts.append(f"each has {gpus.per_node or 'some'} {VENDORS[gpus.vendor]} {gpus.model} GPUs{memory}")
    if gpus.tiles_per_gpu > 1 and gpus.devices_per_node:
        parts.append(f"{gpus.devices_per_node} {gpus.tile_name or 'tile'}s, that is ranks, a node")
    if node.cpu.cores:
        parts.append(f"{node.cpu.cores} CPU cores{f' ({node.cpu.model})' if node.cpu.model else ''}")
    if node.memory_gb:
        parts.append(f"{node.memory_gb:g} GB of memory")
    if node.local_disk:
        parts.append(f"local disk: {node.local_disk}")
    return "; ".join(parts) + "."


def batch(cluster: Cluster) -> Iterator[Row]:
    for queue in cluster.queues:
        yield "Queues", f"queue {queue.id}", queue_text(queue), queue.source
    lines = "; ".join(plain(fact.text) for fact in cluster.directives if fact.when == "always" and not fact.queues)
    yield "Directives", "directives of a script", f"a batch script has the directives {lines}.", None
    for ban in cluster.forbidden:
        yield "Directives", f"option {ban.option}", f"{ban.option} is {ban.effect}: {ban.why}.", ban.source
    account = cluster.account
    ends = ", ".join({account.suffix or "", *account.suffix_by_node_type.values()} - {""})
    needed = "a job names its account (project)" if account.needed else "a job need not name an account"
    text = f"{needed}{f'; the GPU account ends on {ends}' if ends else ''}. {account.note or ''}"
    yield "Account", "account", text, account.source
    for framework, forms in cluster.launch.items():
        for form in forms[:2]:
            yield "Launching", f"how to start {framework}", launch_text(framework, form), form.source
    meet = cluster.rendezvous
    text = f"the ranks meet at MASTER_ADDR={meet.host}, MASTER_PORT={meet.port}. {meet.note or ''}"
    yield "Launching", "rendezvous", text, meet.source


def queue_text(queue: Queue) -> str:
    names = f" (also {', '.join(queue.names)})" if queue.names else ""
    limit = queue.max_walltime
    longest = f"longest walltime (time limit) {limit}" if limit else "walltime limit not known"
    nodes = f"{queue.min_nodes} to {queue.max_nodes} nodes" if queue.max_nodes else f"{queue.min_nodes} nodes or more"
    gpus = f", at most {queue.max_gpus} GPUs" if queue.max_gpus else ""
    steps = "; ".join(
        f"{step.min_nodes} to {step.max_nodes or 'more'} nodes: {step.max_walltime}" for step in queue.limits
    )
    return (
        f"queue (partition) {queue.id}{names}, {queue.purpose}: {longest}, {nodes} a job{gpus}."
        f"{f' By node count: {steps}.' if steps else ''} {queue.note or ''}"
    )


def launch_text(framework: str, form: LaunchForm) -> str:
    options = f" with {' '.join(plain(text) for text in form.options)}" if form.options else ""
    doubt = "" if form.documented else " Our reading; no page of the site shows it."
    how = f"{form.launcher}{options}, {WORKERS[form.workers]}"
    return f"{framework} is launched (its ranks are started) by {how}. {form.note or ''}{doubt}"


def around(cluster: Cluster) -> Iterator[Row]:
    for name, software in cluster.software.items():
        subject = "software" if name == "default" else f"software for {name}"
        lines = f"a job loads its modules and environment with {'; '.join(software.lines)}." if software.lines else ""
        made = f" To make the environment: {software.create}." if software.create else ""
        yield "Software", subject, f"{lines}{made} {software.note or ''}", software.source
    for fact in cluster.environment:
        when = f" ({fact.when})" if fact.when else ""
        yield "Variables", fact.name, f"{fact.name}={fact.value}{when}. {fact.why}", fact.source
    net = cluster.internet
    proxies = " ".join(f"export {name}={value};" for name, value in net.proxy.items())
    text = f"compute nodes {ACCESS[net.access]}. {proxies} {net.note or ''}"
    yield "Internet", "internet and proxy", text, net.source
    for area, text in cluster.filesystems.items():
        yield "File systems", f"file system {area}", f"storage {area}: {text}", None
    for text in cluster.containers:
        yield "Containers", "containers", text, None


def remarks(cluster: Cluster) -> Iterator[Row]:
    kinds: tuple[tuple[str, str, Iterable[str]], ...] = (
        ("Gotchas", "what goes wrong", cluster.gotchas),
        ("Notes", "note", cluster.notes),
        ("Not known", "not known", cluster.unknown),
    )
    for heading, title, texts in kinds:
        for text in texts:
            yield heading, title, f"not known: {text}" if heading == "Not known" else text, None
    for refusal in cluster.refusals:
        text = f"{refusal.says}. {refusal.why}. Instead: {refusal.instead}"
        yield "Limits", "what does not work", text, refusal.source
    if cluster.status:
        yield "Status", "status", cluster.status, None


def plain(text: str) -> str:
    """A directive for people: `<nodes>` in place of a placeholder."""
    return re.sub(r"\{(\w+)\}", r"<\1>", text)


HERE = Path(__file__).parent
CAUSES = HERE / "causes.yaml"
CAUSES_AS_OF = "2026-08"
TELLING, MOST_LINES = 12, 6
"""How long a fixed part of a signature must be to be told, in letters, and how many (of the first, and longest)."""
OPTIONAL = re.compile(r"\[[^\[\]]*\{\w+\}[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class ShippedIndex:
    """The passages; in how many of them each stem stands, how telling it is; the causes of each card, by address."""

    passages: tuple[Passage, ...]
    having: Mapping[str, int]
    causes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def files() -> tuple[Path, ...]:
    """All files that the passages are made from."""
    from knowledge.signatures.loader import signature_files

    folders = (HERE / name for name in ("cards", "guides", "common_questions"))
    ours = (CAUSES, HERE / "network_env.yaml", *(path for folder in folders for path in folder.glob("*.yaml")))
    return (*sorted(ours), *signature_files(), *catalogue().files.values())


@cache
def shipped() -> ShippedIndex:
    """All of it, read once a process. Raises FactsError on a wrong file."""
    paths = files()
    found: ShippedIndex | None = kept("passages", paths)
    if found is None:
        found = lay_out(tuple(passages(catalogue())), {card.address: card.causes for card in cards()})
        keep("passages", paths, found)
    return found


def lay_out(texts: tuple[Passage, ...], causes: Mapping[str, tuple[str, ...]]) -> ShippedIndex:
    # What makes a word rare is the texts that tell of it, not the many ways to ask for one of them.
    having = Counter(stem for one in texts for stem in stems(whole(replace(one, asks=()))))
    return ShippedIndex(texts, dict(having), dict(causes))


def whole(passage: Passage) -> str:
    """Everything that a passage is found by."""
    return "\n".join((" > ".join((*passage.path, passage.title)), *passage.asks, passage.text))


def passages(known: Catalogue) -> Iterator[Passage]:
    """Facts of the machines, then what holds for any."""
    from knowledge.cards import GUIDES, Guide, card_passage, guide_passages
    from knowledge.checked_file import read_checked
    from knowledge.common_questions import FILES, CommonQuestion, question_passages
    from knowledge.network import FILE, NetworkFacts, network_passages

    for cluster in known.clusters.values():
        yield from cluster_passages(cluster)
    yield from network_passages(read_checked(FILE, NetworkFacts))
    for path in sorted(GUIDES.glob("*.yaml")):
        for guide in read_checked(path, tuple[Guide, ...]):
            yield from guide_passages(guide)
    for path in sorted(FILES.glob("*.yaml")):
        for question in read_checked(path, tuple[CommonQuestion, ...]):
            yield from question_passages(question)
    yield from cause_passages()
    yield from map(card_passage, cards())


def cards() -> list[Card]:
    """The known issues, file by file."""
    from knowledge.cards import CARDS, Card
    from knowledge.checked_file import read_checked

    return [card for path in sorted(CARDS.glob("*.yaml")) for card in read_checked(path, tuple[Card, ...])]


def cause_passages() -> Iterator[Passage]:
    """What each failure cause means and how it is cured; the steps of one scheduler on their own."""
    from knowledge.signatures.loader import library

    signatures = library()
    shown: dict[str, list[str]] = {}
    for signature in signatures.signatures:
        words = [word for word in signature.literals if len(word) >= TELLING and not word.startswith("(?")]
        shown.setdefault(signature.cause, []).extend(words)
    for name, cause in signatures.causes.items():
        if cause.group == "none":
            continue
        usual = list(dict.fromkeys(shown.get(name, ())))
        longest = sorted(usual, key=len, reverse=True)
        lines = "; ".join(dict.fromkeys((*usual[:MOST_LINES], *longest[:MOST_LINES])))
        says = " ".join(re.sub(r"\{\w+\}", "...", OPTIONAL.sub("", cause.says)).split())
        path = ("Failure causes", cause.group)
        title = f"{name}: {cause.means}"
        signs = f"\n\nWords of log lines that show it: {lines}" if lines else ""
        fix = " ".join(filter(None, (OPTIONAL.sub("", step) for step in cause.fix)))
        yield cause_passage(title, f"{says}{' What to do: ' if fix else ''}{fix}{signs}", path)
        for scheduler, steps in cause.by.items():
            text = f"{says} On {SCHEDULER_TITLES.get(scheduler, scheduler)}: {' '.join(steps)}"
            yield cause_passage(title, text, path, scheduler)


def cause_passage(title: str, text: str, path: tuple[str, ...], scheduler: str = "") -> Passage:
    source = f"maple-chat, causes of failures ({title.partition(':')[0]})"
    return Passage(text, title, source, CAUSES_AS_OF, path, kind="fact", scheduler=scheduler)
