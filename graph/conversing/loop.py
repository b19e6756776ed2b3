"""A turn that a language model leads: a bounded loop over the use cases as tools, and a guard over what it says.

What is certain is computed first: the rules' whole answer to the message. It goes to the model as a fact, and it is the
answer where the model fails in mid-turn: the turn then ends as it would have without one.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from graph.context import Context, Lent
from graph.conversation.history import CLEAN, REDO, UNDO
from graph.conversation.option_choice import NO, NUMBER, YES
from graph.conversation.scripts import offered
from graph.conversation.turn import Turn, open_turn
from graph.conversing.briefing import brief, rules, told_request
from graph.conversing.guard import GENERAL, MARK, Ground, Guard, times_in
from graph.conversing.instructions import ANSWER, fixed_part, step_schema
from graph.conversing.looking import Looking
from graph.conversing.script_deeds import ScriptDeeds, cut
from graph.conversing.sources import Numbered, without_pages
from graph.conversing.tools import Deed, as_text, checked, deed
from graph.modelling.asking import OVERHEAD, Models, Reply
from graph.modelling.model import Call, Message, Model, NoToolsError, fenced
from graph.state import State
from knowledge.errors import MapleError
from knowledge.types import (
    Diagnosis,
    Exchange,
    JobRequest,
    Made,
    OfferChoice,
    OfferEdit,
    OfferRows,
    OfferSearch,
    Said,
    Say,
    Working,
    Writing,
)

MOST_CALLS = 8
# Tokens: of an answer or a call, of the thread with what tools answered, of all requests of a turn.
ANSWER_TOKENS, THREAD_TOKENS, TURN_TOKENS = 1200, 8000, 80_000
# Of the thread's room, what the brief may take; the rest is for the tools' answers.
BRIEF_SHARE = 0.62
MOST_RESULT, LEAST_RESULT, LETTERS = 6000, 600, 2.7
TURNS_KEPT, MOST_KEPT = 4, 700
# A turn may take so many times the time for one question.
DEADLINES = 2.0
# Lines of a script that takes the place of the one in hand.
SHORTEST = 3
ENOUGH = "No more calls: answer now, from what you have."
DROPPED = "(left out for room; call again if it is needed)"
# What the model's own deeds decide, or the turn itself; all else that the rules read is kept for the next turn.
DECIDED = (
    frozenset(CLEAN)
    | frozenset(
        (
            "turn",
            "text",
            "attachments",
            "way",
            "outcome",
            "draft",
            "notes",
            "findings",
            "proof",
            "again",
            "tries",
            "said",
        )
    )
    | frozenset(("unanswered", "searching", "reopened", "jobs", "stands_in", "talk"))
)
# What of a reading by the rules is kept before there is a script, whatever the model made of it.
NAMED = ("machine", "entry", "account", "model")
COMMENT = re.compile(r"^\s*#(?!\s?(?:SBATCH|PBS|BSUB|flux:|!))")
DEFAULT_FACTS = ("queues", "nodes")


@dataclass(slots=True)
class Talk:
    """What is sent: the fixed part, the brief, and the steps of this turn."""

    fixed: str
    brief: str
    steps: list[Message] = field(default_factory=list)

    def messages(self) -> list[Message]:
        return [Message("system", self.fixed), Message("user", self.brief), *self.steps]


def lead(state: State, context: Context, by_rules: Callable[[State], State]) -> State:
    """The state after the turn. by_rules: the whole turn without a model."""
    ruled = by_rules(state)
    models, turn = context.model, open_turn(state, context)
    if models is None or context.lent is None or is_certain(turn):
        return remembered(ruled, state, None)
    context.tell(Working("asking the language model"))
    model = models.ready("large")
    if model is None:
        return remembered(ruled, state, None)
    try:
        return Lead(turn, ruled, models, model, context.lent()).run()
    except MapleError as error:  # what a deed could not do at all
        return remembered(fallen_back(ruled, str(error)), state, None)


def is_certain(turn: Turn) -> bool:
    """Undo, a bare yes, no or number to an offer: no model is needed for it."""
    words = turn.words.strip()
    if turn.message.scripts or turn.message.logs:
        return False
    offered = isinstance(turn.pending, OfferChoice | OfferEdit | OfferSearch)
    answers = offered and any(one.fullmatch(words) for one in (YES, NO, NUMBER))
    answers = answers or bool(isinstance(turn.pending, OfferRows) and NUMBER.fullmatch(words))
    return answers or any(one.fullmatch(words) for one in (UNDO, REDO))


def fallen_back(ruled: State, trouble: str) -> State:
    """The rules' answer, with the one line on why there is no other."""
    return State(**{**ruled, "said": (*ruled["said"], Say(trouble))}) if trouble else ruled


def remembered(after: State, before: State, answered: str | None, lent: Lent | None = None) -> State:
    """The state with this turn added to what a model is told of the talk."""
    words = after.get("words") or before["text"]
    told = answered if answered is not None else " ".join(getattr(one, "text", "") for one in after.get("said", ()))
    one = Exchange(cut(words, MOST_KEPT), cut(told, MOST_KEPT))
    return State(**{**after, "talk": (*before.get("talk", ()), one)[-TURNS_KEPT:]})


class Lead:
    """One turn."""

    def __init__(self, turn: Turn, ruled: State, models: Models, model: Model, lent: Lent) -> None:
        self.turn, self.ruled, self.models, self.model, self.lent = turn, ruled, models, model, lent
        self.context, self.began = turn.context, turn.state
        self.end = time.monotonic() + DEADLINES * models.timeout_s
        self.deeds = ScriptDeeds(
            turn, turn.context, self.opened(), self.said_so_far(), ruled.get("request") or JobRequest(), turn.state
        )
        self.looking = Looking(self.deeds, lent.as_text)
        self.sources = Numbered()
        self.tools = self.table()
        self.ground = Ground()
        self.called, self.number = 0, next(models.turns)
        self.tokens = 0
        self.answers: dict[str, str] = {}

    def opened(self) -> State:
        """The thread with what came in: its logs and what they say."""
        message, state = self.turn.message, self.began
        kept = read_by(self.ruled)
        # An offer stands for the next message only: a later yes may be to what the model asked since.
        state = State(**{**state, **kept, "pending": None})
        found = self.ruled.get("diagnosed")
        return State(**{**state, "logs": message.logs, "diagnosed": found}) if message.logs else state

    def said_so_far(self) -> str:
        """The person's own words of this and the last turns, and what was agreed on before."""
        talk = [one.said for one in self.began.get("talk", ())]
        return "\n".join([*talk, told_request(self.began.get("request")), self.turn.words])

    def table(self) -> dict[str, Deed]:
        """The tools of this turn: the shared table's, on this thread, and the thread's own."""
        shared = {one.__name__: one for one in self.lent.tools}
        deeds, looking = self.deeds, self.looking
        made = [
            deed(shared["write_script"]),
            deed(deeds.edit_script),
            deed(deeds.port_script),
            deed(deeds.mend_script),
            deed(
                shared["check_script"], "Findings of the checks on the script in hand.", {"script": "", "machine": ""}
            ),
            deed(deeds.history),
            deed(deeds.take_offer),
            deed(shared["cluster_facts"]),
            deed(shared["compare_clusters"]),
            deed(shared["plan_resources"], filled={"gpu_memory_gb": None, "micro_batch": None}),
            deed(shared["search_knowledge"], filled={"scheduler": None, "framework": None}),
            deed(looking.ask_rules),
            deed(looking.log_lines),
            deed(looking.diagnose_log),
            deed(looking.explain_pending),
            deed(looking.offer_web_search),
        ]
        table = {one.tool.name: one for one in made}
        runs: dict[str, Callable[..., object]] = {
            "write_script": deeds.write_script,
            "check_script": lambda: shared["check_script"](
                script=deeds.script().text, machine=deeds.request.machine or ""
            ),
            "cluster_facts": lambda machine, about=(): shared["cluster_facts"](machine, about or DEFAULT_FACTS),
        }
        return {name: replace(one, run=runs.get(name, one.run)) for name, one in table.items()}

    def run(self) -> State:
        for own in self.turn.message.scripts[:1]:
            if self.began.get("bundle") and len(own.text.splitlines()) < SHORTEST:
                break  # a line that is spoken of, not another script
            try:
                self.deeds.take_up(own)
            except MapleError:
                break
        talk, as_json = self.opening(not self.model.takes_tools), not self.model.takes_tools
        retried = False
        while True:
            guard = Guard(self.ground, lambda text: self.context.tell(Writing(text)), bool(self.deeds.made))
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
                return remembered(fallen_back(self.ruled, reply.trouble), self.began, None)
            return self.answered(said, guard, as_json)

    def opening(self, as_json: bool) -> Talk:
        """The fixed part and the brief, within the model's context."""
        tools = [one.tool for one in self.tools.values()]
        fixed = fixed_part(tools, as_json=as_json)
        taken = self.model.tokens(fixed + ("" if as_json else json.dumps([one.parameters for one in tools])))
        self.room = max(1000, min(THREAD_TOKENS, self.model.context - taken - ANSWER_TOKENS - OVERHEAD))
        state, message = self.deeds.state, self.turn.message
        parts = [one for one in self.ruled.get("said", ()) if isinstance(one, Diagnosis)]
        if parts and message.logs:
            self.looking.shown["diagnosis"] = tuple(parts[:1])
        text = brief(state, message, self.ruled, self.shown_text, self.fits_brief)
        self.stand_on()
        return Talk(fixed, text)

    def shown_text(self, part: Said) -> str:
        return self.sources.numbered(self.lent.as_text(part))

    def fits_brief(self, text: str) -> bool:
        return self.model.tokens(text) <= BRIEF_SHARE * self.room

    def stand_on(self) -> None:
        """What the answer may stand on before any tool was asked."""
        state, message = self.deeds.state, self.turn.message
        bundle, own = state.get("bundle"), state.get("own")
        rows = (own.text if own else bundle.script if bundle else "").splitlines()
        plan = state.get("plan")
        earlier = [row for one in state.get("talk", ()) for row in one.answered.splitlines() if GENERAL not in row]
        told = [rules(self.ruled, self.shown_text, 20_000)] if not message.logs else []
        facts = [part for part in self.ruled.get("said", ()) if isinstance(part, Diagnosis)]
        told += ["\n".join((one.says, *one.fix)) for one in facts]
        assumed = [f"{one.value} {one.why}" for one in plan.assumptions] if plan else []
        self.ground.words = self.said_so_far()
        counts = (
            (plan.nodes, plan.ranks_per_node) if plan else (self.deeds.request.nodes, self.deeds.request.gpus_per_node)
        )
        times = times_in((plan.walltime if plan else self.deeds.request.walltime) or "")
        self.ground.sizes = (*(float(one) for one in counts if one), *times)
        self.ground.add(*told, *assumed, *earlier, *(row for row in rows if not (own and COMMENT.match(row))))
        self.ground.pasted += [row for row in rows if own and COMMENT.match(row)]
        self.ground.pasted += [one.text[:40_000] for one in (*message.logs, *state.get("logs", ()))]
        self.ground.pasted += [line.text for one in facts for line in one.evidence]
        if found := state.get("diagnosed"):
            self.ground.add(found.says, *found.fix)
            self.ground.pasted += [line.text for line in found.evidence]

    def ask(self, talk: Talk, guard: Guard, as_json: bool) -> Reply:
        """One request to the model, as its back end wants it."""
        self.trim(talk)
        over = self.spent()
        tools = [] if as_json or over else [one.tool for one in self.tools.values()]
        schema = step_schema([] if over else [one.tool for one in self.tools.values()]) if as_json else None
        messages = talk.messages()
        if over:
            messages.append(Message("user", ENOUGH))
        return self.models.ask(
            "lead",
            "large",
            messages,
            schema=schema,
            tools=tools,
            max_tokens=ANSWER_TOKENS,
            timeout=max(0.1, self.end - time.monotonic()),
            on_text=None if as_json else guard.hear,
            known={self.deeds.request.account: "ACCOUNT"} if self.deeds.request.account else {},
            turn=self.number,
            stopped=self.context.stopped,
        )

    def spent(self) -> bool:
        """Whether nothing more may be called: calls, tokens or half of the time are used up."""
        late = time.monotonic() > self.end - 0.25 * DEADLINES * self.models.timeout_s
        return self.called >= MOST_CALLS or self.tokens >= TURN_TOKENS or late

    def trim(self, talk: Talk) -> None:
        """Leave out the oldest answers of tools until the thread fits its room."""
        for at, step in enumerate(talk.steps):
            if self.model.tokens(talk.brief + "".join(one.text for one in talk.steps)) <= self.room:
                return
            if step.role in ("tool", "user") and step.text != DROPPED and at < len(talk.steps) - 1:
                talk.steps[at] = replace(step, text=DROPPED)

    def carry_out(self, calls: Sequence[Call], reply: Reply, talk: Talk, as_json: bool) -> None:
        """The calls' answers, each behind its call."""
        if as_json:
            call = calls[0]
            talk.steps.append(Message("assistant", json.dumps({"tool": call.name, "arguments": call.arguments})))
            talk.steps.append(Message("user", f"{call.name} answers:\n{fenced(self.result(call, talk))}"))
            return
        talk.steps.append(Message("assistant", reply.text, tuple(calls)))
        talk.steps += [Message("tool", self.result(call, talk), call_id=call.id) for call in calls]

    def result(self, call: Call, talk: Talk) -> str:
        """What a call answers, cut to the room that is left."""
        if self.called >= MOST_CALLS:
            return ENOUGH
        self.called += 1
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True)}"
        if key in self.answers:
            return "the same call as before, with the same answer: see above"
        self.context.tell(Working(call.name.replace("_", " ")))
        before = self.deeds.state
        text = self.sources.numbered(self.done(call))
        if self.deeds.state is not before:  # what was told of the script before holds no more
            self.answers.clear()
        self.answers[key] = text
        if call.name != "log_lines":
            self.stand_on_result(call, text)
        used = self.model.tokens(talk.brief + "".join(one.text for one in talk.steps))
        return cut(text, int(max(LEAST_RESULT, min(MOST_RESULT, LETTERS * (self.room - used)))))

    def stand_on_result(self, call: Call, text: str) -> None:
        if call.name == "diagnose_log":
            self.ground.pasted.append(text)
        elif call.name == "search_knowledge":
            shipped, read_in = apart(text)
            self.ground.add(*shipped)
            self.ground.pages += read_in
        else:
            self.ground.add(text)

    def done(self, call: Call) -> str:
        """Carry one call out; what is wrong with it is its answer."""
        found = self.tools.get(call.name)
        if found is None:
            return f"there is no tool '{call.name[:40]}'; there are {', '.join(self.tools)}"
        kept = self.deeds.state
        try:
            made = found.run(**checked(found.tool.parameters, call.arguments))
            return (made if isinstance(made, str) else as_text(made)) or "nothing found"
        except MapleError as error:
            self.deeds.state = kept
            return f"error: {error}"
        except Exception as error:  # a model may ask for what nobody thought of: the turn goes on
            self.deeds.state = kept
            logging.getLogger("maple-chat").warning("tool %s: %r", call.name, error)
            return "error: that could not be done; say it in another way"

    def answered(self, said: str, guard: Guard, as_json: bool) -> State:
        """The turn's end: what passed the guard, what is shown with it, and the thread as it is now."""
        if as_json:
            guard.hear(said)
        guard.changed = bool(self.deeds.made) or "[[rules]]" in said
        text = guard.end()
        pieces = MARK.split(text)
        marks = [mark[2:-2] for mark in MARK.findall(text)]
        takes_rules = "rules" in marks and not self.deeds.made
        state = State(**self.ruled) if takes_rules else self.deeds.state
        parts: list[Said] = []
        for at, piece in enumerate(pieces):
            if piece.strip():
                parts.append(Say(self.sources.cited(piece.strip())))
            if at < len(marks):
                parts += self.shown(marks[at], takes_rules)
        made, revisions = self.deeds.result()
        if made and not takes_rules:
            parts.append(made)
            state = State(**{**state, "revisions": revisions})
        parts += self.looking.shown.get("search", ()) if not takes_rules else ()
        if not parts:
            return remembered(self.ruled, self.began, None)
        if (offers := self.new_offer(state)) and not re.search(r"(?i)\*yes\*|\bsay \W?(?:yes|\d)", text):
            parts.append(Say(offers))
        if pages := self.sources.listed():
            last = next((n for n in range(len(parts) - 1, -1, -1) if isinstance(parts[n], Say)), None)
            if last is not None:
                parts[last] = Say(f"{cast(Say, parts[last]).text}\n\n{pages}")
        kept = read_by(self.ruled)
        if not takes_rules and not state.get("bundle"):
            state = State(**{**state, "request": named(self.deeds.request, self.ruled.get("request"))})
        after = State(**{**state, **kept, "way": "answer", "outcome": None, "said": tuple(parts), "unanswered": False,
                         "reopened": False, "draft": None})  # fmt: skip
        return remembered(after, self.began, self.told(parts))

    def new_offer(self, state: State) -> str:
        """What was offered in this turn by a deed, in words."""
        pending = state.get("pending")
        new = pending is not self.began.get("pending") and pending is not self.ruled.get("pending")
        return offered(pending.offers) if new and isinstance(pending, OfferEdit) else ""

    def shown(self, mark: str, takes_rules: bool) -> tuple[Said, ...]:
        """What stands behind a mark."""
        if mark == "rules":
            said: tuple[Said, ...] = tuple(self.ruled.get("said", ()))
            return said if takes_rules else tuple(part for part in said if not isinstance(part, Made))
        if mark == "script" and (self.deeds.state.get("own") or self.deeds.state.get("bundle")):
            return (Say(f"```bash\n{self.deeds.script().text.rstrip()}\n```"),)
        return self.looking.shown.get(mark, ())

    def told(self, parts: Sequence[Said]) -> str:
        """The answer for the next turns: its words, and that a script was shown."""
        told = [
            f"[script: {'; '.join(one.changes) or one.bundle.name}]"
            if isinstance(one, Made)
            else self.lent.as_text(one)
            for one in parts
        ]
        return without_pages("\n".join(told))


def apart(text: str) -> tuple[list[str], list[str]]:
    """The passages of a search: those that are shipped, and those that somebody read in."""
    passages = re.split(r"(?m)^(?=\s*- title:)", text)
    shipped = [one for one in passages if re.search(r"(?m)^\s*kind: (?:fact|card)$", one)]
    return shipped, [one for one in passages if one not in shipped]


def named(request: JobRequest, read: JobRequest | None) -> JobRequest:
    """The request with the names that the rules read, which are nobody's guess: for the turns before a script."""
    values = {one: getattr(read, one) for one in NAMED if read and getattr(request, one) is None}
    return replace(request, **values)


def read_by(ruled: State) -> State:
    """What the rules read in the message."""
    return cast(State, {name: value for name, value in ruled.items() if name not in DECIDED})


def calls_of(reply: Reply) -> tuple[Call, ...]:
    return tuple(replace(one, id=one.id or f"call_{at}") for at, one in enumerate(reply.calls))


def answer_of(reply: Reply) -> str:
    """The answer of a step that came as JSON; empty where it is none."""
    value: Mapping[str, Any] = reply.value or {}
    said = value.get("say")
    return said if value.get("tool") == ANSWER and isinstance(said, str) else ""


def step_of(reply: Reply) -> tuple[Call, ...]:
    """The call of a step that came as JSON; none where it is the answer."""
    value: Mapping[str, Any] = reply.value or {}
    name = value.get("tool")
    if not isinstance(name, str) or name == ANSWER:
        return ()
    given = value.get("arguments")
    return (Call(name, given if isinstance(given, dict) else {}),)
