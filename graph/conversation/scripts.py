"""A script that came with a message: mended, changed in place, judged, or carried to another machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from graph.conversation.gate import POLITE, lines_between, may_act, surely_orders
from graph.conversation.history import agree
from graph.conversation.next_step import MOST_QUOTED, UNPLACED, not_understood
from graph.conversation.script_job import GOES_TO, is_known, job_of, machine_for, unknown_target
from graph.conversation.script_review import MOVES, is_review, reviewed
from graph.conversation.turn import ASKING, RATHER, SURE, WANTING, TurnContext, bundle_of
from graph.extraction.request import understand as read
from graph.extraction.script_record import understand_script
from graph.reading.own_machine import MOST_WORDS, queue_told
from graph.state import State
from graph.usecases.script_lines import (
    bring_back,
    changed_lines,
    changed_words,
    content,
    scope_notes,
    unaccounted,
    unsaid,
    values_of,
)
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.schedulers.reasons import spoken_reason
from knowledge.types import JobRequest, Made, Offer, OfferEdit, Paste, Pending, Refusal, Said, Say, Understood, Variable

if TYPE_CHECKING:
    from graph.usecases.diagnose_job import JobReport
    from graph.usecases.edit_script import Edited
    from graph.usecases.mend_script import Mended

MENDS = re.compile(
    r"\b(?:fix|mend|repair|correct|cure|patch|solve|repariere?|corrig\w+|arregl\w+|aggiusta)\b"
    r"|\bwhat(?:'s| is) wrong\b",
    re.I,
)
NOT_READ = "I cannot read that script: {}."
NOTHING_WRONG = "I find nothing in it that I could mend: {}"
LEFT = "The check still finds, for you to decide: {}."
NOT_YET = "**It does not run yet:** {}. Say how that shall be."
MOST_LEFT = 5
# From this probability on a question may be meant as an edit, or words as none of one.
POSSIBLE = 0.3
WOULD_CHANGE = "I have not changed it yet. It would be: {}. Say *yes* and I do it."
SPEAKS_AGAINST = (
    "I have not changed it. It would be: {}; against that: {}. Say what else it shall be, or *yes* for this."
)
BEYOND = "Not done in `{}`: {}. {} Its limits: {}."
# What is taken back, in this order, until the queue takes the rest of a change.
OF_SIZE: tuple[tuple[str, ...], ...] = (
    ("walltime",),
    ("nodes",),
    ("nodes", "walltime"),
    ("nodes", "walltime", "queue"),
)
AFTER = "**With that change it would not run as it stands:** {}. Say *undo*, or *fix it*."
HOW_TO_CHANGE = (
    "In your own script I change what it sets by name, as in *epochs 20* or *NAME=value*; else paste the new line."
)
# The line of a script that enters an environment.
ENTERS = re.compile(r"^[ \t]*(?:source|\.) \S*activate\S*.*$|^[ \t]*(?:conda|mamba|micromamba) activate .*$", re.M)
OTHER_PYTHON = (
    "`{0}` stays as it is: the job's Python is that of line {1}, `{2}`. See whether it has the package there, on a "
    "login node: `{2} && python -c 'import {3}'`. If that fails, install it right there, in that environment; a "
    "`pip list` without that line looks into another one."
)
GOES_BACK = re.compile(
    r"(?i)\bback\b|\brestore\b|\bas (?:it|that|they) (?:was|were)\b|\bwieder\b"
    r"|^\W*(?:no\W+)?not the [\w-]+(?: [\w-]+)?\W*$"
    r"|\bzur[üu]ck\b|\bremets?\b|\bcomme avant\b|\bcomo (?:estaba|antes)\b|\bcom'era\b|\bundo the\b|\brevert the\b"
)
WHAT_CHANGED = re.compile(
    r"(?i)\b(?:what|why) (?:all )?(?:did|have|exactly did) you\b.{0,20}\bchang\w+\b|\bwhat (?:is|'?s|was) changed\b"
    r"|\bwas hast du ge[äa]ndert\b"
)
# Whether one thing was part of it.
TOUCHED = re.compile(
    r"(?i)\bdid (?:that|this|it|you)\b.{0,12}\b(?:touch|change|affect|alter|modify|remove)\b(?P<what>.*)"
)
NOT_TOUCHED = "No: *{}* is in none of the lines that changed."
WRITTEN_ANEW = (
    "`{}` is written anew for its machine: program, arguments and your own variables came over, directives, "
    "modules and launch are that machine's. Against your script, comments and all:"
)
PROVED = "Checked against"
BECAME = "What became of your lines, and what is yours to do:\n\n{}\n\nLine by line:"
ELSEWHERE = "It was not written for {0}: say *port it to {0}* and I write it anew for it."
NOTHING_CHANGED = "Nothing so far: `{}` is as it was when it came here."
IS_SO = "The script has *{}* already, so nothing changes; if you mean another line, say its name or number."
# What begins an answer that does without what was offered.
TURNS_DOWN = re.compile(
    r"(?i)\W*(?:no|nope|nah|don'?t|do not|not|leave|keep|forget|never ?mind|nein|nicht|lass|vergiss|non|laisse|oublie"
    r"|deja|olvida|lascia|dimentica|n[aã]o|deixa)\b"
)
# How a field's value is said.
SPOKEN = {"nodes": "{} nodes", "gpus_per_node": "{} GPUs a node", "queue": "queue {}", "account": "account {}"}
SAME_JOB = 0.5
LAST_CHANGE = "The last change, line by line:"
ALL_CHANGES = "All that changed since the script came up here, line by line:"
# What all changes together are asked by: the version that somebody brought, or the sum of them.
OF_ALL = re.compile(
    r"(?i)\b(?:my|original\w*|first|pasted|meine[rmns]?|ma|mon|mi|mia|mio|minha|\w+'s|his|her|their)"
    r"\b(?: \w+)? (?:version|file|script|skript|one|fichier|datei)\b|\b(?:all|alles|everything|altogether|insgesamt"
    r"|in total|so far|since the (?:start|beginning)|overall|tout|todo|tutto|tudo)\b|\bthe original\b|\bmine\b"
)
# No errors, since facts may lack a queue; but a name that a change brings is asked about.
OF_A_SITE = ("queue-unknown",)
# A pasted piece of a script has no first line.
OF_A_PIECE = ("shell-shebang",)
WAITS = (
    "What it waits for stands in no script; the scheduler tells it. Paste what `squeue -j JOBID -o '%T %r %S'` or "
    "`scontrol show job JOBID` (Slurm), `qstat -f JOBID` (PBS) prints, and I say whether and when it starts."
)


def by_script(turn: TurnContext) -> State | None:
    """What is to be done with a script that came without a log; None where none came and none is spoken of."""
    own = turn.message.scripts[0] if turn.message.scripts else None
    if own is None:
        return None
    try:
        understand_script(own.text)
    except InputError as error:
        return State(said=(Say(NOT_READ.format(error)),))
    goal, moves = another_machine(turn, own), turn.utterance.main.share("port") >= SURE
    if (goal or unknown_target(turn)) and (moves or not is_review(turn.words, turn.utterance)):
        return carry(turn, own)
    if goal:  # whether it would run there
        said = reviewed(turn.words, own, turn.utterance, goal, known=True, goal=goal)
        return State(said=(*said, Say(ELSEWHERE.format(goal.title))), **in_hand(turn, own))
    done = mended(turn, own) if mends_first(turn, own) else None
    return (
        done or judged(turn, own) or changed(turn, own) or cured(turn, own) or mended(turn, own) or taken_up(turn, own)
    )


def cured(turn: TurnContext, own: Paste) -> State | None:
    """The script of a failure that was told before; one unlike the script that it was told of is another job's."""
    report, was = turn.state.get("diagnosed"), turn.script
    if report is None or (was is not None and not is_like(was.text, own.text)):
        return None
    from graph.usecases.diagnose_job import report_of

    return said_of(turn, own, report_of(report, own.text, machine_for(turn, own), name=own.name), known=True)


def is_like(one: str, other: str) -> bool:
    """Whether two scripts are versions of one: half of their lines are the same."""
    before, after = ([line.strip() for line in text.splitlines() if line.strip()] for text in (one, other))
    return SequenceMatcher(None, before, after, autojunk=False).ratio() >= SAME_JOB


def another_machine(turn: TurnContext, own: Paste) -> Cluster | None:
    """A machine that is named and that the script is not for."""
    from graph.usecases.diagnose_job import machine_of

    source = machine_of(own.text)
    named = [turn.context.catalogue.clusters[name] for name in turn.utterance.machines() if is_known(turn, name)]
    others = [one for one in named if source is None or one.id != source.id]
    moves = MOVES.search(turn.words) or turn.utterance.main.share("port") >= SURE
    theirs = understand_script(own.text).scheduler
    foreign = any(theirs and one.scheduler != theirs for one in others)  # it cannot run there as it is
    going_to = (catalogue_of(turn)[str(one.value)] for one in turn.utterance.of_kind("Machine")
                if is_known(turn, str(one.value)) and GOES_TO.search(turn.words, 0, one.start))  # fmt: skip
    target = next((one for one in going_to if one in others), others[-1] if others else None)
    return target if source is not None or moves or foreign else None


def catalogue_of(turn: TurnContext) -> Mapping[str, Cluster]:
    return turn.context.catalogue.clusters


def judged(turn: TurnContext, own: Paste) -> State | None:
    """A script that is to be checked or explained."""
    known = not turn.message.scripts
    said = reviewed(turn.words, own, turn.utterance, machine_for(turn, own), known=known)
    return State(**{**in_hand(turn, own), "said": said, "pending": turn.pending if known else None}) if said else None


def changed(turn: TurnContext, own: Paste, taken: Offer | None = None) -> State | None:
    """Words that change something which the script sets: the edit is made in place; what found no place is named.

    What is not plainly an order is said first, and done on a yes. taken: what was offered before and is done with it;
    None where the words change nothing beside that.
    """
    whole, own = own, replace(own, text=taken.script) if taken else own
    asks = "?" in turn.words or turn.utterance.main.scope == "asked"
    words = turn.words if orders(turn) else turn.wishes or ("" if asks else turn.words)
    from graph.usecases.edit_script import Edited, edit_script, left_open

    edited = edit_script(own.text, words, machine_for(turn, own)) if words else None
    sent = in_a_row(own, words)
    edited = Edited(own.text, ()) if sent and edited is None else edited
    notes = tuple(map(Say, scope_notes(own.text, turn.words)))
    if taken and (edited is None or edited.text == own.text):
        return None
    if edited is None:
        return (
            State(**{**in_hand(turn, own), "said": notes, "act": "edit", "pending": turn.pending})
            if notes and not turn.message.scripts
            else None
        )
    notes = (*map(Say, (*edited.told, *filter(None, (sent,)))), *(() if sent else notes))
    left = () if sent and edited.text == own.text else left_open(own.text, edited, words)
    if edited.text == own.text:
        open_words = (Say(UNPLACED.format("*, *".join(left))),) if left else ()
        pending = None if turn.message.scripts else turn.pending
        return State(**{**in_hand(turn, own), "said": (*notes, *open_words), "act": "edit", "pending": pending})
    against = faults_of_change(own.text, edited.text, machine_for(turn, own))
    unclear = unsaid(own.text, edited.text, words, (*edited.says, *edited.follows))
    named: tuple[Said, ...] = (Say(UNPLACED.format("*, *".join(left))),) if left else ()
    if edited.doubtful:
        named = all_unplaced(own, edited, words, left)
    says = (*((f"as offered before: {taken.says}",) if taken else ()), *edited.says)
    if against or unclear or edited.doubtful or not (may_act(turn, left) or orders(turn)):
        changes = "; ".join((*says, *(f"`{line.strip()}`" for line in unclear)))
        if refused := beyond_limits(turn, own, edited.text):
            return in_part(turn, whole, replace(edited, says=says), refused, (*named, *notes))
        plainly = turn.utterance.main.share(*WANTING) >= SURE and not (against or asks)
        offer = Offer(changes, script=edited.text, ordered=plainly)
        held = in_hand(turn, own) if turn.message.scripts else State()
        told = SPEAKS_AGAINST.format(changes, "; ".join(against)) if against else WOULD_CHANGE.format(changes)
        told += lines_between(whole.text, edited.text)
        return State(**{**held, "said": (Say(told), *named, *notes), "pending": OfferEdit((offer,))})
    state = made_of(turn, replace(own, text=edited.text), *says, before=whole)
    return State(**{**state, "said": (*state["said"], *named, *notes)})


def all_unplaced(own: Paste, edited: Edited, words: str, left: Sequence[str]) -> tuple[Said, ...]:
    """What names each piece of the words that a doubtful change holds nothing of."""
    from graph.debugging.remedies import request_of
    from graph.reading.wishes.left import unread

    was, now = (request_of(understand_script(text)) for text in (own.text, edited.text))
    changed = [one.name for one in fields(was) if getattr(was, one.name) != getattr(now, one.name)]
    new = [row for row in edited.text.splitlines() if row not in own.text.splitlines()]
    more = unread(words, now, changed, (*new, *edited.says, *edited.told, *edited.placed, *left))
    pieces = (*left, *(one for one in more if not any(piece in one for piece in left)))
    return (Say(UNPLACED.format("*, *".join(pieces))),) if pieces else ()


def in_a_row(own: Paste, words: str) -> str:
    """How the script is sent several times, where the words want that and no more of it."""
    from graph.usecases.own_words import sent_in_a_row

    try:
        return sent_in_a_row(own.text, words, own.name)
    except InputError as error:
        return f"Not done: {error}."


def in_part(turn: TurnContext, own: Paste, edited: Edited, refused: Refusal, beside: Sequence[Said]) -> State:
    """A change whose size the queue never takes: done but for the time, else the nodes, both, or the queue too. The
    whole of it with a size that is taken is had by its number."""
    from graph.debugging.remedies import request_of
    from graph.usecases.edit_script import put_fields

    old, cluster = request_of(understand_script(own.text)), machine_for(turn, own)
    tried: list[tuple[Edited, tuple[str, ...]]] = []
    for names in OF_SIZE:
        now = put_fields(replace(edited, says=()), {name: getattr(old, name) for name in names}, cluster)
        kept = tuple(one for one in edited.says if one.split(" ")[0] not in names)
        tried.append((replace(now, text=now.text if kept else own.text, says=kept), names))
        if fits := not beyond_limits(turn, own, now.text):
            break
    now, names = tried[-1 if fits else -2]
    done = now.text != own.text
    state = made_of(turn, replace(own, text=now.text), *now.says, before=own) if done else in_hand(turn, own)
    offers = tuple(
        Offer(one.says, change=one.change, script=put_fields(edited, dict(one.change), cluster).text)
        for one in refused.instead
    )
    what = " and ".join(name for name in names if any(one.startswith(f"{name} ") for one in edited.says))
    told = (BEYOND.format(own.name, what or "the size", refused.says, refused.why), offered(offers))
    said = (*(state["said"] if done else ()), *map(Say, filter(None, told)), *beside)
    return State(**{**state, "said": said, "act": "edit", "pending": OfferEdit(offers) if offers else None})


def beyond_limits(turn: TurnContext, own: Paste, text: str) -> Refusal | None:
    """What refuses a size that the queue never takes, with the nearest that is taken; None where it may run."""
    from graph.debugging.remedies import request_of
    from graph.planning.queues import no_queue, takes
    from graph.usecases.edit_script import queue_of

    cluster, size = machine_for(turn, own), request_of(understand_script(text))
    queue = cluster.queue(queue_of(text, size.queue, cluster) or "") if cluster else None
    if cluster is None or queue is None or not size.nodes or not size.walltime:
        return None
    ranks = size.gpus_per_node or 1
    if takes(queue, size.nodes, size.walltime, ranks):
        return None
    others = [one for one in cluster.gpu_queues if one.id != queue.id]
    return no_queue([queue], cluster, size.nodes, size.walltime, ranks, others)


def by_part_back(turn: TurnContext) -> State | None:
    """`Put the OMP line back`, `not the time`: that part of the person's own script as it was earlier."""
    own, revisions = turn.state.get("own"), turn.state.get("revisions", ())
    words = turn.words
    if own is None or turn.message.scripts or turn.message.logs or not GOES_BACK.search(words) or is_asked(turn):
        return None
    if unaccounted(words, own.text.splitlines()):
        return None  # a new value is an edit
    for earlier in (one.own for one in reversed(revisions[:-1]) if one.own):
        text = bring_back(own.text, earlier.text, words)
        if text != own.text:
            lines = "`, `".join(one.strip() for one in changed_lines(own.text, text) if one in text.splitlines())
            return made_of(
                turn, replace(own, text=text), f"as it was before: `{lines}`" if lines else "as it was before"
            )
    return None


def by_what_changed(turn: TurnContext) -> State | None:
    """`What did you change?`: the last change of the script, as a difference."""
    main, revisions = turn.utterance.main, turn.state.get("revisions", ())
    touched = TOUCHED.search(turn.words)
    if (
        not touched
        and not WHAT_CHANGED.search(turn.words)
        and not (main.topic == "script.changes" and main.share("ask") >= SURE)
    ):
        return None
    if turn.message.scripts or turn.message.logs or not revisions or revisions[-1].bundle is None:
        return None
    at = 0 if OF_ALL.search(turn.words) else len(revisions) - 2
    now, before = revisions[-1].bundle, revisions[at].bundle if len(revisions) > 1 else None
    alone = before is None or before.script == now.script
    source = turn.state.get("source", "") if alone else ""
    from graph.usecases.mend_script import difference

    named = content(OF_ALL.sub(" ", touched["what"])) if touched else set()
    if source and not named:
        title = turn.context.title_of(revisions[-1].request, revisions[-1].plan)
        told = difference(source, now.script, now.name).replace("(mended)", "(now)")
        notes = [one for one in turn.state.get("told", ()) if isinstance(one, str) and not one.startswith(PROVED)]
        became = (Say(BECAME.format("\n".join(f"- {one}" for one in notes))),) * bool(notes)
        said: tuple[Said, ...] = (Say(WRITTEN_ANEW.format(now.name)), *became, Made(now, title, diff=told))
        return State(said=said, act="ask")
    if before is None or before.script == now.script:
        return State(said=(Say(NOTHING_CHANGED.format(now.name)),), act="ask")
    if touched and named and not named & changed_words(before.script, now.script):
        return State(said=(Say(NOT_TOUCHED.format(touched["what"].strip(" ?.!"))),), act="ask")
    shown = difference(before.script, now.script, now.name).replace("(mended)", "(now)")
    return State(
        said=(
            Say(LAST_CHANGE if at == len(revisions) - 2 else ALL_CHANGES),
            Made(now, turn.context.title_of(revisions[-1].request, revisions[-1].plan), diff=shown),
        ),
        act="ask",
    )


def mended(turn: TurnContext, own: Paste) -> State | None:
    """`Fix it`, without a log: what the check can cure is cured, and what else the words want is done or named."""
    if not MENDS.search(turn.words):
        return None
    from graph.conversation.beside_mending import wanted_of, with_wishes
    from graph.debugging.remedies import request_of
    from graph.usecases.edit_script import Edited
    from graph.usecases.mend_script import mend_script, ranks_told
    from graph.usecases.own_fields import put_field
    from graph.verification.checks import check

    told, now, cluster = read(turn.words, None, None, None).request, Edited(own.text, ()), machine_for(turn, own)
    if told.account and not request_of(understand_script(own.text)).account:
        with suppress(InputError):
            now = put_field(now, "account", told, cluster, own.name)
    wanted = wanted_of(turn.words, check(now.text, cluster))
    cured = mend_script(now.text, None, cluster, own.name, wanted)
    beside = with_wishes(turn, replace(own, text=cured.text), cluster)
    errors = [one.says for one in cured.findings if one.severity == "error"]
    found = [f"{one.says} ({one.why})" if one.why else one.says for one in cured.findings if one.severity != "error"]
    left = f"{UNPLACED.format('*, *'.join(beside.left))} {HOW_TO_CHANGE}" if beside.left else ""
    more: tuple[Said, ...] = (*map(Say, filter(None, (*beside.told, left))), *beside.answers)
    if beside.text == own.text:
        none = "; ".join((*errors, *found)[:MOST_LEFT]) or "no rule speaks against it"
        return State(**{**in_hand(turn, own), "said": (Say(NOTHING_WRONG.format(none)), *more)})
    state = made_of(
        turn, Paste(own.name, beside.text), *filter(None, (*now.says, cured.says, *beside.says)), before=own
    )
    open_ = ((NOT_YET, errors), (LEFT, found))
    still = tuple(Say(text.format("; ".join(of[:MOST_LEFT]))) for text, of in open_ if of)
    fewer = ranks_told(own.text, beside.text, cluster)
    return State(**{**state, "said": (*state["said"], *(Say(fewer),) * bool(fewer), *still, *more)})


def taken_up(turn: TurnContext, own: Paste) -> State:
    """Nothing was said of what should happen: what it is, and what can be done with it."""
    said = reviewed(f"check this. {turn.words}", own, turn.utterance, machine_for(turn, own))
    main = turn.utterance.main
    if spoken_reason(turn.words):
        from graph.usecases.explain_pending import explain_pending

        found = explain_pending(turn.words, machine=machine_for(turn, own))
        return State(**{**in_hand(turn, own), "said": (found.document,), "act": "pending", "output": turn.words})
    if main.share("ask", "plan") >= SURE and is_asked(turn):
        return State(**in_hand(turn, own), way="answer", act="ask")
    if orders(turn) or (main.share(*WANTING) >= SURE and any(True for _ in values_of(turn.words))):
        return State(**in_hand(turn, own), said=(Say(f"{UNPLACED.format(turn.words[:MOST_QUOTED])} {HOW_TO_CHANGE}"),))
    waits = main.share("pending") >= SURE
    return State(said=(*said, *(Say(WAITS),) * waits), **in_hand(turn, own))


def orders(turn: TurnContext) -> bool:
    """Whether the words order something for sure, and nothing in them is asked."""
    asked = any(one.scope == "asked" for one in turn.utterance.clauses) and not POLITE.search(turn.words)
    return surely_orders(turn.words) and not asked


def in_hand(turn: TurnContext, own: Paste) -> State:
    """The script is the one that is spoken of from now on."""
    bundle, request = bundle_of(own, understand_script(own.text).scheduler), job_of(turn, own)
    agreed = agree(turn.state, request, bundle, own, "")
    return State(
        **{**agreed, "own": own, "bundle": bundle, "plan": None, "source": "", "request": request, "pending": None}
    )


def made_of(
    turn: TurnContext, own: Paste, *says: str, before: Paste | None = None, pending: Pending | None = None
) -> State:
    """The person's script as it now is, and what was done to it."""
    record = understand_script(own.text)
    cluster = machine_for(turn, own)
    bundle = bundle_of(own, record.scheduler)
    was = before or turn.state.get("own")
    started = in_hand(turn, was) if was else State()
    state = in_hand(turn, own)
    revisions = (*started.get("revisions", ()), *state["revisions"][-1:])
    from graph.usecases.mend_script import difference

    shown = difference(was.text, own.text, own.name) if was else ""
    made = Made(bundle, turn.context.title_of(state["request"]), changes=tuple(says), diff=shown)
    new = newly_wrong(was.text if was else "", own.text, cluster)
    return State(**{**state, "revisions": revisions, "undone": (), "said": (made, *new), "pending": pending})


def newly_wrong(before: str, after: str, cluster: Cluster | None) -> tuple[Said, ...]:
    """What the check finds in the script now and did not before: an edit is never handed over unchecked."""
    new = faults_of_change(before, after, cluster) if before else []
    return (Say(AFTER.format("; ".join(new))),) if new else ()


def faults_of_change(before: str, after: str, cluster: Cluster | None) -> list[str]:
    """What the check holds against a change: errors that were not there before, and a queue that nobody knows."""
    from graph.verification.checks import check

    known = {one.rule for one in check(before, cluster)}
    found = [one for one in check(after, cluster) if one.severity == "error" or one.rule in OF_A_SITE]
    return [one.says for one in found if one.rule not in known and one.rule not in OF_A_PIECE][:MOST_LEFT]


def said_of(turn: TurnContext, own: Paste, report: JobReport, *, known: bool = False) -> State:
    """A diagnosis that ends in the person's own script without the cause. known: the diagnosis was told before."""
    said: list[Said] = [] if known else [report.diagnosis]
    cured = report.mended
    if cured is None:
        return State(**{**in_hand(turn, own), "said": tuple(said), "outcome": report.diagnosis})
    pending = OfferEdit(cured.offers) if cured.offers else None
    state = made_of(turn, replace(own, text=cured.text), cured.says, before=own) if cured.diff else in_hand(turn, own)
    said += state.get("said", ())
    wishes = turn.sure_wishes
    from graph.usecases.edit_script import edit_script

    more = edit_script(state["own"].text, wishes, machine_for(turn, own)) if wishes and state["own"] else None
    if more and more.doubtful:  # only what is sure goes with the cure
        said.append(Say(UNPLACED.format(wishes[:MOST_QUOTED])))
    elif more:
        also = made_of(turn, Paste(own.name, more.text), *filter(None, (cured.says,)), *more.says, before=own)
        said, state = [*(part for part in said if not isinstance(part, Made)), *also["said"]], also
        said += map(Say, more.told)
    said += [Say(text) for text in (unmended(cured, report), offered(cured.offers), still_found(cured)) if text]
    return State(**{**state, "said": tuple(said), "pending": pending, "diagnosed": report.diagnosis})


def unmended(cured: Mended, report: JobReport) -> str:
    """Why the file is as it was."""
    if cured.diff or cured.offers:
        return ""
    found = ENTERS.search(cured.text) if report.diagnosis.cause == "env-python-package" else None
    if found:
        name = dict(report.diagnosis.facts).get("module", "the package")
        return OTHER_PYTHON.format(cured.name, cured.text[: found.start()].count("\n") + 1, found[0].strip(), name)
    fix = report.diagnosis.fix[0] if report.diagnosis.fix else "read the cause above"
    return f"`{cured.name}` stays as it is: no change of it is sure to cure this. The first thing to do: {fix}"


def offered(offers: tuple[Offer, ...]) -> str:
    """Cures that cost, each with its price."""
    if not offers:
        return ""
    lines = "\n".join(f"{at}. {one.says}{f' ({one.price})' if one.price else ''}" for at, one in enumerate(offers, 1))
    word = "*yes*" if len(offers) == 1 else "its number"
    return f"What would help, and what it costs (say {word} and I do it):\n\n{lines}"


def still_found(cured: Mended) -> str:
    left = [one for one in cured.findings if one.rule not in OF_A_PIECE][:MOST_LEFT]
    if not left:
        return ""
    found = "; ".join(f"line {one.line}: {one.says}" if one.line else one.says for one in left)
    return f"Beside that, the check finds in the file (not touched; *fix it* cures what can be cured): {found}."


def carry(turn: TurnContext, own: Paste) -> State:
    """A script for another machine: what the words say goes before what the script says."""
    from graph.porting.port import carried_over

    try:
        carried = carried_over(own.text)
    except InputError as error:
        return State(outcome=Refusal("I cannot carry that script over.", f"Reason: {error}."))
    words = turn.wishes or turn.words
    heard = read(words, carried, None, None) if words.strip() else Understood("port", carried)
    request = heard.request
    if request.account == carried.account and (named := read(words, None, None, None).request.account):
        request = replace(request, account=named)  # what stands alone is the account of where it goes
    if (goal := another_machine(turn, own)) and request.machine != goal.id:
        request = replace(request, machine=goal.id, source_machine=request.machine or carried.machine)
    if goal:
        request = as_wanted_there(turn.words, carried, request, goal, own)
    if target := unknown_target(turn):
        from graph.debugging.remedies import request_of

        was = request_of(understand_script(own.text))
        request = replace(request, nodes=was.nodes, gpus_per_node=was.gpus_per_node, total_gpus=None)
        request = replace(request, machine=target, queue=queue_told(turn.words), site_words=turn.words[:MOST_WORDS])
    from graph.usecases.port_script import taken_over

    return State(
        way="write",
        request=request,
        source=own.text,
        own=None,
        pending=None,
        left_to_us=(),
        said=(Say(taken_over(carried)), *((Say(UNPLACED.format("*, *".join(heard.left))),) if heard.left else ())),
    )


# What a run writes to, that a machine without internet lets nobody reach.
TRACKED = re.compile(
    r"(?i)(?<![\w/])(?:--?(?:use[-_])?wandb\w*|wandb)\b|\bWANDB_(?!MODE)\w+|--report[-_]to[= ]\S*wandb"
)
KEPT_ON_DISK = "no internet there: runs are kept on disk; `wandb sync` on a login node sends them"


def as_wanted_there(words: str, carried: JobRequest, request: JobRequest, goal: Cluster, own: Paste) -> JobRequest:
    """A whole node of the new machine where that is wanted and no number of GPUs, and tracking that works there."""
    said = read(words, None, None, None).request
    counted = said.gpus_per_node or said.total_gpus
    if request.exclusive and not carried.exclusive and not counted:
        each = goal.node_type(goal.default_queue.node_types[0]).gpus.devices_per_node
        request = replace(request, total_gpus=None, gpus_per_node=each, nodes=request.nodes or 1) if each else request
    names = {one.name for one in request.variables}
    if goal.internet.access == "no" and TRACKED.search(own.text) and not names & {"WANDB_MODE", "WANDB_DISABLED"}:
        request = replace(request, variables=(*request.variables, Variable("WANDB_MODE", "offline", KEPT_ON_DISK)))
    return request


def by_own(turn: TurnContext) -> State | None:
    """Words about the person's own script that is in hand: an edit in place, a mending, a move to another machine."""
    own = turn.state.get("own")
    if own is None:
        return None
    target = another_machine(turn, own)
    if (target and MOVES.search(turn.words)) or unknown_target(turn):
        return carry(turn, own)
    whole = mended(turn, own) if mends_first(turn, own) else None
    if whole and not isinstance(turn.pending, OfferEdit):
        return whole
    if is_asked(turn):
        return (
            judged(turn, own)
            or sized(turn, own)
            or (changed(turn, own) if turn.utterance.main.share("edit") >= POSSIBLE else None)
        )
    offers = turn.pending.offers if isinstance(turn.pending, OfferEdit) else ()
    goes_on = len(offers) == 1 and offers[0].ordered and not TURNS_DOWN.match(turn.words)
    both = changed(turn, own, offers[0]) if goes_on else None  # what was ordered before, and only offered, is done too
    return both or whole or changed(turn, own) or mended(turn, own) or not_done(turn)


def mends_first(turn: TurnContext, own: Paste) -> bool:
    """Whether the words order the script to be mended, whatever else they want; after a failure its cure goes before
    that."""
    from graph.conversation.beside_mending import mends_script, orders_mending

    if turn.state.get("diagnosed") is not None or not orders_mending(turn.words):
        return False
    from graph.verification.checks import check

    return mends_script(turn.words, check(own.text, machine_for(turn, own)))


def sized(turn: TurnContext, own: Paste) -> State | None:
    """Whether its machine takes the script with another size, where that is asked rather than ordered."""
    from graph.answering.ask import Ask
    from graph.answering.script_sizes import allows

    main = turn.utterance.main
    ask = Ask(main, turn.utterance, machine_for(turn, own), script=own)
    told = allows(ask) if main.share(*WANTING) < RATHER and len(turn.utterance.clauses) == 1 else None
    return State(said=(told,), act="ask") if told else None


def is_asked(turn: TurnContext) -> bool:
    """Whether the words may be a question, and are no polite order."""
    main = turn.utterance.main
    asks = "?" in main.text or main.scope == "asked" or main.share("ask") >= SURE
    return asks and main.share("edit", "mend", "port", "back", "undo") < SURE


def held_already(words: str, own: Paste) -> list[str]:
    """What the words want and the script has, as it is said; empty where it has not all of it."""
    from graph.debugging.remedies import request_of

    wanted, has = read(words, None, None, None).request, request_of(understand_script(own.text))
    named = {name: value for name in (*SPOKEN, "walltime") if (value := getattr(wanted, name)) is not None}
    if any(getattr(has, name) != value for name, value in named.items()) or unaccounted(words, own.text.splitlines()):
        return []
    return [SPOKEN.get(name, "{}").format(value) for name, value in named.items()] or [
        one for _, one in values_of(words)
    ]


def not_done(turn: TurnContext) -> State | None:
    """A change that the script's text gives no place for: it is named, and nothing is begun anew."""
    main = turn.utterance.main
    asks = any(one.scope == "asked" or one.share(*ASKING) >= SURE for one in turn.utterance.clauses)
    talks = asks or main.share(*ASKING, "outside", "newjob", "reset", "reply") >= POSSIBLE
    anew = main.share("newjob", "reset", "outside") >= POSSIBLE
    if talks and (asks or turn.act not in ("edit", "write", "mend")) and (anew or not orders(turn)):
        return None
    state = State(**{**turn.state, "words": turn.words})
    own = turn.state.get("own")
    if own and (held := held_already(turn.words, own)):
        return State(said=(Say(IS_SO.format("*, *".join(held))),))
    return State(said=(Say(f"{not_understood(state)} {HOW_TO_CHANGE}"),))
