"""The document of a led turn, put together behind it from the state that it left.

It has the model's words, the script or its change once, what was chosen or is left to do that the words do not tell,
and the price of what was done or offered. What the rules and tools know beyond that went to the model before it
answered, and is not repeated behind its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graph.answering.abstaining import NO_ANSWER
from graph.conversation.scripts import offered
from graph.conversation.turn import SURE, TurnContext
from graph.conversing.dangers import spoken
from graph.conversing.deciding import NOT_SAID
from graph.conversing.ground import stands
from graph.conversing.guard import MARK
from graph.conversing.hand import WOULD_COST, Hand, lines_that_do
from graph.conversing.looking import Looking
from graph.conversing.notes import made_between
from graph.conversing.numbers import quantities, times_in
from graph.conversing.orders import SENTENCES
from graph.conversing.porting import gone_lines
from graph.conversing.porting import untold as not_told
from graph.conversing.review import NO_NOTES, PRICED
from graph.conversing.said import CLOCK, OF_ACCOUNT, in_digits, numbers_in
from graph.conversing.sources import Numbered
from graph.nodes.understand import SHOW
from graph.state import State
from graph.undescribed import is_stand_in
from knowledge.document import Code, Document
from knowledge.masking import hide
from knowledge.script_keys import SAYS, asked_of_shell, keys_from_shell
from knowledge.types import Assumption, LaunchBundle, Made, Offer, OfferChoice, OfferEdit, Said, Say

# A word or number by which two texts are seen to say the same.
TELLING = re.compile(r"[^\W\d_][\w./=-]{3,}|\d+")
# What only one text would say by chance: a number, a name with a sign in it, a code span.
NAMED = re.compile(r"`[^`\n]+`|\b\d[\d:.]*\b|\b\w+[-_]\w+\b")
TELLS_OFFER = re.compile(r"(?i)\*yes\*|\bsay \W?(?:yes|\d)")
# How words speak of what a placeholder stands for, and how a person says that they see to it.
FIELDS_CALLED = {"ACCOUNT": OF_ACCOUNT.pattern, "PARTITION": spoken("queue").pattern, "QUEUE": spoken("queue").pattern}
YOUR = r"(?:your|deine?[nmr]?|ihre?[nmr]?|votre|ton|tu|su)"
BY_THEMSELVES = re.compile(
    r"\b(?:fill|later|myself|placeholder|leave|selbst|später|platzhalter|plus tard|moi-même|luego|después)\b", re.I
)
COUNTED_AS = {"nodes": "node", "gpus_per_node": "gpu"}
PLACEHOLDER = re.compile(r"\bYOUR_[A-Z0-9_]*[A-Z0-9](?:_g\b)?")
LEFT = "Still to fill in before you submit: {}."
GONE = "Lines of your script that it has no more: {}."
# `(12 SU)`, `(12 GPU-hours instead of 8 there)`: what the site itself charges.
IN_SITE_UNIT = re.compile(r"\((\d[\d.,]*) [A-Za-z][\w -]*\)")
# How words put a draft aside, and how they say that nothing is submitted yet.
DROPS = re.compile(
    r"(?i)\b(?:ignor\w*|disregard\w*|left-?over|(?:do not|don't|never) (?:use|submit|save)|nicht (?:verwenden|benutzen)"
    r"|vergiss|verwirf|oublie\w*|n'utilise\w* pas|descart\w*|no uses|scart\w*|non usare)\b|忽略|無視"
)
NOT_YET = re.compile(
    r"(?i)\b(?:(?:do not|don't|not to) submit|nicht (?:\w+ ){0,2}?(?:abschick|einreich)|no (?:lo )?envíes"
    r"|ne (?:le )?soumet)"
)
# What hands a job in, or runs the script that does.
SUBMITTING = r"(?:sbatch|qsub|bsub|jsub|pjsub|flux\s+batch|bash)"
DISCOVER = " `maple-chat clusters discover -o FILE` on the machine's login node reads its queues for that."


@dataclass(slots=True)
class Composition:
    """One answer. after: the state that the turn leaves; takes_rules: the rules' answer is taken over whole, with its
    state; change: the script that the turn leaves, where it is another; no_notes: the model holds the notes beneath its
    words for wrong or needless."""

    hand: Hand
    looking: Looking
    sources: Numbered
    as_text: Callable[[Said], str]
    ruled: State
    after: State
    takes_rules: bool
    change: Made | None
    no_notes: bool = False
    words: str = ""

    def document(self, text: str) -> list[Said]:
        """The parts in the order in which they are read. text: what passed the guard, with its marks."""
        self.no_notes = NO_NOTES in text
        text = self.sources.cited(text.replace(NO_NOTES, "").strip())
        words = self.words = MARK.sub(" ", text).strip()
        marks = [mark[2:-2] for mark in MARK.findall(text)]
        whole = asks_for_script(self.hand.turn)
        made = self.made(words, whole=whole or "script" in marks)
        place = "script" if "script" in marks else "rules" if self.takes_rules and "rules" in marks else ""
        placed = self.placed(marks, None if place else made)
        parts: list[Said] = []
        for at, piece in enumerate(MARK.split(text)):
            if piece.strip():
                parts.append(Say(piece.strip()))
            if at < len(marks) and marks[at] not in marks[:at]:
                parts += [made] if made and marks[at] == place else []
                parts += [placed[marks[at]]] if marks[at] in placed else self.behind(marks[at], words, made)
        rest = [*self.others(), *([made] if made and not place else [])]
        parts += [] if placed else rest
        if whole and words and not (made or marks or "```" in words) and self.after.get("bundle"):
            parts += whole_script(self.after)
        return [*parts, *self.left(words, parts)]

    def made(self, words: str, *, whole: bool) -> Made | None:
        """The script that this turn left, once: as a change, or whole where that was asked for; with what the words do
        not tell of it."""
        if self.change is None or (self.takes_rules and not words):
            return None  # it stands in the rules' own answer
        made = self.change
        untold = tuple(one for one in made.assumptions if self.is_left(words, one, made.bundle))
        # What the words told, or the list below them tells now, is told no more.
        self.after = State(**{**self.after, "told": (*self.after.get("told", ()), *made.assumptions)})
        notes = tuple(one for one in made.notes if not self.tells_note(words, one))
        if before := self.hand.ported:  # a script for another machine is read whole
            gone = not_told(gone_lines(before, made.bundle.script), words)
            notes = tuple(one for one in notes if not one.startswith(PRICED))  # there no price is the same
            notes += (GONE.format(", ".join(f"`{hide(one)}`" for one in gone)),) if gone else ()
        if self.no_notes:
            notes = tuple(one for one in notes if one.startswith(PRICED))
        began = self.hand.began.get("bundle")
        keys = asked_of_shell(made.bundle.script) - asked_of_shell(began.script if began else "")
        notes += tuple(SAYS.format(one) for one in sorted(keys) if one not in words)
        shown = "" if whole or before else made.diff
        # A difference tells all that changed; a list of some fields beside it would seem whole.
        changes = () if shown else made.changes
        told = submits(words, made.bundle)
        return replace(made, assumptions=untold, notes=notes, changes=changes, diff=shown, submit_told=told)

    def others(self) -> list[Made]:
        """What became of the scripts that were in hand before in this turn; one that it made, and whose name the last
        one has, was its draft."""
        context, last = self.hand.context, self.after.get("bundle")

        def is_last(began: State, left: State) -> bool:
            before, bundle = began.get("bundle"), left.get("bundle")
            if bundle is None or last is None or bundle.name != last.name:
                return bundle == last
            typed = left.get("own") and self.after.get("own")
            return bool(typed) or before is None or before.name != bundle.name

        made = (made_between(*pair, context, {}) for pair in self.hand.left if not is_last(*pair))
        return [one for one in made if one and not self.is_dropped(one.bundle.name)]

    def is_dropped(self, name: str) -> bool:
        """Whether the words tell the person to ignore a script: a draft of this turn, which is not shown."""
        return any(name in one and DROPS.search(one) for one in SENTENCES.split(self.words))

    def placed(self, marks: Sequence[str], made: Made | None) -> dict[str, Made]:
        """The scripts of the turn in their order, at marks that name nothing else, where there are as many of both."""
        free = [one for one in dict.fromkeys(marks) if one.startswith("T") and one not in self.looking.shown]
        scripts = [*self.others(), *([made] if made else [])]
        return dict(zip(free, scripts, strict=True)) if len(free) == len(scripts) else {}

    def tells_note(self, words: str, note: str) -> bool:
        """Whether the words tell a price, or anything of what was left out."""
        return self.tells_price(words, note) if note.startswith(PRICED) else shares(words, note)

    def is_left(self, words: str, taken: Assumption, bundle: LaunchBundle) -> bool:
        """Whether something has to be filled in, or was chosen by a model for the person, and the words do not say."""
        if gap := PLACEHOLDER.match(taken.value):
            theirs = taken.field == "account" and taken.value in bundle.script
            return theirs and not self.settles(words, gap[0])  # the others are named in one line
        return NOT_SAID in taken.why and not tells(words, taken)

    def settles(self, words: str, name: str) -> bool:
        """Whether the words name a placeholder or what it stands for, or the person said that they fill it in."""
        if names_placeholder(words, name):
            return True
        called = FIELDS_CALLED.get(name.split("_")[1], re.escape(name.split("_")[1].lower()))
        theirs = self.hand.turn.words
        mine = re.search(called, theirs, re.I) is not None and BY_THEMSELVES.search(theirs) is not None
        return mine or re.search(rf"\b{YOUR}\s+(?:[\w-]+\s+){{0,2}}?{called}", words, re.I) is not None

    def tells_price(self, words: str, cost: str) -> bool:
        """Whether the words, or the answer before them, tell a price: its numbers, or where it has none the queue or
        account that it is about."""
        words = "\n".join([words, *(one.answered for one in self.hand.began.get("talk", ())[-1:])])
        wanted = cost.partition(" instead of ")[0]
        of_site = IN_SITE_UNIT.search(cost)
        numbers = numbers_in(of_site[1] if of_site else wanted)  # who tells what is charged has told the price
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
        """What the person has still to do or decide, and no part tells: a price, a refusal, gaps of the script.

        A cure that nobody asked for and the words do not name is no offer: a yes of the next message is to something
        else. What was ordered in some words and not done is.
        """
        rest: list[Said] = list(self.looking.shown.get("search", ())) if not self.takes_rules else []
        pending, made = self.after.get("pending"), next((one for one in parts if isinstance(one, Made)), None)
        shown = "\n".join([words, *(self.as_text(one) for one in parts if not isinstance(one, Made))])
        if pending is not self.hand.began.get("pending"):
            if isinstance(pending, OfferEdit) and not is_offered(shown, pending.offers):
                untold = [one for one in pending.offers if not is_named(shown, one)]
                if len(untold) == len(pending.offers) and all(one.unasked for one in untold):
                    self.after = State(**{**self.after, "pending": None})
                elif untold:
                    rest.append(Say(offered(pending.offers)))
                else:
                    prices = [one.price for one in pending.offers if one.price and not is_told(shown, one)]
                    rest += [Say(WOULD_COST.format(one)) for one in prices]
            if isinstance(pending, OfferChoice) and not shares(shown, self.as_text(pending.refusal)):
                rest.append(pending.refusal)
        if made and words:
            gaps = gaps_of(made.bundle)
            told = {gap for one in made.assumptions for gap in PLACEHOLDER.findall(one.value)}
            left = [one for one in gaps if one not in told and not self.settles(words, one)]
            request = self.after.get("request")
            cluster = self.hand.context.cluster(request) if request else None
            draft = DISCOVER if cluster and is_stand_in(cluster) and "discover" not in words else ""
            rest += [Say(LEFT.format(", ".join(f"`{one}`" for one in left)) + draft)] if left else []
        return rest


def submits(words: str, bundle: LaunchBundle) -> bool:
    """Whether a command in the words submits that script, or the one beside it that submits it; or they say not to."""
    if NOT_YET.search(words):
        return True
    names = "|".join(re.escape(one) for one in (bundle.name, *(file.name for file in bundle.files)))
    return re.search(rf"\b{SUBMITTING}\b(?:[^\n`]|\\\n)*?(?<![\w.-])(?:{names})(?![\w-])", words) is not None


def asks_for_script(turn: TurnContext) -> bool:
    """Whether the person asks to see the script itself, whole, and not what changed in it."""
    main = turn.utterance.main
    return (main.topic == "script.show" and main.share("ask") >= SURE) or SHOW.search(turn.words) is not None


def whole_script(state: State) -> tuple[Said, ...]:
    """The script in hand as it stands, with the files beside it."""
    own, bundle = state.get("own"), state.get("bundle")
    if own or bundle is None:
        text, keys = keys_from_shell(own.text.rstrip() if own else "")
        return (Say(f"```bash\n{text}\n```"), *map(Say, keys))
    beside = tuple(Code(one.text.rstrip(), "", one.name) for one in bundle.files)
    script = Say(f"```bash\n{bundle.script.rstrip()}\n```")
    return (script, Document(beside)) if beside else (script,)


def gaps_of(bundle: LaunchBundle) -> list[str]:
    """The placeholders that the script's working lines hold."""
    return list(dict.fromkeys(PLACEHOLDER.findall("\n".join(lines_that_do(bundle.script)))))


def names_placeholder(words: str, name: str) -> bool:
    """Whether the words speak of a placeholder, with or without what a machine adds to it (`YOUR_ACCOUNT_g`)."""
    return any(name.startswith(one) for one in PLACEHOLDER.findall(words))


def tells(words: str, taken: Assumption) -> bool:
    """Whether the words name what was taken: a name as it is, a number with what it counts."""
    if CLOCK.fullmatch(taken.value):
        return times_in(taken.value) <= times_in(words)
    if taken.value.isdigit():
        counted = {(one.kind, value) for one in quantities(in_digits(words)) for value in one.values}
        return (COUNTED_AS.get(taken.field, ""), float(taken.value)) in counted
    return stands(taken.value, words.lower())


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


def is_named(text: str, offer: Offer) -> bool:
    """Whether the words speak of what an offer would do, with its price or without."""
    wanted = offer.says.partition(" instead of ")[0]
    if numbers := numbers_in(wanted) - {0.0}:
        return numbers <= numbers_in(text)
    theirs, ours = (set(TELLING.findall(one.lower())) for one in (wanted, text))
    return shares(text, wanted) or 2 * len(theirs & ours) >= len(theirs)
