"""What a model may do to the script in hand: always by templates, typed edits, or a diff that passes the checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

from graph.conversation import history
from graph.conversation.history import CLEAN, restored
from graph.conversation.pending import carry_out, pick
from graph.conversation.script_job import machine_for
from graph.conversation.scripts import in_hand, made_of, offered
from graph.conversing.changing import change_fields, change_own, change_text, write_text
from graph.conversing.deciding import decide, taken
from graph.conversing.earlier import ways_of
from graph.conversing.hand import ASIDE, NO_SCRIPT, OTHER_FILE, Hand, files_beside, lines_that_do
from graph.conversing.orders import named
from graph.conversing.porting import port_text
from graph.conversing.swaps import swapped
from graph.conversing.tools import Swap
from graph.conversing.trials import Purpose, as_said
from graph.extraction.script_record import understand_script
from graph.nodes.debug import after_failure
from graph.nodes.verify import worded
from graph.porting.port import carried_over
from graph.state import State, new_turn
from graph.undescribed import draft_scheduler, is_stand_in, not_drafted
from graph.usecases.diagnose_job import report_of
from graph.usecases.mend_script import Mended, mend_script
from graph.verification.checks import check
from knowledge.errors import InputError
from knowledge.types import Diagnosis, JobRequest, OfferChoice, OfferEdit, OfferRows, Paste

Action = Literal["undo", "redo", "to", "new_job", "back", "reset"]
PARKED = "the job before is parked, *back to the first job* brings it again"
NOT_YET = "that is offered in this very answer: the person has to agree first"
STEPS_LEFT = (
    "steps of the diagnosis that the script does not hold, or not whole (say which are left, and why: their program, a "
    "decision, the site):"
)
# A word of a step that tells which line it is about: an option, a variable, an assignment.
OF_LINE = re.compile(r"--?[A-Za-z][\w-]+|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b\w+=\S+")
NO_LAUNCH = (
    "{}. Give all of it as text, their lines in the other machine's words: here on the same scheduler, else by "
    "write_script. Or write_script makes a job that runs the file as it is: entry: bash {}"
)
AS_TEXT = "{}: no template here writes that; write_script with the whole script as text, said to be from memory"
TAKEN = "nobody said its scheduler: taken for slurm. If you know it: edit_script, fields scheduler=pbs (lsf, flux)"
OURS_IN_HAND = (
    "the script in hand is ours: port_script without text carries it, edit_script with text changes its lines"
)
KEPT_BESIDE = "{0} is a script of its own, in hand now; {1} is kept beside it as it was (file={1} turns to it)"
CALLED = "not done: file={0}: it is called {1}; say that it can be saved as {0}"
NO_FILE = "no file '{}' is in this thread; there are {} (a new one: give what it has, purpose order)"
NOT_A_SCRIPT = "{} is made anew with its script: give its text, whole, in your answer"
NO_SCRIPT_FILE = "{} is no script: give its text, whole, in your answer, with its name above it"
IN_ANSWER = "changed in this thread; show the person what is new in {}:\n{}"
# Of our script's working lines so many stand in a text that is a changed copy of it.
SAME_SCRIPT = 0.6
# From this likeness on a name that no file has is rather a slip of one that there is.
SLIP = 0.85
PLACES = {1: "first", 2: "second", 3: "third"}


@dataclass(slots=True)
class ScriptDeeds:
    """The tools that change the thread in hand."""

    hand: Hand
    unported: Hand | None = None

    def write_script(
        self, machine: str, more_fields: Mapping[str, str] | None = None, text: str = "", file: str = "", **given: Any
    ) -> str:
        """A new script by the templates; a job of another program is one beside the one in hand.

        text: the whole script of a job that no field tells; file: what that is called.
        """
        hand = self.hand
        cluster = hand.known(machine)
        if text:
            return write_text(hand, cluster, text, named({**given, **(more_fields or {})}), file)
        if asks := not_drafted(hand.name_of(cluster)):
            raise InputError(AS_TEXT.format(asks))
        name, before, has = hand.name_of(cluster), hand.request, bool(hand.state.get("bundle"))
        going_on = not has and before.machine in (None, name)
        # An account goes with the person and the machine, not with the job; so does what was told of the machine.
        same = before if before.machine == name else JobRequest()
        theirs = JobRequest(machine=same.machine, account=same.account, site_words=same.site_words)
        start = hand.on(name, before if going_on else theirs)
        given, extra = named({**given, **(more_fields or {})}), named(more_fields or {})
        begins = State(source="", own=None, left_to_us=())
        request, left, wrong = taken(hand, start, given, extra, begins)
        beside = has and bool(request.entry) and request.entry != before.entry
        kept = hand.kept()
        if beside:
            hand.park()
            hand.set(**{**CLEAN, "jobs": hand.state["jobs"]})
        told = decide(
            hand, request, cluster, begins, whole=has, given={one: given[one] for one in given if one not in left}
        )
        if beside and not hand.state.get("bundle"):
            hand.go_back(kept)  # nothing came of it: the job in hand stays in hand
        made = hand.state.get("bundle")
        if file and made is not None and made.name != file:
            wrong.append(CALLED.format(file, made.name))
        return "\n".join(
            [*wrong, told, *([PARKED] if beside and hand.state is not kept.state else []), *self.taken_scheduler()]
        )

    def edit_script(
        self,
        fields: Mapping[str, str] | None = None,
        patch: Sequence[Swap] = (),
        text: str = "",
        file: str = "",
        purpose: Purpose | None = None,
    ) -> str:
        """Change the script in hand (none yet: RULES'), or FILE; a new name: a copy. fields: as write_script's; a
        list takes one more, =VALUE replaces, !VALUE or empty removes. text: all of it, or from one line that stays
        to another. patch: old text or line, new. purpose: trial changes nothing."""
        hand, changes = self.hand, bool(fields or patch or text)
        if file and hand.is_file(file):
            hand.turn_to(file)
        hand.take_rules()
        if not hand.state.get("bundle"):
            raise InputError(NO_SCRIPT)
        if file and not hand.is_file(file):
            whole = text.startswith("#!") and purpose != "trial"  # a script of its own changes no other
            copies = bool(patch) and purpose != "trial" and not get_close_matches(file, hand.names(), 1, SLIP)
            is_new = whole or purpose == "order" or copies or hand.may_be_new(file)
            return self.beside(file, fields or {}, patch, text, is_new=is_new)
        if not changes and not file:
            raise InputError("give fields, a patch or a text")
        if not changes:
            return f"in hand: {hand.script().name}"
        return as_said(hand, purpose, lambda: self.change(fields or {}, patch, text))

    def beside(self, file: str, fields: Mapping[str, str], patch: Sequence[Swap], text: str, *, is_new: bool) -> str:
        """Read or change a file that is no script of the thread: one beside the script in hand, or a new one."""
        hand = self.hand
        files = {one.name: one.text for one in files_beside(hand.state)}
        if file not in files and not (is_new and (fields or patch or text)):
            raise InputError(NO_FILE.format(file[:40], ", ".join([*hand.names(), *files])))
        if not (fields or patch or text):
            return files[file]
        pasted = next((one for one in hand.state.get("files", ()) if one.name == file), None)
        if pasted and not pasted.text.startswith("#!"):
            return change_file(hand, pasted, patch, text)
        held, before = hand.script(), hand.request
        if file not in files and OTHER_FILE.search(file):
            raise InputError(NO_SCRIPT_FILE.format(file))
        if file not in files and text.startswith("#!") and before.machine:
            told = write_text(hand, hand.cluster_of(before), text, named(fields), file)
            return f"{told}\n{KEPT_BESIDE.format(file, held.name)}"
        start = files.get(file, held.text)
        if not start.startswith("#!"):
            raise InputError(NOT_A_SCRIPT.format(file))
        # Our headline tells how the script is submitted.
        start = re.sub(rf"(?m)(?<=\bSubmit: )(\w.* ){re.escape(held.name)}$", rf"\g<1>{file}", start)
        hand.park()
        here = JobRequest(machine=before.machine, site_words=before.site_words)
        hand.set(**{**ASIDE, "jobs": hand.state.get("jobs", ()), "request": here})
        hand.set(**in_hand(hand.now(), Paste(file, start)))
        if not hand.request.machine:
            hand.set(request=replace(hand.request, machine=here.machine, site_words=here.site_words))
        return f"{self.change(fields, patch, text)}\n{KEPT_BESIDE.format(file, held.name)}"

    def change(self, fields: Mapping[str, str], patch: Sequence[Swap], text: str) -> str:
        """The script in hand with these fields, this patch and this text."""
        hand = self.hand
        own = hand.state.get("own")
        if own and "machine" in fields and (patch or text):
            beside = {name: value for name, value in fields.items() if name != "machine"}
            return port_text(hand, hand.known(str(fields["machine"])), patch, text, beside)
        if own and fields:
            return change_own(hand, own, fields, patch, text)
        if own is None and is_another(text, hand.script().text):
            return write_text(hand, hand.cluster_of(hand.request), text, named(fields), hand.script().name)
        told = [change_fields(hand, fields)] if fields else []
        try:
            told += [change_text(hand, patch, text)] if patch or text else []
        except InputError as error:
            if not fields:
                raise
            told.append(f"error: {error}")  # the fields are done
        return "\n".join(told)

    def port_script(self, machine: str, fields: Mapping[str, str] | None = None, text: str = "") -> str:
        """The script in hand for another machine. fields: what else changes. text: their own as it is to be there."""
        hand = self.hand
        cluster, source = hand.known(machine), hand.script()
        if text and hand.state.get("own"):
            return port_text(hand, cluster, (), text, fields)
        if text and self.unported:  # carried there by our templates in this turn, and now in its own lines
            hand.go_back(self.unported)
            return port_text(hand, cluster, (), text, fields)
        if text:
            raise InputError(OURS_IN_HAND)
        if asks := not_drafted(hand.name_of(cluster)):
            raise InputError(AS_TEXT.format(asks))
        try:
            carried = carried_over(source.text)
        except InputError as error:
            raise InputError(NO_LAUNCH.format(error, source.name)) from error
        given, start = named(fields or {}), hand.on(hand.name_of(cluster), carried)
        if not is_stand_in(cluster):
            given.pop("scheduler", None)  # the machine has its own
        theirs, of_old = hand.read.account, understand_script(source.text).account
        # Said beside it: what only the old script has is another site's.
        if hand.read.machine == start.machine and theirs and (theirs != of_old or theirs in hand.turn.words):
            given.setdefault("account", theirs)
        if "gpus_per_node" in given and not {"nodes", "total_gpus"} & set(given):  # as many nodes as it has
            start = replace(start, nodes=understand_script(source.text).nodes or 1)
        begins = State(source=source.text, own=None, left_to_us=())
        self.unported = hand.kept() if hand.state.get("own") else None
        request, left, wrong = taken(hand, start, given, given, begins)
        told = decide(
            hand, request, hand.cluster_of(request), begins, given={one: given[one] for one in given if one not in left}
        )
        return "\n".join([*wrong, told, *self.taken_scheduler()])

    def taken_scheduler(self) -> list[str]:
        """That a draft's scheduler was taken for the usual one, and how another one is given."""
        request, own = self.hand.request, self.hand.state.get("own")
        told = own or not request.site_words or draft_scheduler(request.site_words, request.machine)
        return [] if told or not self.hand.state.get("bundle") else [TAKEN]

    def mend_script(self) -> str:
        """Cure the script of what the diagnosis or checks say."""
        hand = self.hand
        own, found = hand.state.get("own"), hand.state.get("diagnosed")
        if own is None:
            return self.mend_ours(found)
        cluster = machine_for(hand.now(), own)
        report = report_of(found, own.text, cluster, name=own.name) if found else None
        cured = (report.mended if report else None) or mend_script(own.text, None, cluster, own.name)
        return self.with_steps_left(self.take_cure(cured, own), report.diagnosis if report else None)

    def history(self, action: Action, number: int | None = None) -> str:
        """to: that number of VERSIONS; new_job: park this; back: to that parked job; reset: forget this."""
        hand = self.hand
        turn, revisions = hand.now(), tuple(hand.state.get("revisions", ()))
        if number is not None and action not in ("to", "back"):
            raise InputError(f"a number goes with to and back; {action} takes none")
        if action in ("undo", "redo"):
            return hand.adopt(history.undo(turn) if action == "undo" else history.redo(turn))
        if action == "to":
            if not number or not 1 <= number <= len(revisions):
                raise InputError(f"number is 1 to {len(revisions)}")
            return hand.adopt(restored(turn, revisions[:number], tuple(reversed(revisions[number:]))))
        if action == "back":
            if not hand.state.get("jobs"):
                raise InputError("no other job is parked")
            return hand.adopt(history.back(turn, PLACES.get(number or 0, "other")))
        parked = not (action == "reset" and hand.drop_draft()) and hand.park()
        hand.set(**{**CLEAN, "jobs": hand.state.get("jobs", ())})
        return f"done: nothing is in hand now; {PARKED}" if parked else "done: nothing is in hand now"

    def take_offer(self, number: int = 1) -> str:
        """Do what an answer offered and they now agreed to."""
        hand = self.hand
        pending, earlier = hand.began.get("pending"), tuple(hand.began.get("earlier", ()))
        hand.turn_back()
        ways = ways_of(pending)
        offers = (*(ways if isinstance(pending, OfferEdit | OfferRows) else (None for _ in ways)), *earlier)
        if 1 <= number <= len(offers) and (taken := offers[number - 1]) is not None:
            done, costs = carry_out(hand.now(), taken), taken.price
        elif isinstance(pending, OfferChoice) and 1 <= number <= len(pending.refusal.instead):
            done, costs = pick(pending.request or hand.request, pending.refusal.instead[number - 1]), ""
        else:
            raise InputError(NOT_YET if hand.offers else "no such offer stood before this message")
        if done.get("way") != "write":
            return hand.adopt(done, costs=costs)
        hand.set(**{name: value for name, value in done.items() if name not in ("way", "request")})
        return decide(hand, done["request"], hand.cluster_of(done["request"]), costs=costs)

    def mend_ours(self, found: Diagnosis | None) -> str:
        """Our own script after a failure: a cure that costs nothing is written, the rest offered."""
        hand = self.hand
        cluster = hand.cluster_of(hand.request)
        if found is None:
            left = [worded(one) for one in check(hand.script().text, cluster) if one.severity != "info"]
            return "\n".join(left) or "the checks find nothing; give the log of the run that failed"
        tried = after_failure(State(**{**new_turn(0, ""), **hand.state, "said": ()}), found, cluster)
        costly = tried.get("pending")
        offers = costly.offers if isinstance(costly, OfferEdit) else ()
        told = []
        if tried["again"]:
            hand.set(tried=tried["tried"])
            told.append(decide(hand, tried["request"], cluster))
        hand.offer(*offers, unasked=True)
        done = "\n".join(filter(None, [*told, offered(offers)])) or "no safe change of the script cures it"
        return self.with_steps_left(done, found)

    def with_steps_left(self, told: str, found: Diagnosis | None) -> str:
        """What was done, and the steps of the diagnosis that no line of the script does now."""
        rows = self.hand.script().text.splitlines()
        does = " ".join(row for row in rows if not row.startswith("# "))
        steps = list(enumerate(found.fix if found else (), 1))
        left = [
            (at, step)
            for at, step in steps
            if not (named := OF_LINE.findall(step)) or not all(one in does for one in named)
        ]
        if not left:
            return told
        return "\n".join([told, STEPS_LEFT, *(f"{at}. {step}" for at, step in left)])

    def take_cure(self, cured: Mended, own: Paste) -> str:
        """What the mending did to the person's script."""
        hand = self.hand
        left = "; ".join(one.says for one in cured.findings[:5])
        rest = "\n".join(filter(None, (offered(cured.offers), f"still found: {left}" if left else "")))
        made = made_of(hand.now(), Paste(own.name, cured.text), cured.says, before=own) if cured.diff else None
        told = hand.adopt(made) if made else ""
        hand.offer(*cured.offers, unasked=True)
        return "\n".join(filter(None, (told, rest))) or "nothing in it can be cured by its text"


def is_another(text: str, ours: str) -> bool:
    """Whether a text is a whole script of its own, and not one of ours with some lines changed: laid over it, both
    would run."""
    if not text.lstrip().startswith("#!"):
        return False
    rows, held = {row.strip() for row in text.splitlines()}, [row.strip() for row in lines_that_do(ours)]
    return sum(row in rows for row in held) < SAME_SCRIPT * len(held)


def change_file(hand: Hand, file: Paste, patch: Sequence[Swap], text: str) -> str:
    """A file of the person's beside their scripts with a patch or another text; nothing checks it."""
    now, wrong = swapped(file.text, patch) if patch else (text or file.text, ())
    if now == file.text:
        raise InputError("that changes nothing")
    files = tuple(replace(one, text=now) if one is file else one for one in hand.state.get("files", ()))
    hand.set(files=files)
    rows = "\n".join(row for row in now.splitlines() if row not in file.text.splitlines())
    return "\n".join([*wrong, IN_ANSWER.format(file.name, rows)])
