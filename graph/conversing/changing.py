"""Changes of the script in hand: by fields, or by a patch that passes the checks; what costs unordered is offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.conversation.scripts import machine_for, made_of
from graph.conversing.dangers import dangerous
from graph.conversing.deciding import NOT_FIELD, SIZE, as_much, decide, differing, is_refused
from graph.conversing.hand import Hand
from graph.conversing.orders import WEIGHTY, named, ordered_now, unsaid, with_each
from graph.conversing.swaps import swapped
from graph.conversing.tools import Swap
from graph.debugging.remedies import price, request_of
from graph.debugging.remedies import says as in_words
from graph.extraction.script_record import understand_script
from graph.nodes.debug import as_planned
from graph.nodes.verify import worded
from graph.planning.patches import patches_between
from graph.planning.strategies import with_usual_framework
from graph.usecases.edit_script import Edited, queue_of
from graph.usecases.own_fields import put_field
from graph.verification.checks import check
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, Offer, Paste

MOST_REFUSED = 3
OFFERED = "NOT done, offered: {}. It costs ({}). Tell the person, who takes it with *yes* (or its number)."
GIVEN_UP = "That is the third patch that was refused: tell the person what you tried and what speaks against it."
BY_FIELDS = "{} of this script: give it in fields, not as a patch"
AS_IT_IS = "{}={}: the script has that already"
NO_REMOVAL = "an empty value takes nothing out of an own script: give it as a patch"


def change_fields(hand: Hand, values: Mapping[str, str]) -> str:
    """A typed edit of our script, each field by itself: what goes together is done, the rest told with its ways.

    What the person ordered is done; what costs more and was not ordered is offered.
    """
    values = named(values)
    wanted, refused = with_each(hand, hand.request, values)
    if "strategy" in values and "framework" not in values and hand.request.framework in ("pytorch", "deepspeed"):
        wanted = with_usual_framework(replace(wanted, framework=None))
    fitting, left = as_much(hand, hand.request, wanted, values)
    told = [NOT_FIELD.format(name, values.get(name, ""), why) for name, why in refused.items()]
    if fitting != hand.request or not (left or refused):
        told.append(change_request(hand, fitting, {name: values[name] for name in values if name not in left}))
    size = tuple(name for name in left if name in SIZE)
    for names in filter(None, (*((name,) for name in left if name not in SIZE), size)):
        asked = replace(hand.request, **{name: getattr(wanted, name) for name in names})
        told.append(decide(hand, asked, hand.cluster_of(asked), apart=names if len(names) < len(values) else ()))
    return "\n".join(told)


def change_request(hand: Hand, wanted: JobRequest, values: Mapping[str, str]) -> str:
    """The script of a request that the machine can do, or the part of it that was ordered and the rest offered."""
    cluster = hand.cluster_of(wanted)
    costs, open_ = price_of(hand, wanted), unsaid(hand, hand.request, wanted, ordered_now(hand))
    if not (costs and open_) or is_refused(hand, wanted):
        return decide(hand, wanted, cluster, costs=costs, given=values)
    ordered = replace(wanted, **{name: getattr(hand.request, name) for name in open_})
    if ordered == hand.request or is_refused(hand, ordered):
        return offer_fields(hand, wanted, tuple(name for name in differing(hand.request, wanted) if name in WEIGHTY))
    told = decide(hand, ordered, cluster, costs=price_of(hand, ordered), given=values)
    if not price_of(hand, wanted):
        return f"{told}\n{decide(hand, wanted, cluster)}"
    return f"{told}\n{offer_fields(hand, wanted, open_)}"


def price_of(hand: Hand, wanted: JobRequest) -> str:
    """What the wanted request costs more than the script in hand."""
    before = as_planned(hand.request, hand.state.get("plan"))
    same = {n: getattr(before, n) for n in ("walltime", "queue", "nodes", "strategy")
            if getattr(wanted, n) == getattr(hand.request, n)}  # fmt: skip
    return price(before, replace(wanted, **same))


def offer_fields(hand: Hand, wanted: JobRequest, names: Sequence[str]) -> str:
    """The fields' new values as an offer with its price."""
    change = tuple((name, getattr(wanted, name)) for name in names)
    before = as_planned(hand.request, hand.state.get("plan"))
    offer = Offer(in_words(before, change), price_of(hand, wanted), change)
    hand.offer(offer)
    return OFFERED.format(offer.says, offer.price)


def change_own(hand: Hand, own: Paste, values: Mapping[str, str]) -> str:
    """Fields of the person's own script, each by itself; what finds no place in it is told, what costs is offered."""
    cluster, values = machine_for(hand.now(), own), named(values)
    was, told = asked_by(own.text, cluster), list[str]()
    blank, fitting = JobRequest(machine=cluster.id if cluster else None), dict[str, JobRequest]()
    kind = with_each(hand, blank, {n: v for n, v in values.items() if n == "environment_kind" and v})[
        0
    ].environment_kind
    for name, value in values.items():
        wanted, refused = with_each(hand, blank, {name: value.removeprefix("=")})
        if refused or not value:
            told.append(NOT_FIELD.format(name, value, refused.get(name, NO_REMOVAL)))
        elif name != "environment_kind" or "environment" not in values:
            fitting[name] = replace(wanted, environment_kind=kind)
    words = ordered_now(hand)
    open_ = [
        n
        for n, one in fitting.items()
        if n in WEIGHTY and unsaid(hand, was, replace(was, **{n: getattr(one, n)}), words)
    ]
    for names in ([one for one in fitting if one not in open_], open_):
        now = Edited((hand.state.get("own") or own).text.replace("\r\n", "\n"), ())
        for name in names:
            try:
                now, before = put_field(now, name, fitting[name], cluster, own.name), now
                told += [AS_IT_IS.format(name, values[name])] if now is before else []
            except InputError as error:
                told.append(NOT_FIELD.format(name, values[name], error))
        if now.says:
            script = hand.state.get("own") or own
            told.append(take_text(hand, script, in_its_lines(script.text, now.text), *now.says))
    return "\n".join(told)


def in_its_lines(before: str, after: str) -> str:
    """The changed text with the line ends of the one before."""
    return after.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in before else after


def asked_by(text: str, cluster: Cluster | None) -> JobRequest:
    """What a script asks for; its program's strategy is no matter of its text."""
    read = request_of(understand_script(text))
    return replace(read, queue=queue_of(text, read.queue, cluster), strategy=None)


def change_text(hand: Hand, patch: Sequence[Swap]) -> str:
    """A patch of the script in hand. One that the checks refuse is not applied."""
    script = hand.script()
    return take_text(hand, script, in_its_lines(script.text, swapped(script.text, patch)))


def take_text(hand: Hand, script: Paste, text: str, *says: str) -> str:
    """The changed text as the script in hand, if the checks find no error in it that was not there before."""
    if hand.refused >= MOST_REFUSED:
        raise InputError(GIVEN_UP)
    if text == script.text:
        raise InputError("that changes nothing")
    cluster = machine_for(hand.now(), script)
    was, now = (asked_by(one, cluster) for one in (script.text, text))
    if hand.state.get("own") is None and (sized := [n for n in differing(was, now) if n in (*WEIGHTY, "account")]):
        raise InputError(BY_FIELDS.format(", ".join(sized)))
    errors = new_errors(script.text, text, cluster)
    if errors:
        hand.refused += 1
        last = f" {GIVEN_UP}" if hand.refused >= MOST_REFUSED else ""
        raise InputError(f"not applied; the checks refuse it: {'; '.join(errors[:5])}.{last}")
    if hand.state.get("own") is None:
        request = hand.request
        patches = (*request.patches, *patches_between(script.text, text))
        return decide(hand, replace(request, patches=patches), hand.cluster_of(request))
    costs, open_ = price(was, replace(now, args=was.args)), unsaid(hand, was, now, ordered_now(hand))
    if costs and open_:
        change = tuple((name, getattr(now, name)) for name in open_)
        hand.offer(Offer(in_words(was, change), costs, patches=patches_between(script.text, text)))
        return OFFERED.format(in_words(was, change), costs)
    made = made_of(hand.now(), Paste(script.name, text), *says, before=script)
    return hand.adopt(made, costs=costs)


def new_errors(before: str, after: str, cluster: Cluster | None) -> list[str]:
    """What speaks against a changed text: dangers, and errors that the old one had not."""
    known = {(one.rule, one.says) for one in check(before, cluster)}
    found = [one for one in check(after, cluster) if one.severity == "error" and (one.rule, one.says) not in known]
    added = "\n".join(row for row in after.splitlines() if row not in before.splitlines())
    return [*filter(None, [dangerous(added)]), *(worded(one) for one in found)]
