"""Words alone: what they want of the request, and whether they ask, tell of a failure, or only talk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace

from graph.conversation.beside import with_files
from graph.conversation.fix_followup import is_unhelped
from graph.conversation.gate import offered
from graph.conversation.history import carried_by, corrects
from graph.conversation.next_step import SEND_LOG, UNPLACED, not_understood
from graph.conversation.option_choice import changed
from graph.conversation.pending import leave_to_us
from graph.conversation.refused import without_keys
from graph.conversation.turn import ASKING, MARKS, RATHER, SURE, WANTING, TurnContext
from graph.extraction.request import is_not_ours
from graph.extraction.request import understand as read
from graph.reading.account import COMMON
from graph.reading.own_machine import (
    MOST_WORDS,
    YOURS,
    account_told,
    is_word,
    machine_told,
    other_scheduler,
    queue_told,
    running,
    scheduler_told,
    tells_of_site,
)
from graph.reading.referring import says_nothing
from graph.reading.scope import wanted
from graph.reading.wishes.settling import is_order
from graph.state import State, Way
from graph.undescribed import not_drafted
from knowledge.cluster import Cluster
from knowledge.types import (
    AskField,
    AwaitLog,
    Intent,
    JobRequest,
    LaunchPlan,
    OfferChoice,
    OfferSearch,
    Said,
    Say,
    Understood,
)
from knowledge.word_lists import word_set

# What planning chooses where it was not said, and people then change by an amount.
COUNTED = ("walltime", "nodes", "gpus_per_node")
# What belongs to one machine, and does not go along to another.
# A container of one's own is spoken of; or that there shall be none.
CONTAINER = re.compile(r"(?i)\b(?:containers?|apptainer|singularity|docker|podman(?:-hpc)?|enroot)\b(?!\s*(?:file|/))")
NO_CONTAINER = re.compile(
    r"(?i)\b(?:no|not|without|don'?t|instead of|ohne|kein\w*|statt|sans|pas de|sin|senza|sem)\b[^.;,\n]{0,25}"
    r"\b(?:containers?|apptainer|singularity|docker|podman|enroot)\b"
)
NO_IMAGE = (
    "No image was named, so this runs in the machine's own software and not in your container: say *container "
    "/path/to/IMAGE.sif* and the program is started inside it."
)
OF_ONE_MACHINE = ("account", "queue", "environment", "container", "reservation", "constraint")
# What people change of a script (knowledge/types.py): from the job's name on.
FIELDS = tuple(one.name for one in fields(JobRequest))
PARTS = FIELDS[FIELDS.index("job_name") :]
# What is told of a job that is wanted, and not of one that ran.
BESIDE_A_QUEUE = word_set(
    "ok okay then please pls use take go with the queue partition qos just so i want it put in into to on run now back"
    " for real"
)
QUEUE_ALONE = re.compile(r"[,;]\s|\.\s|\s(?:and|und|et|y|e)\s")
OF_A_JOB = ("machine", "framework", "strategy", "entry")
# Asks for a job rather than tells where one failed.
WANTS = re.compile(r"\b(?:train|write|script|launch|help|need|want|make|give|create|generate|please)\b", re.I)
# Said outright, whatever was spoken of before.
ORDERS = re.compile(r"\s*(?:please |now )?(?:write|make|create|generate)\b.{0,20}\b(?:script|job file)\b", re.I)
READ_AS = "I take *{}* for {} = {}; say so if it is not."
# `If the first one fails, run nothing`, beside a script, tells of no failure that was.
CONDITION = re.compile(
    r"(?i)\W*(?:(?:and|but|also)\s+)?(?:if|in case)\b(?!\s+(?:i|we)\b)[^.;,]*\b(?:fails?|dies|crashes)\b[^.;]*"
    r"\b(?:run|start|stop|skip|cancel|kill|should\w*|must|don'?t|do not)\b"
)
# A value with a question mark and nothing more: `and 4 nodes?`
BARE = re.compile(
    r"\W*(?:(?:and|or|then|maybe|und|et|y|e)\s+)?(?P<value>\d{1,4}\s*(?:nodes?|gpus?|hours?|h"
    r"|knoten|nodos?|nodi|n[oœ]e?uds?)?)\s*\?\W*",
    re.I,
)
PASTE_ONE = (
    ", so I write none rather than a script that it would not read. Its own template with `nvidia-smi` in it is the "
    "start: paste one that runs there and I change what you name, line by line; or name "
)
NOT_OURS = "I write for Slurm, PBS, LSF and Flux; of *{}* I know no directives" + PASTE_ONE + "a machine of the four."
NO_TEMPLATE = "{}. I have no template for that" + PASTE_ONE + "another machine."
# What is to stay beside a move to another machine.
SAME = r"(?i)\b(?:same|keep(?: the| my)?|gleich\w*|selbe\w*|m[êe]mes?|mism[oa]s?|stess[oaie])\b[^,.;]{0,20}\b"
SAME_ACCOUNT = re.compile(SAME + r"(?:acc(?:oun)?ts?|project|projekt|konto|allocation|compte|cuenta|conto|progetto)\b")
SAME_GPUS = re.compile(SAME + r"(?:gpus?|cards?)\b(?! (?:per|a|each|pro)\b)")
LEFT_BEHIND = "From {} I leave behind what belongs to it: {}."
TALK = ("question", "smalltalk")
# From it on words in which no answer to the open question is found are rather a question of their own.
LIKELY = 0.3
CERTAIN = 0.99  # that a message orders something
# Few words of which the reader is not sure, and the most that it is sure of.
FEW_WORDS, CLEAR = 8, 0.75
ACTS = {
    "generate": "write",
    "port": "port",
    "diagnose": "diagnose",
    "question": "ask",
    "smalltalk": "chat",
    "other": "outside",
}
# What the trained reader is sure of goes before what the rules took a message for.
INTENTS: dict[str, Intent] = {
    "ask": "question",
    "review": "question",
    "plan": "question",
    "pending": "question",
    "diagnose": "diagnose",
    "chat": "smalltalk",
    "outside": "other",
    "help": "question",
    "edit": "generate",
    "write": "generate",
}
Asked = tuple[str | None, Sequence[str] | None]


def by_words(turn: TurnContext) -> State:
    """The request after these words, and which way the turn goes."""
    state, words = turn.state, turn.words
    before, question = state.get("request"), turn.question
    if before and (bare := BARE.fullmatch(words)) and state.get("bundle") and not (question or state.get("own")):
        alone = read_beside(bare["value"], before, (None, None), state.get("plan"))
        if proposed := offered(turn, before, alone, bare=True):
            return proposed
    refused = turn.pending.request if isinstance(turn.pending, OfferChoice) else None
    asked = (question.field if question else None, question.options or None if question else None)
    heard, said = hear(turn, before, asked)
    foreign = other_scheduler(words)
    if foreign and heard.intent in ("generate", "port") and not turn.utterance.machines():
        return State(way="answer", act="write", said=(Say(NOT_OURS.format(foreign)),), pending=None)
    if (asks := not_drafted(heard.request.machine or machine_told(words))) and heard.intent in ("generate", "port"):
        kept = heard.request  # so that what is said next is no job without a machine
        return State(way="answer", act="write", said=(Say(NO_TEMPLATE.format(asks)),), pending=None, request=kept)
    if before and refused:
        again, said_again = hear(turn, refused, asked)
        if corrects(before, refused, again.request):
            heard, said = again, said_again
    left = leave_to_us(turn, heard.request)
    if left:
        return left
    if names_its_machine(turn, heard.request) and state.get("diagnosed") is None:
        return State(way="answer", request=heard.request, said=(Say(SEND_LOG),), pending=AwaitLog())
    if (heard.request == before and is_unhelped(words, state)) or names_its_machine(turn, heard.request):
        heard = replace(heard, intent="diagnose")
    goes = turn.utterance.main.act in WANTING and goes_elsewhere(turn, heard)
    if not goes and keeps_own(turn, heard):
        heard, said = replace(heard, request=turn.request, intent="question"), said if turn.act in WANTING else ()
    if not goes and (proposed := offered(turn, before, heard)):
        return proposed
    waits = waits_still(turn, heard)
    if waits:
        return waits
    if is_unread_order(turn, before, heard):
        return State(way="answer", act="edit", said=(Say(not_understood(State(**{**state, "words": words}))),))
    heard, said_loosely = loosely(turn, heard)
    return take(turn, before, heard, (*said, *said_loosely))


def keeps_own(turn: TurnContext, heard: Understood) -> bool:
    """Whether a script of the person's own stands and none is wanted beside it: what has no place in its lines is
    written into no script of ours."""
    anew = turn.utterance.main.share("write", "newjob", "reset", "port") >= LIKELY
    wants = heard.intent in ("generate", "port")
    return wants and not anew and turn.state.get("own") is not None and turn.question is None


def is_unread_order(turn: TurnContext, before: JobRequest | None, heard: Understood) -> bool:
    """Whether a change of the script in hand is ordered that no reader knows: no page answers that."""
    if turn.state.get("bundle") is None or heard.request != before or heard.intent not in ("question", "other"):
        return False
    asks = "?" in turn.words or turn.question is not None or bool(turn.message.scripts or turn.message.logs)
    asks = asks or turn.utterance.main.share(*ASKING) >= SURE
    return not asks and turn.utterance.main.act in ("ask", "plan") and is_order(turn.words, CERTAIN)


def of_queue(turn: TurnContext, before: JobRequest | None, heard: Understood) -> Understood:
    """`Ok regular then`: a queue of the machine, by its name alone; `whatever queue is right` leaves it to us."""
    request, cluster = heard.request, turn.cluster
    if request.queue and request.queue != turn.request.queue and is_word(request.queue):
        return replace(heard, request=replace(request, queue=None), left=())
    stands = turn.state.get("bundle") is not None or isinstance(turn.pending, OfferChoice)
    if cluster is None or before is None or not stands or turn.question:
        return heard
    if turn.only_asks or "?" in turn.words or request.queue != before.queue or request.machine != before.machine:
        return heard
    for piece in QUEUE_ALONE.split(wanted(turn.words)):
        said = [one for one in re.findall(r"[\w.-]+", piece) if one.lower() not in BESIDE_A_QUEUE]
        queue = cluster.queue(said[0].rstrip(".")) if len(said) == 1 else None
        if queue is not None:
            left = tuple(one for one in heard.left if said[0] not in one)
            return replace(heard, intent="generate", request=replace(request, queue=queue.id), left=left)
    return heard


def of_their_own(turn: TurnContext, before: JobRequest | None, heard: Understood) -> Understood:
    """With the machine that nobody described, where one is told of and no known one is: its name, and what is told."""
    request, words = heard.request, turn.words
    known = request.machine and turn.context.catalogue.find(request.machine)
    if known or (request.machine and is_slip(request.machine, turn)):
        return replace(heard, request=replace(request, site_words="")) if request.site_words else heard
    stands = before is not None and bool(before.site_words)
    if stands and before and not (turn.question and turn.question.field == "machine"):
        more = words if tells_of_site(words) and not turn.only_asks else ""
        told = f"{before.site_words} {more}".strip()[:MOST_WORDS]
        told = running(told, now) if (now := scheduler_told(more)) else told
        queue = (queue_told(turn.wishes) if turn.wishes else None) or before.queue
        account = account_told(turn.wishes) or request.account
        left = tuple(one for one in heard.left if not (queue_told(one) == queue or account_told(one) == account))
        request = replace(request, machine=before.machine, queue=queue, account=account, site_words=told)
        return replace(heard, request=request, left=left)
    asked = turn.question is not None and turn.question.field == "machine"
    if any(turn.context.catalogue.find(one) for one in turn.utterance.machines()):
        return heard
    theirs_it_is = (asked and tells_of_site(words)) or of_no_known_machine(turn, heard.request)
    name = machine_told(words) or request.machine or (YOURS if theirs_it_is else None)
    if name is None or (heard.intent not in ("generate", "port") and not asked):
        return heard
    intent: Intent = "generate" if asked and not turn.only_asks else heard.intent
    theirs = replace(request, machine=name, queue=queue_told(words), site_words=words[:MOST_WORDS])
    return replace(heard, intent=intent, request=theirs)


def of_no_known_machine(turn: TurnContext, request: JobRequest) -> bool:
    """Whether a scheduler is told and no machine, with a queue or the job's size: then what any machine under it takes
    can be written. A queue that one machine alone has may mean that one, so it is asked for.
    """
    if scheduler_told(turn.words) is None:
        return False
    queue = queue_told(turn.words)
    holders = [one for one in turn.context.catalogue.clusters.values() if queue and one.queue(queue)]
    sized = request.nodes or request.gpus_per_node or request.total_gpus or request.cpu_only
    return len(holders) != 1 if queue else bool(sized)


def is_slip(name: str, turn: TurnContext) -> bool:
    """Whether the name of a machine that is not known may be a slip of the pen for one that is."""
    from graph.undescribed import slips

    return bool(slips(name, turn.context.catalogue))


def names_its_machine(turn: TurnContext, now: JobRequest) -> bool:
    """Whether a message tells, while a failure is spoken of and no script, only where the job ran."""
    state, was = turn.state, turn.request
    open_failure = state.get("diagnosed") is not None or isinstance(turn.pending, AwaitLog)
    if not open_failure or state.get("bundle") or turn.question or WANTS.search(turn.words):
        return False
    tells = now.machine != was.machine and turn.utterance.main.share(*WANTING) < SURE
    return tells or (now.machine != was.machine and replace(now, machine=was.machine, heard=was.heard) == was)


def stands(piece: str, cluster: Cluster | None) -> bool:
    """Whether every script of a machine holds what a piece names: its file systems, the module that all load."""
    if cluster is None or re.search(r"\d", piece):
        return False
    given = f"{cluster.directives} {cluster.software}".lower()
    words = [word for word in re.findall(r"[^\W_]{3,}", piece.lower()) if word not in COMMON]
    return bool(words) and all(word in given for word in words)


def hear(turn: TurnContext, before: JobRequest | None, asked: Asked) -> tuple[Understood, tuple[Said, ...]]:
    """What the rules read in the words, and what of it is to be said."""
    words = turn.wishes or turn.words
    has_script = turn.script is not None
    heard = of_their_own(turn, before, read_beside(words, before, asked, turn.state.get("plan"), stands=has_script))
    heard = of_queue(turn, before, with_same_gpus(turn, before, heard))
    heard, of_files = with_files(turn, heard)
    goes = goes_elsewhere(turn, heard)
    states = before is not None and turn.state.get("bundle") is not None and states_change(turn, before, heard)
    scripted = before is not None and turn.state.get("bundle") is not None
    # An order that is put as a question.
    leans = scripted and heard.request != before and not turn.leads_to_ask
    polite = leans and turn.utterance.main.share(*WANTING) >= RATHER and is_order(words)
    if turn.only_asks and not goes and not states and not polite and (not turn.question or heard.request == before):
        past = all(one.scope == "past" for one in turn.utterance.clauses)
        kept = before if before is not None and "bundle" in turn.state else turn.request if past else heard.request
        kept = changed(kept, {name: getattr(turn.request, name) for name in PARTS})  # a question orders none of them
        named = turn.utterance.machines()
        if len(named) > 1:  # which of them is what it asks
            kept = replace(kept, machine=turn.request.machine)
        elif named and turn.script is None and is_bare(kept) and turn.context.catalogue.find(named[0]):
            kept = JobRequest(machine=named[0])  # so far only asked about: the last one is spoken of
        return replace(heard, request=kept, intent=INTENTS.get(turn.act, in_talk(turn, heard))), ()
    likely = turn.utterance.main.act if heard.intent == "diagnose" and not turn.may_fail else ""
    wanted = turn.act in ASKING and any(one.share(*WANTING) >= SURE for one in turn.utterance.clauses)
    act = "" if goes or wanted or states or polite else turn.act or likely
    if act in INTENTS and (not turn.question or (act in ("ask", "chat") and heard.request == before)):
        heard = replace(heard, intent=INTENTS[act])
    orders = any(map(turn.orders, turn.utterance.clauses))
    if heard.intent in ("generate", "port") and turn.wants_nothing and not (orders or turn.question or scripted):
        heard = replace(heard, intent=INTENTS[turn.utterance.main.act])
    if heard.intent in ("generate", "port") and adds_to_trouble(turn, heard):
        heard = replace(heard, request=turn.request, intent="question")
    if turn.question and heard.request == before and turn.utterance.main.share(*ASKING) >= LIKELY:
        heard = replace(heard, intent="question")
    from graph.wishes import wishes

    cluster = turn.context.cluster(heard.request)
    asks = heard.intent == "question" and turn.leads_to_ask
    heard, said = (heard, ()) if asks else wishes(words, before, heard, cluster)
    request, of_keys = without_keys(heard.request)
    heard = replace(heard, request=request)
    said = (*of_files, *said, *(one.text for one in of_keys))
    # `Take it out then. And when would it start?`: what is asked leads, and what is ordered is not passed over.
    wants = heard.intent in ("generate", "port") or (turn.leads_to_ask and bool(turn.sure_wishes))
    kind = (heard.request.node_type or "\0").lower()  # a kind of GPU is settled with the machine's facts
    placed = {one.entry for one in heard.request.then}
    left = [
        piece
        for piece in heard.left
        if kind not in piece.lower() and piece not in placed and not says_nothing(piece) and not stands(piece, cluster)
    ]
    unplaced = [UNPLACED.format("*, *".join(left))] if left and wants else []
    imageless = [NO_IMAGE] if wants and not scripted and lacks_image(turn, heard.request) else []
    return replace(heard, left=tuple(left)), tuple(map(Say, (*said, *heard.notes, *imageless, *unplaced)))


def lacks_image(turn: TurnContext, request: JobRequest) -> bool:
    """Whether a container was spoken of, here or just before, and no image of it stands in the first order."""
    if request.container or request.environment_kind in ("container", "edf", "uenv") or turn.pending:
        return False
    told = (turn.words, turn.state.get("asked_last", ""))
    return any(CONTAINER.search(text) and not NO_CONTAINER.search(text) for text in told)


def is_bare(request: JobRequest) -> bool:
    """Whether a request names a machine, and no more than what belongs to it."""
    alone = changed(request, dict.fromkeys((*OF_ONE_MACHINE, "node_type")))
    return replace(alone, heard=()) == JobRequest(machine=request.machine)


def with_same_gpus(turn: TurnContext, before: JobRequest | None, heard: Understood) -> Understood:
    """`To Vista, same number of GPUs`: as many in all as the script in hand has, however many a node there has."""
    decided, found = turn.state.get("plan"), SAME_GPUS.search(turn.words)
    if not found or decided is None or before is None or heard.request.machine == before.machine:
        return heard
    sizes = {"nodes": None, "gpus_per_node": None, "total_gpus": decided.nodes * decided.ranks_per_node}
    left = tuple(one for one in heard.left if not SAME_GPUS.search(one))
    return replace(heard, request=changed(heard.request, sizes), left=left)


def states_change(turn: TurnContext, before: JobRequest, heard: Understood) -> bool:
    """Whether words without any mark of a question are, all of them, values for the script in hand: `ahora en 2 nodos`.

    The reader is less sure of other languages than the rules are of numbers and names.
    """
    main = turn.utterance.main
    asked = any(mark in turn.words for mark in MARKS) or any(one.scope != "plain" for one in turn.utterance.clauses)
    asked = asked or (main.topic == "script.whatif" and main.share("ask") >= SURE)
    return (
        not asked
        and not (turn.act in ("ask", "plan") and turn.utterance.main.topic != "script.whatif")
        and not heard.left
        and heard.intent == "generate"
        and replace(heard.request, heard=before.heard) != before
    )


def goes_elsewhere(turn: TurnContext, heard: Understood) -> bool:
    """`And now on Delta`: few words that name another machine while a script is in hand, and no mark of a question."""
    few = len(turn.words.split()) <= FEW_WORDS and "?" not in turn.words
    named = turn.state.get("bundle") is not None and heard.request.machine != turn.request.machine
    return few and named and turn.utterance.main.confidence < CLEAR


def waits_still(turn: TurnContext, heard: Understood) -> State | None:
    """What is told of a job whose waiting was explained: the explanation with that; None where it adds nothing."""
    output = turn.state.get("output", "")
    if not output or turn.only_asks or heard.intent != "question" or turn.state.get("bundle"):
        return None
    from graph.usecases.explain_pending import explain_pending

    found = explain_pending(f"{output}\n{turn.words}", machine=turn.cluster)
    before = explain_pending(output, machine=turn.cluster)
    return State(said=(found.document,), act="pending") if found.document != before.document else None


def adds_to_trouble(turn: TurnContext, heard: Understood) -> bool:
    """Whether a message goes on about a job that waits or failed: nothing wants a script, and no script is in hand."""
    state, main = turn.state, turn.utterance.main
    spoken_of = state.get("diagnosed") is not None or bool(state.get("output"))
    wants = (main.share(*WANTING) >= SURE and WANTS.search(turn.words)) or ORDERS.match(turn.words)
    if not spoken_of or state.get("bundle") or turn.question or wants:
        return False
    return all(getattr(heard.request, name) == getattr(turn.request, name) for name in OF_A_JOB)


def in_talk(turn: TurnContext, heard: Understood) -> Intent:
    """What a message that wants nothing of a job is taken for, where no act is sure."""
    wants = heard.intent in ("generate", "port") or (heard.intent == "other" and turn.utterance.main.act != "outside")
    return "question" if wants else heard.intent


def read_beside(
    words: str, before: JobRequest | None, asked: Asked, decided: LaunchPlan | None, *, stands: bool = True
) -> Understood:
    """The message, where `an hour more` and `half the nodes` also count from what planning chose. stands: whether there
    is a script to change."""
    if before is None or decided is None or decided.cluster != before.machine:
        return read(words, before, *asked, stands=stands)
    known = replace(before, walltime=before.walltime or decided.walltime)
    heard = read(words, known, *asked)
    if heard.request == known:
        each = before.gpus_per_node or decided.ranks_per_node
        known = replace(known, nodes=before.nodes or decided.nodes, gpus_per_node=each, total_gpus=None)
        counted = read(words, known, *asked)
        if counted.request == known:
            return replace(heard, request=before)
        heard = counted
    said = {one.field for one in heard.request.heard}
    same = [name for name in COUNTED if getattr(heard.request, name) == getattr(known, name) and name not in said]
    return replace(heard, request=changed(heard.request, {name: getattr(before, name) for name in same}))


def loosely(turn: TurnContext, heard: Understood) -> tuple[Understood, tuple[Said, ...]]:
    """What a model reads in loose words, for fields that the rules left empty; said, so that it can be corrected."""
    models, words = turn.context.model, turn.words
    open_to_it = heard.intent in ("generate", "port") or (heard.intent == "other" and not is_not_ours(words))
    if models is None or heard.intent in TALK or not (open_to_it or turn.question):
        return heard, ()
    from graph.modelling.extracting import fill

    filled = fill(words, heard.request, turn.context.catalogue, models, turn.context.stopped)
    said = [Say(READ_AS.format(c.words, c.field.replace("_", " "), c.value)) for c in filled.chosen]
    said += [Say(filled.trouble)] if filled.trouble else []
    if filled.chosen and heard.intent == "other":
        heard = replace(heard, intent="generate")
    return replace(heard, request=filled.request), tuple(said)


def take(turn: TurnContext, before: JobRequest | None, heard: Understood, said: tuple[Said, ...] = ()) -> State:
    """The state after these words. A question leaves what is open as it is."""
    state, talk = turn.state, heard.intent in TALK
    request, left_behind = heard.request, ""
    if before and before.machine and request.machine != before.machine and not talk:
        request, left_behind = moved(before, request, turn)
    searched = isinstance(turn.pending, OfferSearch)
    named = [name for name in turn.utterance.machines() if name in turn.context.catalogue.clusters]
    if request.machine is None and len(named) == 1:
        request = replace(request, machine=named[0])
    if not talk:
        # A machine's name may say it: `can you write me one for LUMI-C?`
        from graph.wishes import cpu_kind

        request, kind = cpu_kind(turn.words, request, turn.context.cluster(request)) or (request, "")
        said = (*said, Say(kind)) if kind else said
    left = tuple(a for a in state.get("left_to_us", ()) if str(getattr(request, a.field)) == a.value)
    way = way_of(turn, heard)
    stays = isinstance(turn.pending, AskField) or ((talk or way == "answer") and not searched)
    return State(
        way=way,
        act=turn.act or ACTS[heard.intent],
        request=request,
        understood=request != before,
        source=carried_by(request, before or JobRequest(), state.get("source", "")),
        left_to_us=left,
        pending=turn.pending if stays else None,
        said=(*said, Say(left_behind)) if left_behind else said,
    )


def way_of(turn: TurnContext, heard: Understood) -> Way:
    """A failure is diagnosed; talk is answered; anything else about a job goes on to be written.

    While a question is open, what could not be read is taken for an answer to it.
    """
    supposed = CONDITION.match(turn.words) and "?" not in turn.words and turn.state.get("diagnosed") is None
    if heard.intent == "diagnose" and not (supposed and turn.state.get("bundle") is not None):
        return "diagnose"
    changes = heard.request != turn.request
    main = turn.utterance.main
    if main.act in ("outside", "misuse", "help") and main.confidence >= RATHER and heard.intent == "other":
        return "answer"
    if heard.intent in TALK or (heard.intent == "other" and (turn.only_asks or not (turn.question or changes))):
        return "answer"
    return "write"


def moved(before: JobRequest, now: JobRequest, turn: TurnContext) -> tuple[JobRequest, str]:
    """The request on another machine: an account, a queue, an environment of the old one stay there."""
    names = [name for name in OF_ONE_MACHINE if getattr(now, name) and getattr(now, name) == getattr(before, name)]
    names = [name for name in names if not (name == "account" and SAME_ACCOUNT.search(turn.words))]
    if not now.source_machine and (known := of_before(now, turn)):
        return changed(now, {**dict.fromkeys(names), **known}), ""
    if now.source_machine or not names:
        return now, ""
    old = turn.context.cluster(before)
    words = ", ".join(f"{name.replace('_', ' ')} `{getattr(now, name)}`" for name in names)
    heard = tuple(one for one in now.heard if one.field not in names)
    return changed(replace(now, heard=heard), dict.fromkeys(names)), LEFT_BEHIND.format(
        old.title if old else before.machine, words
    )


def of_before(now: JobRequest, turn: TurnContext) -> dict[str, str]:
    """What was said in this conversation of the machine that it comes back to: its account, queue, environment."""
    jobs = [one for job in turn.state.get("jobs", ()) for one in job.revisions]
    earlier = [one.request for one in (*jobs, *turn.state.get("revisions", ())) if one.request.machine == now.machine]
    said = {one.field for one in now.heard if one.field not in {was.field for was in turn.request.heard}}
    if not earlier:
        return {}
    return {name: value for name in OF_ONE_MACHINE if name not in said and (value := getattr(earlier[-1], name))}
