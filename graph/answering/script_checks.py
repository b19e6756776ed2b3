"""Whether what a line of the script sets fits: its counts against the machine's nodes, its paths, and the check."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.answering.ask import Ask
from graph.answering.fact_answer import TAIL, as_sentence
from graph.answering.in_hand import InHand, in_hand
from graph.answering.script_parts import ScriptLine, spellings
from graph.answering.situation import write_document
from graph.planning.queues import plural
from graph.verification.checks.rendezvous_rules import HOSTNAME, NODE_LIST, addresses
from graph.verification.checks.run import check
from graph.verification.checks.subject import Subject
from knowledge.document import Document
from knowledge.options import options_named

CORES = re.compile(r"(?<!\w)-c ?\d|\b(?:cores?|cpus?|kerne?n?|c(?:œ|oe)urs?|n[úu]cleos?|rdzeni\w*)\b|核", re.I)
RANKS = re.compile(r"(?i)\b(?:tasks?|ranks?|process(?:es)?|prozesse?|gpus?)\b|-n\b")
OF_CORES = ("slurm-cpus-per-task", "mpiexec-depth", "flux-cores")
OF_ALL_RANKS = ("slurm-ntasks", "mpiexec-n", "flux-ntasks")
OF_TASKS = ("slurm-ntasks-per-node", "flux-tasks-per-node", "mpiexec-ppn")
OF_A_NODE = (*OF_TASKS, "torchrun-nproc", "slurm-gpus-per-node", "slurm-gres")
NUMBER = r"(?<![\w.:/])(?:-c ?)?(\d{{1,4}})(?![\w.:/%]|\s*(?:h|min|hours?|nodes?|knoten|nod[io]s?|{})\b)"
A_RANKS, A_CORES = "gpus?|tasks?|ranks?|process(?:es)?", "cpus?|cores?|kerne?"
COPIES = re.compile(r"\b(?:sbcast|cp|rsync|tar|unzip|mv|dd|aws|rclone)\b")
NO_COPY = (
    "No line of the script copies anything to it: unless {1} does, what it reads under {0} is missing. Say *stage PATH "
    "to the local disk* and I add the copy."
)
# No silence of the check is a yes: that is said only where it is known why.
FILLED_IN = (
    "The check finds nothing against it. It is filled in once, on the first node, before any rank starts: all ranks of "
    "all nodes get this one address."
)


def check_counts(ask: Ask, hand: InHand, words: Sequence[str], told: Sequence[str]) -> str:
    """How the ranks, or the CPUs of each, fill a node, and whether another number that is named would fit as well.

    words: the options that are asked about; told: what is known of a line that is meant.
    """
    if ask.clause.act == "diagnose":  # what a failing program printed asks of no count
        return ""
    where, names = (hand.record.scheduler, *hand.layers), [name for word in words for name in spellings(word)]
    asked = {fact.id for name in names for fact in options_named(name, where)}
    counts = {*OF_CORES, *OF_ALL_RANKS, *OF_A_NODE}
    of_cores = asked & {*OF_CORES} or (CORES.search(ask.text) and asked <= counts)
    of_ranks = asked & {*OF_ALL_RANKS, *OF_A_NODE} or (RANKS.search(ask.text) and not asked and not told)
    of_ranks = of_ranks and (asked or not of_cores)
    return f"{ranks(ask, hand, asked) if of_ranks else ''} {cores(ask, hand) if of_cores else ''}".strip()


def other_numbers(ask: Ask, beside: str, *known: int | None) -> list[int]:
    """The numbers of the question that are none of the known ones, and count none of what is beside the matter."""
    found = map(int, re.findall(NUMBER.format(beside), ask.text, re.I))
    return [number for number in found if number and number not in known]


def cores(ask: Ask, hand: InHand) -> str:
    """The CPUs of a task times the tasks of a node, against what the scheduler gives there."""
    subject = Subject(hand.text, hand.script, hand.cluster)
    launch, kinds = subject.launch, [kind for kind in subject.node_types if kind.cpu.schedulable]
    layer = launch.parallel if launch else None
    value = (launch.number(layer, "cpus") if launch and layer else None) or subject.job.cpus_per_task
    tasks = hand.plan.launch.tasks_per_node if hand.plan else launch.per_node if launch else None
    tasks = tasks or subject.job.tasks_per_node
    if value is None or not tasks or not kinds or hand.cluster is None:
        return ""
    kind, cpus = kinds[0], kinds[0].cpu.schedulable or 1
    counted = "" if kind.cpu.cores == cpus else f" as the scheduler counts them ({kind.cpu.cores} cores)"
    sum_of = f"a node of {hand.cluster.title} has {cpus} CPUs{counted}, and {tasks} x {value} = {tasks * value}"
    most = cpus // tasks
    if value > most:
        told = [f"Too many: {sum_of}. At most {most} a task fit."]
    elif value == most:
        told = [f"It adds up: {sum_of} uses them all."]
    else:
        told = [f"It works: {sum_of}; up to {most} a task would fit."]
    for other in other_numbers(ask, A_RANKS, value, tasks * value, cpus, kind.cpu.cores)[-1:]:
        over = f"more than the {cpus}" if other > most else f"which leaves {cpus - tasks * other} of them unused"
        told.append(f"With {other} it would be {tasks} x {other} = {tasks * other}, {over}.")
    notes = (one for one in (*kind.notes, *hand.cluster.gotchas) if re.search(rf"\b{cpus}\b.*\bcores?\b", one))
    return " ".join([*told, *(as_sentence(TAIL.sub("", one)) for one in [*notes][:1])])


def ranks(ask: Ask, hand: InHand, asked: set[str]) -> str:
    """The ranks of a node against its GPUs, and what starts them."""
    subject = Subject(hand.text, hand.script, hand.cluster)
    devices, nodes, launch = subject.node_devices, hand.nodes, subject.launch
    if devices is None or not nodes or not hand.per_node or hand.cluster is None:
        return ""
    gpus, in_all = subject.node_types[0].gpus, asked & {*OF_ALL_RANKS}
    cards = f" (each of {gpus.per_node} {gpus.model} is {gpus.tiles_per_gpu} {gpus.tile_name}s)"
    name = f"{devices} GPUs{cards}" if gpus.tiles_per_gpu > 1 else f"{devices} x {gpus.model}"
    part = "" if hand.per_node == devices else f", of which the job takes {hand.per_node}"
    told = f"A node of {hand.cluster.title} has {name}{part}: {nodes} x {hand.per_node} = {hand.gpus}. {start_of(hand)}"
    room = devices * nodes if in_all else devices
    spawner = launch.spawner.name if launch and launch.spawner and launch.parallel else ""
    of_tasks = launch if launch and spawner and asked & {*OF_ALL_RANKS, *OF_TASKS} else None
    each, whole = (of_tasks.per_node, of_tasks.tasks) if of_tasks else (hand.per_node, hand.gpus)
    known = (whole, nodes) if in_all else (each, 1 if of_tasks else devices, 1)
    for other in other_numbers(ask, A_CORES, *known)[:1]:
        where = "in all" if in_all else "a node"
        if of_tasks:
            told += f" With {other} {where} there would be {other} `{spawner}`, and each starts ranks of its own."
        elif other > room:
            told += f" {other} {where} would be more ranks than GPUs: those without one of their own fail."
        else:
            told += f" {other} {where} would leave {plural(room - other, 'GPU')} idle."
    return told


def start_of(hand: InHand) -> str:
    """How many processes are started, by what."""
    layers = [name for name in hand.layers if name not in ("bash", "sh", "env")]
    if not layers:
        return ""
    spawner = next((name for name in layers if name in ("torchrun", "accelerate", "deepspeed")), "")
    outer = next((name for name in layers if name != spawner), "").replace("flux", "flux run")
    started = f"{hand.gpus} ranks, one for each GPU" if hand.gpus else "the ranks"
    if spawner and outer:
        return f"`{outer}` starts one `{spawner}` on each node, and these start {started}."
    return f"`{outer or spawner}` starts {started}."


def tell_place(ask: Ask) -> Document | None:
    """What a folder of the script is that lies on the nodes' own disks, and whether a line copies anything there."""
    hand = in_hand(ask)
    disk = hand.cluster.node_disk if hand and hand.cluster else None
    root = disk.path.split("/$")[0] if disk else ""
    if hand is None or hand.cluster is None or root.count("/") < 2 or root not in ask.text or root not in hand.text:
        return None
    about = next((kind.local_disk for kind in hand.cluster.node_types if kind.local_disk), "")
    copies = [one for one in hand.text.splitlines() if root in one and COPIES.search(one)]
    copied = f"`{copies[0].strip()}` copies there." if copies else NO_COPY.format(root, hand.entry)
    told = f"`{root}` on {hand.cluster.title} is each node's own disk ({about}), seen by that node alone."
    return write_document(told, copied)


def verdict(hand: InHand, meant: Sequence[ScriptLine], words: Sequence[str]) -> str:
    """What the check says of the lines that are meant; of a command with many options what it says of the words."""
    rows = {row for one in meant for row in range(one.number, one.number + one.text.count("\n") + 1)}
    wrong = [one for one in check(hand.text, hand.cluster) if one.line in rows and one.severity != "info"]
    names = [word.lstrip("-").lower() for word in words]
    wrong = [one for one in wrong if any(name in f"{one.says} {one.why}".lower() for name in names)]
    if wrong or not meant:
        return " ".join(f"{as_sentence(one.says)} {as_sentence(one.why)}".strip() for one in wrong)
    subject = Subject(hand.text, hand.script, hand.cluster)
    found = [value for line, _, value, nested in addresses(subject) if line in rows and not nested]
    found += [one.text for one in meant if "-x MASTER_ADDR=" in one.text]  # mpirun's, filled in by the shell
    return FILLED_IN if any(HOSTNAME.search(one) or NODE_LIST.search(one) for one in found) else ""
