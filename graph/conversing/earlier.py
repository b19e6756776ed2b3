"""What earlier answers offered and is still open: until it is taken, refused, or another of the same fields is."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.conversation.option_choice import NO
from graph.conversation.pending import WITHDRAWAL
from graph.conversing.hand import differing
from graph.planning.patches import patched
from graph.state import State
from knowledge.types import Alternative, JobRequest, Offer, OfferChoice, OfferEdit, OfferRows, Pending

MOST_EARLIER = 6
FIRST_WORDS = re.compile(r"[^,.;!\n]*")
# What of a request no offer is about.
BY_THE_WAY = frozenset(("heard",))


def ways_of(pending: Pending | None) -> tuple[Offer, ...] | tuple[Alternative, ...]:
    """What can be taken of that by its number."""
    if isinstance(pending, OfferChoice):
        return pending.refusal.instead
    return pending.offers if isinstance(pending, OfferEdit | OfferRows) else ()


def still_offered(before: State, after: State, words: str) -> tuple[Offer, ...]:
    """The offers of the answers before this one that stand behind the turn. words: the person's own."""
    pending, now = (one.get("pending") for one in (before, after))
    last = pending.offers if isinstance(pending, OfferEdit) else ()
    held = tuple(before.get("earlier", ()))
    if is_refused(words):
        held, last = (held if last else ()), ()
    if not goes_on(before, after):
        return ()
    new = now.offers if isinstance(now, OfferEdit) else ()
    named = {name for one in new for name, _ in one.change}
    kept = filter(None, (as_it_stands(one, before, after) for one in (*held, *last)))
    left = (one for one in kept if one not in new and not named & {name for name, _ in one.change})
    return tuple(dict.fromkeys(left))[-MOST_EARLIER:]


def is_refused(words: str) -> bool:
    """Whether the words begin with a no."""
    found = FIRST_WORDS.match(words.strip())
    return bool(found and NO.fullmatch(found[0])) or WITHDRAWAL.fullmatch(words.strip()) is not None


def goes_on(before: State, after: State) -> bool:
    """Whether the script behind the turn is the one before it, or goes on from it."""
    revisions = before.get("revisions", ())
    same = before.get("bundle") == after.get("bundle")
    return bool(before.get("bundle")) and (same or any(one in revisions for one in after.get("revisions", ())))


def as_it_stands(offer: Offer, before: State, after: State) -> Offer | None:
    """The offer on the script behind the turn; None where the turn changed what it is about."""
    if before.get("bundle") == after.get("bundle"):
        return offer
    own, was, now = after.get("own"), before.get("request") or JobRequest(), after.get("request") or JobRequest()
    unpriced = replace(offer, price="")  # it was against another script; what is taken is told with its price anyway
    if own and (offer.patches or offer.script):
        text, lost = patched(own.text, offer.patches)
        return None if offer.script or lost or text == own.text else unpriced
    changed = set(differing(was, now)) - BY_THE_WAY
    theirs = set(differing(was, offer.request)) - BY_THE_WAY if offer.request else {name for name, _ in offer.change}
    if theirs & changed:
        return None
    if offer.request is None:
        return unpriced
    values = {name: getattr(offer.request, name) for name in theirs}
    return replace(unpriced, request=replace(now, **values))
