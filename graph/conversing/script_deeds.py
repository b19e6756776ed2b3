"""What a model may do to the script in hand: always by templates, typed edits, or a diff that passes the checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from langgraph.runtime import Runtime

from graph.changes import diff
from graph.context import Context
from graph.conversation import history
from graph.conversation.history import CLEAN, restored
from graph.conversation.pending import carry_out, pick
from graph.conversation.scripts import in_hand, machine_for, made_of, offered
from graph.conversation.turn import Turn
from graph.conversing.dangers import dangerous
from graph.conversing.said import CLOCK, is_said, plain
from graph.conversing.tools import Swap
from graph.debugging.remedies import case_of, changed_text, price, request_of
from graph.debugging.remedies import says as change_in_words
from graph.extraction.script_record import understand_script
from graph.extraction.walltime import clock
from graph.nodes.answer import script as announce
from graph.nodes.debug import after_failure, as_planned, debug
from graph.nodes.retrieve import retrieve
from graph.nodes.verify import verify, worded
from graph.nodes.write import write
from graph.planning.questions import still_missing
from graph.planning.request_fields import FIELDS, with_fields
from graph.planning.strategies import with_usual_framework
from graph.porting.port import carried_over
from graph.routes import after_verify
from graph.state import State, new_turn
from graph.usecases.diagnose_job import report_of
from graph.usecases.mend_script import Mended, mend_script
from graph.verification.checks import check
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import (
    Assumption,
    Diagnosis,
    JobRequest,
    LaunchPlan,
    Made,
    Offer,
    OfferChoice,
    OfferEdit,
    OfferRows,
    ParkedJob,
    Paste,
    Refusal,
    Revision,
)

MOST_REFUSED, MOST_AGREEING = 3, 6
MOST_SCRIPT = 5000
Action = Literal["undo", "redo", "to", "new_job", "back", "reset"]
UNSAID = "chosen for you, not said; say so if it is wrong"
SPOKEN_TIME = re.compile(r"(?:(\d+(?:\.\d+)?) ?h(?:ours?)?)? ?(?:(\d+) ?m(?:in)?(?:utes)?)?")
NO_SCRIPT = "no script is in hand: call write_script"
OFFERED = "NOT done, offered: {}. It costs ({}). Tell the person, who takes it with *yes* (or its number)."
GIVEN_UP = "That is the third patch that was refused: tell the person what you tried and what speaks against it."
# Nobody but the person knows these.
OWN_TO_THEM = ("account",)


@dataclass(slots=True)
class ScriptDeeds:
    """The thread while a model works on it. state: as it is now; words: what the person said, these and earlier turns.

    began: the state before the turn; made: scripts made in this turn, the newest last.
    """

    turn: Turn
    context: Context
    state: State
    words: str
    read: JobRequest
    began: State = field(default_factory=State)
    made: list[Made] = field(default_factory=list)
    refused: int = 0

    def write_script(self, machine: str, more_fields: Mapping[str, str] | None = None, **given: Any) -> str:
        """A new script by the templates."""
        cluster = self.known(machine)
        before = self.state.get("request") or JobRequest()
        going_on = not self.state.get("bundle") and before.machine in (None, cluster.id)
        start = replace(before, machine=cluster.id) if going_on else JobRequest(machine=cluster.id)
        request = self.with_values(start, {**given, **(more_fields or {})})
        self.state = State(**{**self.state, "source": "", "own": None, "left_to_us": ()})
        return self.decide(with_usual_framework(request), cluster)

    def edit_script(self, fields: Mapping[str, str] | None = None, patch: Sequence[Swap] = ()) -> str:
        """Change the script in hand; all else in it stays. fields: any of write_script's and its more_fields; a list
        (variables, modules, before ...) takes one more value, =VALUE replaces it, an empty value removes. patch: for
        what no field says and for the person's own lines, exact old text and the new."""
        if not self.state.get("bundle"):
            raise InputError(NO_SCRIPT)
        if not fields and not patch:
            raise InputError("give fields or a patch")
        told = [self.change_fields(fields)] if fields else []
        return "\n".join([*told, *([self.change_text(patch)] if patch else [])])

    def port_script(self, machine: str, fields: Mapping[str, str] | None = None) -> str:
        """Bring the script in hand, ours or the person's, to another machine. fields: what else is to change."""
        cluster, source = self.known(machine), self.script()
        carried = carried_over(source.text)
        request = self.with_values(replace(carried, machine=cluster.id), fields or {})
        self.state = State(**{**self.state, "source": source.text, "own": None, "left_to_us": ()})
        return self.decide(request, cluster)

    def mend_script(self) -> str:
        """Cure the script in hand of what the diagnosis or the checks say; what costs is offered."""
        own, found = self.state.get("own"), self.state.get("diagnosed")
        if own is None:
            return self.mend_ours(found)
        cluster = machine_for(self.now(), own)
        report = report_of(found, own.text, cluster, name=own.name) if found else None
        cured = (report.mended if report else None) or mend_script(own.text, None, cluster, own.name)
        return self.take_cure(cured, own)

    def history(self, action: Action, number: int | None = None) -> str:
        """undo, redo; to: the script of that number in the list of scripts; new_job: park this job and begin another;
        back: to the parked job of that number; reset: forget this job."""
        turn, revisions = self.now(), tuple(self.state.get("revisions", ()))
        if action in ("undo", "redo"):
            return self.adopt(history.undo(turn) if action == "undo" else history.redo(turn))
        if action == "to":
            if not number or not 1 <= number <= len(revisions):
                raise InputError(f"number is 1 to {len(revisions)}")
            return self.adopt(restored(turn, revisions[:number], tuple(reversed(revisions[number:]))))
        if action == "back":
            jobs = tuple(self.state.get("jobs", ()))
            if not jobs:
                raise InputError("no other job is parked")
            return self.adopt(history.back(turn, {1: "first", 2: "second", 3: "third"}.get(number or 0, "other")))
        parked = (ParkedJob(revisions),) if revisions else ()
        self.state = State(**{**self.state, **CLEAN, "jobs": (*self.state.get("jobs", ()), *parked)})
        return "done: nothing is in hand now; the job before is parked, *back to the first job* brings it again"

    def take_offer(self, number: int = 1) -> str:
        """Carry out what an earlier answer offered, once the person agreed to it in this message."""
        pending = self.began.get("pending")
        if isinstance(pending, OfferEdit | OfferRows) and 1 <= number <= len(pending.offers):
            done = carry_out(self.now(), pending.offers[number - 1])
        elif isinstance(pending, OfferChoice) and 1 <= number <= len(pending.refusal.instead):
            done = pick(self.now(), pending.request or self.request, pending.refusal.instead[number - 1])
        else:
            raise InputError("no such offer stood before this message")
        if done.get("way") != "write":
            return self.adopt(done)
        self.state = State(**{**self.state, **done})
        return self.decide(done["request"], self.cluster_of(done["request"]))

    # What the deeds share.

    @property
    def request(self) -> JobRequest:
        return self.state.get("request") or JobRequest()

    def now(self) -> Turn:
        return replace(self.turn, state=self.state)

    def script(self) -> Paste:
        own, bundle = self.state.get("own"), self.state.get("bundle")
        if own is None and bundle is None:
            raise InputError(NO_SCRIPT)
        return own or Paste(bundle.name, bundle.script)  # type: ignore[union-attr]

    def known(self, name: str) -> Cluster:
        """The machine of that name. Raises InputError with the nearest."""
        cluster = self.context.catalogue.find(name)
        if cluster is None:
            near = ", ".join(self.context.catalogue.nearest(name))
            raise InputError(
                f"no machine '{name[:40]}' is known; {f'near: {near}' if near else 'see compare_clusters'}"
            )
        return cluster

    def cluster_of(self, request: JobRequest) -> Cluster:
        return self.known(request.machine or "none")

    def with_values(self, request: JobRequest, values: Mapping[str, Any]) -> JobRequest:
        """The request with these values; an account that the person never named is refused. Raises InputError."""
        for name, value in values.items():
            text = str(value)
            if name == "machine":
                raise InputError("another machine is a port: call port_script")
            if name not in FIELDS:
                raise InputError(f"no field '{name}'; there are {', '.join(sorted(FIELDS))}")
            if text and name in OWN_TO_THEM and plain(text) not in plain(self.words):
                raise InputError(f"{name} '{text[:40]}' was not said: leave it out, a placeholder stands for it")
            if name == "queue" and text and not is_said(text, self.words):
                self.check_queue(request, text)
            if name == "walltime" and (found := SPOKEN_TIME.fullmatch(text.strip())):
                text = clock(3600 * float(found[1] or 0) + 60 * float(found[2] or 0))
            if name == "walltime" and text and not CLOCK.fullmatch(text):
                raise InputError(f"walltime '{text[:40]}' is not HH:MM:SS")
            if text == "" or text.startswith("="):
                empty = () if isinstance(getattr(request, name), tuple) else None
                request, text = replace(request, **{name: empty}), text[1:]  # type: ignore[arg-type]
            if text:
                request = with_fields(without_same(request, name, text), [f"{name}={text}"])
        counted = {"nodes", "gpus_per_node"} & values.keys()
        return replace(request, total_gpus=None) if counted and "total_gpus" not in values else request

    def check_queue(self, request: JobRequest, name: str) -> None:
        """A queue that only a model named is one of the machine's. Raises InputError."""
        cluster = self.context.cluster(request)
        if cluster and cluster.queue(name) is None:
            raise InputError(f"{cluster.title} has no queue '{name[:40]}': {', '.join(q.id for q in cluster.queues)}")

    def unsaid(self, before: JobRequest, now: JobRequest, words: str = "") -> tuple[str, ...]:
        """The fields that were given a value which neither the person nor the rules' reading of the words has."""
        words = words or self.words
        changed = [one.name for one in fields(JobRequest) if getattr(before, one.name) != getattr(now, one.name)]
        asked = [name for name in changed if name in ("nodes", "gpus_per_node", "walltime", "queue", "strategy")]
        return tuple(
            name
            for name in asked
            if (value := getattr(now, name)) is not None
            and getattr(self.read, name) != value
            and not is_said(str(value), words)
        )

    def asked_now(self) -> str:
        """What this message asks for; a few words may agree to what the answer before proposed."""
        words, talk = self.turn.words, self.began.get("talk", ())
        agrees = len(words.split()) <= MOST_AGREEING and "?" not in words
        return f"{words}\n{talk[-1].answered}" if talk and agrees else words or "-"

    def change_fields(self, values: Mapping[str, str]) -> str:
        """A typed edit; one that costs more and was not asked for is offered."""
        own = self.state.get("own")
        if own is not None:
            return self.change_own(own, values)
        before = as_planned(self.request, self.state.get("plan"))
        wanted = self.with_values(self.request, values)
        if "strategy" in values and "framework" not in values and self.request.framework in ("pytorch", "deepspeed"):
            wanted = with_usual_framework(replace(wanted, framework=None))
        costs = price(before, as_planned_for(wanted, before, self.request))
        unsaid = self.unsaid(self.request, wanted, self.asked_now())
        if costs and unsaid and not isinstance(written(self.wanting(wanted), self.context)["outcome"], Refusal):
            change = tuple((name, getattr(wanted, name)) for name in unsaid)
            offer = Offer(change_in_words(before, change), costs, change)
            self.state = State(**{**self.state, "pending": OfferEdit((offer,))})
            return OFFERED.format(offer.says, costs)
        if wanted.machine != self.request.machine:
            raise InputError("another machine is a port: call port_script")
        return self.decide(wanted, self.cluster_of(wanted))

    def change_own(self, own: Paste, values: Mapping[str, str]) -> str:
        """A field of the person's own script, where a directive holds it."""
        cluster = machine_for(self.now(), own)
        known = {name: value for name, value in values.items() if name in FIELDS and value}
        wanted = self.with_values(JobRequest(machine=cluster.id if cluster else None), known)
        change = tuple((name, getattr(wanted, name)) for name in known)
        done = changed_text(case_of(own.text, Diagnosis("unknown", "", 0.0), cluster), change)
        if len(known) != len(values) or done is None:
            raise InputError("this script is the person's own: give the change as a patch")
        return self.take_text(own, done[0], done[1])

    def change_text(self, patch: Sequence[Swap]) -> str:
        """A patch of the script in hand. One that the checks refuse is not applied."""
        script = self.script()
        text = script.text
        for swap in patch:
            count = text.count(swap["old"]) if swap["old"] else 0
            if count != 1:
                raise InputError(f"old text '{swap['old'][:60]}' stands {count} times in the script; it must be once")
            text = text.replace(swap["old"], swap["new"])
        return self.take_text(script, text)

    def take_text(self, script: Paste, text: str, *says: str) -> str:
        """The changed text as the script in hand, if the checks find no error in it that was not there before."""
        if self.refused >= MOST_REFUSED:
            raise InputError(GIVEN_UP)
        if text == script.text:
            raise InputError("that changes nothing")
        cluster = machine_for(self.now(), script)
        errors = new_errors(script.text, text, cluster)
        if errors:
            self.refused += 1
            last = f" {GIVEN_UP}" if self.refused >= MOST_REFUSED else ""
            raise InputError(f"not applied; the checks refuse it: {'; '.join(errors[:5])}.{last}")
        was, now = (replace(request_of(understand_script(one)), strategy=None) for one in (script.text, text))
        costs, unsaid = price(was, replace(now, args=was.args)), self.unsaid(was, now, self.asked_now())
        if costs and unsaid:
            return self.offer_text(script, text, unsaid, was, now, costs)
        return self.adopt(made_of(self.now(), Paste(script.name, text), *says, before=script))

    def offer_text(
        self, script: Paste, text: str, unsaid: Sequence[str], was: JobRequest, now: JobRequest, costs: str
    ) -> str:
        """A patch that costs more than was asked for: offered, where the script is the person's own."""
        if self.state.get("own") is None:
            raise InputError(f"{', '.join(unsaid)}: sizes of this script are changed by fields, not by a patch")
        offer = Offer(change_in_words(was, tuple((name, getattr(now, name)) for name in unsaid)), costs, (), text)
        self.state = State(**{**self.state, "pending": OfferEdit((offer,))})
        return OFFERED.format(offer.says, costs)

    def decide(self, request: JobRequest, cluster: Cluster) -> str:
        """Plan, write, check; the state only changes where a script came out, or where something is missing."""
        kept = self.state
        if not kept.get("source"):
            missing = still_missing(request, cluster)
            if missing:
                self.state = State(**{**kept, "request": request})
                asked = [f"{one.field}: {one.text} {', '.join(one.options)}".strip() for one in missing]
                return "nothing written; missing (ask the person, or say what you take and why):\n- " + "\n- ".join(
                    asked
                )
        unsaid = self.unsaid(kept.get("request") or JobRequest(), request)
        taken = tuple(Assumption(name, str(getattr(request, name)), UNSAID) for name in unsaid)
        done = written(self.wanting(request), self.context)
        outcome, draft = done["outcome"], done.get("draft")
        if isinstance(outcome, Refusal):
            return self.refuse(outcome, request)
        if not isinstance(outcome, LaunchPlan) or draft is None:
            raise InputError("no script came of it")
        if draft == kept.get("bundle"):
            return "the script has that already: nothing changed"
        if bad := dangerous(draft.script):
            raise InputError(f"not written: {bad}")
        earlier = tuple(one for one in kept.get("left_to_us", ()) if one.field not in unsaid)
        given = State(**{**done, "left_to_us": (*earlier, *taken), "said": (), "reopened": False})
        new = State(**{**announce(given, outcome, draft), "request": done["request"], "pending": None})
        return self.adopt(State(**{**new, "source": done.get("source", ""), "left_to_us": given["left_to_us"]}), done)

    def wanting(self, request: JobRequest) -> State:
        return State(**{**self.state, "request": request})

    def refuse(self, refusal: Refusal, request: JobRequest) -> str:
        """What the machine cannot do; the ways round it stand as an offer."""
        ways = [f"{at}. {way.says}" for at, way in enumerate(refusal.instead, 1)]
        if refusal.instead:
            refused = request if self.state.get("bundle") else None
            now = self.state if self.state.get("bundle") else self.wanting(request)
            self.state = State(**{**now, "pending": OfferChoice(refusal, refused)})
        told = f"REFUSED, nothing changed: {refusal.says} {refusal.why} {refusal.source or ''}"
        return "\n".join([told, *(["ways round it (offered to the person by number):", *ways] if ways else [])])

    def mend_ours(self, found: Diagnosis | None) -> str:
        """Our own script after a failure: a cure that costs nothing is written, the rest offered."""
        cluster = self.cluster_of(self.request)
        if found is None:
            left = [worded(one) for one in check(self.script().text, cluster) if one.severity != "info"]
            return "\n".join(left) or "the checks find nothing; give the log of the run that failed"
        tried = after_failure(State(**{**new_turn(0, ""), **self.state, "said": ()}), found, cluster)
        if not tried["again"]:
            self.state = State(**{**self.state, "pending": tried.get("pending")})
            offers = tried.get("pending")
            return offered(offers.offers) if isinstance(offers, OfferEdit) else "no safe change of the script cures it"
        self.state = State(**{**self.state, "tried": tried["tried"]})
        told = self.decide(tried["request"], cluster)
        self.state = State(**{**self.state, "pending": tried.get("pending")})
        return told

    def take_cure(self, cured: Mended, own: Paste) -> str:
        """What the mending did to the person's script."""
        pending = OfferEdit(cured.offers) if cured.offers else None
        left = "; ".join(one.says for one in cured.findings[:5])
        rest = "\n".join(filter(None, (offered(cured.offers), f"still found: {left}" if left else "")))
        if not cured.diff:
            self.state = State(**{**self.state, "pending": pending})
            return rest or "nothing in it can be cured by its text"
        told = self.adopt(made_of(self.now(), Paste(own.name, cured.text), cured.says, before=own, pending=pending))
        return f"{told}\n{rest}"

    def adopt(self, change: State, done: State | None = None) -> str:
        """Take a change of the state over; what it made is kept for the person, its words go to the model."""
        said = change.get("said", ())
        self.state = State(**{**self.state, **{k: v for k, v in change.items() if k != "said"}})  # type: ignore[typeddict-item]
        made = [part for part in said if isinstance(part, Made)]
        self.made += made
        told = [told_made(one) for one in made]
        told += [getattr(part, "text", "") for part in said if not isinstance(part, Made)]
        found = [worded(one) for one in done["findings"]] if done else []
        return "\n".join(filter(None, [*told, *found])) or "done"

    def take_up(self, own: Paste) -> None:
        """A script that came with the message is the one in hand."""
        self.state = State(**{**self.state, **in_hand(self.now(), own)})
        self.began = State(**{**self.began, "bundle": self.state.get("bundle"), "revisions": self.state["revisions"]})

    def result(self) -> tuple[Made | None, tuple[Revision, ...]]:
        """The script of this turn as one change, and the revisions with it as one step."""
        revisions = tuple(self.state.get("revisions", ()))
        if not self.made:
            return None, revisions
        last, before = self.made[-1], self.began.get("bundle")
        start = tuple(self.began.get("revisions", ()))
        if len(self.made) > 1 and revisions[: len(start)] == start and len(revisions) > len(start):
            revisions = (*start, revisions[-1])
        changes = tuple(dict.fromkeys(change for one in self.made for change in one.changes))
        assumed = {one.field: one for made in self.made for one in made.assumptions}
        notes = tuple(dict.fromkeys(note for one in self.made for note in one.notes))
        shown = diff(before, last.bundle) if before and last.diff else ""  # a first script is shown whole
        return Made(last.bundle, last.title, tuple(assumed.values()), notes, changes, shown), revisions


def written(state: State, context: Context) -> State:
    """Plan, template, checks and their cures: the nodes of the rules' way, one after the other."""
    runtime = Runtime(context=replace(context, model=None))
    now = State(**{**new_turn(0, ""), **state, "outcome": None, "draft": None, "notes": (), "findings": (), "proof": (),
                   "tries": 1, "again": False, "said": (), "reopened": False})  # fmt: skip
    now = State(**{**now, **retrieve(now, runtime)})
    while not isinstance(now["outcome"], Refusal):
        now = State(**{**now, **write(now, runtime)})
        if isinstance(now["outcome"], Refusal):
            break
        now = State(**{**now, **verify(now, runtime)})
        if after_verify(now) == "answer":
            break
        now = State(**{**now, **debug(now, runtime)})
        if not now["again"]:
            break
    return now


def as_planned_for(wanted: JobRequest, before: JobRequest, asked: JobRequest) -> JobRequest:
    """The wanted request with the planned values where nothing else was wanted, so that costs compare."""
    names = ("walltime", "queue", "nodes", "strategy")
    same = {n: getattr(before, n) for n in names if getattr(wanted, n) == getattr(asked, n)}
    return replace(wanted, **same)


def without_same(request: JobRequest, name: str, text: str) -> JobRequest:
    """The request without the variable that is set anew."""
    if name != "variables":
        return request
    same = text.partition("=")[0].strip()
    return replace(request, variables=tuple(one for one in request.variables if one.name != same))


def new_errors(before: str, after: str, cluster: Cluster | None) -> list[str]:
    """What speaks against a changed text: dangers, and errors that the old one had not."""
    known = {(one.rule, one.says) for one in check(before, cluster)}
    found = [one for one in check(after, cluster) if one.severity == "error" and (one.rule, one.says) not in known]
    added = "\n".join(row for row in after.splitlines() if row not in before.splitlines())
    return [*filter(None, [dangerous(added)]), *(worded(one) for one in found)]


def told_made(made: Made) -> str:
    """A script that was made, for the model: its difference, or the whole of the first one."""
    text = made.diff or cut(made.bundle.script, MOST_SCRIPT)
    head = f"written: {made.bundle.name}, for {made.title}; submit: {made.bundle.submit}"
    files = f"files beside it: {', '.join(one.name for one in made.bundle.files)}" if made.bundle.files else ""
    assumed = [f"assumed {one.field} = {one.value}: {one.why}" for one in made.assumptions]
    notes = [f"note: {note}" for note in made.notes if not note.startswith("Checked")]
    return "\n".join(filter(None, [head, files, "; ".join(made.changes), text, *assumed, *notes]))


def cut(text: str, most: int) -> str:
    """The text's beginning and end, at most so many letters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n... ({len(text) - most} letters left out) ...\n{text[-half:]}"
