"""What the script in hand costs, the batch it makes, whether other sizes would run, and whether it is right."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.asking import named_queues
from graph.answering.fact_answer import as_sentence, spell
from graph.answering.in_hand import InHand, in_hand, no_script, read_for_answers
from graph.answering.limits import in_words, short
from graph.answering.script_parts import telling_words
from graph.answering.situation import cite, write_document
from graph.extraction.batch_numbers import batch_numbers, named, ranks_of_a_model, sizes
from graph.extraction.walltime import clock
from graph.planning.charging import in_site_unit
from graph.planning.queues import limits_in_words, longest, near_ways, plural, takes
from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.document import Document
from knowledge.options import options_named
from knowledge.site import site_of
from knowledge.types import Finding, JobRequest

DYING = re.compile(r"\b(?:dies?|died|crash\w*|fails?|goes down|is lost|breaks?|drops?)\b", re.I)
# The end of the time, spoken of without a number; not `at the same time`.
OF_TIME = re.compile(
    r"(?i)\b(?:wall ?time|out of time|time(?: is|'s)? (?:up|over|out|limit)|time runs out|limit\w*|zeitlimit"
    r"|zeit (?:um|ab)\w*|l[ií]mite|tiempo|temps|tempo)\b"
)
TRIED = re.compile(r"(?i)\b(?:test\w*|try\w*|prueba\w*|prova\w*|essai\w*|smoke)\b")
# What hands a job in again at its end; --requeue alone is for nodes that fail.
AGAIN = re.compile(r"scontrol requeue|^[^\S\n]*(?:sbatch|qsub|bsub|flux batch)\b", re.M)
RESUMES = re.compile(r"--?[\w-]*(?:resume|restart|(?<![a-z])load(?![a-z])|init[-_]from)[\w-]*(?:[= ][^\s-]\S*)?", re.I)
# A question for a limit itself.
OPEN = re.compile(
    r"(?i)\b(?:how|why|warum|what|which|when|wie|was|welche\w*|wann|cu[aá]n\w*|qu[eé]|combien|quel\w*|quant\w*|ile|max\w*|longest)\b"
)
# An option with its value in a question, and what stands before it in a script.
VALUED = re.compile(r"(?<![\w-])(?:--?[A-Za-z][\w-]*[= ]?[\w:.-]+|(?:walltime|select)=[\w:]+)")
MARKS = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "flux": "#flux:"}
OF_SIZE = (
    *("slurm-time", "slurm-nodes", "slurm-partition", "slurm-qos", "pbs-walltime", "pbs-queue", "flux-time"),
    *("flux-nodes", "flux-queue", "lsf-time", "lsf-nnodes", "lsf-queue"),
)
OF_THE_END = ("script.whatif", "job.resubmit", "next")
SIZED = ("nodes", "nnodes", "select")
ENOUGH = re.compile(r"(?i)\b(?:enough|(?:aus)?reich\w*|basta\w*|suffi\w*|suficiente)\b")
MOST_FINDINGS = 6
SECONDS = {"min": 60, "hour": 3600, "day": 86400}
UNSEEN = "Not seen from here: your account, the modules and the environment, and what the program itself does."
MACHINE = "Which machine is it for? Then I hold it against its queues and nodes as well."


def in_gpus(hours: float, each: int, machine: Cluster | None) -> str:
    """Node hours as hours of GPUs, each: devices of a node. Sites charge cards, of which a device may be a part."""
    kind = machine.node_type(machine.default_queue.node_types[0]).gpus if machine else None
    parts = kind.tiles_per_gpu if kind else 1
    if kind is None or parts == 1:
        return f", that is x {plural(each, 'GPU')} a node = {hours * each:g} GPU hours"
    name = kind.tile_name or "tile"
    return (
        f", that is x {plural(each, name)} a node = {hours * each:g} {name} hours = {hours * each / parts:g} GPU hours"
    )


# What the price of the script before a change was told to be.
HOURS_TOLD = re.compile(r"= \**([\d.]+) node hours")


def hours_told(ask: Ask) -> float | None:
    """The node hours that were told last; None where none were."""
    return next((float(one[1]) for row in ask.statements if (one := HOURS_TOLD.search(row.text))), None)


def tell_same_cost(ask: Ask) -> Document | None:
    """Whether the script costs what was told before it changed; None where that is not asked, or nothing was told."""
    asked = ask.topic in ("script.cost", "site.charging") and STAYS.search(ask.text)
    return tell_cost(ask) if asked and hours_told(ask) and in_hand(ask) else None


def tell_cost(ask: Ask) -> Document | None:
    """Nodes x hours with their parts, and how the machine charges them. Sizes that are said go before the script's."""
    hand = in_hand(ask)
    machine = hand.cluster if hand and hand.cluster else ask.machine
    nodes, seconds = said_nodes(ask), said_seconds(ask)
    if hand is None and not (nodes and seconds):
        return no_script() if machine is None else charged(machine, "")
    nodes = nodes or (hand.nodes if hand else None)
    time = seconds / 3600 if seconds else hand.hours if hand else None
    each = hand.per_node if hand else usual_gpus(machine)
    if not nodes or not time:
        missing = "how many nodes" if not nodes else "for how long"
        return write_document(f"The script does not say {missing} it takes, so its price is open: nodes x hours.")
    hours = nodes * time
    sum_of = f"At most {plural(nodes, 'node')} x {time:g} h = **{hours:g} node hours**"
    gpus = in_gpus(hours, each, machine) if each else ""
    queue = hand.queue if hand else None
    factor = (
        f"Queue {queue.id}: {queue.note}" if queue and queue.note and re.search("price|charge|free", queue.note) else ""
    )
    asked = JobRequest(
        nodes=nodes,
        walltime=clock(time * 3600),
        queue=queue.id if queue else None,
        gpus_per_node=hand.per_node if hand else None,
    )
    there = in_site_unit(asked, machine)
    told = f"{sum_of}{gpus}{f', charged as **{there}** there' if there else ''}, if it runs to its limit."
    if STAYS.search(ask.text) and (before := hours_told(ask)):
        same = (
            "The same as before." if before == hours else f"Not the same: {before:g} node hours before, {hours:g} now."
        )
        told = f"{same} {told}"
    return charged(machine, told, factor) if machine else write_document(told)


def charged(machine: Cluster, told: str, factor: str = "") -> Document:
    site = site_of(machine.id)
    facts = site.queue_wait if site else None
    rule = f"On {machine.title}: {facts.charge}" if facts and facts.charge else ""
    unknown = (
        "" if rule else f"How {machine.title} charges is not in what I know; its support or your project's page tells."
    )
    return write_document(
        told,
        as_sentence(factor),
        as_sentence(rule),
        unknown,
        cite(facts.sources if facts else (), site.as_of if site else ""),
    )


def usual_gpus(machine: Cluster | None) -> int | None:
    """GPUs of the machine's usual node."""
    return machine.node_type(machine.default_queue.node_types[0]).gpus.per_node if machine else None


def said_nodes(ask: Ask) -> int | None:
    found = (m for m in ask.utterance.within(ask.clause) if m.kind == "Quantity" and m.unit == "node")
    return next((int(m.value) for m in found), None)


def said_seconds(ask: Ask) -> int | None:
    """The time that is said; `the 2h` is read as a number of hours."""
    found = (
        (m.value, SECONDS.get(m.unit, 1))
        for m in ask.utterance.within(ask.clause)
        if m.kind == "Duration" or (m.kind == "Quantity" and m.unit in SECONDS)
    )
    return next((round(float(value) * each) for value, each in found), None)


# Whether something is as it was; and how a script that was moved tells its ranks before and now.
STAYS = re.compile(
    r"(?i)\b(?:stays?|staying|same|keeps?|kept|unchanged|bleib\w*|gleich|reste\w*|même|sigue|igual|misma|stess[ao])\b"
)
BECAME = re.compile(r"\b(\d+) x (\d+) ranks become (\d+) x (\d+)\b")


def tell_same_batch(ask: Ask) -> Document | None:
    """Whether the global batch of a script that was moved is what it was, by both counts of ranks and its own batch;
    None where that is not asked, or one of the two is not known."""
    hand = in_hand(ask)
    told = next((one for row in ask.statements if (one := BECAME.search(row.text))), None)
    if hand is None or told is None or not STAYS.search(ask.text):
        return None
    nodes, each, now_nodes, now_each = map(int, told.groups())
    before, now, found = nodes * each, now_nodes * now_each, batch_numbers(hand.text)
    if now != hand.gpus or named(found, "whole"):
        return None
    size, more = sizes(found), named(found, "steps")
    steps = more.value if more else 1
    times, by = (size.value * steps if size else 1), (f"{size.value} x " if size else "the batch of one rank x ")
    parts = [f"{by}{ranks} ranks{f' x {steps} accumulation steps' if more else ''}" for ranks in (before, now)]
    sums = [f" = {times * ranks}" if size else "" for ranks in (before, now)]
    if before == now:
        says = f"Yes: {parts[1]}{sums[1]} samples a step, as before; nothing to retune for that."
    else:
        whole = size and size.value * before % now == 0
        keep = f" `{size.option} {size.value * before // now}` keeps it." if size and whole else ""
        says = f"No: {parts[0]}{sums[0]} before, {parts[1]}{sums[1]} now.{keep}"
    doubt = "" if more else f"If {hand.entry} accumulates gradients, times that, before and now alike."
    return write_document(says, doubt)


def tell_batch(ask: Ask) -> Document | None:
    """Samples a step over all GPUs, with its parts; whether they are as before the script was moved."""
    hand = in_hand(ask)
    if hand is None:
        return None
    if same := tell_same_batch(ask):
        return same
    ranks, request = hand.gpus, ask.request
    found = batch_numbers(hand.text)
    whole, each, more = named(found, "whole"), sizes(found), named(found, "steps")
    split = ranks_of_a_model(found)
    total = whole.value if whole else request.global_batch
    micro = each.value if each else request.micro_batch
    groups = ranks // split if ranks and ranks % split == 0 else ranks
    if total:
        return write_document(f"**{total}**, as the script says itself.", passes(total, micro, groups))
    if not micro or not groups:
        open_part = "a rank's batch" if not micro else "how many ranks run"
        times = f"{groups} x the batch of one rank" if groups else "the batch of one rank x the number of ranks"
        return write_document(
            f"The script does not say {open_part}: that is {hand.entry}'s own. The global batch is {times}, x the "
            "accumulation steps if it accumulates gradients."
        )
    steps = more.value if more else 1
    parts = f"{micro} x {groups} ranks" + (f" ({ranks} / {split} that share one model)" if split > 1 else "")
    parts += f" x {steps} accumulation steps" if more else ""
    option = f"`{each.option} {each.value}`" if each else "the batch said"
    doubt = f"That holds if {option} counts one rank, as it mostly does; {hand.entry} decides."
    return write_document(f"{parts} = **{micro * groups * steps}** samples a step.", doubt)


def passes(total: int, micro: int | None, groups: int | None) -> str:
    """How many passes of each rank make one step, or that it does not divide."""
    if not micro or not groups:
        return ""
    left = total % (micro * groups)
    if left:
        return f"It does not divide: {total} is no multiple of {micro} x {groups} ranks = {micro * groups}."
    return (
        f"{total} / ({micro} x {groups} data-parallel ranks) = {total // (micro * groups)} passes of each rank a step."
    )


def tell_whatif(ask: Ask) -> Document | None:
    """Whether another size would be accepted; what happens when a node dies, or when the script's own time is up."""
    hand = in_hand(ask)
    if DYING.search(ask.text):
        return when_it_dies(hand)
    if said_nodes(ask) and ENOUGH.search(ask.text):
        return None  # what a queue takes says nothing of memory
    if size := tell_size(ask, hand):
        return size
    timed = said_seconds(ask) is not None or OF_TIME.search(ask.text)
    return when_time_is_up(hand) if timed and said_nodes(ask) is None else None


def tell_size(ask: Ask, hand: InHand | None) -> Document | None:
    """Whether the nodes, the time, the queue or the machine that are said would be taken; None where they are the
    script's own, and where none is said."""
    machine = ask.machine or (hand.cluster if hand else None)
    written = written_in(ask, hand)
    nodes = said_nodes(ask) or (written.nodes if written and {*SIZED} & {*written.script.active} else None)
    seconds = said_seconds(ask) or (round(written.hours * 3600) if written and written.hours else None)
    queue = next((one for _, one in named_queues(ask.text.lower(), machine)), None) if machine else None
    queue = queue or (written.queue if written else None)
    elsewhere = bool(hand and hand.cluster and machine and machine.id != hand.cluster.id)
    own = round(hand.hours * 3600) if hand and hand.hours else None
    same_queue = queue is None or (hand is not None and queue is hand.queue)
    if hand and not nodes and seconds in (None, own) and same_queue and not elsewhere:
        return None
    nodes, seconds = nodes or (hand.nodes if hand else ask.request.nodes), seconds or own
    if machine is None or nodes is None or seconds is None:
        return None
    told = would_run(machine, nodes, seconds, None if elsewhere else hand, queue)  # another machine's queue
    for_test = [one for one in machine.queues if one.purpose == "debug" and one.node_types and TRIED.search(ask.text)]
    return told + write_document(*(f"For a test there is {short(one)}." for one in for_test[:1]))


def allows(ask: Ask) -> Document | None:
    """Whether the machine allows the script in hand with the size that is said or written as an option (`can I just set
    -t 6:00:00`), where that is a question of yes or no."""
    hand = in_hand(ask)
    written = any(fact.id in OF_SIZE for word in telling_words(ask.text) for fact in options_named(word))
    said = ask.topic in ("site.limits", "script.whatif") and (said_nodes(ask) or said_seconds(ask))
    return (
        tell_size(ask, hand)
        if hand and (written or said) and not (OPEN.search(ask.text) or ENOUGH.search(ask.text))
        else None
    )


def written_in(ask: Ask, hand: InHand | None) -> InHand | None:
    """The options with their values that stand in the question, read as directives of the script."""
    mark = MARKS.get(hand.record.scheduler) if hand else None
    found = VALUED.findall(ask.text) if mark else []
    rows = "\n".join(f"{mark} {'' if one[0] == '-' else '-l '}{one}" for one in found)
    read = read_for_answers(f"{rows}\ntrue") if rows else None
    return InHand("", rows, *read, hand.cluster) if read and hand else None


def tell_own_time(ask: Ask) -> Document | None:
    """What happens when the script's time is up, where that very time is spoken of."""
    hand, seconds = in_hand(ask) if ask.topic in OF_THE_END else None, said_seconds(ask)
    if hand is None or not hand.hours or seconds != round(hand.hours * 3600) or ask.utterance.machines():
        return None
    return when_time_is_up(hand) if said_nodes(ask) is None and not DYING.search(ask.text) else None


def when_time_is_up(hand: InHand | None) -> Document:
    """What a time limit does, whether the job goes on when it is handed in again, and what to have done before."""
    limit = f" after {hand.hours:g} h" if hand and hand.hours else ""
    again, entry = hand and AGAIN.search(hand.text), hand.entry if hand else "your program"
    starts = "the script hands it in again" if again else "nothing starts it again by itself"
    resume = RESUMES.search(hand.record.args or "") if hand else None
    none = "; no argument in the script tells it to" if hand else ""
    passed = f"; the script passes it `{resume[0]}`" if resume else none
    slurm = hand is not None and hand.record.scheduler == "slurm"
    warn = "`#SBATCH --signal=B:USR1@300` warns the script 5 minutes before. " if slurm else ""
    cluster, nodes = hand.cluster if hand else None, (hand.nodes if hand else None) or 1
    queues = [one for one in cluster.queues if one.purpose == "production" and one.node_types] if cluster else []
    longer = [(one, most) for one in queues if (most := longest(one, nodes))]
    taken = ", ".join(f"{one.id} ({spell(most)})" for one, most in longer if takes(one, nodes, most, 1))
    return write_document(
        f"The scheduler ends it{limit}, finished or not: what was not saved by then is lost, and {starts}.",
        f"Submitted again it does not carry on: it starts over, unless {entry} finds and loads its newest "
        f"checkpoint{passed}.",
        f"The longest time for {plural(nodes, 'node')}: {taken}." if taken else "",
        f"{warn}Save every 15 to 30 minutes. Say *chain 3 of them*, *requeue it at the limit*, or a longer time, and I "
        "write that into the script.",
        cite([queues[0].source or ""] if taken else (), cluster.as_of if cluster else ""),
    )


def would_run(machine: Cluster, nodes: int, seconds: int, hand: InHand | None, queue: Queue | None) -> Document:
    """By the queues' limits: yes where, or no and what is nearest. queue: the one that is named."""
    job, ranks = f"{plural(nodes, 'node')} for {in_words(seconds)}", hand.per_node if hand else None
    own, queues = queue or (hand.queue if hand else None), [one for one in machine.queues if one.node_types]
    fitting = [one for one in queues if takes(one, nodes, clock(seconds), ranks or 1)]
    sure = [one for one in fitting if longest(one, nodes)]
    pages = [one.source or "" for one in (own, *sure) if one]
    sources = cite(dict.fromkeys(pages[:3]), machine.as_of)
    if own and own in sure:
        yes = f"Yes: {own.id} of {machine.title} takes {job}. {price(nodes, seconds)}"
        offer = f"The script is as it was: say *make it {job}{f' in {queue.id}' if queue else ''}*, and I put it in."
        return write_document(yes, limit_of(own, nodes), offer if hand else "", sources)
    others = ", ".join(one.id for one in sure if one is not own)
    if own:
        whose = "" if queue else ", the script's queue,"
        no = f"No: {own.id}{whose} does not take {job}."
        usual = [one for one in queues if one.purpose == "production" and one not in (own, *fitting)]
        near = nearest([own, *usual], nodes, seconds, ranks)
        none = f"No queue of {machine.title} is known to take {job}."
        these = f"These of {machine.title} do: {others}." if others else none
        return write_document(f"{no} {limit_of(own, nodes)}", these, near, sources)
    if sure:
        verb = "takes" if len(sure) == 1 else "take"
        return write_document(f"Yes: on {machine.title} {others} {verb} {job}. {price(nodes, seconds)}", sources)
    if fitting:
        names = ", ".join(one.id for one in fitting)
        return write_document(
            f"Perhaps: {names} of {machine.title} take so many nodes; the time limit is not known.", sources
        )
    no = f"No: no queue of {machine.title} is known to take {job}. {price(nodes, seconds)}"
    limits = "; ".join(limits_in_words(one) for one in queues[:6])
    return write_document(no, nearest(queues, nodes, seconds, ranks), f"Its queues: {limits}.", sources)


def limit_of(queue: Queue, nodes: int) -> str:
    most = longest(queue, nodes)
    at = f"With {plural(nodes, 'node')} it allows {spell(most)} at most." if most and queue.limits else ""
    return at or f"It takes {short(queue).partition(': ')[2]}."


def nearest(queues: list[Queue], nodes: int, seconds: int, ranks: int | None) -> str:
    """The nearest sizes that would be taken."""
    ways = [way for one in queues for way in near_ways(one, nodes, clock(seconds), ranks or 1)]
    says = dict.fromkeys(way.says for _, way in sorted(ways, key=lambda pair: pair[0]))
    return f"Nearest: {'; '.join([*says][:4])}." if says else ""


def price(nodes: int, seconds: int) -> str:
    return f"It is {nodes} x {seconds / 3600:g} h = {nodes * seconds / 3600:g} node hours at most."


def when_it_dies(hand: InHand | None) -> Document:
    """What is lost when a node or rank goes, and what would help, which is offered and not done."""
    again = hand is not None and re.search(r"--requeue|#PBS -r y|#BSUB -r|max[-_]restarts", hand.text) is not None
    ends = "The whole job ends: the other ranks wait for the lost one, and the launcher or a timeout stops them all."
    back = (
        "The script asks to be started again then, from its top: the program must load its newest checkpoint."
        if again
        else "Nothing in the script starts it again. What is lost is the work since the last checkpoint."
    )
    return write_document(
        ends,
        back,
        "What helps: a checkpoint every 15 to 30 minutes, loading the newest one at the start, and then "
        "*requeue it* or *chain 4 of them*. Say so and I add it.",
    )


# A question to which "nothing" is the good answer.
CARRY = "Name the machine that you have now and I carry the script over."
WRONG = re.compile(r"(?i)\b(?:wrong|missing|problems?|mistakes?|errors?|issues?|bugs?|else)\b")


def review_script(ask: Ask, goal: Cluster | None = None) -> Document | None:
    """Whether it would be accepted and run, on the machine that it is for or on `goal`: what the check finds, worst
    first, with its reason."""
    hand = in_hand(ask)
    if hand is None:
        return no_script()
    hand = replace(hand, cluster=goal) if goal else hand
    from graph.verification.checks.run import check

    found = [one for one in check(hand.text, hand.cluster) if one.severity != "info"]
    errors = [one for one in found if one.severity == "error"]
    where = f" on {hand.cluster.title}" if hand.cluster else ""
    site = site_of(hand.cluster.id) if hand.cluster else None
    if hand.cluster and site and site.retired:
        gone = (
            f"No: {hand.cluster.title} is gone since {site.retired.date} ({site.retired.what}); nothing starts there."
        )
        return write_document(gone, CARRY, cite(site.retired.sources, site.retired.date))
    holds = " ".join(filter(None, (fine(hand), at_limit(hand))))
    unknown = UNSEEN if hand.cluster else MACHINE
    if not found:
        yes = "" if WRONG.search(ask.text) else "Yes: "
        return write_document(f"{yes}I find nothing wrong with it{where}.", holds, unknown)
    opening = (
        f"No: {plural(len(errors), 'thing')} would stop it{where}."
        if errors
        else f"It would start{where}, but I would change this."
    )
    told = [tell_finding(one) for one in found[:MOST_FINDINGS]]
    more = f"{len(found) - MOST_FINDINGS} more: /check tells all." if len(found) > MOST_FINDINGS else ""
    offer = "Say *fix it* and I change these lines and nothing else."
    pages = [one.source or "" for one in found[:MOST_FINDINGS]]
    source = cite(pages, hand.cluster.as_of if hand.cluster else "")
    return write_document(opening, *told, more, holds, offer, unknown, source)


def tell_finding(finding: Finding) -> str:
    at = f"**Line {finding.line}:** " if finding.line else ""
    return f"{at}{as_sentence(finding.says)} {as_sentence(finding.why)}"


def at_limit(hand: InHand) -> str:
    """That the job takes all the time that its queue gives."""
    most = longest(hand.queue, hand.nodes) if hand.queue and hand.nodes and hand.hours else None
    if hand.queue is None or most is None or not hand.hours or walltime_seconds(most) != round(hand.hours * 3600):
        return ""
    job = plural(hand.nodes or 1, "node")
    return f"That is all that {hand.queue.id} gives {job}: a longer run has to go on from a checkpoint."


def fine(hand: InHand) -> str:
    """The counts that add up."""
    size = (
        f"{plural(hand.nodes, 'node')} x {plural(hand.per_node, 'GPU')} = {hand.gpus} GPUs"
        if hand.nodes and hand.per_node
        else ""
    )
    return f"It takes {size}{f' for at most {hand.hours:g} h' if hand.hours else ''}." if size else ""
