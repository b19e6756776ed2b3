"""Changes of the script in hand: by fields, or by a patch that passes the checks; what costs unordered is offered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations, islice
from typing import Any, TypeVar

from graph.conversation.history import CLEAN
from graph.conversation.script_job import machine_for
from graph.conversation.scripts import OF_A_SITE, made_of
from graph.conversing.accounts import is_account_said
from graph.conversing.dangers import dangerous
from graph.conversing.deciding import MOST_TRIED, NOT_FIELD, SAME, SIZE, UNSAID, as_much, decide, is_refused
from graph.conversing.hand import Hand, differing, in_short
from graph.conversing.orders import (
    COUNTS,
    GAPS,
    WEIGHTY,
    as_many_gpus,
    named,
    ordered_now,
    parts_of,
    unsaid,
    with_each,
)
from graph.conversing.rewriting import (
    Hunk,
    as_patches,
    hunks_between,
    laid_over,
    most_of,
    rebased,
    with_hunks,
    without_fence,
)
from graph.conversing.said import is_said
from graph.conversing.swaps import swapped
from graph.conversing.tools import Swap
from graph.debugging.remedies import price, request_of
from graph.debugging.remedies import says as in_words
from graph.extraction.batch_numbers import batch_numbers
from graph.extraction.job_shape import array_of, job_shape
from graph.extraction.script import read_script
from graph.extraction.script_record import gpu_kind_of, record_of
from graph.nodes.debug import as_planned
from graph.nodes.verify import worded
from graph.planning.patches import is_in, patches_between
from graph.planning.request_fields import FIELDS
from graph.planning.strategies import with_usual_framework
from graph.reading.message import SCRIPT_FILE
from graph.undescribed import is_stand_in
from graph.usecases.edit_script import Edited, queue_of
from graph.usecases.launch_counts import NODES
from graph.usecases.own_orders import FieldOrder
from graph.verification.checks import check
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.script_keys import keys_from_shell, with_its_keys
from knowledge.types import Assumption, Finding, JobRequest, Offer, Paste

Item = TypeVar("Item")
MOST_REFUSED = 3
OFFERED = "NOT done, offered: {}. It costs ({}). Tell the person, who takes it with *yes* (or its number)."
GIVEN_UP = "That is the third patch that was refused: tell the person what you tried and what speaks against it."
REFUSED = "not done: {}: {}"
BY_CHECKS = "the checks refuse it: {}"
WAITS = "With it wait (give what of them was ordered in lines of its own): {}."
NOT_SAID_ACCOUNT = "account '{}' was not said"
WITH_LINES = "(or give it with the lines it takes, in text)"
NO_SURE_PLACE = "not done: {}: lines beside it stand more than once; give it with more of the lines around it"
OTHER_NODES = "the launch counts {} nodes, the job has {}"
STILL = "wrong before, and still so: {}"
NEW = "with this change the checks warn: {}"
MOST_NEW = 3
IN_TEXT = "the text has another value, or none"
KEPT = "kept: the remarks of lines {} (only a patch takes remarks out)"
OF_BATCH = re.compile(r"; the global batch [^;]*")
# What of a script of ours is a field, however its text says it.
SIZED = (*WEIGHTY, "account")
AS_IT_IS = "{}={}: the script has that already"


def change_fields(hand: Hand, values: Mapping[str, Any]) -> str:
    """A typed edit of our script, each field by itself: what goes together is done, the rest told with its ways.

    What the person ordered is done; what costs more and was not ordered is offered.
    """
    values = named(values)
    hand.withdraw(values)
    wanted, refused = with_each(hand, hand.request, values)
    if "strategy" in values and "framework" not in values and hand.request.framework in ("pytorch", "deepspeed"):
        wanted = with_usual_framework(replace(wanted, framework=None))
    fitting, left = as_much(hand, hand.request, wanted, values)
    told = [NOT_FIELD.format(name, in_short(values.get(name, "")), why) for name, why in refused.items()]
    if fitting != hand.request or not (left or refused):
        told.append(change_request(hand, fitting, {name: values[name] for name in values if name not in left}))
    size = tuple(name for name in left if name in SIZE)
    for names in filter(None, (*((name,) for name in left if name not in SIZE), size)):
        asked = replace(hand.request, **{name: getattr(wanted, name) for name in names})
        told.append(decide(hand, asked, hand.cluster_of(asked), apart=names if len(names) < len(values) else ()))
    return "\n".join([one for one in told if one != SAME] or told)


def change_request(hand: Hand, wanted: JobRequest, values: Mapping[str, Any]) -> str:
    """The script of a request that the machine can do, or the part of it that was ordered and the rest offered."""
    cluster = hand.cluster_of(wanted)
    costs, open_ = price_of(hand, wanted), unsaid(hand, hand.request, wanted, ordered_now(hand))
    if not (costs and open_) or is_refused(hand, wanted):
        return decide(hand, wanted, cluster, costs=costs, given=values)

    def without(names: Sequence[str]) -> JobRequest:
        return replace(wanted, **{name: getattr(hand.request, name) for name in names})

    ordered = without(open_)
    if ordered == hand.request:
        return offer_fields(hand, wanted, tuple(name for name in differing(hand.request, wanted) if name in WEIGHTY))
    # What was ordered takes with it what it cannot be without.
    open_ = next((names for names in fewer(open_) if not is_refused(hand, without(names))), ())
    ordered = without(open_)
    told = decide(hand, ordered, cluster, costs=price_of(hand, ordered), given=values)
    told = "" if told == SAME and open_ else told  # what is open would be another
    rest = ""
    if open_:
        rest = offer_fields(hand, wanted, open_) if price_of(hand, wanted) else decide(hand, wanted, cluster)
    return "\n".join(filter(None, (told, rest)))


def fewer(names: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """The names, and then always fewer of them, at last none; so many of the ways as are worth a trial."""
    ways = chain.from_iterable(combinations(names, size) for size in range(len(names), -1, -1))
    return islice(ways, MOST_TRIED)


def price_of(hand: Hand, wanted: JobRequest) -> str:
    """What the wanted request costs more than the script in hand."""
    before = as_planned(hand.request, hand.state.get("plan"))
    same = {n: getattr(before, n) for n in ("walltime", "queue", "nodes", "strategy")
            if getattr(wanted, n) == getattr(hand.request, n)}  # fmt: skip
    return price(before, replace(wanted, **same), hand.context.cluster(wanted))


def offer_fields(hand: Hand, wanted: JobRequest, names: Sequence[str]) -> str:
    """The fields' new values as an offer with its price."""
    change = tuple((name, getattr(wanted, name)) for name in names)
    before = as_planned(hand.request, hand.state.get("plan"))
    offer = Offer(in_words(before, change), price_of(hand, wanted), change)
    hand.offer(offer)
    return OFFERED.format(offer.says, offer.price)


def order_of(hand: Hand, start: JobRequest, name: str, value: Any) -> FieldOrder:
    """A field as it was given. Raises InputError with what no script can have."""
    gone, coming = list[str](), list[str]()
    for part in parts_of(name, value):
        goes = not part or (part.startswith("!") and name != "argument_edits")
        (gone if goes else coming).append(part.removeprefix("!" if goes else "="))
        gone += [""] if name == "constraint" and part.startswith("=") else []
    given = tuple(coming) if isinstance(value, tuple) or len(coming) > 1 else "".join(coming)
    wanted, refused = with_each(hand, start, {name: given}) if coming or name not in FIELDS else (start, {})
    if refused:
        raise InputError(refused[name])
    return FieldOrder(name, in_short(value), wanted, tuple(gone))


def change_own(hand: Hand, own: Paste, values: Mapping[str, Any], patch: Sequence[Swap] = (), text: str = "") -> str:
    """Fields of the person's own script, each by itself; what finds no place in it is told, what costs is offered.

    patch, text: what the same call changes of the text; the checks read both together.
    """
    cluster, values, told = machine_for(hand.now(), own), named(values), list[str]()
    hand.withdraw(values)
    was, start, orders = (
        asked_by(own.text, cluster),
        JobRequest(machine=cluster.id if cluster else None),
        list[FieldOrder](),
    )
    if "machine" in values:  # where it runs; nothing in it changes by that
        told.append(hand.runs_on(str(values.pop("machine"))))
        cluster = None if is_stand_in(theirs := hand.cluster_of(hand.request)) else theirs
    if "environment" in values and values.get("environment_kind"):  # the one says what the other is
        start = with_each(hand, start, {"environment_kind": values.pop("environment_kind")})[0]
    for name, value in values.items():
        try:
            orders.append(order_of(hand, start, name, value))
        except InputError as error:
            told.append(NOT_FIELD.format(name, in_short(value), error))
    words = ordered_now(hand)
    whole = replace(was, **{one.name: one.value for one in orders if one.name in COUNTS and one.value})
    counts = COUNTS if whole != was and as_many_gpus(was, whole) else ()
    open_ = [
        one
        for one in orders
        if one.name in WEIGHTY
        and one.name not in counts
        and unsaid(hand, was, replace(was, **{one.name: one.value}), words)
    ]
    script = hand.state.get("own") or own
    begin = script.text.replace("\r\n", "\n")
    try:
        begin, kept = changed_text(hand, script, patch, text)
        told += [kept] if kept else []
    except InputError as error:
        told.append(f"error: {error}")
    told += put_orders(hand, own, cluster, [one for one in orders if one not in open_], open_, begin)
    return "\n".join(told)


def put_orders(
    hand: Hand,
    own: Paste,
    cluster: Cluster | None,
    ordered: Sequence[FieldOrder],
    open_: Sequence[FieldOrder],
    begin: str,
) -> list[str]:
    """What was ordered put into the script, with what it cannot be without; the rest offered or told as not done.

    begin: the script's text with what else the call changes.
    """
    script, plain = hand.state.get("own") or own, begin
    patched = begin != script.text.replace("\r\n", "\n")

    def with_those(orders: Sequence[FieldOrder]) -> tuple[Edited, list[str], list[str]]:
        """The script with these fields, what of them has no place or changes nothing, and what the checks say."""
        now, wrong = Edited(plain, ()), list[str]()
        for one in orders:
            try:
                now, before = one.put(now, cluster, own.name), now
                wrong += [AS_IT_IS.format(one.name, one.shown)] if now.text == before.text else []
            except InputError as error:
                wrong.append(NOT_FIELD.format(one.name, one.shown, error))
        return now, wrong, new_errors(script.text, now.text, cluster)

    told = list[str]()
    # All that goes together: without what was not ordered, else with what the order cannot be without, else fewer.
    ways: list[Sequence[FieldOrder]] = (
        [*((*ordered, *more) for more in reversed(list(fewer(open_)))), *fewer(ordered)] if ordered else [()]
    )
    done = next((orders for orders in ways if not with_those(orders)[2]), ())
    for one in (one for one in ordered if one not in done):
        speaks = "; ".join(dict.fromkeys(with_those([*done, one])[2] or with_those(ordered)[2]))
        told.append(NOT_FIELD.format(one.name, one.shown, f"{BY_CHECKS.format(speaks)} {WITH_LINES}"))
    for orders, is_order in ((done, True), ([one for one in open_ if one not in done], False)):
        now, wrong, _ = with_those(orders)
        told += wrong
        if now.text != script.text.replace("\r\n", "\n"):
            text, says = in_its_lines(script.text, now.text), now.says
            if patched and sizes_told(plain) != sizes_told(script.text):
                says = tuple(OF_BATCH.sub("", one) for one in says)  # it was reckoned with the numbers before
            told.append(take_text(hand, script, text, *says, ordered=is_order and bool(orders) and not patched))
            script = hand.state.get("own") or own
            plain = script.text.replace("\r\n", "\n")
    return told


def sizes_told(text: str) -> list[tuple[str, int]]:
    """Each number of a batch that a script gives, with its option."""
    return [(one.option, one.value) for one in batch_numbers(text)]


def in_its_lines(before: str, after: str) -> str:
    """The changed text with the line ends of the one before."""
    return after.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in before else after


def asked_by(text: str, cluster: Cluster | None) -> JobRequest:
    """What a script asks for; its program's strategy is no matter of its text."""
    script = read_script(text)
    record = record_of(script)
    read, shape = request_of(record), job_shape(script, record.scheduler or "")
    tasks = array_of(shape.value("array") or shape.value("job-name").partition("[")[2])  # LSF's stand in its name
    queue = queue_of(text, read.queue, cluster)
    return replace(read, queue=queue, node_type=gpu_kind_of(script), strategy=None, array=tasks)


def changed_text(hand: Hand, script: Paste, patch: Sequence[Swap], text: str) -> tuple[str, str]:
    """The script (line ends as LF) with a patch and a changed text, and what is to be told of them: pieces without a
    place, and what the script keeps of its own.

    Raises InputError where nothing has a place.
    """
    now, wrong = swapped(script.text, patch)
    now, kept = laid_over(now, text) if text else (now, ())
    now = with_its_keys(now, script.text)
    told = [f"not done of the patch: {one}" for one in wrong]
    if kept and hand.state.get("own"):
        told.append(KEPT.format(", ".join(map(str, kept))))
    return now, "\n".join(told)


def write_text(hand: Hand, cluster: Cluster, text: str, given: Mapping[str, Any], file: str = "") -> str:
    """A first script, or another job's, as a text that no field tells: taken where the checks find no error in it.

    What weighs in it and nobody said is told to the person; what of the fields it has otherwise is not done.
    """
    if hand.refused >= MOST_REFUSED:
        raise InputError(GIVEN_UP)
    text = "\n".join(without_fence(text.replace("\r\n", "\n").strip("\n").split("\n"))) + "\n"
    text = with_its_keys(text, hand.script().text if hand.state.get("bundle") else "")
    text, keys = keys_from_shell(text)
    facts = None if is_stand_in(cluster) else cluster
    asked = asked_by(text, facts)
    request = hand.on(hand.name_of(cluster), replace(asked, framework=None, machine=None, node_type=None))
    if errors := faults_of_text(hand, request, text, facts):
        hand.refused += 1
        raise InputError(f"not written; the checks refuse it: {'; '.join(errors[:5])}")
    open_ = [name for name in unsaid(hand, JobRequest(machine=request.machine), asked) if name != "strategy"]
    made = file or named_by(hand) or f"{re.sub(r'[^a-z0-9]+', '-', hand.name_of(cluster).lower()).strip('-')}.sh"
    if hand.state.get("bundle"):
        hand.park()
    hand.set(**{**CLEAN, "jobs": hand.state.get("jobs", ()), "request": request})
    told = hand.adopt(made_of(hand.now(), Paste(made, text), *keys))
    hand.set(request=replace(hand.request, machine=request.machine, site_words=request.site_words))
    hand.set(left_to_us=tuple(Assumption(name, str(getattr(asked, name)), UNSAID) for name in open_))
    values = {name: given[name] for name in SIZED if name in given}
    if asked.strategy is None:  # a program's own matter, which no line of a text has to tell
        values.pop("strategy", None)
    others = [name for name, value in values.items() if str(getattr(asked, name, None)) != str(value)]
    return "\n".join([told, *(NOT_FIELD.format(one, in_short(given[one]), IN_TEXT) for one in others)])


def faults_of_text(hand: Hand, request: JobRequest, text: str, facts: Cluster | None) -> list[str]:
    """What speaks against a whole text for a machine: an account that nobody named, dangers, the checks' errors."""
    asked, found = asked_by(text, facts), check(text, facts)
    account, theirs = asked.account, asked.queue and is_said(asked.queue, hand.words)
    open_ = account and "YOUR_" not in account and not is_account_said(hand, request, account)
    return [
        *([f"{NOT_SAID_ACCOUNT.format(account)}: write YOUR_ACCOUNT"] if open_ else []),
        *filter(None, [dangerous(text)]),
        *(worded(one) for one in found if one.severity == "error" or (one.rule in OF_A_SITE and not theirs)),
    ]


def named_by(hand: Hand) -> str:
    """The one file that the message names and that is none of the thread's scripts, nor in one of them; empty where it
    names none, or several."""
    found = dict.fromkeys(one["name"] for one in SCRIPT_FILE.finditer(hand.turn.words))
    held = hand.script().text if hand.state.get("bundle") else ""
    new = [one for one in found if one not in hand.names() and one not in held]
    return new[0] if len(new) == 1 else ""


def change_text(hand: Hand, patch: Sequence[Swap], text: str = "") -> str:
    """A changed text or a patch of the script in hand, judged by its hunks."""
    script = hand.script()
    now, kept = changed_text(hand, script, patch, text)
    try:
        return "\n".join(filter(None, [take_text(hand, script, in_its_lines(script.text, now)), kept]))
    except InputError as error:
        raise InputError("\n".join(filter(None, [str(error), kept]))) from error


def take_text(hand: Hand, script: Paste, text: str, *says: str, ordered: bool = False) -> str:
    """The changed text as the script in hand: the hunks that were ordered or cost nothing, as far as the checks find no
    error that was not there before. What costs unordered is offered, what the checks refuse is told.

    ordered: all of it was, or is what the order cannot be without.
    """
    if hand.refused >= MOST_REFUSED:
        raise InputError(GIVEN_UP)
    if text == script.text:
        raise InputError(SAME)
    cluster, before = machine_for(hand.now(), script), script.text.replace("\r\n", "\n")
    hunks = hunks_between(before, text.replace("\r\n", "\n"))
    sized = sizes(hand, before, hunks, cluster) if hand.state.get("own") is None else {}
    hunks = tuple(one for one in hunks if one not in sized)

    @cache
    def speaks(some: tuple[Hunk, ...]) -> list[str]:
        """What speaks against these hunks."""
        return against(hand, before, with_hunks(before, some), cluster) if some else []

    def needs_queue() -> bool:
        """Whether the sizes, of which some were wrong before, are right in the other queue alone."""
        without = tuple(one for one in possible if not asks_queue(before, one, cluster))
        left, cured = (errors_in(with_hunks(before, some), cluster) for some in (without, possible))
        return bool(speaks(without)) or cured < left

    possible = hunks if ordered else most_of(hunks, lambda some: not speaks(some))
    # Where only another queue takes the sizes that were ordered, it is part of the order: half of it would be none.
    ordered = ordered or (unordered(hand, before, possible, cluster) == ("queue",) and needs_queue())
    free = possible if ordered else most_of(possible, lambda some: not unordered(hand, before, some, cluster)
                                            and not speaks(some))  # fmt: skip
    if len(possible) > len(free) and not costs_more(before, free, possible, cluster):
        free = possible  # what is ordered costs so much already
    told = [change_fields(hand, field_values(before, sized, cluster))] if sized else []
    refused = [
        REFUSED.format(one.told(before.split("\n")), (speaks((*possible, one)) or speaks(hunks))[0])
        for one in hunks
        if one not in possible
    ]
    if sized and free:  # the script is another now
        now = hand.script()
        moved, rows = rebased(free, before, now.text), now.text.splitlines()
        left = [one for one in moved if not is_in(as_patches(now.text, [one])[0], rows)]
        told += take_hunks(hand, now, left) if left else []
    else:
        told += take_hunks(hand, script, free, *(says if free == hunks else ())) if free else []
    if len(possible) > len(free):
        told.append(offer_hunks(hand, with_hunks(before, free), with_hunks(before, possible), cluster))
        waits = [one for one in possible if one not in free and not unordered(hand, before, [one], cluster)]
        told += [WAITS.format("; ".join(one.told(before.split("\n")) for one in waits))] if waits else []
    if refused:
        hand.refused += 1
        told += [*refused, *([GIVEN_UP] if hand.refused >= MOST_REFUSED else [])]
        if len(told) == len(refused) + (hand.refused >= MOST_REFUSED):
            raise InputError("\n".join(told))
    return "\n".join(told)


def take_hunks(hand: Hand, script: Paste, hunks: Sequence[Hunk], *says: str) -> list[str]:
    """The script with these hunks: ours by patches of what is rendered, the person's own in its text."""
    before = script.text.replace("\r\n", "\n")
    if hand.state.get("own") is None:
        request = replace(hand.request, patches=(*hand.request.patches, *as_patches(before, hunks)))
        told = decide(hand, request, hand.cluster_of(request))
        return [
            told if told != SAME else NO_SURE_PLACE.format("; ".join(one.told(before.split("\n")) for one in hunks))
        ]
    text, cluster = with_hunks(before, hunks), machine_for(hand.now(), script)
    was, now = (asked_by(one, cluster) for one in (before, text))
    made = made_of(hand.now(), Paste(script.name, in_its_lines(script.text, text)), *says, before=script)
    told = hand.adopt(made, costs=price(was, replace(now, args=was.args), cluster))
    return [told, *found_now(before, text, cluster)]


def sizes(hand: Hand, before: str, hunks: Sequence[Hunk], cluster: Cluster | None) -> dict[Hunk, tuple[str, ...]]:
    """The hunks that change what is a field of our own script, with those fields."""
    was = asked_by(before, cluster)
    found = {one: differing(was, asked_by(with_hunks(before, [one]), cluster)) for one in hunks}
    return {one: named for one, names in found.items() if (named := tuple(n for n in names if n in SIZED))}


def field_values(before: str, sized: Mapping[Hunk, tuple[str, ...]], cluster: Cluster | None) -> dict[str, Any]:
    """What the hunks make of those fields; GPUs as the scheduler counts them."""
    now = asked_by(with_hunks(before, tuple(sized)), cluster)
    values = {name: str(getattr(now, name) or "") for names in sized.values() for name in names}
    rows = "\n".join(row for hunk in sized for row in hunk.new)
    values |= {name: gap for name, gap in GAPS.items() if values.get(name) == "" and gap in rows}
    tiled = next((one.gpus for one in cluster.node_types if one.gpus.tiles_per_gpu > 1), None) if cluster else None
    if tiled and values.get("gpus_per_node"):
        values["gpus_per_node"] += " devices" if tiled.scheduler_counts == "tiles" else " cards"
    return values


def unordered(hand: Hand, before: str, hunks: Sequence[Hunk], cluster: Cluster | None) -> tuple[str, ...]:
    """The fields that these hunks change at a price and that nobody ordered."""
    was, now = (asked_by(one, cluster) for one in (before, with_hunks(before, hunks)))
    return unsaid(hand, was, now, ordered_now(hand)) if price(was, replace(now, args=was.args), cluster) else ()


def costs_more(before: str, some: Sequence[Hunk], more: Sequence[Hunk], cluster: Cluster | None) -> bool:
    """Whether further hunks cost anything beside those that are taken."""
    was, now = (asked_by(with_hunks(before, one), cluster) for one in (some, more))
    return bool(price(was, replace(now, args=was.args), cluster))


def asks_queue(before: str, hunk: Hunk, cluster: Cluster | None) -> bool:
    """Whether a hunk changes the queue."""
    was, now = (asked_by(one, cluster) for one in (before, with_hunks(before, [hunk])))
    return was.queue != now.queue


def offer_hunks(hand: Hand, before: str, text: str, cluster: Cluster | None) -> str:
    """A costly change of the person's own script as an offer with its price."""
    was, now = (asked_by(one, cluster) for one in (before, text))
    change = tuple((name, getattr(now, name)) for name in unsaid(hand, was, now, ordered_now(hand)))
    costs = price(was, replace(now, args=was.args), cluster)
    hand.offer(Offer(in_words(was, change), costs, change, patches=patches_between(before, text)))
    return OFFERED.format(in_words(was, change), costs)


def against(hand: Hand, before: str, after: str, cluster: Cluster | None) -> list[str]:
    """What speaks against a changed text: an account that nobody named, dangers, errors that the old one had not."""
    was, now = (asked_by(one, cluster).account for one in (before, after))
    invented = now and now != was and not is_account_said(hand, hand.request, now)
    errors = new_errors(before, after, cluster)
    apart = sorted(launched_apart(after) - launched_apart(before))
    errors += [OTHER_NODES.format(*one) for one in apart]
    told = [BY_CHECKS.format("; ".join(errors[:3]))] if errors else []
    return [*([NOT_SAID_ACCOUNT.format(now)] if invented else []), *told]


def launched_apart(text: str) -> set[tuple[int, int]]:
    """The nodes that the launch counts, with those of the job where they are others."""
    script = record_of(read_script(text))
    command = read_script(text).training
    counts = {int(one["value"]) for one in NODES.finditer(" ".join(command.argv))} if command else set()
    return {(one, script.nodes) for one in counts if script.nodes and one != script.nodes}


def errors_in(text: str, cluster: Cluster | None) -> int:
    """How many errors the checks find in a script."""
    return sum(one.severity == "error" for one in check(text, cluster))


def new_errors(before: str, after: str, cluster: Cluster | None) -> list[str]:
    """What speaks against a changed text: dangers, and errors that the old one had not, whatever numbers they name."""
    known = {shape(one) for one in check(before, cluster)}
    found = [one for one in check(after, cluster) if one.severity == "error" and shape(one) not in known]
    added = "\n".join(row for row in after.splitlines() if row not in before.splitlines())
    return [*filter(None, [dangerous(added)]), *(worded(one) for one in found)]


def found_now(before: str, after: str, cluster: Cluster | None) -> list[str]:
    """Errors of the old text that name other numbers in the changed one, and warnings that came with the change."""
    known, told = ([one for one in check(text, cluster) if one.severity != "info"] for text in (before, after))
    same, shapes = {one.says for one in known}, set(map(shape, known))
    still = [one for one in told if one.severity == "error" and one.says not in same and shape(one) in shapes]
    new = [one for one in told if one.severity == "warning" and shape(one) not in shapes]
    return [*(STILL.format(worded(one)) for one in still), *(NEW.format(worded(one)) for one in new[:MOST_NEW])]


def shape(finding: Finding) -> tuple[str, str]:
    """What a finding is about, without the numbers in it."""
    return finding.rule, re.sub(r"\d[\d:.,]*", "N", finding.says)
