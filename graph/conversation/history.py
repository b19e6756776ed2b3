"""The thread's own past: the scripts agreed on, back and forward among them, and other jobs beside this one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from graph.changes import changes, diff
from graph.conversation.turn import RATHER, SURE, WANTING, TurnContext, asks_by_form
from graph.extraction.request import understand
from graph.extraction.sentences.lexicon import FIELD_WORDS
from graph.reading.parts import count
from graph.state import State
from knowledge.types import (
    JobRequest,
    LaunchBundle,
    Made,
    OfferChoice,
    OfferEdit,
    ParkedJob,
    Paste,
    Revision,
    Said,
    Say,
)

MOST_REMEMBERED = 20
BEFORE = r"\W*(?:(?:please|no|ok|okay|actually|wait|hm+|oh|sorry|never ?mind|nah)[,.!]* )*"
BEHIND = r"(?: (?:that|it|this|the last (?:change|one|step)|my last (?:change|message)))?(?:,? please)?\W*"
UNDO = re.compile(
    rf"{BEFORE}(?:undo|revert|roll ?back|go back|take (?:that|it) back|"
    r"(?:go )?back to (?:the )?(?:last|previous|old|earlier|one before)(?: one| script| version)?|"
    r"restore (?:the )?(?:last|previous|old)(?: one| script| version)?|(?:remets?(?: [lç]\w+| tout)? )?comme avant"
    r"|(?:put (?:it|that|everything) back )?(?:like|as|the way) (?:it was )?before|wieder (?:wie vorher|zur[üu]ck)"
    rf"|como antes|come (?:era )?prima|como estava(?: antes)?){BEHIND}",
    re.I,
)
REDO = re.compile(rf"{BEFORE}(?:redo|undo the undo|put (?:that|it) back(?: in)?|(?:do )?that again){BEHIND}", re.I)
RESET = re.compile(
    rf"{BEFORE}(?:(?:scratch|forget) (?:that|it|everything|all(?: of (?:that|it))?)\W+(?:and )?)?"
    r"(?:(?:let'?s )?start (?:over|again|anew|from scratch|fresh)|forget (?:everything|all)|begin again|reset)\b\W*",
    re.I,
)
NEW_JOB = re.compile(
    r"\W*(?:(?:ok|okay|now|and|please|i (?:also )?(?:need|have|want)|make|write(?: me)?)[,.! ]+)*"
    r"(?:another|a second|a new|a different|one more|the next) (?:job|script|run|one)\b"
    r"(?: (?:next to|besides?) (?:it|this|that)\b)?\W*",
    re.I,
)
LIKE_IT = re.compile(
    r"(?:(?:exactly|just) )?(?:the )?(?:same|like (?:it|this|that)|copy)\b(?:\W*(?:but|with"
    r"|only|except|as before))*",
    re.I,
)
BACK = re.compile(
    rf"{BEFORE}(?:back to|(?:go )?back (?:to|with)|return to|show me|continue with|now)? ?(?:the |my )?"
    r"(?P<which>first|original|other|previous|second|third) (?:job|one|script)(?: again)?\W*",
    re.I,
)
RETURNS = re.compile(
    r"\b(?:never ?mind|keep|stay|stick|back to|return to|forget|dimentica|oublie|vergiss|olvida|leave out|drop)\b", re.I
)
FORGETS = re.compile(r"\b(?:forget|dimentica|oublie|vergiss|olvida|drop|leave out)\b", re.I)
# From this probability on a message is a way back, or forward; the most words of one.
LIKELY, MOST_WORDS, SHORTEST = 0.6, 14, 3
POSSIBLE = 0.35
UNDOES = re.compile(
    rf"{BEFORE}(?:undo|revert|roll ?back|take back|mach\b.{{0,12}} r[üu]ckg|annul|deshaz|d[ée]fais|desfaz)", re.I
)
UNDOES_ONE = re.compile(
    rf"{BEFORE}(?:undo|revert|roll ?back|take back) the (?!(?:last|previous|latest|whole|change|edit|step)\b)"
    r"(?P<what>[\w-]+)(?: (?:thing|part|change|edit|again|please))*\W*",
    re.I,
)
FIRST = re.compile(
    r"\b(?:first|beginning|start|original\w*|initial\w*|everything|all(?: of it)?|at first|anfang\w*|ersten?"
    r"|erste|alles|urspr\w*"
    r"|d[ée]but|premi[eè]re?|tout|principio|primer[ao]?|todo|inizio|prima|tutto|in[ií]cio|primeir[ao]|tudo)\b",
    re.I,
)
STEPS = re.compile(
    r"\b(?P<n>\d|two|three|four|five|zwei|drei|deux|trois|dos|tres|due|tre)\b(?!\s+(?:nodes?"
    r"|gpus?|hours?|h)\b)|\b(?P<both>both)\b",
    re.I,
)
VERSION = re.compile(r"\b(?:one|version|script|that|la|le|el|il|die|der|das)\b", re.I)
POINTS_AT = re.compile(r"(?i)(?<=\w)\s+(?:ones?|version|script)\b(?=\W*$)")
PLAINLY = re.compile(
    r"\b(?:undo|revert|change|edit|back|r[üu]ckg\w+|annul\w+|deshac\w+|desha\w+|d[ée]fai\w+"
    r"|desfa\w+)\b",
    re.I,
)
PLACES = {
    **dict.fromkeys(("first", "original", "erste", "premier", "premi\u00e8re", "primer", "primero", "primo"), 0),
    **dict.fromkeys(("second", "zweite", "deuxi\u00e8me", "segundo", "secondo"), 1),
    "third": 2,
}
ORDINAL = re.compile(rf"\b({'|'.join(PLACES)}|ersten|zweiten|other|previous|andere\w*|autre|otro|altro)\b", re.I)
NOTHING = "There is no earlier script to go back to: this is the first one. Say what to change, or *start over*."
NONE_YET = "There is no script here yet, so there is nothing to take back."
AS_AT_FIRST = "That it is: {} {}, as at first; nothing changes."
NOTHING_UNDONE = "Nothing was taken back, so there is nothing to redo."
WITHDRAWN = "That change is dropped; the script stands as it was."
NOT_WISHED = "There is no *{}* in the script to take back; nothing changes."
NOT_OF_LAST = "*{}* is in no line of the last change, so nothing is taken back; *undo* alone takes that change back."
WITHDRAWS = re.compile(
    rf"{BEFORE}(?:forget|withdraw|drop|scrap|cancel|leave out|take (?:out|back)|remove|no more|get rid of|vergiss"
    r"|oublie|olvida|dimentica)\s+(?:about )?(?:the |that |this |all )?(?P<what>[\w-]+(?: [\w-]+)?)"
    r"(?: (?:thing|part|again|wish|please))*(?:[,;] (?:but )?(?:only|just|keep|leave)\b(?P<stays>[^,;.]*))?\W*",
    re.I,
)
# Without one of these there is no script; what goes with a wish.
ALWAYS = ("walltime", "nodes", "gpus_per_node", "strategy", "args", "queue", "account")
TOGETHER = {"requeue": ("signal",)}
BESIDE = re.compile(
    r"(?i)\b(?:but|only|and|with|aber|und|mais|et|pero|ma)\b(?: (?:with|for|on|at|mit|avec|con))?\s+(.*\d.*)$"
)
CLEAN: State = State(
    request=JobRequest(),
    pending=None,
    earlier=(),
    source="",
    own=None,
    left_to_us=(),
    plan=None,
    bundle=None,
    told=(),
    revisions=(),
    undone=(),
    tried=(),
    diagnosed=None,
    logs=(),
    unhelped=(),
)
# No refusal of a size or a queue is about these: they are kept beside one.
OF_NO_SIZE = ("account", "mail", "job_name", "output")
UNTOLD = frozenset({"heard", "setup", "variables", "patches", "site_words"})


def by_history(turn: TurnContext) -> State | None:
    """Undo, redo, a fresh start, another job, and back to one; None where the message is about none of them.

    `Back to the Perlmutter one but 4 hours`: what is wanted beside it is done to the script that came back.
    """
    turn = of_way_back(turn)
    found = from_history(turn)
    beside = BESIDE.search(turn.words)
    if found is None or beside is None or found.get("own") or not any(isinstance(p, Made) for p in found["said"]):
        return found
    wanted = understand(beside[1], found["request"], None, None).request
    if wanted == found["request"]:
        return found
    return State(**{**found, "way": "write", "request": wanted, "said": ()})


def of_way_back(turn: TurnContext) -> TurnContext:
    """`16 nodes. No, put it back as it was`: what ends on a way back is that, whatever was wished before it; and so is
    the one clause that goes back beside others that want nothing, as praise or a reason."""
    clauses = turn.utterance.clauses
    ways = [one for one in clauses if one.share("undo", "back") >= LIKELY or UNDO.fullmatch(one.text.strip())]
    others = [one for one in clauses if one not in ways]
    wants = any(one.share(*WANTING) >= LIKELY for one in others)
    if len(ways) != 1 or not others or (wants and ways[0] is not clauses[-1]) or any(map(asks_by_form, others)):
        return turn
    way = ways[0]
    alone = replace(turn.utterance, text=way.text, clauses=(way,), mentions=tuple(turn.utterance.within(way)))
    return replace(turn, message=replace(turn.message, words=way.text), utterance=alone)


def from_history(turn: TurnContext) -> State | None:
    words = turn.words.strip()
    if turn.message.scripts or turn.message.logs or not words:
        return None
    # `hm no, debug is packed, undo`: what stands before it is the reason.
    reason, _, last = max(words.rpartition(","), words.rpartition(";"), key=lambda parts: len(parts[0]))
    behind = UNDO.fullmatch(last) and reason and turn.utterance.main.share("undo", "back") >= RATHER
    if UNDO.fullmatch(words) or behind:
        return undo(turn)
    if REDO.fullmatch(words):
        return redo(turn)
    if (found := BACK.fullmatch(words)) and turn.state.get("jobs"):
        return back(turn, found["which"].lower())
    return by_act(turn, words) or (return_to_machine(turn) if RETURNS.search(words) else None)


def by_act(turn: TurnContext, words: str) -> State | None:
    """What the reader takes for a way back: to another job, to the first script, some steps, one field, a version."""
    if gone := withdrawn(turn, words):
        return gone
    main = turn.utterance.main
    returns = main.share("undo", "back", *(("redo",) if FIRST.search(words) else ()))  # `as it was at first`
    one = len(turn.utterance.clauses) == 1 and len(words.split()) <= MOST_WORDS and "?" not in words
    if one and turn.state.get("bundle") is None and main.share("undo") >= SURE:
        return State(said=(Say(NONE_YET),), reopened=True)
    if not one or turn.state.get("bundle") is None:
        return None
    if main.share("redo") >= LIKELY and not FIRST.search(words):
        return redo(turn)
    if returns < (POSSIBLE if UNDOES.match(words) else LIKELY):
        return None
    if job := other_job(turn, words):
        return job
    revisions = tuple(turn.state.get("revisions", ()))
    read = numbers_and_names(words)
    if FIRST.search(words) and not read and (field := named_field(words)):
        return field_at_first(turn, revisions, field)
    if FIRST.search(words) and not read:
        return go_back(turn, len(revisions) - 1, whole=False)
    steps = STEPS.search(words)
    if steps and not read:
        return go_back(turn, count_word(steps["n"] or steps["both"]))
    if VERSION.search(words) and (version := held_version(revisions, read)) is not None:
        elsewhere = revisions[version].request.machine != turn.request.machine
        return go_back(turn, len(revisions) - 1 - version, whole=elsewhere)
    if not read and (field := named_field(words)):
        return one_field_back(turn, field)
    if not read and main.share("undo") >= LIKELY and spoke_of_change(turn, words):
        return not_of_last(turn, words) or undo(turn)
    return None


def not_of_last(turn: TurnContext, words: str) -> State | None:
    """`Undo the nvme`, where no line of the last change has it: said, and nothing else is taken back for it."""
    from graph.usecases.script_lines import changed_words, content

    named, bundles = UNDOES_ONE.fullmatch(words), [one.bundle for one in turn.state.get("revisions", ())][-2:]
    said = content(named["what"]) if named else set()
    if not named or not said or len(bundles) != 2 or not (bundles[0] and bundles[1]):
        return None
    if said & changed_words(bundles[0].script, bundles[1].script):
        return None
    return State(said=(Say(NOT_OF_LAST.format(named["what"])),))


def withdrawn(turn: TurnContext, words: str) -> State | None:
    """`Forget the array`, `withdraw the requeue thing`: a wish of before, taken back; one that was only offered too."""
    found = WITHDRAWS.fullmatch(words)
    field = named_field(found["what"]) if found else ""
    if not field or field in ALWAYS or turn.state.get("own") or turn.state.get("bundle") is None:
        return None
    if isinstance(turn.pending, OfferEdit) and any(
        getattr(one.request, field, None) != getattr(turn.request, field) for one in turn.pending.offers if one.request
    ):
        return State(pending=None, said=(Say(WITHDRAWN),))
    if not getattr(turn.request, field):
        return State(said=(Say(NOT_WISHED.format(found["what"] if found else field)),))
    with_it = (name for name in TOGETHER.get(field, ()) if name not in ((found and found["stays"]) or ""))
    gone = {name: None for name in (field, *with_it) if name == field or getattr(turn.request, name)}
    return State(way="write", request=replace(turn.request, **gone), act="edit")  # type: ignore[arg-type]


def numbers_and_names(words: str) -> dict[str, object]:
    """The values that a way back names: of `back to the one with 8 hours` the time; `the 4 node one` is no number."""
    request = understand(POINTS_AT.sub("", words), None, None, None).request
    names = (one.name for one in fields(JobRequest) if one.name not in UNTOLD and one.name != "source_machine")
    told = {name: getattr(request, name) for name in names if getattr(request, name) not in (None, ())}
    return {name: value for name, value in told.items() if name != "framework" or "strategy" not in told}


def held_version(revisions: Sequence[Revision], read: Mapping[str, object]) -> int | None:
    """Where the newest earlier script stands that held all these values."""
    for at in range(len(revisions) - 2, -1, -1):
        one = revisions[at]
        if read and all(getattr(one.request, name) == value for name, value in read.items()):
            return at
    return None


def go_back(turn: TurnContext, steps: int, *, whole: bool = False) -> State:
    """So many scripts back; those passed over can be had again by *redo*."""
    revisions = tuple(turn.state.get("revisions", ()))
    if len(revisions) < 2 or steps < 1:
        return State(said=(Say(NOTHING),))
    steps = min(steps, len(revisions) - 1)
    undone = (*turn.state.get("undone", ()), *reversed(revisions[-steps:]))[-MOST_REMEMBERED:]
    return restored(turn, revisions[:-steps], undone, whole=whole)


def one_field_back(turn: TurnContext, field: str) -> State | None:
    """`Undo just the hours`: that field as it was before it changed last; everything else stays."""
    revisions = tuple(turn.state.get("revisions", ()))
    now = getattr(turn.request, field)
    before = next((one.request for one in reversed(revisions) if getattr(one.request, field) != now), None)
    if before is None or turn.state.get("own"):
        return None
    names = {"nodes": ("nodes", "total_gpus"), "strategy": ("strategy", "framework")}.get(field, (field,))
    changes: dict[str, Any] = {name: getattr(before, name) for name in names}
    return State(way="write", request=replace(turn.request, **changes), act="edit")


def field_at_first(turn: TurnContext, revisions: Sequence[Revision], field: str) -> State | None:
    """`The time as I said in the beginning`: that field as the first script had it."""
    first = getattr(revisions[0].request, field) if revisions else None
    if first is None or turn.state.get("own"):
        return None
    if first == getattr(turn.request, field):
        return State(said=(Say(AS_AT_FIRST.format(field.replace("_", " "), first)),))
    changes: dict[str, Any] = {field: first}
    return State(way="write", request=replace(turn.request, **changes), act="edit")


def named_field(words: str) -> str:
    """The one field that words name; empty where none or several are."""
    found = {field for field, pattern in FIELD_WORDS.items() if re.search(rf"\b(?:{pattern})\b", words, re.I)}
    return next(iter(found)) if len(found) == 1 else ""


def spoke_of_change(turn: TurnContext, words: str) -> bool:
    """Whether the last turn changed the script, or the words say plainly that a change is meant."""
    return turn.state.get("last_act") not in ("ask", "plan", "review", "chat") or PLAINLY.search(words) is not None


def count_word(word: str) -> int:
    return 2 if word.lower() == "both" else count(word)


def other_job(turn: TurnContext, words: str) -> State | None:
    """The parked job that words name: by its place, its machine, or what its program is called."""
    jobs = tuple(turn.state.get("jobs", ()))
    if not jobs:
        return None
    ordinal = ORDINAL.search(words)
    if ordinal:
        return back(turn, ordinal[1].lower().removesuffix("er").removesuffix("en"))
    lowered = words.lower()
    machines = turn.utterance.machines()
    for at in range(len(jobs) - 1, -1, -1):
        request = jobs[at].revisions[-1].request if jobs[at].revisions else JobRequest()
        stem = re.sub(r"\W.*", "", (request.entry or "").rsplit("/", 1)[-1]).lower()
        if request.machine in machines or (len(stem) >= SHORTEST and re.search(rf"\b{re.escape(stem[:5])}", lowered)):
            return back(turn, "", at)
    return None


def return_to_machine(turn: TurnContext) -> State | None:
    """`Never mind, keep Polaris`, `forget lumi`: the newest script that was, or was not, for that machine."""
    named = [name for name in turn.utterance.machines() if name in turn.context.catalogue.clusters]
    now = turn.request.machine
    if len(named) != 1 or (forgets := bool(FORGETS.search(turn.words))) != (named[0] == now):
        return None
    wanted = (lambda one: one.machine not in (None, named[0])) if forgets else (lambda one: one.machine == named[0])
    revisions = list(turn.state.get("revisions", ()))
    jobs = list(turn.state.get("jobs", ()))
    for at in range(len(revisions) - 1, -1, -1):
        if wanted(revisions[at].request):
            return restored(turn, tuple(revisions[: at + 1]), tuple(reversed(revisions[at + 1 :])), whole=True)
    for at in range(len(jobs) - 1, -1, -1):
        if jobs[at].revisions and wanted(jobs[at].revisions[-1].request):
            found = restored(turn, jobs[at].revisions, (), whole=True)
            parked = [*jobs[:at], *jobs[at + 1 :], *([ParkedJob(tuple(revisions))] if revisions else [])]
            return State(**{**CLEAN, **found, "jobs": tuple(parked)})
    return None


def fresh_start(turn: TurnContext) -> tuple[State, str] | None:
    """`Start over`, `another job, on polaris`: the state that the rest of the message begins with, and that rest."""
    words = turn.words.strip()
    found, parking = RESET.match(words), False
    if found is None and turn.state.get("revisions"):
        found, parking = NEW_JOB.match(words), True
    if found is None or turn.act in ("undo", "ask"):
        return None
    jobs = tuple(turn.state.get("jobs", ()))
    revisions = tuple(turn.state.get("revisions", ()))
    said = "The first job stays as it is: *back to the first job* brings it again." if parking else "A fresh start."
    if not revisions and turn.request != JobRequest():
        revisions = (Revision(turn.request, turn.state.get("source", "")),)
    clean = State(**{**CLEAN, "jobs": (*jobs, ParkedJob(revisions)) if revisions else jobs, "said": (Say(said),)})
    rest = words[found.end() :].strip(" ,.;:!")
    if parking and (like := LIKE_IT.match(rest)):
        clean, rest = State(**{**clean, "request": turn.request}), rest[like.end() :].strip(" ,.;:!")
    elif parking and rest and turn.request.machine and not turn.state.get("own"):
        told, held = understand(rest, None, None, None).request, turn.request
        if not (told.machine or told.account or told.queue):  # then it is the same person's, at the same place
            rest += f", on {held.machine}" + (f", account {held.account}" if held.account else "")
    return clean, rest


def undo(turn: TurnContext) -> State:
    """One script back. Right after a change that was refused, it is that change which is dropped."""
    revisions = tuple(turn.state.get("revisions", ()))
    if isinstance(turn.pending, OfferChoice) and turn.pending.request is not None and revisions:
        return State(pending=None, said=(Say(WITHDRAWN),))
    if len(revisions) < 2:
        return State(said=(Say(NOTHING),))
    undone = (*turn.state.get("undone", ()), revisions[-1])[-MOST_REMEMBERED:]
    return restored(turn, revisions[:-1], undone)


def redo(turn: TurnContext) -> State:
    undone = tuple(turn.state.get("undone", ()))
    if not undone:  # `put it back`, of what was changed
        backward = turn.utterance.main.share("undo", "back") >= LIKELY
        return undo(turn) if backward else State(said=(Say(NOTHING_UNDONE),))
    return restored(turn, (*turn.state.get("revisions", ()), undone[-1]), undone[:-1])


def back(turn: TurnContext, which: str, at: int | None = None) -> State:
    """To another job of this conversation; the one at hand is parked in its place."""
    jobs = list(turn.state.get("jobs", ()))
    at = min(PLACES.get(which, len(jobs) - 1), len(jobs) - 1) if at is None else at
    chosen = jobs.pop(at)
    now = tuple(turn.state.get("revisions", ()))
    parked = [*jobs[:at], *([ParkedJob(now)] if now else []), *jobs[at:]]
    found = restored(turn, chosen.revisions, (), whole=True)
    return State(**{**CLEAN, **found, "jobs": tuple(parked)})


def restored(
    turn: TurnContext, revisions: tuple[Revision, ...], undone: tuple[Revision, ...], *, whole: bool = False
) -> State:
    """The newest of these scripts again. whole: not as a change of the one at hand, but as it stands."""
    to = revisions[-1]
    state = State(
        request=to.request,
        source=to.source,
        own=to.own,
        plan=to.plan,
        bundle=to.bundle,
        revisions=revisions,
        undone=undone,
        pending=None,
        left_to_us=(),
    )
    if to.bundle is None:
        return State(**{**state, "way": "write"})
    before = None if whole else turn.state.get("bundle")
    plan = None if whole else turn.state.get("plan")
    made = Made(
        to.bundle,
        turn.context.title_of(to.request, to.plan),
        changes=changes(plan, to.plan) if to.plan else (),
        diff=diff(before, to.bundle),
    )
    return State(**{**state, "said": (made,)})


def agree(
    state: State, request: JobRequest, bundle: LaunchBundle | None, own: Paste | None = None, source: str | None = None
) -> State:
    """The request led to a script: it is the newest revision, and what was undone before is forgotten."""
    earlier = tuple(state.get("revisions", ()))
    kept = state.get("source", "") if source is None else source
    outcome = state.get("outcome")
    plan = outcome if own is None and outcome is not None and hasattr(outcome, "ranks_per_node") else None
    revision = Revision(request, kept, own, plan, bundle)  # type: ignore[arg-type]
    if earlier and same(earlier[-1], revision):
        return State(revisions=(*earlier[:-1], revision))
    return State(revisions=(*earlier, revision)[-MOST_REMEMBERED:], undone=())


def same(one: Revision, other: Revision) -> bool:
    return one.request == other.request and one.bundle == other.bundle


def newest(state: State) -> JobRequest | None:
    revisions: Sequence[Revision] = state.get("revisions", ())
    return revisions[-1].request if revisions else None


def carried_by(request: JobRequest, before: JobRequest, source: str) -> str:
    """The script that a request carries over: none, where the request before did and this one holds nothing of it."""
    was, now = (any(one.origin == "script" for one in each.heard) for each in (before, request))
    return "" if was and not now else source


def stands(state: State) -> tuple[JobRequest, JobRequest | None, tuple[Said, ...]]:
    """After a refusal: the request that stands, the one that was refused, and what to say of it.

    The newest script's request stands, where the change was one of that same machine.
    """
    agreed, refused = newest(state), state.get("request") or JobRequest()
    if agreed is None or agreed == refused or agreed.machine != refused.machine:
        return refused, None, ()
    names = differing(agreed, refused)
    kept = {name: getattr(refused, name) for name in OF_NO_SIZE if name in names}
    left_out = ", ".join(named(name, getattr(refused, name)) for name in names if name not in kept)
    words = f"Until then the script stays as it was, without *{left_out}*." if left_out else ""
    if kept:
        words += f" Kept for the next one: *{', '.join(named(name, value) for name, value in kept.items())}*."
    return replace(agreed, **kept), refused, (Say(words.strip()),) if words else ()


def named(name: str, value: object) -> str:
    """A field as a person says it: its value too where that is a word or a number."""
    says = name.replace("_", " ")
    return f"{says} {value}" if isinstance(value, str | int) and not isinstance(value, bool) else says


def differing(one: JobRequest, other: JobRequest) -> tuple[str, ...]:
    names = (field.name for field in fields(JobRequest) if field.name not in UNTOLD)
    return tuple(n for n in names if getattr(one, n) != getattr(other, n) and getattr(other, n) is not None)


def corrects(agreed: JobRequest, refused: JobRequest, heard: JobRequest) -> bool:
    """Whether a message speaks of what was refused: then it goes on from there, else that is forgotten."""
    return any(getattr(heard, name) != getattr(refused, name) for name in differing(agreed, refused))
