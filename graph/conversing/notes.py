"""What a turn tells beneath the words of its answer: how the thread as it ended differs from the thread as it began,
and what is still open in it. Of what was tried on the way nothing is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.changes import changes, diff
from graph.context import Context
from graph.conversing.changing import asked_by
from graph.conversing.ground import stands
from graph.conversing.hand import PRICE, differing, in_one_step, in_short, is_changed, is_in_script
from graph.debugging.remedies import changed_request, price
from graph.nodes.answer import is_placeholder
from graph.nodes.debug import as_planned
from graph.planning.patches import LOST, is_in, patched, shown
from graph.state import State
from knowledge.job_parts import Patch
from knowledge.types import Assumption, JobRequest, LaunchBundle, Made, Offer, OfferEdit, Pending, Revision

# In the notes of a port.
NAMES_ENVIRONMENT = "*environment NAME*"
NOT_IN_SCRIPT = "Not in the script: {}={}."
# A line of theirs, or an option of one, in a note.
SPAN = re.compile(r"`([^`\n]+)`|(?<!\S)(--[\w-]+)(?= \S+ is not carried)")
PIECE = re.compile(r"[\w.$/-]+")


@dataclass(frozen=True, slots=True)
class TurnNotes:
    """made: the script that the turn leaves, as one change, with its price and what was lost of earlier changes;
    pending: what is open; revisions: the thread's scripts, this turn's as one step."""

    made: Made | None
    pending: Pending | None
    revisions: tuple[Revision, ...]


def notes_of(began: State, ended: State, context: Context, left_out: Mapping[str, str]) -> TurnNotes:
    """The notes of a turn by the thread before and behind it. left_out: fields with values that no script took."""
    return TurnNotes(
        made_between(began, ended, context, left_out), still_open(began, ended, context), in_one_step(began, ended)
    )


def made_between(began: State, ended: State, context: Context, left_out: Mapping[str, str]) -> Made | None:
    """The script at the end, where it is another than at the beginning."""
    before, now = began.get("bundle"), ended.get("bundle")
    if now is None or not is_changed(began, ended):
        return None
    request, plan = ended.get("request") or JobRequest(), ended.get("plan")
    compared = before if before and is_same_job(began, ended) else None
    costs = cost_between(began, ended, context) if compared else ""
    notes = [*([PRICE.format(costs)] if costs else []), *map(LOST.format, map(shown, lost_patches(began, ended, now)))]
    notes += [
        NOT_IN_SCRIPT.format(name, value)
        for name, value in left_out.items()
        if in_short(getattr(request, name, "")) == value and (value.isdigit() or not stands(value, now.script.lower()))
    ]
    notes += notes_of_port(began, ended, now)
    return Made(
        now,
        context.title_of(request, plan),
        tuple(taken_for_them(began, ended)),
        tuple(notes),
        tuple(changes_between(began, ended)) if compared else (),
        diff(compared, now) if compared and on_same_machine(began, ended) else "",
    )


def is_same_job(began: State, ended: State) -> bool:
    """Whether the script at the end goes on from one that was there at the beginning."""
    earlier = began.get("revisions", ())
    return any(one in earlier for one in ended.get("revisions", ()))


def on_same_machine(began: State, ended: State) -> bool:
    """Whether both scripts are of one machine; a person's own stays what it is, wherever it runs."""
    was, now = (one.get("request") or JobRequest() for one in (began, ended))
    return bool(began.get("own") and ended.get("own")) or was.machine == now.machine


def is_ported(began: State, ended: State) -> bool:
    """Whether the script at the end was made anew, in this turn, of one that ran elsewhere."""
    return bool(ended.get("source")) and ended.get("source") != began.get("source")


def notes_of_port(began: State, ended: State, now: LaunchBundle) -> list[str]:
    """What of the script before a port the new one does not hold."""
    before, source = began.get("told", ()), ended.get("source", "")
    notes = [one for one in ended.get("told", ()) if isinstance(one, str) and one not in before]
    request = ended.get("request") or JobRequest()
    if request.environment or request.container:  # it was given since
        notes = [one for one in notes if NAMES_ENVIRONMENT not in one]
    gone = (one for one in notes if any(span in source and span not in now.script for span in spans_of(one)))
    return list(gone) if is_ported(began, ended) else []


def spans_of(note: str) -> list[str]:
    return [one[1] or one[2] for one in SPAN.finditer(note)]


def read_of(state: State) -> JobRequest:
    """What the script in hand asks for: the person's own by its text, ours by what was asked and planned."""
    own, request = state.get("own"), state.get("request") or JobRequest()
    return replace(asked_by(own.text, None), args=None) if own else as_planned(request, state.get("plan"))


def cost_between(began: State, ended: State, context: Context) -> str:
    """What the script at the end costs more than the one at the beginning; on another machine no price is the same."""
    if is_ported(began, ended) or not on_same_machine(began, ended):
        return ""
    cluster = context.cluster(ended.get("request") or JobRequest())
    if bool(began.get("own")) == bool(ended.get("own")):
        return price(read_of(began), read_of(ended), cluster)
    bundles = [bundle for one in (began, ended) if (bundle := one.get("bundle"))]  # each by what its text says
    was, now = (replace(asked_by(one.script, None), args=None) for one in bundles)
    return price(was, now, cluster)


def changes_between(began: State, ended: State) -> Iterator[str]:
    """A line for each field that has another value now."""
    was, now = began.get("plan"), ended.get("plan")
    if not ended.get("own") and now is not None:
        yield from changes(was, now)
    elif ended.get("own") and began.get("own"):
        old, new = read_of(began), read_of(ended)
        for name in differing(old, new):
            if name not in ("heard", "machine"):
                values = (in_short(getattr(one, name) or "none") for one in (old, new))
                yield f"{name.replace('_', ' ')}: {' → '.join(values)}"


def taken_for_them(began: State, ended: State) -> Iterator[Assumption]:
    """What was chosen and not told before, as far as it still holds."""
    told, plan, request = began.get("told", ()), ended.get("plan"), ended.get("request") or JobRequest()
    bundle = ended.get("bundle")
    for one in (*ended.get("left_to_us", ()), *(plan.assumptions if plan else ())):
        value: Any = getattr(request, one.field, None)
        if bundle and not is_in_script(one, bundle):
            continue
        if (one not in told or is_placeholder(one)) and (value is None or str(value) == one.value):
            yield one


def lost_patches(began: State, ended: State, now: LaunchBundle) -> list[Patch]:
    """The changes of lines that the script had or got in this turn and has not at the end, in any form; what went back
    to an earlier script, or was changed by another patch, lost none."""
    start, revisions = tuple(began.get("revisions", ())), tuple(ended.get("revisions", ()))
    if ended.get("own") or revisions[: len(start)] != start or len(revisions) == len(start):
        return []
    requests = [began.get("request"), *(one.request for one in revisions[len(start) :])]
    asked = dict.fromkeys(patch for one in requests if one for patch in one.patches)
    changed = {row.strip() for one in asked for row in one.old}
    rows, words = now.script.splitlines(), frozenset(PIECE.findall(now.script))
    there = {row.strip() for row in rows}
    return [
        one
        for one in asked
        if not is_in(one, rows)
        and not is_held(one, words)
        and not all(row.strip() in changed for row in one.new)
        and 2 * sum(row.strip() in there for row in one.new) <= len(one.new)  # of most rows one was changed again
    ]


def is_held(patch: Patch, words: frozenset[str]) -> bool:
    """Whether the words that a change brings are all in the script, in another line than it had."""
    new, old = (frozenset(PIECE.findall("\n".join(rows))) for rows in (patch.new, patch.old))
    return bool(new - old) and new - old <= words


def still_open(began: State, ended: State, context: Context) -> Pending | None:
    """What is open at the end, an offer at the price that it has then."""
    pending = ended.get("pending")
    if not isinstance(pending, OfferEdit) or not is_changed(began, ended):
        return pending
    offers = tuple(filter(None, (at_its_price(one, ended, context) for one in pending.offers)))
    return OfferEdit(offers) if offers else None


def at_its_price(offer: Offer, ended: State, context: Context) -> Offer | None:
    """The offer against the script at the end; None where it has no place in it any more."""
    own, now = ended.get("own"), read_of(ended)
    cluster = context.cluster(ended.get("request") or JobRequest())
    if own and offer.patches:
        if all(is_in(one, own.text.splitlines()) for one in offer.patches):
            return None  # it was done in another way
        text, lost = patched(own.text, offer.patches)
        return None if lost else replace(offer, price=price(now, replace(asked_by(text, None), args=None), cluster))
    if own or not offer.change:
        return offer
    return replace(offer, price=price(now, changed_request(now, dict(offer.change)), cluster))
