"""Whether a message may write or change a script: the one place where that is decided, for every reader and door.

A wish is done where the trained reader is sure of it, or where it leans to it and the rules read the same with nothing
left over. Below that what was understood is said, and done on a yes. What is asked, or told of a run that was, is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from difflib import unified_diff
from typing import Any

from graph.conversation.planning import WANTS_SCRIPT
from graph.conversation.turn import ASKING, RATHER, SURE, WANTING, TurnContext, asks_by_form, rather_asks
from graph.reading.coverage import content_words, is_held
from graph.reading.scope import stretch_at
from graph.reading.utterance import Clause
from graph.reading.wishes.settling import orders_change
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, Offer, OfferEdit, Refusal, Say, Understood

WOULD_BE = "Nothing is changed yet. It would be: {}{}. Say *yes* and I do it."
TWO_WAYS = (
    "Nothing is changed yet: I can read that in two ways. Say the number of the right one, or it in other words."
    "\n\n{}\n\n"
)
WOULD_WRITE = "I understood: {}. Shall I write the script for that? Say *yes*, or what I got wrong."
UNPLACED = " I did not place *{}*."
# Beside `nodes` and `GPUs each` the total is no news.
UNTOLD = ("heard", "total_gpus", "site_words", "patches")
# `If yes add --fp8`: whether it is, the person does not know yet.
CONDITION = re.compile(
    r"(?i)\bif (?:yes|so|not)\b|\bonly if\b|\bnur wenn\b|\bsolo si\b|\b(?:if|wenn|falls|si)\b[^,.;]*"
    r"\b(?:fits?|lets?|allow\w*|possible|works?|enough|takes? it|passt|geht|erlaubt|m[öo]glich|permite|cabe)\b"
)
# An order that is put as a question.
POLITE = re.compile(
    r"(?i)^\W*(?:(?:hi|hello|hallo|bonjour|hola|ciao|ol[áa]|please|bitte)\W+)?(?:(?:can|could|would) you"
    r"|k[aö]nn(?:te?st|te?n) (?:du|sie|ihr)|kannst du|peux-tu|pouvez-vous|pourr(?:ais-tu|iez-vous)|puedes|podr[íi]as"
    r"|puoi|potresti|pode(?:s|rias?)?|mo[żz]esz|можешь|можете|能不能|能否)\b"
)
# A question without its mark; `していただけますか` is an order. Scopes of what was, or is another's.
ASKED_IN_JAPANESE = re.compile(r"(?:でしょう|です)か\W*$")
TOLD = ("past", "others", "hypothetical")
MOST_TOLD, MOST_LINES = 8, 40
DIFFERENCE = "\n\n```diff\n{}\n```"
MANY_LINES = "\n\n({} lines of the script differ.)"
PLAIN_REMARK = re.compile(r"[+-]#(?!SBATCH|PBS|BSUB| flux:)")
# Characters of words in which an order is looked for; how sure a value of it must be; slots that also a question names.
MOST_READ, LEAST_OF_VALUE, OF_NO_ORDER = 600, 0.3, ("machine", "model", "framework")
WOULD_DEFAULT = (
    "I write launch lines for Python training programs; *{}* I cannot place. Shall I start it as torchrun starts a "
    "PyTorch program, one process a GPU? Say *yes*, or the command line that starts one process, or its framework."
)
PYTHON = re.compile(r"(?i)\.py\b|\bpython\b|\bpytorch\b|\btorch\b|\bllms?\b")
# A program of one's own that is no Python file: a binary by its path, or a file of another language.
PROGRAM = re.compile(
    r"(?<![\w/.])\./[\w./-]*\w\b(?!\.(?:py|sh)\b)|(?<![\w/])[\w/-]+\.(?:jl|[Rrm]|cpp|cc|f90|x|exe|out|jar|nf|smk)\b"
)
# What is read from words beside it, so that a clause which found no place may belong to it.
OF_PHRASES = ("args", "argument_edits", "entry", "environment", "array", "container")
CLAUSE = 4  # words of a piece that is more than an aside
WEIGHTY = re.compile(r"(?<!\S)-|\d|/|[\u3400-\u9fff]")
# Without one of these nothing is told of a job that a script could be written for.
CONCRETE = ("entry", "strategy", "nodes", "total_gpus", "gpus_per_node", "walltime", "account", "args", "model")


def may_act(turn: TurnContext, left: Sequence[str] = ()) -> bool:
    """Whether the words are plainly an order. left: those of them that found no place."""
    wanting = max((one.share(*WANTING, "back", "undo") for one in turn.wanting), default=0.0)
    marked = any("?" in one.text for one in turn.wanting)
    asks = any(one.scope == "asked" and not POLITE.search(one.text) for one in turn.utterance.clauses)
    if CONDITION.search(turn.words) or (asks and is_weighty(left)):
        return False
    ordered = not marked and not asks and "?" not in turn.words and orders_change(turn.words)
    return wanting >= SURE or ordered or (wanting >= RATHER and not left and not marked and not asks)


def only_asks_of_script(turn: TurnContext) -> bool:
    """Whether a message asks while a script is in hand, and nothing in it orders: no handler may change it then.

    What is told of another run beside a question (`sure of -n 8? there we had three`) is why it is asked.
    """
    came = turn.message
    if turn.script is None or turn.question or came.scripts or came.logs or came.outputs or POLITE.search(turn.words):
        return False
    from graph.conversation.beside_mending import orders_mending

    if turn.state.get("own") and orders_mending(turn.words):
        return False
    parts = turn.utterance.clauses
    asked = [one for one in parts if (asks_by_form(one) and rather_asks(one)) or is_asked_in_japanese(one)]
    rest = [one for one in parts if one not in asked and not (asked and one.scope in TOLD)]
    if any(one.share(*WANTING) >= SURE or one.share("back", "undo", "redo", "reset") >= RATHER for one in rest):
        return False
    leads = turn.leads_to_ask and turn.utterance.main.act in ("ask", "plan", "review")  # not `thanks. now undo that`
    return leads or (bool(asked) and all(map(rather_asks, rest)))


def is_asked_in_japanese(clause: Clause) -> bool:
    """`torchrun で大丈夫でしょうか。` has no mark, and is no order unless it plainly wants something."""
    return bool(ASKED_IN_JAPANESE.search(clause.text)) and clause.share(*WANTING) < SURE


def changes_script(turn: TurnContext, found: State) -> bool:
    """Whether what a handler found writes a script, or puts another into the place of that in hand."""
    was, own, bundle = turn.state.get("bundle"), found.get("own"), found.get("bundle")
    stands = turn.script.text if turn.script else ""
    texts = [*([own.text] if own else []), *([bundle.script] if bundle else [])]
    return found.get("way") == "write" or any(text not in (stands, was.script if was else stands) for text in texts)


def surely_orders(words: str) -> bool:
    """Whether the reader of wishes is sure that a change of a standing script is ordered, and of a value."""
    from graph.reading.wishes.tagger import read_wishes

    wishes = read_wishes(words[:MOST_READ], ("stands",))
    sure = any(one.sure >= LEAST_OF_VALUE for one in wishes.spans if one.slot not in OF_NO_ORDER)
    plain = ("?" not in words or POLITE.search(words)) and not CONDITION.search(words)
    return wishes.kind == "do" and wishes.sure >= SURE and sure and bool(plain)


def of_another_kind(turn: TurnContext, heard: Understood) -> tuple[str, ...]:
    """What is said of a program that no framework here and no Python file is: it would be started as PyTorch in
    silence. Empty where a framework, a method or a Python program is named."""
    request = heard.request
    denied = denied_frameworks(turn)
    if denied:
        return denied
    if request.framework or request.strategy not in (None, "none") or PYTHON.search(f"{request.entry} {turn.words}"):
        return ()
    own = [one for clause in turn.wanting for one in content_words(turn.utterance, clause) if not is_held(one, "write")]
    programs = PROGRAM.findall(turn.words)
    return tuple(dict.fromkeys((*programs, *own)))[:MOST_TOLD] if programs else ()


def denied_frameworks(turn: TurnContext) -> tuple[str, ...]:
    """`No torch`: a framework that the words say is none of it."""
    named = turn.utterance.of_kind("Framework")
    out = [one for one in named if (inside := stretch_at(turn.words, one.start)) and inside.scope == "negated"]
    return tuple(f"no {one.text}" for one in out) if len(out) == len(named) else ()


def is_weighty(left: Sequence[str]) -> bool:
    """Whether the words that found no place may change what the others mean: a clause, an option, a number, a path."""
    return any(len(piece.split()) >= CLAUSE or WEIGHTY.search(piece) for piece in left)


def offered(turn: TurnContext, before: JobRequest | None, heard: Understood, *, bare: bool = False) -> State | None:
    """What was read as a wish without being plainly one: said and offered; None where it is done.

    bare: a value with a question mark and nothing more (`and 4 nodes?`), which is never an order.
    """
    stands = turn.state.get("bundle") is not None and before is not None
    if turn.question or heard.intent not in ("generate", "port"):
        return None
    change = changed_fields(before if stands and before else JobRequest(), heard.request)
    mixed = stands and is_weighty(heard.left) and any(name in OF_PHRASES for name, _ in change)
    foreign = () if stands or not change else of_another_kind(turn, heard)
    if foreign:
        offer = Offer("the script", request=heard.request)
        said = (Say(WOULD_DEFAULT.format("*, *".join(foreign))),)
        return State(said=said, pending=OfferEdit((offer,)), act="ask", request=heard.request)
    named = any(name in CONCRETE for name, _ in change)
    asks = max((one.share(*ASKING) for one in turn.utterance.clauses if one.scope == "asked"), default=0.0)
    if change and not stands and not named and asks >= RATHER and not WANTS_SCRIPT.search(turn.words):
        return State(way="answer", act="ask", request=heard.request)  # which one? how? what first?
    if not change or (may_act(turn, heard.left) and not (bare or mixed or (stands and heard.doubtful))):
        return None
    if not stands and not named:
        asks = max(one.share(*ASKING) for one in turn.utterance.clauses)
        return State(way="answer", act="ask", request=heard.request) if asks >= RATHER else None
    if not stands or before is None:
        left = unplaced(turn.words, heard, change)
        offer = Offer("the script", request=heard.request)
        said = (Say(WOULD_WRITE.format(told(change)) + left),)
        return State(said=said, pending=OfferEdit((offer,)), act="ask", request=heard.request)
    cluster = turn.context.cluster(heard.request)
    asked_for = heard.doubtful or heard.request.queue == before.queue
    if cluster and asked_for and not heard.rival and is_refused(heard.request, cluster):
        return None  # the refusal with its ways round, and the script stands
    other = heard.rival if heard.rival and changed_fields(before, heard.rival) != change else None
    readings = (*((other,) if other else ()), heard.request)  # the tagger's first: it is right the oftener
    offers = tuple(offer_of(turn, before, one) for one in readings)
    ways = [f"{one.says}{f' ({one.price})' if one.price else ''}" for one in offers]
    lines = [lines_of_request(turn, one, turn.context.cluster(one)) for one in readings]
    left = unplaced(turn.words, heard, change)
    if len(offers) == 1:
        return State(said=(Say(WOULD_BE.format(ways[0], "") + left + lines[0]),), pending=OfferEdit(offers))
    listed = "\n\n".join(f"{n}. {way}{row}" for n, (way, row) in enumerate(zip(ways, lines, strict=True), 1))
    return State(said=(Say(TWO_WAYS.format(listed) + left),), pending=OfferEdit(offers))


def offer_of(turn: TurnContext, before: JobRequest, request: JobRequest) -> Offer:
    """A reading of a change, with its price."""
    from graph.debugging.remedies import price

    change = changed_fields(before, request)
    return Offer(
        told(change, before), price(before, request, turn.context.cluster(request)), plain(change), request=request
    )


def lines_of_request(turn: TurnContext, request: JobRequest, cluster: Cluster | None) -> str:
    """The lines of the script in hand that the request would change; empty where none comes of it."""
    bundle = turn.state.get("bundle")
    if bundle is None or cluster is None or turn.state.get("source"):
        return ""
    from graph.usecases.write_script import Written, write_script

    try:
        written = write_script(request, cluster)
    except InputError:
        return ""
    return lines_between(bundle.script, written.bundle.script) if isinstance(written, Written) else ""


def lines_between(before: str, after: str) -> str:
    """The lines that a change takes out and brings, fenced, without plain remarks; of many only how many they are."""
    rows = [row.rstrip() for row in unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")][2:]
    rows = [row for row in rows if not row.startswith("@@") and not PLAIN_REMARK.match(row) and len(row) > 1]
    if len(rows) > MOST_LINES:
        return MANY_LINES.format(len(rows))
    return DIFFERENCE.format("\n".join(rows)) if rows else ""


def unplaced(words: str, heard: Understood, change: Change) -> str:
    """What names the words that found no place, and each piece of the message that the offer would hold nothing of."""
    from graph.reading.wishes.left import unread

    more = unread(words, heard.request, [name for name, _ in change], heard.left)
    left = (*heard.left, *(one for one in more if not any(piece in one for piece in heard.left)))
    return UNPLACED.format("*, *".join(left)) if left else ""


def is_refused(request: JobRequest, cluster: Cluster) -> bool:
    """Whether the machine does not take that job."""
    from graph.planning.plan import plan

    try:
        return isinstance(plan(request, cluster), Refusal)
    except InputError:
        return False


Change = tuple[tuple[str, Any], ...]


def changed_fields(before: JobRequest, now: JobRequest) -> Change:
    names = (one.name for one in fields(JobRequest) if one.name not in UNTOLD)
    change = tuple((name, getattr(now, name)) for name in names if getattr(now, name) != getattr(before, name))
    total = now.total_gpus if now.total_gpus != before.total_gpus else None
    counted = any(name in ("nodes", "gpus_per_node") for name, _ in change)
    return change if counted or total is None else (*change, ("total_gpus", total))


def plain(change: Change) -> tuple[tuple[str, str | int | None], ...]:
    """The changes that a few words can name again."""
    return tuple((name, value) for name, value in change if isinstance(value, str | int | None))


def told(change: Change, before: JobRequest | None = None) -> str:
    """The fields in words; of what has parts only its name."""
    if before is not None and len(plain(change)) == len(change):
        from graph.debugging.remedies import says

        return says(before, plain(change))
    was = {name: getattr(before, name) for name, value in change if isinstance(value, tuple)} if before else {}
    new = ((name, tuple(v for v in value if v not in was[name]) if name in was else value) for name, value in change)
    return ", ".join(one_told(name, value) for name, value in tuple(new)[:MOST_TOLD])


def one_told(name: str, value: Any) -> str:
    """A field and its value; of arguments each by its name."""
    if name == "argument_edits":
        return "; ".join(f"{one.kind} `{one.name}{f' {one.value}' if one.value else ''}`" for one in value)
    if value is False:
        return f"no {name.replace('_', ' ')}"
    plainly = isinstance(value, str | int) and not isinstance(value, bool)
    return f"{name.replace('_', ' ')} {value}" if plainly else name.replace("_", " ")
