"""The document of a led turn, put together behind it from the state that it left.

It has the model's words, the script or its change once, and what is left to do that the words do not tell. What the
rules and tools know beyond that went to the model before it answered, and is not repeated behind its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from graph.answering.abstaining import NO_ANSWER
from graph.changes import diff
from graph.conversation.scripts import offered
from graph.conversing.ground import stands
from graph.conversing.guard import MARK
from graph.conversing.hand import PRICE, Hand, lines_that_do
from graph.conversing.looking import Looking
from graph.conversing.said import numbers_in
from graph.conversing.sources import Numbered
from graph.debugging.remedies import price
from graph.nodes.debug import as_planned
from graph.state import State
from graph.undescribed import is_stand_in
from knowledge.document import Code, Document
from knowledge.types import Assumption, LaunchBundle, Made, Offer, OfferChoice, OfferEdit, Said, Say

# A word or number by which two texts are seen to say the same.
TELLING = re.compile(r"[^\W\d_][\w./=-]{3,}|\d+")
# What only one text would say by chance: a number, a name with a sign in it, a code span.
NAMED = re.compile(r"`[^`\n]+`|\b\d[\d:.]*\b|\b\w+[-_]\w+\b")
TELLS_OFFER = re.compile(r"(?i)\*yes\*|\bsay \W?(?:yes|\d)")
PLACEHOLDER = re.compile(r"\bYOUR_[A-Z0-9_]*[A-Z0-9](?:_g\b)?")
LEFT = "Still to fill in before you submit: {}."
DISCOVER = " `maple-chat clusters discover -o FILE` on the machine's login node reads its queues for that."


@dataclass(slots=True)
class Composition:
    """One answer. after: the state that the turn leaves; takes_rules: the rules' answer is taken over whole, with its
    state; own: the model's words, as they are shown."""

    hand: Hand
    looking: Looking
    sources: Numbered
    as_text: Callable[[Said], str]
    ruled: State
    after: State
    takes_rules: bool
    own: list[Say] = field(default_factory=list)

    def document(self, text: str) -> list[Said]:
        """The parts in the order in which they are read. text: what passed the guard, with its marks."""
        words = MARK.sub(" ", text).strip()
        marks = [mark[2:-2] for mark in MARK.findall(text)]
        made = self.made(words, whole="script" in marks)
        place = "script" if "script" in marks else "rules" if self.takes_rules and "rules" in marks else ""
        parts: list[Said] = []
        for at, piece in enumerate(MARK.split(text)):
            if piece.strip():
                self.own.append(Say(self.sources.cited(piece.strip())))
                parts.append(self.own[-1])
            if at < len(marks) and marks[at] not in marks[:at]:
                parts += [made] if made and marks[at] == place else []
                parts += self.behind(marks[at], words, made)
        parts += [made] if made and not place else []
        return [*parts, *self.left(words, parts)]

    def made(self, words: str, *, whole: bool) -> Made | None:
        """The script that this turn made or took up again, once: as a change, or whole where that was asked for."""
        made, before, now = self.hand.result()[0], self.hand.began.get("bundle"), self.after.get("bundle")
        if self.takes_rules:
            made = next((one for one in reversed(self.ruled.get("said", ())) if isinstance(one, Made)), None)
            if not words:
                return None  # it stands in the rules' own answer
        if made is None and before and now and now != before:
            plan = self.after.get("plan")
            made = Made(now, plan.title if plan else "your machine", diff=diff(before, now))
        if made is None:
            return None
        untold = tuple(one for one in made.assumptions if not self.tells(words, one, made.bundle))
        costs = tuple(one for one in self.costs(made) if not self.tells_price(words, one))
        return replace(made, assumptions=untold, notes=(*costs, *self.hand.musts), diff="" if whole else made.diff)

    def tells(self, words: str, taken: Assumption, bundle: LaunchBundle) -> bool:
        """Whether the words name what was taken, or it stands in the script no more. A bare number names nothing."""
        if PLACEHOLDER.fullmatch(taken.value):
            return taken.value not in bundle.script or names_placeholder(words, taken.value)
        return not taken.value.isdigit() and stands(taken.value, words.lower())

    def costs(self, made: Made) -> tuple[str, ...]:
        """What the change costs more than the script before; a first or another job's script is told by its size."""
        if not self.takes_rules:
            return tuple(map(PRICE.format, self.hand.costs[-1:]))
        before, plan = self.hand.began.get("request"), self.after.get("plan")
        request = self.after.get("request")
        if not (made.diff and before and request and self.hand.began.get("bundle")):
            return ()
        cost = price(as_planned(before, self.hand.began.get("plan")), as_planned(request, plan))
        return (PRICE.format(cost),) if cost else ()

    def tells_price(self, words: str, cost: str) -> bool:
        """Whether the words tell a price: its numbers, or where it has none the queue or account that it is about."""
        numbers = numbers_in(cost.partition(" instead of ")[0])
        request = self.after.get("request")
        names = [one for one in (request.queue, request.account) if one] if request else []
        return numbers <= numbers_in(words) if numbers else any(stands(one, words.lower()) for one in names)

    def behind(self, mark: str, words: str, made: Made | None) -> tuple[Said, ...]:
        """What stands behind a mark, without the script, which has its one place."""
        if mark == "rules":
            said: tuple[Said, ...] = tuple(self.ruled.get("said", ()))
            if not words and self.takes_rules:
                return said
            # Beside a script, what the rules say in words is about what they made of the message: the model read it.
            beside = any(not isinstance(part, Say | Document) for part in said)
            return tuple(
                part
                for part in said
                if not isinstance(part, Made)
                and not (isinstance(part, Say | Document) and (beside or self.repeats(part, words)))
            )
        if mark == "script" and made is None and (self.after.get("own") or self.after.get("bundle")):
            return whole_script(self.after)
        return self.looking.shown.get(mark, ())

    def repeats(self, part: Said, words: str) -> bool:
        """Whether a part of the rules' answer says what the model's own words say, or that there is no answer."""
        told = self.as_text(part)
        if not words or NO_ANSWER in told:
            return bool(words)
        theirs, ours = (set(TELLING.findall(text.lower())) for text in (told, words))
        return 2 * len(words) >= len(told) and 2 * len(theirs & ours) >= len(theirs)

    def left(self, words: str, parts: list[Said]) -> list[Said]:
        """What the person has still to do or decide, and no part tells: an offer, a refusal, gaps of the script."""
        rest: list[Said] = list(self.looking.shown.get("search", ())) if not self.takes_rules else []
        pending, made = self.after.get("pending"), next((one for one in parts if isinstance(one, Made)), None)
        shown = "\n".join([words, *(self.as_text(one) for one in parts if not isinstance(one, Made))])
        if pending is not self.hand.began.get("pending"):
            if isinstance(pending, OfferEdit) and not is_offered(shown, pending.offers):
                rest.append(Say(offered(pending.offers)))
            if isinstance(pending, OfferChoice) and not shares(shown, self.as_text(pending.refusal)):
                rest.append(pending.refusal)
        if made and words:
            gaps = gaps_of(made.bundle)
            told = {one.value for one in made.assumptions if one.field == "account"}
            left = [one for one in gaps if one not in told and not names_placeholder(words, one)]
            request = self.after.get("request")
            cluster = self.hand.context.cluster(request) if request else None
            draft = DISCOVER if cluster and is_stand_in(cluster) and "discover" not in words else ""
            rest += [Say(LEFT.format(", ".join(f"`{one}`" for one in left)) + draft)] if left else []
        return rest


def whole_script(state: State) -> tuple[Said, ...]:
    """The script in hand as it stands, with the files beside it."""
    own, bundle = state.get("own"), state.get("bundle")
    if own or bundle is None:
        return (Say(f"```bash\n{own.text.rstrip() if own else ''}\n```"),)
    beside = tuple(Code(one.text.rstrip(), "", one.name) for one in bundle.files)
    script = Say(f"```bash\n{bundle.script.rstrip()}\n```")
    return (script, Document(beside)) if beside else (script,)


def gaps_of(bundle: LaunchBundle) -> list[str]:
    """The placeholders that the script's working lines hold."""
    return list(dict.fromkeys(PLACEHOLDER.findall("\n".join(lines_that_do(bundle.script)))))


def names_placeholder(words: str, name: str) -> bool:
    """Whether the words speak of a placeholder, with or without what a machine adds to it (`YOUR_ACCOUNT_g`)."""
    return any(name.startswith(one) for one in PLACEHOLDER.findall(words))


def shares(words: str, told: str) -> bool:
    """Whether the words name anything that the other text names."""
    return bool({*NAMED.findall(words.lower())} & {*NAMED.findall(told.lower())})


def is_offered(words: str, offers: tuple[Offer, ...]) -> bool:
    """Whether the words tell every offer with its price, and how it is taken."""
    return all(is_told(words, one) for one in offers) and bool(TELLS_OFFER.search(words))


def is_told(text: str, offer: Offer) -> bool:
    """Whether the words tell an offer: what it would be, and its price; what there is now need not be in them."""
    wanted = " ".join(one.partition(" instead of ")[0] for one in (offer.says, offer.price))
    return numbers_in(wanted) - {0.0} <= numbers_in(text)
