"""Read the message once and hand it over: to what is open, to the thread's past, to what came with it, to its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from graph.answering.abstaining import quoted
from graph.answering.job_values import means_others
from graph.context import Context
from graph.conversation.cure import by_cure
from graph.conversation.deeds import by_deed
from graph.conversation.followup import bound, completed
from graph.conversation.gate import changes_script, only_asks_of_script
from graph.conversation.history import by_history, fresh_start
from graph.conversation.jobs import by_job
from graph.conversation.own_machines import by_own_machines, with_own_machines
from graph.conversation.pending import by_pending
from graph.conversation.planning import as_planning
from graph.conversation.refused import by_key, by_misuse
from graph.conversation.scripts import by_own, by_part_back, by_script, by_what_changed
from graph.conversation.trial import by_trial
from graph.conversation.turn import LEADING, SURE, TurnContext, open_turn, with_words
from graph.conversation.words import by_words
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.schedulers.command_lines import prompted
from knowledge.schedulers.outputs import scheduler_output
from knowledge.schedulers.reasons import spoken_reason
from knowledge.types import AskField, JobRequest, Made, OfferEdit, OfferSearch, Paste, Say

MOST_SINCE = 2000  # characters of what was said since a diagnosis
SHOW = re.compile(
    r"(?:\b(?:and|then|can you|could you|please|pls)\W+)*\b(?:show|print|give|send|repeat|display|post)\b"
    r".{0,20}\b(?:script|file)\b|\bscript (?:again|once more)\b"
    r"|\b(?:whole|full|complete|entire|ganze|komplette|entier|completo|intero)\s+(?:\w+\s+)?(?:script|skript)\b",
    re.I,
)
# What says nothing beside it, and how many words are more than that.
ASIDE = re.compile(r"(?i)\b(?:ok(?:ay)?|and|now|please|pls|thanks?|thx|fine|then|so|well|yes|again|as it is|for me)\b")
ENOUGH = 3
# What a question of another run names.
OF_A_RUN = ("Model", "Method", "Framework", "Path")
OF_FAILURE = "Of *{}* I have said nothing yet: ask *why* with the end of the job's output, and I name the cause."
# What may go on from a waiting job; a question that is rather of something else is left to others.
OF_WAITING = (
    *("job.start", "job.state", "job.priority", "job.cancel", "job.change", "job.hold", "job.dependency", "job.watch"),
    *("job.node", "job.runtime", "job.lost", "site.limits", "site.status", "machine.", "script.whatif", "log.", "next"),
)
# After a waiting job: a script is wanted, and no other amount for it.
WRITES = re.compile(r"(?i)\b(?:write|script|train|port)\b")


def by_output(turn: TurnContext) -> State | None:
    """What a scheduler printed, or the reason that it gave: why the job waits, and what helps."""
    message = turn.message
    scripts = [one for one in message.scripts if not only_directives(text_of(one))]
    refused = not scripts and not message.outputs and only_refuses(turn.state["text"], message.logs)
    told = message.outputs or refused or (not message.logs and not scripts and spoken_reason(turn.words))
    if not told or (scripts and message.logs):
        return None
    text = (
        turn.state["text"] if not turn.state["attachments"] else "\n".join([turn.words, *map(text_of, message.outputs)])
    )
    from graph.usecases.explain_pending import explain_pending

    found = explain_pending(text, machine=machine_of_words(turn) or turn.cluster)
    if found.kind == "ended" and message.outputs and message.logs:
        return None  # the log that came with it says why
    state = State(said=(found.document,), act="pending", output=text)
    wanted = by_words(turn) if wants_script(turn) else State()
    asked_for = wanted.get("request") or JobRequest()
    if wanted.get("way") == "write" and (asked_for.entry or asked_for.strategy):
        return State(**{**wanted, "output": text, "said": (found.document, *wanted.get("said", ()))})
    from graph.debugging.diagnosis import diagnose as find_cause

    return (
        State(**{**state, "diagnosed": find_cause(text), "logs": message.logs}) if refused and message.logs else state
    )


def by_waiting(turn: TurnContext) -> State | None:
    """What goes on from a job whose waiting was explained, answered from what was pasted there."""
    state, came = turn.state, turn.message
    output = state.get("output", "")
    if not output or state.get("bundle") or turn.question or came.scripts or came.logs or came.outputs:
        return None
    main = turn.utterance.main
    from graph.usecases.follow_waiting import asks, follow_waiting

    elsewhere = main.topic and main.confidence >= LEADING and not main.topic.startswith(OF_WAITING)
    if elsewhere and not asks("pass", turn.words):
        return None  # `do i get a mail when it is through?`
    if (wants_script(turn) and WRITES.search(turn.words)) or any(m.kind in OF_A_RUN for m in turn.utterance.mentions):
        return None
    if means_others(turn.words, [job for one in scheduler_output(output) for job in one.jobs]):
        return None
    found = follow_waiting(output, turn.words, machine_of_words(turn) or turn.cluster)
    return State(said=(found,), act="pending") if found else None


def wants_script(turn: TurnContext) -> bool:
    """Whether, beside what is told of a job, a clause plainly wants a script written."""
    return any(one.share("write", "port") >= SURE for one in turn.utterance.clauses)


def by_show(turn: TurnContext) -> State | None:
    """The script in hand, whole."""
    bundle, main = turn.state.get("bundle"), turn.utterance.main
    asked = (main.topic == "script.show" and main.share("ask") >= SURE) or SHOW.search(turn.words)
    if bundle is None or not asked or turn.message.scripts or turn.message.logs:
        return None
    title = turn.context.title_of(turn.state.get("request"), turn.state.get("plan"))
    return State(said=(Made(bundle, title),), act="ask")


def only_refuses(text: str, logs: Sequence[Paste]) -> bool:
    """Whether a scheduler's command says no, or tells something, and no other program's output came with it."""
    lines = text.split("\n")
    said = [one for one in scheduler_output(text) if one.kind == "refusal"]
    inside = {lines[n].strip() for one in said for n in range(one.first, one.last + 1)}
    printed = (line.strip() for paste in logs for line in text_of(paste).splitlines())
    return bool(said) and all(line in inside or not line or prompted(line) for line in printed)


def only_directives(text: str) -> bool:
    """Whether a paste holds what was asked of the scheduler and no command to run."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def text_of(paste: Paste) -> str:
    return paste.text or (read_plain(paste.path, LARGEST_SCRIPT).decode("utf-8", "replace") if paste.path else "")


def machine_of_words(turn: TurnContext) -> Cluster | None:
    return next((one for name in turn.machines if (one := turn.context.catalogue.find(name))), None)


def by_log(turn: TurnContext) -> State | None:
    """A log: it is diagnosed, with the script that came along or is in hand."""
    logs = turn.message.logs
    if not logs:
        return None
    own = turn.message.scripts[0] if turn.message.scripts else turn.state.get("own")
    named = next((name for name in turn.machines if name in turn.context.catalogue.clusters), None)
    shown, proved = turn.printed_on
    machine = shown if proved else turn.request.machine or named or shown  # `worked on polaris`, says the log of Aurora
    held = own or turn.state.get("bundle")
    request = turn.request if held else replace(turn.request, machine=machine)
    return State(way="diagnose", logs=logs, own=own, request=request, since=turn.words)


HANDLERS: tuple[Callable[[TurnContext], State | None], ...] = (
    by_misuse,
    by_key,
    by_own_machines,
    by_cure,
    by_pending,
    by_what_changed,
    by_part_back,
    by_history,
    by_deed,
    by_output,
    by_waiting,
    by_job,
    by_log,
    by_show,
    by_script,
    by_trial,
    by_own,
    by_words,
)


def with_rest(turn: TurnContext) -> TurnContext | None:
    """`Set it to that and show me the whole script`: the message without that, where more is said; else None."""
    found = SHOW.search(turn.words)
    rest = ASIDE.sub(" ", f"{turn.words[: found.start()]} {turn.words[found.end() :]}") if found else ""
    if turn.state.get("bundle") is None or len(re.findall(r"\w+", rest)) < ENOUGH or turn.message.logs:
        return None
    return with_words(turn, rest)


def handled(turn: TurnContext) -> State:
    """What the first handler says that knows what to do. A question never writes or changes a script: a handler that
    would is passed over, and what no other knows is answered from the facts."""
    asks = only_asks_of_script(turn)
    for handle in HANDLERS:
        if (found := handle(turn)) and not (asks and changes_script(turn, found)):
            return with_failure_told(turn, found)
    return State(way="answer", act="ask")


def with_failure_told(turn: TurnContext, found: State) -> State:
    """What was found, with a failure named that a sentence tells beside a pasted script and that nothing answered: `it
    stopped with exit code 137, also give it 12 h`."""
    came = turn.message
    told = [one.text for one in turn.utterance.clauses if one.share("diagnose") >= SURE]
    if not (told and came.scripts) or came.logs or came.outputs or found.get("diagnosed") or found.get("way"):
        return found
    said = found.get("said", ())
    return State(**{**found, "said": (*said, Say(OF_FAILURE.format(quoted(told[0]))))}) if said else found


def understand(state: State, runtime: Runtime[Context]) -> State:
    """The first handler that knows what to do. An offer of a web search stands until the next message only."""
    opened = open_turn(state, runtime.context)
    turn = as_planning(opened)
    turn = bound(completed(opened)) if turn is opened else turn
    fresh = fresh_start(turn)
    begun: State = {}
    if fresh:
        begun, rest = fresh
        came = turn.message
        turn = open_turn(State(**{**state, **begun, "text": rest}), runtime.context)
        turn = replace(turn, message=replace(came, words=turn.words))
        if not (rest or came.scripts or came.logs or came.outputs):
            return State(**{**begun, "way": "write", "request": JobRequest(), "utterance": turn.utterance})
    begun, turn = with_own_machines(begun, turn, runtime.context)
    beside = with_rest(turn)
    turn = beside or turn
    found = handled(turn)
    pending = None if isinstance(turn.pending, OfferSearch) else turn.pending
    kept = pending if isinstance(pending, AskField) or found.get("way", "answer") == "answer" else None
    said = (*begun.get("said", ()), *found.get("said", ()))
    main = turn.utterance.main
    base = State(pending=kept, words=turn.words, utterance=turn.utterance, asked_last="")
    base["whole"] = beside is not None
    taken = isinstance(turn.pending, OfferEdit) and ("bundle" in found or found.get("way") == "write")
    base["last_act"], base["last_topic"] = "edit" if taken else main.act, main.topic  # a yes to it made the change
    # "Cancel it" means the job as long as the talk is not of a script.
    base["job"] = state.get("job", "") if found.get("way", "answer") == "answer" else ""
    base["question_before"], base["topic_before"] = state.get("asked_last", ""), state.get("last_topic", "")
    base["act_before"] = state.get("last_act", "")
    base["since"] = f"{state.get('since', '')}\n{turn.words}"[-MOST_SINCE:] if state.get("diagnosed") else ""
    base["last_machine"] = next(iter(turn.machines), state.get("last_machine", ""))
    return State(**{**begun, **base, **found, "said": said})
