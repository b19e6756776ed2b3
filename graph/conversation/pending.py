"""What the last answer left open, and the message as an answer to it: one handler each, in one table.

A handler gives None where the message is about something else; it is then read like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from graph.conversation.history import newest, numbers_and_names
from graph.conversation.next_step import UNPLACED
from graph.conversation.option_choice import LEFT_TO_US, NO, NUMBER, YES, apply, changed, chosen, recommended
from graph.conversation.scripts import changed as changed_own
from graph.conversation.scripts import made_of, offered
from graph.conversation.turn import SURE, WANTING, TurnContext, with_words
from graph.extraction.request import understand as read
from graph.extraction.sentences.lexicon import FIELD_WORDS
from graph.reading.scope import denials
from graph.state import State
from knowledge.types import (
    Alternative,
    AskField,
    Assumption,
    JobRequest,
    Offer,
    OfferChoice,
    OfferEdit,
    OfferRows,
    OfferSearch,
    Paste,
    Pending,
    Say,
)

MOST_WORDS = 6
BEYOND = "I offered {} above. Say one of those numbers, or in words what to change, such as *2 nodes*."
LET_GO = "Then that is dropped{}."
REFUSED = "Then not that; the script stays as it is."
NONE_LEFT = "Say what may change instead (nodes, time, the kind of GPU, the strategy), or ask what else would help."
NOT_DONE = "Then I leave it as it is."
# A question about what was just asked, and no answer to it.
ABOUT_IT = re.compile(
    r"\W*(?:(?:ok|hm+|but|and|so|sorry)\W+)*(?:why(?: (?:do you (?:ask|need (?:it|that|to know))|that|this|is that))?"
    r"|which(?: one)?(?: (?:should|do|would|shall) (?:i|we|you) (?:pick|choose|take|use|recommend|need))?"
    r"|what(?:'s| is| are| do| does)? (?:that|those|these|this|they|the difference|it)(?: mean| all)?"
    r"|what(?:'s| is) (?:the )?(?:best|usual|normal|difference)\b.{0,30}"
    r"|(?:what|how) do(?:es)? (?:that|it|they) mean|(?:i )?don'?t understand|huh|explain)\W*",
    re.I,
)
# The usual way of a plan, where no number is said.
TAKE_IT = re.compile(
    r"\W*(?:(?:ok(?:ay)?|yes|good|then|please)[, ]+)*(?:take|write|use|make|give me) (?:it|that|this|that one"
    r"|(?:the |a )?(?:launch |job )?script(?: for (?:it|that|this))?)(?:[, ]+(?:please|then))*\W*",
    re.I,
)
# What was offered is taken, and more is said behind it.
AND_MORE = re.compile(
    r"(?i)\W*(?:(?:ok(?:ay)?|yes|yeah|fine|good|then|alright)[,.! ]+)*(?:(?:take|do|use|go with) "
    r"(?:that|it|this|the first)(?: one)?(?: then)?|yes|ok(?:ay)?)\s*[,.;:!]\s*"
)
# Topics under which the choices that were just offered are asked about.
OF_CHOICES = ("concept", "option", "machine.list", "script.explain")
ONLY_YOU = (
    "That one only you can know: it is where you have an account. The host that you log in to tells it (*delta* in "
    "login.delta.ncsa.illinois.edu), or whoever gave you the login. Name any machine to see a script now; it moves to "
    "another later."
)
DECIDED = "Nothing is open. What I took by myself: {}. Say what to change."
NOT_IN_FILE = (
    "{}: `{}` has no line that holds this, so I leave your file as it is. It is a change of your program or of the "
    "command that submits the job."
)
# Of what was offered together: what is to stay, and what alone is wanted.
LEAVES = re.compile(r"(?i)\b(?:leave|keep|not|don'?t (?:change|touch)|without|except|skip|but no)\b[^,.;]{1,40}")
ONLY = re.compile(r"(?i)\b(?:only|just)\b[^,.;]{1,40}|\b[\w ]{1,30}\b(?:only|alone)\b")
MOST_PARTLY = 16
# `3h` and `3` name 03:00:00 where that was offered.
WHOLE_HOURS = re.compile(r"\d+:00:00")
OF_HOURS = r"(?:[ -]?(?:h|hrs?|hours?|std|stunden?|heures?|horas?|ore))?(?! ?(?:nod|gpu|knot|n[oœ]e?ud))"
TOO_MUCH = re.compile(r"(?i)^\W*(?:no|nope|nein|non)\b|\b(?:not|nicht|pas|too|zu|trop|demasiado|troppo)\b")
STOPS = re.compile(r"[.,;!]+\s+|\s+(?=(?:and|und|et|y|e)\s)")
THAT_THING = re.compile(
    r"(?i)\W*(?:(?:ok(?:ay)?|yes|yeah|then|please|sure|let'?s)[, ]+)*(?:do|take|try|go (?:for|with)|use|apply|make)"
    r" (?:the |that |this )?(?P<what>[\w -]{2,30}?)(?: (?:thing|one|change|way|fix|option|idea))?"
    r"(?:[, ]+(?:then|please))*\W*"
)
WITHDRAWAL = re.compile(
    r"\W*(?:never ?mind|forget (?:it|that)|leave it|drop (?:it|that)|cancel(?: that)?|stop)\b.*", re.I
)


def by_pending(turn: TurnContext) -> State | None:
    handler = HANDLERS.get(type(turn.pending))
    if handler is None or turn.message.scripts or turn.message.logs:
        return None
    return handler(turn, turn.pending)


def to_search(turn: TurnContext, pending: OfferSearch) -> State | None:
    """A yes or a no to a web search."""
    picked = chosen(turn.words, [Alternative("yes"), Alternative("no")])
    refused = NO.fullmatch(turn.words.strip()) or (picked and picked.says == "no")
    if picked is None and not refused:
        return None
    return State(way="web", searching="" if refused else pending.query)


def to_choice(turn: TurnContext, pending: OfferChoice) -> State | None:
    """One of the ways round a refusal, by number or words; or the refused change is let go."""
    offered = pending.refusal.instead
    named = [way for way in offered if is_named(way.change, turn.words)]
    picked = chosen(turn.words, offered) or (named[0] if len(named) == 1 else None)
    if picked:
        return pick(pending.request or turn.request, picked)
    taken = AND_MORE.match(turn.words)
    if taken and len(offered) == 1 and turn.words[taken.end() :].strip():
        request = apply(pending.request or turn.request, offered[0])
        heard = read(turn.words[taken.end() :], request, None, None)
        return State(way="write", request=heard.request, pending=None, said=unplaced(heard.left))
    number = NUMBER.fullmatch(turn.words.strip())
    if number and number[1].isdigit() and int(number[1]) > len(offered) > 0:
        return State(pending=pending, said=(Say(BEYOND.format(len(offered))),))
    if NO.fullmatch(turn.words.strip()) or WITHDRAWAL.fullmatch(turn.words.strip()):
        return let_go(turn, offered)
    return None


def unplaced(left: Sequence[str]) -> tuple[Say, ...]:
    return (Say(UNPLACED.format("*, *".join(left))),) if left else ()


def let_go(turn: TurnContext, offered: tuple[Alternative, ...]) -> State:
    """The script before it stands; without one, what was refused is asked for anew."""
    stands = newest(turn.state)
    if stands is not None:
        return State(pending=None, request=stands, said=(Say(LET_GO.format("; the script stands as it was")),))
    names = {name for way in offered for name, _ in way.change}
    request = changed(turn.request, dict.fromkeys(names))
    return State(pending=None, request=request, way="write", said=(Say(LET_GO.format("")),))


def pick(before: JobRequest, picked: Alternative) -> State:
    return State(way="write", request=apply(before, picked), pending=None)


def to_edit(turn: TurnContext, pending: OfferEdit) -> State | None:
    """A yes (to the first), a number, or a no to cures that cost."""
    words = turn.words.strip()
    if NO.fullmatch(words) or WITHDRAWAL.fullmatch(words):
        return State(pending=None, said=(Say(NOT_DONE),))
    if len(pending.offers) == 1 and not pending.offers[0].script and (part := partly(turn, pending.offers[0])):
        return part
    if named := meant(pending, words):
        return carry_out(turn, named)
    return with_more(turn, pending) or refused_one(turn, pending)


def meant(pending: OfferEdit, words: str) -> Offer | None:
    """The one that words pick of what was offered: by its number, its value, or what it is called."""
    picked = chosen(words, [Alternative(offer.says, offer.change) for offer in pending.offers])
    named = [one for one in pending.offers if picked and one.says == picked.says]
    named = named or [one for one in pending.offers if is_named(one.change, words)]
    named = named or [one for one in pending.offers if is_called(one, words)]
    return named[0] if len(named) == 1 else None


def with_more(turn: TurnContext, pending: OfferEdit) -> State | None:
    """`Fine, 3h. And mail me`: what the first words pick for a person's own script, and what the rest changes."""
    own = turn.state.get("own")
    for stop in reversed(list(STOPS.finditer(turn.words))):
        first, rest = turn.words[: stop.start()], turn.words[stop.end() :]
        taken = None if len(pending.offers) > 1 and YES.fullmatch(first) else meant(pending, first)
        if own is None or taken is None or not taken.script:
            continue
        after = with_words(turn, rest)
        if found := changed_own(after, own, taken):
            return found
        done, wants = carry_out(turn, taken), after.utterance.main.share(*WANTING) >= SURE
        return State(**{**done, "said": (*done["said"], *(unplaced([rest]) if wants else ()))})
    return None


def is_called(offer: Offer, words: str) -> bool:
    """`Do the batch thing`: an order to do that which what was offered is called."""
    from graph.usecases.script_lines import content

    found = THAT_THING.fullmatch(words)
    return found is not None and bool(content(found["what"]) & content(offer.says))


def partly(turn: TurnContext, offer: Offer) -> State | None:
    """`No, leave the queue, only the time`: of several changes that were offered together those that are wanted."""
    names = [name for name, _ in offer.change]
    words = turn.words
    if len(names) < 2 or len(words.split()) > MOST_PARTLY or "?" in words:
        return None
    kept = {name for name in names for one in LEAVES.finditer(words) if is_field(name, one[0])}
    only = {name for name in names for one in ONLY.finditer(words) if is_field(name, one[0])} - kept
    wanted = tuple((name, value) for name, value in offer.change if name in (only or set(names) - kept))
    if not (kept or only) or not wanted or len(wanted) == len(names) or numbers_and_names(LEAVES.sub("", words)):
        return None
    return carry_out(turn, Offer(offer.says, change=wanted))


def is_field(name: str, words: str) -> bool:
    """Whether words name that field of a request."""
    return re.search(rf"(?i)\b(?:{FIELD_WORDS.get(name, name.replace('_', ' '))})\b", words) is not None


def refused_one(turn: TurnContext, pending: OfferEdit) -> State | None:
    """`Not the micro batch`: what was offered without that; the person's words for it stand in the offer."""
    from graph.usecases.script_lines import content

    denied = set[str]().union(*(content(one.text) for one in denials(turn.words)))
    left = tuple(one for one in pending.offers if not denied & content(one.says))
    if len(left) == len(pending.offers):
        return None
    if not left and "?" in turn.words:  # what else there is, they ask themselves
        return State(pending=None, way="answer", act="ask")
    told = f"{REFUSED}\n\n{offered(left)}" if left else f"{REFUSED} {NONE_LEFT}"
    return State(pending=OfferEdit(left) if left else None, said=(Say(told),), act="edit")


def to_rows(turn: TurnContext, pending: OfferRows) -> State | None:
    """A way of a plan, by its number or its words; thanks and a yes take none."""
    words = turn.words.strip()
    picked = None if YES.fullmatch(words) else chosen(words, [Alternative(one.says) for one in pending.offers])
    taken = next((one for one in pending.offers if picked and one.says == picked.says), None)
    taken = pending.offers[0] if TAKE_IT.fullmatch(words) else taken
    return carry_out(turn, taken) if taken else None


def is_named(change: Sequence[tuple[str, str | int | None]], words: str) -> bool:
    """`Regular then`, `fsdp please`: few words that name the value which what was offered would bring."""
    values = [str(value) for _, value in change]
    few = len(words.split()) <= MOST_WORDS and "?" not in words
    hours = [] if TOO_MUCH.search(words) else [one for one in values if WHOLE_HOURS.fullmatch(one)]
    said = [*map(re.escape, values), *(f"{int(one[:-6])}{OF_HOURS}" for one in hours)]
    return few and any(re.search(rf"(?<![\w-]){one}(?![\w-])", words, re.I) for one in said)


def carry_out(turn: TurnContext, offer: Offer) -> State:
    """A cure that was agreed to: in the person's own file, or by a script written anew."""
    own = turn.state.get("own")
    from graph.planning.patches import patched

    if own and (text := offer.script or (patched(own.text, offer.patches)[0] if offer.patches else "")):
        return made_of(turn, Paste(own.name, text), offer.says)
    if own and offer.change and not offer.request and not turn.state.get("resources"):
        return State(pending=None, said=(Say(NOT_IN_FILE.format(offer.says, own.name)),))
    if offer.request:
        return State(way="write", request=offer.request, pending=None)
    if offer.patches:
        patches = (*turn.request.patches, *offer.patches)
        return State(way="write", request=replace(turn.request, patches=patches), pending=None)
    change: dict[str, Any] = dict(offer.change)
    if "strategy" in change and turn.request.framework in ("pytorch", "deepspeed"):
        change["framework"] = None
    from graph.debugging.remedies import changed_request
    from graph.planning.strategies import with_usual_framework

    request = with_usual_framework(changed_request(turn.request, change))
    return State(way="write", request=request, pending=None)


def to_question(turn: TurnContext, pending: AskField) -> State | None:
    """`You choose` and `why?`; other answers are read with all else."""
    question = pending.question
    if ABOUT_IT.fullmatch(turn.words.strip()) or asks_of_it(turn):
        choices = f" The choices: {', '.join(question.options)}." if question.options else ""
        told = question.help or f"Without it I cannot write the script: {question.text}"
        return State(said=(Say(f"{told}{choices}"),), reopened=True)
    if question.field == "machine" and LEFT_TO_US.search(turn.words) and len(turn.words.split()) <= MOST_WORDS:
        return State(said=(Say(ONLY_YOU),), reopened=True)
    return None


def asks_of_it(turn: TurnContext) -> bool:
    """Whether few words ask what the open choices are or mean, and name nothing else."""
    main = turn.utterance.main
    from graph.reading.defining import find_terms

    named = turn.utterance.mentions or find_terms(turn.words)
    return (
        not named and main.topic in OF_CHOICES and main.share("ask") >= SURE and len(turn.words.split()) <= MOST_WORDS
    )


def nothing_open(turn: TurnContext, pending: None) -> State | None:
    """`You decide`, where nothing is asked: what was decided, so that it can be changed."""
    plan = turn.state.get("plan")
    if plan is None or len(turn.words.split()) > MOST_WORDS or not LEFT_TO_US.search(turn.words) or "?" in turn.words:
        return None
    taken = "; ".join(f"{one.field} {one.value} ({one.why})" for one in plan.assumptions if one.value)
    return State(said=(Say(DECIDED.format(taken or "nothing: all of it comes from your words")),))


def leave_to_us(turn: TurnContext, request: JobRequest) -> State | None:
    """`you choose`, in answer to a question: take the recommended value, and say why."""
    question = turn.question
    if question is None or getattr(request, question.field, None) is not None:
        return None
    advice = recommended(turn.words, question, request, turn.context.cluster(request))
    if advice is None:
        return None
    value, why = advice
    taken = Assumption(question.field, str(value), f"left to me: {why}")
    return State(
        way="write",
        request=replace(request, **{question.field: value}),  # type: ignore[arg-type]
        left_to_us=(*turn.state.get("left_to_us", ()), taken),
        said=(Say(f"I take {question.field} = {value}: {why}."),),
    )


Handler = Callable[[TurnContext, Any], State | None]
HANDLERS: dict[type[Pending] | type[None], Handler] = {
    OfferSearch: to_search,
    OfferChoice: to_choice,
    OfferEdit: to_edit,
    OfferRows: to_rows,
    AskField: to_question,
    type(None): nothing_open,
}
