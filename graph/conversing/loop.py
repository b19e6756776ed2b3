"""A turn that a language model leads: a bounded loop over the use cases as tools, and a guard over what it says.

What is certain is computed first: the rules' whole answer to the message. It goes to the model as a fact, and it is the
answer where the model fails in mid-turn: the turn then ends as it would have without one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graph.context import Context, Lent
from graph.conversation.history import BACK, REDO, UNDO
from graph.conversation.option_choice import NO, NUMBER, YES
from graph.conversation.turn import TurnContext, open_turn
from graph.conversing.briefing import brief
from graph.conversing.composition import asks_for_script
from graph.conversing.ending import AnswerEnding, fallen_back, read_by
from graph.conversing.ground import Ground
from graph.conversing.guard import Guard
from graph.conversing.hand import Hand, in_rows
from graph.conversing.instructions import ANSWER, fixed_part, step_schema
from graph.conversing.job_told import told_request
from graph.conversing.looking import Looking
from graph.conversing.machine_facts import MOST, machine_in_short
from graph.conversing.memory import LOOKUPS, named_call, newest_output, remembered, with_files
from graph.conversing.review import asked_again, notes_beneath
from graph.conversing.rules_told import told_rules
from graph.conversing.script_deeds import ScriptDeeds
from graph.conversing.sources import Numbered
from graph.conversing.standing import stand_on, stand_on_result
from graph.conversing.toolbox import carried_out, toolbox
from graph.modelling.asking import OVERHEAD, Models, Reply
from graph.modelling.model import Model, ModelMessage, NoToolsError, ToolCall, fenced
from graph.state import State
from knowledge.errors import MapleError
from knowledge.masking_table import invented
from knowledge.types import (
    Diagnosis,
    Grounds,
    OfferChoice,
    OfferEdit,
    OfferRows,
    OfferSearch,
    Paste,
    Said,
    Working,
    Writing,
)

MOST_CALLS = 8
# Tools that tell our own facts alone.
OWN_FACTS = frozenset({"cluster_facts", "compare_clusters", "plan_resources"})
# Tokens: of an answer or a call, of the thread with what tools answered, of all requests of a turn.
ANSWER_TOKENS, THREAD_TOKENS, TURN_TOKENS = 1200, 8000, 80_000
# Of the thread's room, what the brief may take; the rest is for the tools' answers.
BRIEF_SHARE = 0.62
# And what the machines may take of it.
MACHINES_SHARE, MOST_MACHINES = 0.15, 4
# And where neither a script nor a log takes room: machines are chosen or asked about.
LARGE_SHARE = 0.25
# An answer's, where the model's context has room for it: a long script, or what a model thinks before it speaks.
LONG_ANSWER_TOKENS, ROOMY = 4000, 24_000
MOST_RESULT, LEAST_RESULT, LETTERS = 6000, 600, 2.7
# A turn may take so many times the time for one question.
DEADLINES = 2.0
# From so many calls on the model is told how many are left.
FEW_CALLS = 3
CALLS_LEFT = "(calls left in this turn: {})"
ENOUGH = "No more calls: answer now, from what you have."
# Placeholders of names that a thread keeps.
MOST_NAMES = 400
# Of a model's answers and calls: as many as the turns that are told again may have had.
MOST_ANSWERS = 12
INVENTED = "error: not done: {} stands for nothing here. Placeholders in <...> are names as they were told; {}"
# Letters by which an answer is known again.
SHOWN = 60
DROPPED = "(left out for room; call again if it is needed)"


@dataclass(slots=True)
class ModelExchange:
    """What is sent: the fixed part, the brief, and the steps of this turn."""

    fixed: str
    brief: str
    steps: list[ModelMessage] = field(default_factory=list)

    def messages(self) -> list[ModelMessage]:
        return [ModelMessage("system", self.fixed), ModelMessage("user", self.brief), *self.steps]


def lead(state: State, context: Context, by_rules: Callable[[State], State]) -> State:
    """The state after the turn. by_rules: the whole turn without a model."""
    ruled = by_rules(state)
    models, turn = context.model, open_turn(state, context)
    ruled = with_outputs(turn, ruled)
    if models is None or context.lent is None or is_certain(turn):
        return remembered(ruled, state, turn.words)
    context.tell(Working("asking the language model"))
    model = models.ready("large")
    if model is None:
        return remembered(ruled, state, turn.words)
    try:
        return Lead(turn, ruled, models, model, context.lent()).run()
    except MapleError as error:  # what a deed could not do at all
        return remembered(fallen_back(ruled, str(error)), state, turn.words)


def with_outputs(turn: TurnContext, ruled: State) -> State:
    """The rules' state with what schedulers printed, now and before."""
    before = turn.state.get("output", "")
    last = ruled.get("output", "")
    now = "\n".join(one.text for one in turn.message.outputs) or (last if last != before else "")
    return State(**{**ruled, "output": newest_output(before, now)}) if now else ruled


def is_certain(turn: TurnContext) -> bool:
    """Undo, back to another job, a bare yes, no or number to an offer: no model is needed for it."""
    words = turn.words.strip()
    if turn.message.scripts or turn.message.logs:
        return False
    offered = isinstance(turn.pending, OfferChoice | OfferEdit | OfferSearch)
    answers = offered and any(one.fullmatch(words) for one in (YES, NO, NUMBER))
    answers = answers or bool(isinstance(turn.pending, OfferRows) and NUMBER.fullmatch(words))
    back = bool(turn.state.get("jobs") and BACK.fullmatch(words))
    return answers or back or any(one.fullmatch(words) for one in (UNDO, REDO))


class Lead:
    """One turn."""

    def __init__(self, turn: TurnContext, ruled: State, models: Models, model: Model, lent: Lent) -> None:
        self.turn, self.models, self.model = turn, models, model
        self.whole, self.ruled = ruled, told_rules(ruled, turn)
        self.context, self.began = turn.context, turn.state
        self.end = time.monotonic() + DEADLINES * models.timeout_s
        self.hand = Hand(turn, turn.context, self.opened(), self.said_so_far(), self.ruled, turn.state)
        grounds = turn.state.get("grounds") or Grounds()
        self.deeds, self.ground, self.sources = ScriptDeeds(self.hand), Ground(), Numbered(grounds.pages)
        self.names, self.coined = dict(grounds.masked), list(grounds.coined)
        self.looking = Looking(self.hand, lent.as_text, self.ground)
        self.tools = toolbox(self.deeds, self.looking, lent)
        self.as_text = lent.as_text
        self.facts: list[str] = []
        self.called, self.number = 0, next(models.turns)
        self.tokens = 0
        self.answers: dict[str, str] = {}
        self.found: dict[str, str] = {}
        self.ending = AnswerEnding(
            self.hand, self.looking, self.sources, self.ruled, self.as_text, self.whole, self.found
        )
        # The last answer, and of which state.
        self.draft, self.draft_of = State(), State()

    def opened(self) -> State:
        """The thread with what came in: its logs and what they say."""
        message, state = self.turn.message, self.began
        kept = read_by(self.ruled)
        # An offer stands for the next message only: a later yes may be to what the model asked since.
        state = State(**{**state, **kept, "pending": None, "files": with_files(state.get("files", ()), message.files)})
        found = self.ruled.get("diagnosed")
        return State(**{**state, "logs": message.logs, "diagnosed": found}) if message.logs else state

    def said_so_far(self) -> str:
        """The person's own words of this and the last turns, and what was agreed on before."""
        talk = [one.said for one in self.began.get("talk", ())]
        return "\n".join([*talk, told_request(self.began.get("request")), self.turn.words])

    def run(self) -> State:
        self.hand.take_all_up()
        talk, as_json = self.opening(not self.model.takes_tools), not self.model.takes_tools
        retried = False
        while True:
            held = self.hand.script() if self.hand.state.get("bundle") else Paste("", "")
            guard = Guard(
                self.ground,
                lambda text: self.context.tell(Writing(text)),
                self.hand.changed,
                held.text,
                held.name,
                asks_for_script(self.turn),
            )
            try:
                reply = self.ask(talk, guard, as_json)
            except NoToolsError:
                as_json, talk = True, self.opening(True)
                continue
            self.tokens += reply.tokens
            if reply.trouble and as_json and not retried and "JSON" in reply.trouble:
                retried = True
                continue
            calls = calls_of(reply) if not as_json else step_of(reply)
            if calls and not self.spent():
                self.carry_out(calls, reply, talk, as_json)
                continue
            said = reply.text if not as_json else answer_of(reply)
            if reply.trouble or not said.strip():
                return self.failed(reply.trouble)
            guard.is_cut = reply.is_cut
            if as_json:
                guard.hear(said)
            is_first = not self.draft
            self.draft_of, self.draft = self.hand.state, self.answered(said, guard)
            notes = notes_beneath(self.draft["said"]) if self.hand.changed else ()
            again = asked_again(guard, notes) if is_first and not self.spent() else ""
            if not again:
                return self.draft
            talk.steps += [ModelMessage("assistant", said), ModelMessage("user", again)]
            self.context.tell(Working("reading the answer once more"))

    def answered(self, said: str, guard: Guard) -> State:
        """The turn's end with this answer."""
        self.sources.named.clear()
        return self.named(self.ending.answered(said, guard))

    def failed(self, trouble: str) -> State:
        """The first answer with its notes where a second one did not come, else the rules'."""
        if self.draft and self.draft_of is self.hand.state:
            return self.draft
        after = fallen_back(self.hand.with_scripts(self.whole), trouble)
        return self.named(remembered(after, self.began, self.turn.words, found=self.found))

    def named(self, after: State) -> State:
        """The state with the placeholders of this turn, so that the next one calls the same thing the same."""
        kept = sorted(self.names.items(), key=lambda one: one[0].upper().startswith("USER"))[-MOST_NAMES:]
        coined = tuple(self.coined[-MOST_ANSWERS:])
        grounds = replace(after.get("grounds") or Grounds(), masked=tuple(kept), coined=coined)
        return State(**{**after, "grounds": grounds})

    def opening(self, as_json: bool) -> ModelExchange:
        """The fixed part and the brief, within the model's context."""
        tools = [one.tool for one in self.tools.values()]
        fixed = fixed_part(tools, as_json=as_json)
        taken = self.model.tokens(fixed + ("" if as_json else json.dumps([one.parameters for one in tools])))
        self.room = max(1000, min(THREAD_TOKENS, self.model.context - taken - self.answer_tokens() - OVERHEAD))
        state = State(**{**self.hand.state, "pending": self.began.get("pending")})  # an offer is open for this message
        message = self.turn.message
        parts = [one for one in self.ruled.get("said", ()) if isinstance(one, Diagnosis)]
        if parts and message.logs:
            self.looking.shown["diagnosis"] = tuple(parts[:1])
        stand_on(self.ground, self.hand, self.ruled, self.shown_text)
        machines = self.machines_in_short()
        text = machines + brief(
            state, message, self.ruled, self.shown_text, lambda one: self.fits_brief(machines + one)
        )
        return ModelExchange(fixed, text)

    def answer_tokens(self) -> int:
        return LONG_ANSWER_TOKENS if self.model.context >= ROOMY else ANSWER_TOKENS

    def machines_in_short(self) -> str:
        """What is known of the machines that are spoken of, within its share of the room."""
        found = self.ground.here[:MOST_MACHINES]
        few = self.hand.state.get("bundle") or self.turn.message.logs
        most = int((MACHINES_SHARE if few else LARGE_SHARE) * LETTERS * self.room / max(1, len(found)))
        told = "".join(f"{self.sources.numbered(machine_in_short(one, min(MOST, most)))}\n\n" for one in found)
        self.facts.append(told)
        return told

    def shown_text(self, part: Said) -> str:
        return self.sources.numbered(self.as_text(part))

    def fits_brief(self, text: str) -> bool:
        return self.model.tokens(text) <= BRIEF_SHARE * self.room

    def ask(self, talk: ModelExchange, guard: Guard, as_json: bool) -> Reply:
        """One request to the model, as its back end wants it."""
        self.trim(talk)
        over = self.spent()
        tools = [] if as_json or over else [one.tool for one in self.tools.values()]
        schema = step_schema([] if over else [one.tool for one in self.tools.values()]) if as_json else None
        messages = talk.messages()
        if over:
            messages.append(ModelMessage("user", ENOUGH))
        return self.models.ask(
            "lead",
            "large",
            messages,
            schema=schema,
            tools=tools,
            max_tokens=self.answer_tokens(),
            timeout=max(0.1, self.end - time.monotonic()),
            on_text=None if as_json else guard.hear,
            turn=self.number,
            names=self.names,
            coined=self.coined,
            ours=self.facts,
            stopped=self.context.stopped,
        )

    def spent(self) -> bool:
        """Whether nothing more may be called: calls, tokens or half of the time are used up."""
        late = time.monotonic() > self.end - 0.25 * DEADLINES * self.models.timeout_s
        return self.called >= MOST_CALLS or self.tokens >= TURN_TOKENS or late

    def trim(self, talk: ModelExchange) -> None:
        """Leave out the oldest answers of tools until the thread fits its room."""
        for at, step in enumerate(talk.steps):
            if self.model.tokens(talk.brief + "".join(one.text for one in talk.steps)) <= self.room:
                return
            if step.role in ("tool", "user") and step.text != DROPPED and at < len(talk.steps) - 1:
                talk.steps[at] = replace(step, text=DROPPED)

    def carry_out(self, calls: Sequence[ToolCall], reply: Reply, talk: ModelExchange, as_json: bool) -> None:
        """The calls' answers, each behind its call."""
        if as_json:
            call = calls[0]
            talk.steps.append(ModelMessage("assistant", json.dumps({"tool": call.name, "arguments": call.arguments})))
            talk.steps.append(ModelMessage("user", f"{call.name} answers:\n{fenced(self.result(call, talk))}"))
            return
        talk.steps.append(ModelMessage("assistant", reply.text, tuple(calls)))
        for call in calls:  # one by one: each takes of the room that those before it left
            talk.steps.append(ModelMessage("tool", self.result(call, talk), call_id=call.id))

    def result(self, call: ToolCall, talk: ModelExchange) -> str:
        """What a call answers, cut to the room that is left."""
        if self.called >= MOST_CALLS:
            return ENOUGH
        self.called += 1
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True)}"
        if self.model.leaves and (wrong := [one for one in invented(key, self.names) if one not in talk.brief]):
            known = [f"<{one}>" for one in self.names if one.startswith("USER")]
            return INVENTED.format(", ".join(f"<{one}>" for one in wrong), f"there are {', '.join(known) or 'none'}")
        if key in self.answers and any(one.text.startswith(self.answers[key][:SHOWN]) for one in talk.steps):
            return "the same call as before, with the same answer: see above"
        self.context.tell(Working(call.name.replace("_", " ")))
        before = self.hand.state
        told = carried_out(call, self.tools, self.deeds)
        text = self.sources.numbered(told)
        if self.hand.state is before:
            self.answers[key] = text
        else:  # what was told of the script before holds no more, and a deed may be done twice
            self.answers.clear()
        is_error = text.startswith("error:")  # it may repeat what was asked
        if call.name in LOOKUPS and not is_error:
            self.found[named_call(call.name, call.arguments or {})] = text
        if call.name in OWN_FACTS and not is_error:
            self.facts.append(text)
        stand_on_result(self.ground, call.name, f"{text}\n{told}" if "http" in told else text)
        used = self.model.tokens(talk.brief + "".join(one.text for one in talk.steps))
        left = MOST_CALLS - self.called
        shown = in_rows(text, int(max(LEAST_RESULT, min(MOST_RESULT, LETTERS * (self.room - used)))))
        return f"{shown}\n{CALLS_LEFT.format(left)}" if left <= FEW_CALLS else shown


def calls_of(reply: Reply) -> tuple[ToolCall, ...]:
    return tuple(replace(one, id=one.id or f"call_{at}") for at, one in enumerate(reply.calls))


def answer_of(reply: Reply) -> str:
    """The answer of a step that came as JSON; empty where it is none."""
    value: Mapping[str, Any] = reply.value or {}
    said = value.get("say")
    return said if value.get("tool") == ANSWER and isinstance(said, str) else ""


def step_of(reply: Reply) -> tuple[ToolCall, ...]:
    """The call of a step that came as JSON; none where it is the answer."""
    value: Mapping[str, Any] = reply.value or {}
    name = value.get("tool")
    if not isinstance(name, str) or name == ANSWER:
        return ()
    given = value.get("arguments")
    return (ToolCall(name, given if isinstance(given, dict) else {}),)
