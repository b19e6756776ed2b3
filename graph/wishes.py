"""What people say beyond the fields of a request, read from the words and the machine's facts.

Each reader gives the request as it then is and one sentence that says so, or None where it has nothing to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from graph.extraction.request import understand
from graph.planning.gpus import kinds_named
from graph.planning.plan import choose_node_type
from graph.planning.queues import in_order, longest
from graph.planning.strategies import MEANT, RUNS, served
from graph.reading.mentions import find_mentions
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, NodeType
from knowledge.job_parts import Program
from knowledge.types import Intent, JobRequest, Understood

# A longer text is no wish but a log or a paste.
LONGEST = 400
MOST_LINES = 3
NEGATIVE = re.compile(r"(?:(?<=[\s,(])|^)[-\u2212\u2013]\d+(?:\.\d+)?\s*(?P<what>nodes?|gpus?|cards?)\b", re.I)
# A list with a dash before each point holds no negative amounts.
DASHED = re.compile(r"^\s*[-\u2212\u2013].*\n\s*[-\u2212\u2013]|\s[-\u2212\u2013][a-z]", re.I)
ZERO = re.compile(r"(?<![\d.,/:=-])\b(?:0|zero)\s+(?P<what>nodes?|gpus?|cards?)\b", re.I)
PART = re.compile(
    r"\b(?:an?\s+)?(?:half|quarter|third)\s+(?:of\s+)?(?:an?|one)\s+(?P<a>node)\b|"
    r"(?<![\w.,])(?:\d*\.\d+|\d+,5)\s*(?P<b>nodes?)\b|\b(?:one|\d+)\s+and\s+a\s+half\s+(?P<c>nodes?)\b",
    re.I,
)
SHARE = re.compile(
    r"\b(?P<part>half|halve|third|quarter)\b(?: (?:of|as|the|my|our|many))* (?P<what>nodes?|gpus?)\b"
    r"|\b(?P<other>nodes?|gpus?) (?P<cut>in half)\b",
    re.I,
)
ALL_OF_QUEUE = re.compile(
    r"\b(?:as many nodes as|max(?:imum)?(?: number of)? nodes|most nodes)\b"
    r"(?: \w+){1,4} (?:allows?|permits?|takes?|lets|gives?|accepts?)\b",
    re.I,
)
# The longest time that there is, said without a number.
ALL_THE_TIME = re.compile(
    r"(?i)\bas long as (?:(?:it|that|this) (?:goes|can(?: run)?)\b|possible|(?:it(?:'s| is) )?(?:allowed|permitted)"
    r"|(?:the queue|the partition|it|they) (?:allows?|permits?|lets?|gives?|takes?))"
    r"|\b(?:max(?:imum|imal)?|longest|full)(?: possible| allowed)? (?:(?:run|wall) ?time|time(?: limit)?|duration)\b"
    r"|\bso lang\w* (?:wie |es )?(?:es )?(?:geht|m[öo]glich|erlaubt)|\bmaximale (?:lauf|rechen)?zeit"
    r"|\b(?:aussi|le plus) longtemps (?:que )?possible|\blo m[áa]s largo posible|\btiempo m[áa]ximo"
    r"|\bil pi[ùu] a lungo possibile|(?:できるだけ|可能な限り)長く|最長(?:で|の時間)"
)
PARTS = {"third": 3, "quarter": 4}
GPUS = re.compile(
    r"(?<![\d.,x\u00d7*-])\b(\d{1,6}|one|(?:a )?single|two|four|eight)\s*(?:x\s*)?"
    r"(?:[a-z]+\d+\w*\s+)?(?:gpus?|cards?|devices?|accelerators?)\b",
    re.I,
)
WORDS = {"one": 1, "single": 1, "a single": 1, "two": 2, "four": 4, "eight": 8}
IN_TOTAL = re.compile(r"\b(?:in total|total|altogether|overall|in all|all together)\b", re.I)
A_NODE = re.compile(
    r"\b(?:per|each|every|a|an|on (?:a|one|each))[ -]?node\b|/\s*node\b|\beach\b|\b\d+\s*nodes?\b", re.I
)
CARD = r"(?:cards?|gpus?|nodes?|accelerators?|version|variant|ones?|[a-z]{1,2}\d{2,3}[a-z]?s?)"
TOO_SMALL = re.compile(
    r"[^.;,\n]{0,40}\b(?:too (?:small|little)|not enough|insufficient|zu klein|reich\w+ nicht|trop petit\w*|insuffis\w+"
    r"|pequeñ\w+|piccol\w+|non bast\w+|no bast\w+)",
    re.I,
)
MEMORY = re.compile(
    rf"\b(?P<a>\d{{2,3}})[\s-]?(?:gb|gib|gigs?|g)[\s-]+(?:(?:nvidia|hbm\w*|vram|memory|sxm\d?|pcie)[\s-]+)*{CARD}\b|"
    rf"\b{CARD}[\s-]+(?:(?:with|of|having|that have|at)\s+)?(?P<b>\d{{2,3}})[\s-]?(?:gb|gib|gigs?|g)\b",
    re.I,
)
MODEL = re.compile(r"(?<![\w-])([A-Z]{1,2}\d{2,3}[A-Z]?s?)(?:-\d{2,3}(?:gb)?)?(?![\w-])", re.I)
LEFT_BEHIND = re.compile(
    r"\b(?:not|no|without|than|from|instead of|currently|used|had|ran|runs?|works?|takes)\b"
    r"(?:(?!\b(?:but|now|to)\b)[^.,;]){0,30}$",
    re.I,
)
OTHER_MEMORY = re.compile(r"\b(?:ram|host|main|cpu|system|per task|dataset|checkpoint|data|disk)\b", re.I)
COMMAND = re.compile(r"(?:\$\([^)]*\)|`[^`]*`)[^\s,;]*")

# Where one program's part of a message ends and another's begins.
JOINTS = re.compile(r"(?i)\b(?:and then|then|after that|afterwards|followed by)\b|[();\n]|\.\s")
OF_ONE_JOB = (
    *("entry", "args", "nodes", "gpus_per_node", "total_gpus", "walltime", "cpus_per_task", "memory_gb", "node_type"),
    "processes_per_node",
)

Read = tuple[JobRequest, str] | None
Reader = Callable[[str, JobRequest, JobRequest, Cluster | None], Read]


def wishes(
    words: str, before: JobRequest | None, heard: Understood, cluster: Cluster | None
) -> tuple[Understood, tuple[str, ...]]:
    """What was heard, with the wishes in it, and a sentence for each. Pure."""
    if heard.intent == "diagnose" or len(words) > LONGEST or words.count("\n") >= MOST_LINES:
        return heard, ()
    asks = "?" in words and heard.intent == "question"
    said = []
    for reader in () if asks else READERS:
        found = reader(words, before or JobRequest(), heard.request, cluster)
        if found:
            left = tuple(one for one in heard.left if reader is not longest_time or not ALL_THE_TIME.search(one))
            intent: Intent = "port" if heard.intent == "port" else "generate"
            heard = replace(heard, intent=intent, request=found[0], left=left)
            said.append(found[1])
    return heard, tuple(said)


def odd_amount(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """An amount that nobody can have: what was asked before stays, and is asked for where it is open."""
    found = (None if DASHED.search(words) else NEGATIVE.search(words)) or ZERO.search(words) or PART.search(words)
    if not found:
        return None
    what = next(word for word in found.groupdict().values() if word).lower()
    if now.cpu_only and found.re is ZERO and not what.startswith("node"):
        return None
    names = ("nodes",) if what.startswith("node") else ("gpus_per_node", "total_gpus")
    kept = replace(now, **{name: getattr(before, name) for name in names})
    part = " For a part of a node say its GPUs: *1 node, 2 GPUs*." if found.re is PART else ""
    return kept, f"*{found[0].strip()}* cannot be: I need a whole number from 1.{part}"


def uneven_share(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """Half of three nodes: nothing is changed, and the whole numbers around it are offered."""
    found = SHARE.search(words)
    if not found:
        return None
    part = (found["part"] or found["cut"]).lower()
    by, what = PARTS.get(part, 2), "nodes" if (found["what"] or found["other"])[0] in "nN" else "gpus_per_node"
    value = getattr(before, what)
    if not value or value % by == 0 or getattr(now, what) != value:
        return None
    name = "nodes" if what == "nodes" else "GPUs per node"
    ways = " or ".join(f"*{number} {name}*" for number in (value // by, value // by + 1) if number)
    return now, f"*{found[0]}* of {value} {name} is no whole number: say {ways}."


def most_of_queue(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """As many nodes as the queue takes, where the facts know how many these are."""
    queue = (cluster.queue(now.queue) if now.queue else cluster.default_queue) if cluster else None
    if queue is None or not queue.max_nodes or not ALL_OF_QUEUE.search(words):
        return None
    told = f"{queue.id} takes at most {queue.max_nodes} node{'s' * (queue.max_nodes > 1)}: I take so many."
    return replace(now, nodes=queue.max_nodes, total_gpus=None), told


def longest_time(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """As long as the queue takes, where no time is said beside it and the facts know how long that is."""
    if cluster is None or now.walltime != before.walltime or now.cpu_only or not ALL_THE_TIME.search(words):
        return None
    kind, nodes = choose_node_type(now, cluster), now.nodes or 1
    named = cluster.queue(now.queue) if now.queue else None
    queues = [named] if named else in_order(cluster, kind.id, nodes, now.gpus_per_node or 1)
    queue = next((one for one in queues if nodes <= (one.max_nodes or nodes)), None)
    most = longest(queue, nodes) if queue else None
    if queue is None or most is None or most == now.walltime:
        return None
    return replace(now, walltime=most), f"{queue.id} takes {most} at most: I take that."


def total_of_gpus(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """GPUs of the whole job after a layout was fixed: the nodes follow, the GPUs of a node stay."""
    found = GPUS.search(words)
    if not found or before.nodes is None or cluster is None or A_NODE.search(words):
        return None
    total, node = amount_of(found[1]), usual_node(cluster)
    most = max((kind.gpus.devices_per_node or 0) for kind in cluster.node_types)
    few = total == 1 < before.nodes and now.gpus_per_node == total
    if total == 0 or not (IN_TOTAL.search(words) or few or (now.gpus_per_node == total and total > most > 0)):
        return None
    each = before.gpus_per_node or node.gpus.per_node or 1
    if total <= each:
        each, nodes = total, 1
    elif total % each == 0:
        nodes = total // each
    else:
        return replace(now, nodes=None, gpus_per_node=None, total_gpus=total), f"I take {total} GPUs as the total."
    wanted = replace(now, nodes=nodes, gpus_per_node=each, total_gpus=None)
    return wanted, f"I take {total} GPU{'s' * (total > 1)} as the total: {nodes} x {each}."


def gpus_of_each(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """GPUs that may be of each node or of the job: which way they were read, where more than one node stands."""
    found = GPUS.search(words)
    if not found or (before.nodes or 1) < 2 or now.nodes != before.nodes or A_NODE.search(words):
        return None
    count = amount_of(found[1])
    if IN_TOTAL.search(words) or now.gpus_per_node != count or cluster is None:
        return None
    whole = f"{before.nodes} nodes x {count} = {(before.nodes or 1) * count} GPUs"
    return now, f"I read *{found[0]}* as those of each node: {whole}. For {count} in all say *{count} GPUs in total*."


def amount_of(word: str) -> int:
    return int(word) if word.isdigit() else WORDS[word.lower()]


def usual_node(cluster: Cluster) -> NodeType:
    return cluster.node_type(cluster.default_queue.node_types[0])


def cards(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """A kind of node, by the memory of its cards: `use the 80GB cards`."""
    found = next((one for one in MEMORY.finditer(words) if not TOO_SMALL.match(words, one.end())), None)
    if not found or cluster is None or OTHER_MEMORY.search(words):
        return None
    wanted = int(found["a"] or found["b"])
    kinds = [kind for kind in cluster.node_types if kind.gpus.memory_gb == wanted]
    named = [kind for kind in kinds if kind.gpus.model.lower() in words.lower()] or kinds
    if named:
        return replace(now, node_type=named[0].id), f"I take the nodes with {wanted} GB cards ({named[0].id})."
    there = sorted(
        {f"{kind.gpus.model} with {kind.gpus.memory_gb:g} GB" for kind in cluster.node_types if kind.gpus.memory_gb}
    )
    if not there:  # a draft of a machine that nobody described
        return None
    return now, f"{cluster.title} has no cards with {wanted} GB; it has {', '.join(there)}."


def kind_as_queue(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """`Partition A100`, where no queue is called so and a kind of GPU is: that kind, in a queue that leads to it."""
    if cluster is None or not now.queue or cluster.queue(now.queue):
        return None
    kinds = kinds_named(now.queue.lower(), cluster.node_types)
    if not kinds:
        return None
    was = cluster.queue(before.queue) if before.queue else None
    queue = was.id if was and any(kind.id in was.node_types for kind in kinds) else None
    usual = choose_node_type(replace(now, queue=queue), cluster)
    kind = usual if usual in kinds else kinds[0]
    said = f"{cluster.title} has no queue *{now.queue}*: I take the queue that leads to its {kind.gpus.model} nodes."
    return replace(now, node_type=kind.id, queue=queue), said


def environment_in_edf(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """An environment of the host beside a container that an EDF names: inside of it nothing enters that."""
    if not (now.container or "").endswith(".toml") or not now.environment or now.environment == before.environment:
        return None
    kept = replace(now, environment=before.environment, environment_kind=before.environment_kind)
    return kept, (
        f"*{now.environment}* is left out: the job runs in the container that `{now.container}` names, and an "
        "environment of the host is not entered there. Put its packages into the image, or into a venv made inside it."
    )


def gpu_model(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """A kind of GPU: `with H100s`. The machine's usual nodes are taken where they have it; what it has not is said."""
    named = [found[1].lower() for found in MODEL.finditer(words) if not LEFT_BEHIND.search(words[: found.start()])]
    named = [name if name in known_models() else name.removesuffix("s") for name in named]
    models = list(dict.fromkeys(name for name in named if name in known_models()))
    if len(models) != 1 or now.source_machine or MEMORY.search(words) or (now.machine and cluster is None):
        return None
    if cluster is None:
        return (replace(now, node_type=models[0]), f"I look for nodes with {models[0].upper()}.")
    kinds = kinds_named(models[0], cluster.node_types)
    if not kinds:
        there = sorted({kind.gpus.model for kind in cluster.node_types})
        return now, f"{cluster.title} has no {models[0].upper()}; it has {', '.join(there)}."
    chosen = choose_node_type(now, cluster)
    if chosen in kinds:
        return None
    queue = cluster.queue(now.queue) if now.queue else None
    stays = queue is None or any(kind.id in queue.node_types for kind in kinds)
    kept = replace(now, node_type=kinds[0].id, queue=now.queue if stays else None)
    return kept, f"I take the nodes with {kinds[0].gpus.model} ({kinds[0].id})."


def cpu_kind(words: str, now: JobRequest, cluster: Cluster | None) -> Read:
    """Nodes without GPUs by their name, where the machine has such: `on LUMI-C`, `a job on skx`."""
    if cluster is None or now.gpus_per_node or now.total_gpus or now.queue:
        return None
    names = (node.id for node in cluster.cpu_nodes if node.id != "cpu")
    kind = next((name for name in names if re.search(rf"(?<![\w-]){name}(?![\w-])", words, re.I)), None)
    if kind is None or (now.cpu_only and now.node_type == kind):
        return None
    return replace(now, cpu_only=True, node_type=kind), f"I take {cluster.title}'s nodes without GPUs ({kind})."


def data_and_training(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """A job without GPUs that prepares what a training behind it takes: two programs, two jobs."""
    if not now.cpu_only or before.entry:
        return None
    parts = (understand(part, None, None, None).request for part in JOINTS.split(words) if part.strip())
    named = [one for one in parts if one.entry]
    first, second = ([one for one in named if bool(one.cpu_only) is without] for without in (True, False))
    if len(first) != 1 or len(second) != 1:
        return None
    data, training = first[0], second[0]
    program = Program(
        training.entry or "", training.args, training.nodes or 1, training.gpus_per_node, training.walltime
    )
    own = {name: getattr(data, name) for name in OF_ONE_JOB}
    now = replace(now, **own, then=(program,), before=(), strategy=training.strategy, framework=training.framework)
    return now, f"Two jobs: `{data.entry}` without GPUs, then `{training.entry}` on the GPU nodes."


@cache
def known_models() -> frozenset[str]:
    """Names of GPU models, as people write them: a100, mi250x, gh200."""
    every = (node for one in catalogue().clusters.values() for node in one.node_types)
    words = (word.lower() for node in every for word in re.findall(r"[A-Za-z]+\d+\w*", node.gpus.model))
    return frozenset(words)


RUNS_IT = re.compile(r"`\s*(?:python[\d.]*|torchrun|accelerate|deepspeed)\s")


def program_of_a_command(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """A path that a shell would have to make: no part of it is taken for the program."""
    for found in COMMAND.finditer(words):
        plain = RUNS_IT.match(found[0])  # a launch in backquotes is quoted, and no part of a shell's work
        if not plain and now.entry and now.entry != before.entry and now.entry in found[0]:
            return replace(now, entry=before.entry), f"I run no `{found[0]}`; say the program's plain path."
    return None


def strategy_of_framework(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """Another framework that does not have the strategy that stood: its own takes that one's place."""
    was, framework = before.strategy, served(now.framework)
    if framework is None or was is None or now.strategy != was or now.framework == before.framework:
        return None
    if was in RUNS[framework] or (framework, was) in MEANT:
        return None
    return replace(now, strategy=None), f"{was.upper()} is left behind: {framework} does not have it."


def model_in_arguments(words: str, before: JobRequest, now: JobRequest, cluster: Cluster | None) -> Read:
    """Another model than the one that the program's arguments name: its name there is the new one's."""
    args = now.args or ""
    if not before.model or now.model in (None, before.model) or args != (before.args or "") or not args:
        return None
    held = [one for one in find_mentions(args)[1] if one.kind == "Model" and one.value == before.model]
    said = [one.text for one in find_mentions(words)[1] if one.kind == "Model" and one.value == now.model]
    if len(held) != 1 or not said:
        return None
    name = with_owner(held[0].text, said[0])
    return replace(now, args=f"{args[: held[0].start]}{name}{args[held[0].end :]}"), f"The program gets `{name}`."


def with_owner(old: str, new: str) -> str:
    """The new name with the owner of the old one before it, where it has none: `Qwen/Qwen2.5-3B`."""
    return new if "/" in new or "/" not in old else f"{old.rpartition('/')[0]}/{new}"


READERS: tuple[Reader, ...] = (
    model_in_arguments,
    strategy_of_framework,
    odd_amount,
    uneven_share,
    most_of_queue,
    total_of_gpus,
    gpus_of_each,
    cards,
    kind_as_queue,
    environment_in_edf,
    gpu_model,
    longest_time,
    data_and_training,
    program_of_a_command,
)
