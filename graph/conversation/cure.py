"""`Fix it`, `ok do that and make it 4 nodes`: what was offered, or what cures the failure that was told of, is done.

What was said beside it is done to the script after that.
"""

from __future__ import annotations

from dataclasses import replace

from graph.conversation.next_step import UNPLACED
from graph.conversation.pending import carry_out
from graph.conversation.script_job import machine_for
from graph.conversation.scripts import made_of, offered, said_of
from graph.conversation.turn import TurnContext, with_words
from graph.conversation.words import by_words
from graph.reading.referring import referring_order
from graph.state import State
from knowledge.types import BY_NUMBERS, NO_CAUSE, AwaitLog, Diagnosis, Made, Offer, OfferEdit, Paste, Say
from knowledge.wording import stems

IN_ALREADY = "What a script can do against it is in `{}` already."
NOT_IN_SCRIPT = "No change of `{}` is sure to cure this, so that part of it is yours."
YOURS = "What is left for you:{}"
MOST_STEPS = 2
MOST_LOOKED_AT = 3


def by_cure(turn: TurnContext) -> State | None:
    """An order that points at what was offered or told last; None where nothing stands, or it orders something else."""
    report, pending = turn.state.get("diagnosed"), turn.pending
    offers = pending.offers if isinstance(pending, OfferEdit) else ()
    failed = report is not None and report.cause not in NO_CAUSE
    came = turn.message.scripts or turn.message.logs or turn.message.outputs
    if came or turn.script is None or not (offers or (failed and isinstance(pending, AwaitLog | None))):
        return None
    told = stems(" ".join([*(one.says for one in offers), report.says if report and failed else ""]))
    order = referring_order(turn.words, told)
    if order is None:
        return None
    alone = with_words(turn, order.words)
    if offers:
        named = by_name(offers, order.words)
        if named is None and order.rest:
            return None  # `set 16 and use all of them` points at none of several
        done = carry_out(alone, named) if named else State(said=(Say(offered(offers)),), pending=pending)
    else:
        done = cured(alone, report) if report else State()
    return beside(turn, done, order.rest) if order.rest else done


def by_name(offers: tuple[Offer, ...], words: str) -> Offer | None:
    """The offer that is meant: the only one, or the only one that shares most words with the order."""
    if len(offers) == 1:
        return offers[0]
    shared = [len(stems(words) & stems(one.says)) for one in offers]
    best = max(shared)
    return offers[shared.index(best)] if best and shared.count(best) == 1 else None


def cured(turn: TurnContext, report: Diagnosis) -> State:
    """The script in hand without the failure's cause, or what of it is the person's own to do."""
    own = turn.state.get("own")
    if own is not None:
        from graph.usecases.diagnose_job import report_of

        made = report_of(report, own.text, machine_for(turn, own), name=own.name)
        if made.mended is not None and not made.mended.diff and not made.mended.offers and is_in(turn, report):
            return State(said=(Say(left_to_you(report, own.name, in_already=True)),), act="mend")
        return said_of(turn, own, made, known=True)
    if turn.cluster is None or turn.script is None:
        return State(said=(Say(left_to_you(report, turn.script.name if turn.script else "")),), act="mend")
    from graph.nodes.debug import cure

    found = cure(turn.state, report, turn.cluster)
    if found["again"]:
        return State(**{**found, "way": "write"})
    told = found["said"] or (Say(left_to_you(report, turn.script.name, in_already=is_in(turn, report))),)
    return State(said=told, pending=found["pending"], act="mend")


def is_in(turn: TurnContext, report: Diagnosis) -> bool:
    """Whether an earlier text of the script had a place for the cure that this one no longer has."""
    from graph.usecases.mend_script import mend_script

    now, own = turn.script, turn.state.get("own")
    cluster = machine_for(turn, own) if own else turn.cluster
    earlier = [one.bundle.script for one in turn.state.get("revisions", ())[:-1] if one.bundle]
    texts = [text for text in earlier[-MOST_LOOKED_AT:] if now and text != now.text]
    return any(mend_script(text, report, cluster).diff for text in texts)


def left_to_you(report: Diagnosis, name: str, *, in_already: bool = False) -> str:
    steps = [one for one in report.fix if not one.startswith(BY_NUMBERS)][:MOST_STEPS]
    left = YOURS.format("\n\n" + "\n".join(f"{at}. {one}" for at, one in enumerate(steps, 1))) if steps else ""
    return f"{(IN_ALREADY if in_already else NOT_IN_SCRIPT).format(name)} {left}".strip()


def beside(turn: TurnContext, done: State, rest: str) -> State:
    """What was said beside the order, done to what the order made."""
    state = State(**{**turn.state, **done, "said": ()})
    after = with_words(replace(turn, state=state), rest)
    said = done.get("said", ())
    own, before = state.get("own"), turn.state.get("own")
    if own is not None:
        from graph.usecases.edit_script import edit_script

        edited = edit_script(own.text, rest, machine_for(after, own))
        if edited is None or edited.doubtful or edited.text == own.text:  # only what is sure goes with the cure
            told = edited.told if edited and not edited.doubtful else (UNPLACED.format(rest),)
            return State(**{**done, "said": (*said, *map(Say, told))})
        changes = [change for part in said if isinstance(part, Made) for change in part.changes]
        also = made_of(after, Paste(own.name, edited.text), *changes, *edited.says, before=before,
                       pending=done.get("pending"))  # fmt: skip
        others = (p for p in said if not isinstance(p, Made))
        return State(**{**done, **also, "said": (*others, *also["said"], *map(Say, edited.told))})
    more = by_words(after)
    if more.get("way") != "write":
        return State(**{**done, "said": (*said, Say(UNPLACED.format(rest)))})
    offered_still = done.get("pending") or more.get("pending")
    return State(**{**done, **more, "said": (*said, *more.get("said", ())), "pending": offered_still})
