"""Changes of the script in hand: by fields, or by a patch that passes the checks; what costs unordered is offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.conversation.scripts import machine_for, made_of
from graph.conversing.dangers import dangerous
from graph.conversing.deciding import decide, differing, is_refused
from graph.conversing.hand import Hand
from graph.conversing.orders import WEIGHTY, ordered_now, unsaid, with_values
from graph.conversing.tools import Swap
from graph.debugging.remedies import price, request_of
from graph.debugging.remedies import says as in_words
from graph.extraction.script_record import understand_script
from graph.nodes.debug import as_planned
from graph.nodes.verify import worded
from graph.planning.patches import patches_between
from graph.planning.strategies import with_usual_framework
from graph.usecases.edit_script import DIRECTIVES, Edited, put_fields, queue_of
from graph.verification.checks import check
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, Offer, Paste

MOST_REFUSED = 3
OFFERED = "NOT done, offered: {}. It costs ({}). Tell the person, who takes it with *yes* (or its number)."
GIVEN_UP = "That is the third patch that was refused: tell the person what you tried and what speaks against it."
BY_FIELDS = "{} of this script: give it in fields, not as a patch"
NO_FIELD = (
    "this script is the person's own: fields changes only {} where its directives hold them; give the rest as a patch"
)


def change_fields(hand: Hand, values: Mapping[str, str]) -> str:
    """A typed edit of our script. What the person ordered is done; what costs more and was not ordered is offered."""
    wanted = with_values(hand, hand.request, values)
    if "strategy" in values and "framework" not in values and hand.request.framework in ("pytorch", "deepspeed"):
        wanted = with_usual_framework(replace(wanted, framework=None))
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
    """Fields of the person's own script, where its directives hold them."""
    cluster = machine_for(hand.now(), own)
    held = {name: value for name, value in values.items() if name in DIRECTIVES and value}
    wanted = with_values(hand, JobRequest(machine=cluster.id if cluster else None), held)
    now = Edited(own.text, ())
    for name in held:  # one by one: each that finds no place is told
        now, before = put_fields(now, {name: getattr(wanted, name)}, cluster), now
        if now is before and getattr(asked_by(own.text, cluster), name) != getattr(wanted, name):
            raise InputError(NO_FIELD.format(", ".join(DIRECTIVES)))
    if len(held) != len(values):
        raise InputError(NO_FIELD.format(", ".join(DIRECTIVES)))
    return take_text(hand, own, now.text, *now.says)


def asked_by(text: str, cluster: Cluster | None) -> JobRequest:
    """What a script asks for; its program's strategy is no matter of its text."""
    read = request_of(understand_script(text))
    return replace(read, queue=queue_of(text, read.queue, cluster), strategy=None)


def change_text(hand: Hand, patch: Sequence[Swap]) -> str:
    """A patch of the script in hand. One that the checks refuse is not applied."""
    script = hand.script()
    text = script.text
    for swap in patch:
        count = text.count(swap["old"]) if swap["old"] else 0
        if count != 1:
            raise InputError(f"old text '{swap['old'][:60]}' stands {count} times in the script; it must be once")
        text = text.replace(swap["old"], swap["new"])
    return take_text(hand, script, text)


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
