"""Say what came out: a script and what to know about it, a refusal, a diagnosis, or words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import date

from langgraph.runtime import Runtime

from graph.answering.abstaining import abstain, same_again
from graph.answering.ask import Ask, is_of_resources
from graph.answering.statements import remembered
from graph.answering.table import FACTS_FIRST
from graph.answering.us import can, decline, is_declined
from graph.changes import changes, diff
from graph.context import Context
from graph.conversation.gate import POLITE, surely_orders
from graph.conversation.history import agree, stands
from graph.conversation.next_step import BYE, GOODBYE, SEND_LOG, THANKS, UNPLACED, WELCOME, next_step, not_understood
from graph.conversation.refused import warn_of_key
from graph.conversation.turn import RATHER, SURE, asks_by_form, orders_as_whole
from graph.extraction.request import is_about_us, is_order
from graph.extraction.request import understand as read
from graph.planning.plan import ACCOUNT_PLACEHOLDER
from graph.reading.request_edits import read_request_edits
from graph.reading.scope import denials
from graph.reading.utterance import LONGEST_MESSAGE, Clause, Utterance
from graph.state import State
from graph.usecases.answer import WHY, Answered, clear_answer, recalled
from knowledge.document import Choices, Document
from knowledge.resource_question import ResourceQuestion
from knowledge.types import (
    Assumption,
    AwaitLog,
    Diagnosis,
    JobRequest,
    LaunchBundle,
    LaunchPlan,
    Made,
    Offer,
    OfferChoice,
    OfferRows,
    Paste,
    Refusal,
    Said,
    Say,
    Working,
    Writing,
)

# Acts that are answered in words, and from which probability on a clause is one of them.
ANSWERED = ("ask", "review", "plan")
LIKELY = 0.35
CERTAIN, PLAIN = 0.7, 0.95
# What is asked of a job beside what its scheduler printed, and that does not tell.
OF_A_RUN = (
    "job.efficiency",
    "job.node",
    "job.live",
    "job.cancel",
    "job.change",
    "job.longer",
    "job.detached",
    "job.notify",
)
FEW_WORDS = 6
IS_SO = "The script has that already, so nothing changes. *show the script* prints it."
STAYS_BY = "The script stays as it is, with {}: {}."
SEND_OUTPUT = (
    "Paste what the scheduler prints of the job and I say what holds it: `scontrol show job JOBID` (Slurm), "
    "`qstat -f JOBID` (PBS), `bjobs -l JOBID` (LSF) or `flux jobs -a` (Flux)."
)
NO_ACTS = (
    "I do nothing on a machine by myself. A script goes in with the command that stands under it; `scancel JOB` "
    "(Slurm), `qdel JOB` (PBS), `bkill JOB` (LSF) or `flux cancel JOB` ends a job. Passwords and files are yours alone."
)


TOO_LONG = "Your message is long: I read its first {:,} characters only. Ask the rest in a message of its own."


def answer(state: State, runtime: Runtime[Context]) -> State:
    """What came out; with the whole script, where it was asked for beside a wish."""
    made = shown_whole(state, runtime)
    if warned := warn_of_key(state["words"], made.get("said", state["said"])):
        made = State(**{**made, "said": (*warned, *made.get("said", state["said"]))})
    said = () if made.get("unanswered") else tuple(made.get("said", state["said"]))
    return State(**{**made, "statements": remembered(said, state.get("statements", ()))})


def shown_whole(state: State, runtime: Runtime[Context]) -> State:
    made = came_out(state, runtime)
    if state["outcome"] is None and len(state["words"]) > LONGEST_MESSAGE:
        made = State(**{**made, "said": (*made.get("said", state["said"]), Say(TOO_LONG.format(LONGEST_MESSAGE)))})
    bundle = made.get("bundle") or state.get("bundle")
    if not state.get("whole") or bundle is None:
        return made
    said = tuple(made.get("said", state["said"]))
    now = State(**{**state, **made})
    shown = tuple(replace(part, diff="") if isinstance(part, Made) else part for part in said)
    if not any(isinstance(part, Made) for part in said):
        shown = (*said, Made(bundle, runtime.context.title_of(now.get("request"), now.get("plan"))))
    return State(**{**made, "said": shown})


def came_out(state: State, runtime: Runtime[Context]) -> State:
    outcome, draft = state["outcome"], state["draft"]
    if isinstance(outcome, LaunchPlan) and draft:
        return also_answered(state, script(state, outcome, draft), runtime)
    if isinstance(outcome, Refusal):
        return also_answered(state, refuse(state, outcome), runtime)
    if isinstance(outcome, Diagnosis):
        found = any(isinstance(part, Diagnosis) for part in state["said"])
        said = state["said"] if found else (*state["said"], outcome)
        return also_answered(state, State(said=(*said, *beside(outcome, state, runtime))), runtime, changed=False)
    return words(state, runtime)


def refuse(state: State, refusal: Refusal) -> State:
    """The refusal with its ways round; the script that stands, stands."""
    request, refused, left = stands(state)
    pending = OfferChoice(refusal, refused) if refusal.instead or refused else None
    return State(said=(*state["said"], refusal, *left), pending=pending, request=request)


def beside(diagnosis: Diagnosis, state: State, runtime: Runtime[Context]) -> tuple[Say, ...]:
    """Known issues and pages that speak of the same lines."""
    get_ready(runtime)
    from graph.answering import related

    found = related.related(diagnosis, request_of(state), runtime.context)
    lines = " ".join(evidence.text for evidence in diagnosis.evidence)
    return (Say(related.in_words(found, lines, date.today())),) if found else ()


def get_ready(runtime: Runtime[Context]) -> None:
    """Should a question need passages, and these an index first, the person is told how far that is."""
    if runtime.context.knowledge:
        runtime.context.knowledge.tell(lambda *facts: runtime.context.tell(Working(*facts)))


def script(state: State, plan: LaunchPlan, draft: LaunchBundle) -> State:
    before = state.get("bundle")
    if draft == before:
        of_plan: tuple[str | Assumption, ...] = (*plan.notes, *plan.assumptions)
        untold = tuple(one for one in of_plan if one not in state.get("told", ()))
        return noted(state, untold) if untold else unchanged(state)
    last = state.get("plan")
    same_machine = last is not None and last.cluster == plan.cluster
    assumptions = (*state.get("left_to_us", ()), *plan.assumptions)
    notes = (*state["notes"], *plan.notes, *state["proof"])
    told = state.get("told", ())
    made = Made(
        bundle=draft,
        title=plan.title,
        assumptions=tuple(a for a in assumptions if a not in told or is_placeholder(a)),
        notes=tuple(note for note in notes if note not in told),
        changes=changes(last, plan),
        diff=diff(before, draft) if same_machine else "",
    )
    new = State(said=(*state["said"], made), plan=plan, bundle=draft, own=None, told=(*assumptions, *notes))
    return State(**{**agree(state, state["request"], draft), **new})


def noted(state: State, notes: tuple[str | Assumption, ...]) -> State:
    """The script is the same, and what the plan has to say of the wish, or assumed of it, is new."""
    told = (STAYS_BY.format(one.value, one.why) if isinstance(one, Assumption) else one for one in notes)
    return State(said=(*state["said"], *map(Say, told)), told=(*state.get("told", ()), *notes))


def unchanged(state: State) -> State:
    """The same script came out: what was said beside it, or which words changed nothing."""
    if state["said"] or asking(state):
        return State(said=state["said"])
    notes = notes_of(state)
    return State(said=notes or (Say(IS_SO if is_so(state) else not_understood(state)),))


def notes_of(state: State) -> tuple[Say, ...]:
    """What the words deny, keep, or tell of others, where a script stands: why nothing changed by it."""
    bundle = state.get("bundle")
    from graph.usecases.script_lines import scope_notes

    return tuple(map(Say, scope_notes(bundle.script, state["words"]))) if bundle else ()


def is_so(state: State) -> bool:
    """Whether all that the words ask for is in the request already; no value of theirs may be missing in the script."""
    bundle = state.get("bundle")
    from graph.usecases.script_lines import unaccounted

    if bundle and unaccounted(state["words"], bundle.script.splitlines()):
        return False
    if state["understood"]:
        return True
    alone = read(state["words"], None, None, None).request
    wanted = [one.name for one in fields(JobRequest) if one.name != "heard" and getattr(alone, one.name)]
    return (
        bool(wanted)
        and len(state["words"].split()) <= FEW_WORDS
        and all(getattr(alone, name) == getattr(request_of(state), name) for name in wanted)
    )


def also_answered(state: State, made: State, runtime: Runtime[Context], changed: bool = True) -> State:
    """The questions that came with the change, answered behind the script; where nothing was changed, as behind a job's
    state, those that are surely of life on the machine."""
    told_of = any(isinstance(part, Diagnosis) for part in state["said"])
    made_one = isinstance(state["outcome"], LaunchPlan | Refusal | Diagnosis)
    for clause in asking(state):
        if made_one and not asks_by_form(clause):
            continue  # `PSC is down next week` beside an order is told, and asks nothing
        if told_of and (clause.act == "diagnose" or clause.topic.startswith("log.")):
            continue  # the diagnosis above is its answer
        if isinstance(state["outcome"], LaunchPlan) and clause.act == "review" and clause.asked.startswith("site."):
            clause = replace(clause, act="ask", topic=clause.asked)  # what was just written has been checked
        of_life = clause.topic.startswith("site.") and clause.topic not in FACTS_FIRST
        enough = CERTAIN if isinstance(state["outcome"], Diagnosis) else PLAIN
        deed = state.get("act") == "pending" and clause.topic in OF_A_RUN and clause.confidence >= RATHER
        if not changed and not deed and not (of_life and (clause.leads or clause.confidence >= enough)):
            continue
        get_ready(runtime)
        now = State(**{**state, **made})
        ask = ask_of(now, runtime.context, clause.text, clause)
        if isinstance(state["outcome"], LaunchPlan) and now.get("source"):  # `16 nodes there too?`: where it goes
            ask = replace(ask, machine=runtime.context.cluster(request_of(now)) or ask.machine)
            inside = (one for one in ask.utterance.mentions if one.kind != "Machine" or clause.start <= one.start)
            ask = replace(ask, utterance=replace(ask.utterance, mentions=tuple(inside)))  # not of where it came from
        told = in_words(ask, runtime)
        made["said"] = (*made["said"], *(told or (unknown(state, runtime.context, clause),) * changed))
    return made


def request_of(state: State) -> JobRequest:
    """What is wanted so far; nothing, where the first script of a thread was refused and no wish was kept."""
    return state.get("request") or JobRequest()


def clauses_of(state: State) -> tuple[Clause, ...]:
    utterance = state.get("utterance")
    return utterance.clauses if utterance else ()


def asking(state: State) -> tuple[Clause, ...]:
    """The clauses that plainly ask; what is only told beside a question is no question of its own."""
    asks = (one for one in clauses_of(state) if one.act in ANSWERED and one.share(*ANSWERED) >= CERTAIN)
    # `No GPUs.` beside a wish is part of it.
    found = tuple(one for one in asks if "?" in one.text or not read_request_edits(one.text, None).is_all)
    asked = tuple(one for one in found if asks_by_form(one))
    main = next((one for one in found if one.leads), None)
    if asked and main and main not in asked:  # what leads is asked too, and a faint `what is the command?` is of it
        asks = (one for one in asked if len(one.text.split()) > 3 or names_machine(state, one))
        asked = (main, *(one for one in asks if one.confidence >= CERTAIN))
    if state.get("own") and surely_orders(state["words"]):
        return tuple(one for one in asked if not POLITE.search(one.text))  # not `it is for LUMI` beside an order
    utterance = state.get("utterance")
    return asked if utterance and orders_as_whole(utterance, SURE) else asked or found


def names_machine(state: State, clause: Clause) -> bool:
    """`And JUPITER?`: few words that name a machine ask of it, and may not be dropped."""
    utterance = state.get("utterance")
    return bool(utterance and any(one.kind == "Machine" for one in utterance.within(clause)))


def is_placeholder(assumption: Assumption) -> bool:
    return assumption.field == "account" and assumption.value.startswith(ACCOUNT_PLACEHOLDER)


def words(state: State, runtime: Runtime[Context]) -> State:
    """A question out of the facts and passages, small talk, and what could not be read, with the next step."""
    text, failing = state["words"], state["way"] == "diagnose"
    if state["said"]:
        left = all(isinstance(part, Say) and part.text.startswith(UNPLACED.partition("{")[0]) for part in state["said"])
        made_one = any(isinstance(part, Made) for part in state["said"])
        changed = made_one or left or state.get("act") in ("edit", "misuse")
        read = state.get("utterance")
        misused = state.get("act") == "misuse" and read and read.main.share("misuse") >= SURE  # nor how it is done
        several = (len(clauses_of(state)) > 1 or state.get("act") == "pending") and not misused
        return also_answered(state, State(said=state["said"]), runtime, changed) if several else State()
    if speaks_of_log(state) and state.get("diagnosed") is None:
        if state["utterance"].of_kind("JobId"):  # type: ignore[union-attr]
            get_ready(runtime)
            clause = replace(state["utterance"].main, act="ask", topic="job.lost")  # type: ignore[union-attr]
            ended = clear_answer(ask_of(state, runtime.context, text, clause), runtime.context)
            said = (*((ended.document,) if ended else ()), Say(SEND_LOG))
            return State(said=said, pending=AwaitLog())
        return State(said=(Say(SEND_LOG),), pending=AwaitLog())
    if state["act"] == "help":
        return State(said=(Say(can()),))
    act = state["act"]
    refuses = topic(state) == "log.helps" and any(denials(text))  # `not the batch, is there another way?`
    from graph.answering.log import means

    unhelped = topic(state) == "log.next" and state["utterance"].main.confidence >= LIKELY  # type: ignore[union-attr]
    again = unhelped or refuses or (failing and means("further", text))
    if again and state.get("diagnosed") is not None:
        from graph.answering.failure import after_words

        further = bool(means("further", text))  # then it is told how it went, and nothing is thought of
        asked = ask_of(state, runtime.context, text, state["utterance"].main)  # type: ignore[union-attr]
        if not further and (more := after_words(asked)):
            return State(said=(more,))
        from graph.conversation.fix_followup import go_on

        tried_before, before = tuple(state.get("unhelped", ())), state.get("question_before", "")
        step, tried = go_on(state["diagnosed"], tried_before, text, before)  # type: ignore[arg-type]
        return State(said=(step,), unhelped=tried)
    if (is_outside(state) and not is_order(text)) or (act == "outside" and is_declined(text)):
        return State(said=(decline(text, runtime.context.cluster(request_of(state))),))
    if act == "outside" and (is_order(text) or state["utterance"].of_kind("JobId")):  # type: ignore[union-attr]
        return State(said=(Say(NO_ACTS),))
    if is_about_us(text) and not is_clear(state) and not topic(state).startswith(("machine.", "us.", "log.")):
        return State(said=(Say(can()),))
    if act != "chat" or "?" in text:
        get_ready(runtime)
        told, sure = answers(state, runtime)
        if told and (act == "ask" or "?" in text or failing or sure or leans_to_ask(state)):
            repeats = told == tuple(state.get("answered", ())) and text != state.get("question_before")
            if repeats and act != "plan":  # a sum whose values stay the same is the answer
                other = recalled(
                    ask_of(state, runtime.context, text, next(iter(clauses_of(state)), None)), runtime.context
                )
                if other is None:
                    return State(said=(Say(same_again(text)),), unanswered=True)
                told = (other.answered.document,)
            said = (*told, *(Say(SEND_LOG),) * (failing and not sure))
            return State(
                said=said,
                pending=rows_of(told) or state.get("pending") or waits(failing),
                asked_last=state.get("question_before", "") if WHY.fullmatch(text) else text,
                answered=told,
                last_topic=state.get("topic_before", "") if WHY.fullmatch(text) else topic(state),
                step=steps_told(state),
                resources=resources_asked(state, runtime.context),
            )
        if act in ANSWERED:
            kept = resources_asked(state, runtime.context)  # the values that were read stand for what comes next
            kept = replace(kept, aim=None, also=()) if kept else None
            return State(said=(unknown(state, runtime.context),), unanswered=True, resources=kept)
    talks = all(one.act in ("chat", "quit") for one in clauses_of(state)) and len(text.split()) <= FEW_WORDS
    if act in ("chat", "quit") and talks and (THANKS.search(text) or BYE.search(text)):
        return State(said=(Say(WELCOME if THANKS.search(text) else GOODBYE),))
    if failing or isinstance(state.get("pending"), AwaitLog):
        return State(said=(Say(SEND_LOG),), pending=AwaitLog())
    utterance = state.get("utterance")
    if utterance and utterance.main.leads and utterance.main.act == "outside" and not utterance.of_kind("JobId"):
        return State(said=(decline(text, runtime.context.cluster(request_of(state))),))
    if any(one.act == "pending" for one in clauses_of(state)):
        return State(said=(Say(SEND_OUTPUT),))
    if act != "chat" and utterance and utterance.of_kind("JobId"):  # `job 123456 stays CG`
        from graph.answering.job_codes import explain_state

        if told_state := explain_state(ask_of(state, runtime.context, text, utterance.main)):
            return State(said=(told_state,))
    talk = WELCOME if THANKS.search(text) else next_step(state)
    return State(said=notes_of(state) or (Say(talk if act == "chat" else not_understood(state)),))


def unknown(state: State, context: Context, clause: Clause | None = None) -> Say:
    """That there is no answer, with what was understood of the question: of this clause, else of the one that asks."""
    utterance = state.get("utterance") or Utterance(state["words"])
    clause = clause or next(iter((*asking(state), *utterance.clauses)), Clause(0, 0, state["words"], "ask"))
    named = next(filter(None, map(context.catalogue.find, utterance.machines())), None)
    return Say(abstain(utterance, clause, named or context.cluster(request_of(state))))


def speaks_of_log(state: State) -> bool:
    """Whether the words plainly ask of a log; a bare `why?` behind an answer asks of that."""
    main = state["utterance"].main if state.get("utterance") else None  # type: ignore[union-attr]
    if main is None or not main.topic.startswith("log.") or main.topic == "log.proof":
        return False
    return main.confidence >= CERTAIN and not (state.get("topic_before") and WHY.fullmatch(state["words"]))


def is_clear(state: State) -> bool:
    """Whether the words are a question of a topic that is certain."""
    utterance = state.get("utterance")
    return bool(utterance and utterance.main.act in ANSWERED and utterance.main.confidence >= CERTAIN)


def steps_told(state: State) -> int:
    """How far the way of a beginner is told after this answer."""
    done = state.get("step", 0)
    return 1 if topic(state) == "site.start" else done + 1 if topic(state) == "next" else done


def leans_to_ask(state: State) -> bool:
    """Whether the words are a question rather than not, where no act is certain: an answer serves more than none."""
    utterance = state.get("utterance")
    if utterance is None:
        return False
    asks = utterance.main.share(*ANSWERED)
    return asks >= LIKELY and asks > utterance.main.share("write", "edit", "port", "mend", "reply", "outside")


def is_outside(state: State) -> bool:
    """Whether the words are plainly not of this field; who names a job by its number speaks of it."""
    utterance = state.get("utterance")
    outside = utterance is not None and utterance.main.act == "outside" and utterance.main.confidence >= CERTAIN
    return outside and (is_declined(state["words"]) or not utterance.of_kind("JobId"))  # type: ignore[union-attr]


def waits(failing: bool) -> AwaitLog | None:
    return AwaitLog() if failing else None


def rows_of(told: Sequence[Said]) -> OfferRows | None:
    """The ways that an answer lays before the person: the next message may take one."""
    parts = [part for one in told if isinstance(one, Document) for part in one.parts if isinstance(part, Choices)]
    offers = tuple(Offer(one.says, change=one.change) for part in parts for one in part.items if one.change)
    return OfferRows(offers) if offers else None


def topic(state: State) -> str:
    utterance = state.get("utterance")
    return utterance.main.topic if utterance else ""


def answers(state: State, runtime: Runtime[Context]) -> tuple[tuple[Said, ...], bool]:
    """What is known to each question of the message, and whether it answers what was not even asked as one."""
    utterance, text = state.get("utterance"), state["words"]
    clauses = tuple({one.text: one for one in asking(state)}.values()) if utterance and utterance.text == text else ()
    same = Clause(0, len(text), text, "ask", state.get("topic_before", ""), 1.0)
    main = utterance.main if utterance and utterance.text == text else same
    if len({one.label for one in clauses}) < 2:
        asked = [ask_of(state, runtime.context, text, clauses[0] if clauses else main)]
    else:
        asked = [ask_of(state, runtime.context, one.text, one) for one in clauses]
    told: list[Said] = []
    sure = False
    for one in asked:
        found = clear_answer(one, runtime.context)
        told += in_words(one, runtime, found)
        sure = sure or bool(found and is_sure(found))
    if not told and len(clauses_of(state)) > 1:  # `is that it?` behind what is told: the message as a whole
        sized = bool(utterance and utterance.of_kind("Model"))
        about = replace(main, act="plan", topic="", confidence=1.0, by_rule=True) if sized else main
        found = clear_answer(whole := ask_of(state, runtime.context, text, about), runtime.context)
        told, sure = [*in_words(whole, runtime, found)], bool(found and is_sure(found))
    if not told:  # what no topic answers, out of what was said before and what stands behind it
        more = (recalled(one, runtime.context) for one in asked)
        told = [one.answered.document for one in more if one]
    return tuple(dict.fromkeys(told)), sure


def ask_of(state: State, context: Context, text: str, clause: Clause | None = None) -> Ask:
    """The question with all that it may be answered from."""
    utterance = state.get("utterance") or Utterance(text)
    # A plan has blanks for what is asked beside it.
    if clause and clause.act == "plan" and len(clause.text) == len(utterance.text):
        inside = tuple(one for one in utterance.mentions if clause.text[one.start : one.end].strip())
        utterance = replace(utterance, text=clause.text, mentions=inside)
    start, end = (clause.start, clause.end) if clause and clause.text == text else (0, len(text))
    whole = replace(clause or Clause(0, 0, "", "ask", "", 0.0, by_rule=False), text=text, start=start, end=end)
    named = [context.catalogue.find(name) for name in utterance.machines()]
    bundle, request = state.get("bundle"), state.get("request") or JobRequest()
    spoken_of = context.catalogue.find(state.get("last_machine", ""))
    thread = context.cluster(request)
    from graph.undescribed import is_stand_in

    of_thread = None if thread and is_stand_in(thread) else thread
    return Ask(
        whole,
        utterance,
        machine=next(filter(None, named), None) or ((of_thread or spoken_of) if bundle else (spoken_of or of_thread)),
        request=request,
        plan=state.get("plan"),
        bundle=bundle,
        script=state.get("own") or (Paste(bundle.name, bundle.script) if bundle else None),
        report=state.get("diagnosed"),
        logs=tuple(state.get("logs", ())),
        output=state.get("output", ""),
        resources=state.get("resources"),
        last_topic=state.get("topic_before", ""),
        last_act=state.get("act_before", ""),
        before=state.get("question_before", ""),
        since=state.get("since", ""),
        tried=tuple(state.get("unhelped", ())),
        step=state.get("step", 0),
        own_machines=tuple(state.get("own_machines", ())),
        statements=tuple(state.get("statements", ())),
    )


def resources_asked(state: State, context: Context) -> ResourceQuestion | None:
    """What the thread has asked of resources so far: this message's, where it is about them."""
    asked = next((one for one in asking(state) if is_of_resources(one)), None)
    if asked is None:
        return state.get("resources")
    from graph.answering.resources import question_of

    return question_of(ask_of(state, context, asked.text, asked))


def is_sure(found: Answered) -> bool:
    """Whether it answers what was not even asked as a question."""
    return (found.found is None and found.sure) or bool(found.found and found.found.fact) or found.is_near


def in_words(ask: Ask, runtime: Runtime[Context], found: Answered | None = None) -> tuple[Said, ...]:
    """The answer by the rules; where there is a model, in its words, if each sentence stands on what it cites."""
    found = found or clear_answer(ask, runtime.context)
    if found is None:
        return ()
    models = runtime.context.model
    if models is None or found.found is None:
        return (found.document,)
    write, stopped = lambda piece: runtime.context.tell(Writing(piece)), runtime.context.stopped
    from graph.modelling.wording import worded

    text, trouble = worded(found.found, found.text, models, write, stopped)
    return (Say(text), Say(trouble)) if trouble else (Say(text),)
