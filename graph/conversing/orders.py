"""What a model gives as values: what of it the person ordered, what the person alone may say, and how it is read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from graph.conversation.option_choice import AGREED
from graph.conversing.accounts import is_account_said
from graph.conversing.ground import stands
from graph.conversing.hand import Hand, in_short, scripts_in
from graph.conversing.numbers import quantities, times_in
from graph.conversing.said import CLOCK, SPOKEN, in_digits, is_said, numbers_in, plain
from graph.debugging.remedies import request_of
from graph.extraction.request import understand
from graph.extraction.script_record import understand_script
from graph.extraction.walltime import clock
from graph.planning.directives import SUBMITS
from graph.planning.queues import CALLED
from graph.planning.request_fields import FIELDS, NEXT_EDIT, with_fields
from graph.planning.steps import shell_line
from graph.reading.own_machine import running, scheduler_told
from graph.undescribed import is_stand_in
from knowledge.cluster import Cluster, walltime_seconds
from knowledge.errors import InputError
from knowledge.types import Heard, JobRequest, Variable

MOST_AGREEING = 6
AGREES = re.compile(rf"\W*{AGREED}\b", re.I)
SPOKEN_TIME = re.compile(
    r"(?:(\d+(?:\.\d+)?) ?d(?:ays?)?)? ?(?:(\d+(?:\.\d+)?) ?h(?:(?:ou)?rs?)?)? ?(?:(\d+) ?m(?:in)?(?:utes?|s)?)?"
)
SLURM_DAYS = re.compile(r"(\d+)-(\d+)(?::(\d+))?(?::(\d+))?")
# Below it the reading of a clause as a question is a guess.
SURELY = 0.7
# What a scheduler or a program calls a field.
ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("qos", "partition"), "queue"),
    **dict.fromkeys(("time", "time_limit"), "walltime"),
    **dict.fromkeys(("project", "bank", "allocation"), "account"),
    **dict.fromkeys(("env", "conda_env"), "environment"),
    **dict.fromkeys(("mem", "memory"), "memory_gb"),
    **dict.fromkeys(("cores", "cpus", "cpu_cores"), "cpus_per_task"),
    **dict.fromkeys(("ntasks_per_node", "ranks_per_node", "tasks_per_node"), "processes_per_node"),
    **dict.fromkeys(("program", "script"), "entry"),
    **dict.fromkeys(("gpus", "gpus_a_node"), "gpus_per_node"),
    **{"name": "job_name", "arguments": "args", "email": "mail", "module": "modules", "image": "container"},
    **{"log": "output", "directives": "extra_directives", "variable": "variables", "env_vars": "variables"},
}
SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
EVERY = (
    r"(?:all|every|full|whole|entire|complete|alle|ganz\w*|voll\w*|tous|toutes|compl[eè]t\w*|todas?|todos|enter[oa]s?"
    r"|tutt[ei]|inter[oi])"
)
WHOLE_NODE = re.compile(
    rf"(?i)\b{EVERY}\b[^.;,\n]{{0,16}}\b(?:nodes?|gpus?|cards?|knoten|karten|n(?:œ|oe)uds?|cartes|nodos?|nodi)\b"
    rf"|\b(?:nodes?|knoten|n(?:œ|oe)uds?|nodos?|nodi)\s+{EVERY}\b|整(?:个)?节点|全部?(?:的)?\s?GPU|ノード全"
)
# What costs, or decides what the program has to be.
WEIGHTY = ("nodes", "gpus_per_node", "walltime", "queue", "strategy")
SIZES = ("nodes", "gpus_per_node", "walltime")
COUNTS = frozenset({"nodes", "gpus_per_node"})
NUMBERS = COUNTS | {"walltime"}
# What stands for a field that was not said, in a line that a site may do without.
OPEN = "YOUR_"
GAPS = {"account": f"{OPEN}ACCOUNT", "queue": f"{OPEN}PARTITION"}
# `four times as many`, `vier mal so viele`.
TIMES = re.compile(r"[^\W_]+[ -]?(?:x\b|\u00d7|times\b|mal\b|fach|fold\b|fois\b|veces\b|vezes\b|volte\b|\u500d)", re.I)
# Lists of names that hold no blank.
SEVERAL = ("modules", "modules_removed")


def unsaid(hand: Hand, before: JobRequest, now: JobRequest, words: str = "") -> tuple[str, ...]:
    """The fields that were given a value which neither the person nor the rules' reading of the words has.

    words: what orders them (nothing has to be where it is only tried); else a value is said too where a script of the
    person's own has it.
    """
    if words and hand.is_trial:
        return ()
    theirs, words = [] if words else list(map(asked_in, scripts_in(hand.state))), words or hand.words
    changed = [one.name for one in fields(JobRequest) if getattr(before, one.name) != getattr(now, one.name)]
    return tuple(
        name
        for name in changed
        if name in WEIGHTY
        and (value := getattr(now, name)) is not None
        and all(getattr(one, name) != value for one in (hand.read, *theirs))
        and not is_said(str(value), words, grows=grows(getattr(before, name), value))
        and not ordered_before(hand, name, value)
        and not (name == "gpus_per_node" and whole_nodes_said(hand, now, words))
        and not (name == "gpus_per_node" and charged_whole(hand, now))  # more of a node costs nothing there
        and not (name == "queue" and goes_with_size(hand, before, now, words))
        and not (
            name == "queue" and (is_kind_said(hand, now, value, words) or is_purpose_said(hand, now, value, words))
        )
        and not (value == "none" and all_gpus(hand, now) == 1)  # no strategy goes without saying on one GPU
        and not is_inside(name, getattr(before, name), value, f"{words}\n{said_last(hand)}")
        and not (name in COUNTS and all_gpus(hand, now) in numbers_in(f"{words}\n{said_last(hand)}"))
        and not (name in COUNTS and is_multiple_said(hand, before, now))
        and not (name in COUNTS and as_many_gpus(before, now))
    )


def as_many_gpus(before: JobRequest, now: JobRequest) -> bool:
    """Whether a job has as many GPUs as before and no more nodes: one node of 8 for 2 nodes of 4."""
    both = all(getattr(one, name) for one in (before, now) for name in COUNTS)
    was, is_now = ((one.nodes or 0) * (one.gpus_per_node or 0) for one in (before, now))
    return both and was == is_now and (now.nodes or 0) <= (before.nodes or 0)


def goes_with_size(hand: Hand, before: JobRequest, now: JobRequest, words: str) -> bool:
    """Whether a model reads an order of a queue, or of a size with it, on a machine that nobody described: the person's
    own words alone tell of its queues, and half of the order would be no job."""
    sizes = [one for one in SIZES if getattr(before, one) != getattr(now, one) and getattr(now, one) is not None]
    said = [one for one in sizes if is_said(str(getattr(now, one)), words)]
    return hand.is_order and described(hand, now) is None and bool(said or not sizes)


def described(hand: Hand, request: JobRequest) -> Cluster | None:
    """The machine of a request, where somebody described it."""
    cluster = hand.context.cluster(request)
    return None if cluster is None or is_stand_in(cluster) else cluster


def whole_nodes_said(hand: Hand, request: JobRequest, words: str) -> bool:
    """Whether all GPUs of a node are asked for and words order whole nodes: `1 noeud complet`, `all its GPUs`."""
    cluster = described(hand, request)
    if cluster is None or not WHOLE_NODE.search(words):
        return False
    queue = cluster.queue(request.queue) if request.queue else cluster.default_queue
    kinds = [cluster.node_type(one) for one in (queue.node_types if queue else ())]
    return any(request.gpus_per_node in (one.gpus.per_node, one.gpus.devices_per_node) for one in kinds)


def charged_whole(hand: Hand, request: JobRequest) -> bool:
    """Whether the machine charges a job its nodes, however much of them it uses."""
    cluster = described(hand, request)
    if cluster is None:
        return False
    queue = cluster.queue(request.queue) if request.queue else None
    whole = cluster.whole_nodes or bool(queue and queue.whole_nodes)
    return whole or (cluster.charge is not None and cluster.charge.per == "node")


def is_kind_said(hand: Hand, request: JobRequest, queue: str, words: str) -> bool:
    """Whether words name the kind of GPU that a queue's nodes have and those of the queue before do not: `move it to
    the H100s`."""
    cluster = described(hand, request)
    if cluster is None:
        return False

    def kinds(name: str) -> frozenset[str]:
        found = cluster.queue(name)
        models = (cluster.node_type(one).gpus.model for one in (found.node_types if found else ()))
        return frozenset(word.lower() for model in models for word in re.findall(r"[A-Za-z]+\d+[A-Za-z]*", model))

    new = kinds(queue) - kinds(hand.request.queue or cluster.default_queue.id)
    return any(re.search(rf"(?i)(?<![A-Za-z\d]){one}(?!\d)", words) for one in new)


def is_purpose_said(hand: Hand, request: JobRequest, queue: str, words: str) -> bool:
    """Whether words name what a queue is for: `the debug queue` where it is called otherwise."""
    cluster = described(hand, request)
    found = cluster.queue(queue) if cluster else None
    called = CALLED.get(found.purpose) if found and found.purpose else None
    return called is not None and re.search(rf"(?i)\b(?:{called}) (?:queue|partition|qos|nodes)\b", words) is not None


def asked_in(text: str) -> JobRequest:
    """What a script asks for; nothing where it cannot be read."""
    try:
        return request_of(understand_script(text))
    except InputError:
        return JobRequest()


def is_inside(name: str, before: Any, now: Any, words: str) -> bool:
    """Whether a number lies between the one before and one of its kind that was said: the nearest that can be had."""
    if name == "walltime" and before:
        held, value = (walltime_seconds(one) / 3600 for one in (before, now))
        said = times_in(in_digits(words))
    elif name in COUNTS and isinstance(before, int):
        held, value = before, now
        found = (one for one in quantities(in_digits(words)) if one.kind == ("node" if name == "nodes" else "gpu"))
        said = frozenset(number for one in found for number in one.values)
    else:
        return False
    return any(min(held, one) < value < max(held, one) for one in said)


def all_gpus(hand: Hand, request: JobRequest) -> int:
    """The GPUs of the whole job, which is how many people count them; 0 where one of the two is open."""
    plan = hand.state.get("plan")
    return (request.nodes or 0) * (request.gpus_per_node or (plan.ranks_per_node if plan else 0))


def is_multiple_said(hand: Hand, before: JobRequest, now: JobRequest) -> bool:
    """Whether the message says how many times the GPUs of before it is: `four times as many`."""
    was, wanted = all_gpus(hand, before), all_gpus(hand, now)
    said = TIMES.finditer(hand.turn.words)
    return 0 < was < wanted and any(wanted / was in numbers_in(one[0]) for one in said)


def said_last(hand: Hand) -> str:
    """The sentences of the message before that are no questions."""
    talk = hand.began.get("talk", ())
    return " ".join(one for one in SENTENCES.split(talk[-1].said) if "?" not in one) if talk else ""


def ordered_before(hand: Hand, name: str, value: object) -> bool:
    """Whether the last sentence of the earlier turns that speaks of the field ordered that very value, or where none
    does, the message before names its number.

    A question orders nothing, and takes back what was ordered before it.
    """
    start = JobRequest(machine=hand.request.machine)
    sentences = [one for turn in hand.began.get("talk", ()) for one in SENTENCES.split(turn.said)]
    for sentence in reversed(sentences):
        read = getattr(understand(sentence, start, None, None).request, name)
        if name == "queue" and read is None and stands(str(value), sentence.lower()):
            read = value
        if read is not None:
            return bool(read == value) and "?" not in sentence
    return name in NUMBERS and is_said(str(value), said_last(hand), grows=grows(getattr(hand.request, name), value))


def grows(before: object, now: object) -> bool:
    """Whether a number or a time is more than before; where there was none, it is."""
    if isinstance(before, int) and isinstance(now, int):
        return now > before
    if before and CLOCK.fullmatch(str(before)) and CLOCK.fullmatch(str(now)):
        return walltime_seconds(str(now)) > walltime_seconds(str(before))
    return True


def ordered_now(hand: Hand) -> str:
    """What this message orders: its words without its questions. One that agrees, or a few words, may mean what the
    answer before proposed."""
    words, talk = hand.turn.words, hand.began.get("talk", ())
    few = len(words.split()) <= MOST_AGREEING and "?" not in words
    # An order without a number of its own is one for what was spoken of last.
    if hand.is_order and talk and not numbers_in(words):
        return "\n".join((words, talk[-1].said, talk[-1].answered))
    if hand.is_order:
        return words
    if talk and AGREES.match(words):  # a yes may be to what was asked: can it be 6 hours? it can
        return "\n".join((words, talk[-1].said, talk[-1].answered))
    if talk and few:
        return f"{words}\n{talk[-1].answered}"
    for one in hand.turn.utterance.clauses:
        if one.act == "ask" and one.confidence >= SURELY and one.text.rstrip().endswith("?"):
            words = words.replace(one.text, " ")
    return words.strip() or "-"


def named(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the names of our fields; module names in one text are several, each by itself."""
    ours = {ALIASES.get(name, name): value for name, value in values.items()}
    return {name: tuple(re.split(r"[,;\s]+", value.strip())) if name in SEVERAL and isinstance(value, str) and value
            else value for name, value in ours.items()}  # fmt: skip


# A number of GPUs with what is counted: 4 GCDs, 2 cards.
COUNTED = re.compile(r"(?i)(\d{1,4}) ?(?:gcds?|tiles?|devices?|cards?|modules?)")


def with_each(hand: Hand, request: JobRequest, values: Mapping[str, Any]) -> tuple[JobRequest, dict[str, str]]:
    """The request with each value that can be one, and for each other field what speaks against it."""
    refused: dict[str, str] = {}
    if "environment_kind" not in values and is_other_form(request.environment, values.get("environment")):
        request = replace(request, environment_kind=None)  # of a folder it is not what it was of a name
    counted = COUNTED.fullmatch(str(values.get("gpus_per_node", "")))
    for name, value in values.items():
        try:
            for one in parts_of(name, counted[1] if counted and name == "gpus_per_node" else value):
                request = with_value(hand, request, name, as_field(name, one))
        except InputError as error:
            refused[name] = str(error)
    if COUNTS & values.keys() and "total_gpus" not in values:
        request = replace(request, total_gpus=None)
    if counted and request.gpus_per_node:
        others = tuple(one for one in request.heard if one.field != "gpus_per_node")
        return replace(request, heard=(*others, Heard("gpus_per_node", "said", counted[0]))), refused
    return (as_counted(hand, request) if request.gpus_per_node and "gpus_per_node" in values else request), refused


def is_other_form(before: str | None, now: Any) -> bool:
    """Whether one environment is a folder and the other a name."""
    return bool(before and now) and ("/" in str(before)) != ("/" in str(now))


def parts_of(name: str, value: Any) -> tuple[str, ...]:
    """What is set one after the other: a list's parts each by itself, else the whole in one text."""
    if name == "argument_edits" and isinstance(value, str):
        return tuple(NEXT_EDIT.split(value.strip()))
    if not isinstance(value, tuple):
        return (str(value),)
    if name == "binds" and not any(one.startswith("!") for one in value):  # an object's names belong to one folder
        return (",".join(value),)
    if isinstance(getattr(JobRequest(), name, None), tuple):
        return value
    if name == "args":
        return (" ".join(shlex.quote(one) if re.search(r"\s", one) else one for one in value),)
    return ((";" if name == "array" else ",").join(value),)


def as_field(name: str, value: Any) -> str:
    """A value as its field is written: a time in hours, minutes and seconds, memory without its unit."""
    text = str(value)
    if name == "walltime" and (days := SLURM_DAYS.fullmatch(text.strip())):
        return clock(24 * 3600 * int(days[1]) + 3600 * int(days[2]) + 60 * int(days[3] or 0) + int(days[4] or 0))
    if name == "walltime" and (found := SPOKEN_TIME.fullmatch(text.strip())) and any(found.groups()):
        hours = 24 * float(found[1] or 0) + float(found[2] or 0)
        return clock(3600 * hours + 60 * float(found[3] or 0))
    if name == "memory_gb" and (amount := re.fullmatch(r"(?i)(\d+)\s*g(?:i?b)?", text.strip())):
        return amount[1]
    return text


def with_value(hand: Hand, request: JobRequest, name: str, text: str) -> JobRequest:
    """The request with one value more. Raises InputError with what speaks against it and what works instead."""
    if name == "scheduler":
        return on_scheduler(hand, request, text)
    if name in GAPS and text.startswith(OPEN):  # it is left open: the script has its own placeholder for that
        return replace(request, **{name: None})  # type: ignore[arg-type]
    refuse_value(hand, request, name, text)
    if name == "walltime" and text and not CLOCK.fullmatch(text):
        raise InputError(f"walltime '{text[:40]}' is not HH:MM:SS; 24:00:00, 36h and 2 days are")
    if isinstance(getattr(request, name), tuple) and text.startswith("!") and name != "argument_edits":
        return without_item(request, name, text[1:])
    if text == "" or text.startswith("="):
        empty = () if isinstance(getattr(request, name), tuple) else None
        request, text = replace(request, **{name: empty}), text[1:]  # type: ignore[arg-type]
    if not text:
        return request
    before, request = request, with_fields(without_same(request, name, text), [f"{name}={text}"])
    now = getattr(request, name)
    for one in now if name == "then" else ():
        refuse_value(hand, request, "account", one.account or "")
    if isinstance(now, tuple) and name != "argument_edits":  # the same once more is there already
        request = replace(request, **{name: tuple(dict.fromkeys(now))})  # type: ignore[arg-type]
    return run_when_set(request) if name == "variables" and request != before else request


def without_item(request: JobRequest, name: str, text: str) -> JobRequest:
    """The request without one value of a list; a module that the site loads is taken out of its line. Raises
    InputError where the list has no such value."""

    def is_it(one: Any) -> bool:
        words = (str(getattr(one, "name", "")), str(getattr(one, "entry", "")), in_short(one))
        return text.partition("=")[0] in words if isinstance(one, Variable) else text in words

    held = getattr(request, name)
    kept = tuple(one for one in held if not is_it(one))
    if len(kept) == len(held):
        if name == "modules":
            return replace(request, modules_removed=tuple(dict.fromkeys((*request.modules_removed, text))))
        has = "; ".join(map(in_short, held)) or "nothing: it is the template's own, give it as a patch"
        raise InputError(f"no {text[:40]} among them; there is {has}")
    return replace(request, **{name: kept})  # type: ignore[arg-type]


def run_when_set(request: JobRequest) -> JobRequest:
    """The request whose variables are what a command prints, where one was written: `RUN=$(date +%s)`."""

    def as_shell(one: Variable) -> Variable:
        if one.expand or "$(" not in one.value:
            return one
        shell_line("variables", f'{one.name}="{one.value}"')
        if '"' in one.value or "`" in one.value:
            raise InputError(
                f"{one.name}: a command in it takes no double quotes; give it as before=export {one.name}=.."
            )
        return replace(one, expand=True)

    return replace(request, variables=tuple(map(as_shell, request.variables)))


def on_scheduler(hand: Hand, request: JobRequest, text: str) -> JobRequest:
    """The request on a machine that nobody described, with its scheduler told; a described one has its own."""
    cluster = hand.context.cluster(request)
    if cluster is not None and is_stand_in(cluster):
        if (scheduler := scheduler_told(text)) is None:
            raise InputError("a draft is for slurm, pbs, lsf or flux; for another give the script itself, as text")
        return replace(request, site_words=running(request.site_words, scheduler))
    if cluster is not None and cluster.scheduler == plain(text):
        return request
    runs = f"{cluster.title} runs {SUBMITS[cluster.scheduler]}; " if cluster else ""
    raise InputError(f"{runs}a script for another scheduler is one for another machine: call port_script with it")


def as_counted(hand: Hand, request: JobRequest) -> JobRequest:
    """The request with the words in which the person counted GPUs: cards, or the tiles of which a card is several."""
    count = request.gpus_per_node
    numbers = "|".join([str(count), *(word for word, value in SPOKEN.items() if value == count)])
    said = re.search(
        rf"(?i)\b(?:{numbers})\b[^.;\n\d]{{0,25}}?\b(?:gcds?|tiles?|cards?|mi\d+x?|modules?)\b", hand.words
    )
    others = tuple(one for one in request.heard if one.field != "gpus_per_node")
    told = said[0] if said else f"{count} devices" if counts_tiles(hand) else ""
    return replace(request, heard=(*others, Heard("gpus_per_node", "said", told)) if told else others)


def counts_tiles(hand: Hand) -> bool:
    """Whether the job in hand has more GPUs a node than the machine has cards: it counts their tiles."""
    cluster, before = hand.context.cluster(hand.request), hand.request.gpus_per_node or 0
    cards = [one.gpus.per_node or 0 for one in cluster.node_types if one.gpus.tiles_per_gpu > 1] if cluster else []
    return bool(cards) and hand.state.get("bundle") is not None and before > max(cards)


def refuse_value(hand: Hand, request: JobRequest, name: str, text: str) -> None:
    """Raises InputError for a value that no model may give."""
    if name == "machine":
        raise InputError("another machine is a port: call port_script")
    if name not in FIELDS:
        near = ", ".join(get_close_matches(name, sorted(FIELDS), 3, 0.5))
        raise InputError(f"no field '{name}'{f' (near: {near})' if near else ''}: give it as a patch, if at all")
    if text and name == "account" and not is_account_said(hand, request, text):
        raise InputError(f"{name} '{text[:40]}' was not said: leave it out, a placeholder stands for it")
    cluster = hand.context.cluster(request)
    if cluster is None or is_stand_in(cluster):  # nobody knows its queues; what is taken is told as not said
        return
    if name == "queue" and text and cluster.queue(text) is None and not is_said(text, hand.words):
        raise InputError(f"{cluster.title} has no queue '{text[:40]}': {', '.join(q.id for q in cluster.queues)}")


def without_same(request: JobRequest, name: str, text: str) -> JobRequest:
    """The request without the variable that is set anew."""
    if name != "variables":
        return request
    same = text.partition("=")[0].strip()
    return replace(request, variables=tuple(one for one in request.variables if one.name != same))
