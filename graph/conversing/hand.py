"""The thread while a model works on it: its state as it is now, the scripts that were made, and what was offered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import get_args

from graph.context import Context
from graph.conversation.history import CLEAN, restored
from graph.conversation.scripts import in_hand, is_like
from graph.conversation.turn import TurnContext
from graph.conversing.said import plain
from graph.extraction.script_record import understand_script
from graph.nodes.verify import worded
from graph.reading.message import UNNAMED
from graph.reading.own_machine import MOST_WORDS, YOURS, running, scheduler_told
from graph.state import State
from graph.undescribed import draft_scheduler, is_stand_in, slips
from knowledge.catalogue import squash
from knowledge.cluster import Cluster
from knowledge.errors import InputError, MapleError
from knowledge.types import (
    Assumption,
    JobRequest,
    LaunchBundle,
    Made,
    Offer,
    OfferChoice,
    OfferEdit,
    ParkedJob,
    Paste,
    Pending,
    Revision,
    Scheduler,
)

MOST_SCRIPT = 5000
# A line that says nothing to a shell or a scheduler.
REMARK = re.compile(r"^\s*(?:#(?!\s?(?:SBATCH|PBS|BSUB|PJM|flux:|[!$@])).*)?$")
NO_SCRIPT = "no script is in hand: call write_script"
PRICE = "What that costs: {}."
WOULD_COST = "What that would cost: {}."
# What the thread holds of a script.
OF_SCRIPT = ("bundle", "revisions", "own", "request", "plan")
# Another file is wanted beside the script.
SEPARATE = re.compile(
    r"(?i)\bseparate|\bcopy\b|\b(?:second|another|other|new|extra|own) (?:file|script|version)|\bbeside\b"
)
# Lines of a script that takes the place of the one in hand.
SHORTEST = 3
# What stays with the thread, whichever of its scripts is in hand.
ASIDE = State(**{name: value for name, value in CLEAN.items() if name not in ("logs", "diagnosed", "unhelped")})  # type: ignore[typeddict-item]
# Letters of a line in an outline, at least.
NARROWEST = 60
# The end of a sentence or a line; the number of an item ends none.
SENTENCE_END = re.compile(r"(?<!\b\d)(?<!\b\d\d)[.!?](?=\s)|(?=\n)")
# What stands for the entries of a list that found no room, and how the rest is had.
MORE = "({} more left out: ask again for fewer machines or matters, by name)"
MORE_TOLD = re.compile(r"\((\d+) more left out: .*\)")
# Files that a job reads, which no scheduler does.
OTHER_FILE = re.compile(r"\.(?:toml|ya?ml|json|py|txt|cfg|conf|ini|env|md|csv|def)$", re.I)
# What a job has of one machine, and takes to no other.
OF_MACHINE = (
    "account",
    "queue",
    "node_type",
    "constraint",
    "reservation",
    "modules",
    "modules_removed",
    "modules_only",
)


@dataclass(slots=True)
class Hand:
    """One turn's work. state: the thread as it is now; words: what the person said, these and earlier turns.

    ruled: the state that the rules would leave; began: the state before the turn; left_out: fields with their values
    that the script is the same without; is_order: the change that is carried out was ordered, says the model;
    is_trial: it is only tried; left: for each script of this turn that is no more in hand, the thread before and
    behind what was done to it; came: the scripts that the turn begins with, those of the message among them;
    ported: the person's own script as it was before it was carried to another machine in its own lines.
    """

    turn: TurnContext
    context: Context
    state: State
    words: str
    ruled: State
    began: State = field(default_factory=State)
    left_out: dict[str, str] = field(default_factory=dict)
    is_order: bool = False
    is_trial: bool = False
    left: list[tuple[State, State]] = field(default_factory=list)
    came: State = field(default_factory=State)
    ported: str = ""
    refused: int = 0

    @property
    def request(self) -> JobRequest:
        return self.state.get("request") or JobRequest()

    @property
    def read(self) -> JobRequest:
        """The request as the rules read it."""
        return self.ruled.get("request") or JobRequest()

    @property
    def changed(self) -> bool:
        """Whether a script is another than at the beginning."""
        return bool(self.left) or is_changed(self.began, self.state)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What this turn offers so far."""
        pending = self.state.get("pending")
        return pending.offers if isinstance(pending, OfferEdit) else ()

    def now(self) -> TurnContext:
        """The turn as it is now. A script that was in hand before, and did not come anew, stays on its machine until a
        call says otherwise."""
        was = (self.began.get("request") or JobRequest()).machine
        settled = bool(self.began.get("bundle") and was and not self.turn.message.scripts)
        return replace(self.turn, state=self.state, settled=settled)

    def script(self) -> Paste:
        """The script in hand, the person's own or ours. Raises InputError where there is none."""
        own, bundle = self.state.get("own"), self.state.get("bundle")
        if own is None and bundle is None:
            raise InputError(NO_SCRIPT)
        return own or pasted(bundle)  # type: ignore[arg-type]

    def known(self, name: str) -> Cluster:
        """The machine of that name, or the draft of one that the person told of. Raises InputError with the nearest."""
        cluster = self.context.catalogue.find(name) or self.drafted(name)
        if cluster is None:
            near = ", ".join(self.context.catalogue.nearest(name))
            hint = f"{f'near: {near}; ' if near else ''}one that nobody described is '{YOURS}', drafted as it was told"
            raise InputError(f"no machine '{name[:40]}' is known; {hint}")
        return cluster

    def drafted(self, name: str) -> Cluster | None:
        """What is certain of a machine that nobody described and the person named; None where it may be a slip."""
        held = [one.machine for one in (self.request, self.read) if one.machine and one.site_words]
        called = next((one for one in held if squash(one) == squash(name)), None)
        if called is None and squash(name) == squash(YOURS):
            called = next(iter(held), YOURS)
        if called is None and (not self.is_told(name) or slips(name, self.context.catalogue)):
            return None
        if called is None and plain(name) not in plain(self.words):
            called = next(iter(held), YOURS)  # put together of their words: `our department has a little cluster`
        return self.context.cluster(self.on(called or name, self.request))

    def is_told(self, name: str) -> bool:
        """Whether the person's words hold the name, or all words that it is put together of."""
        words = re.findall(r"\w+", self.words.lower())
        return plain(name) in plain(self.words) or all(one in words for one in re.findall(r"\w+", name.lower()))

    def on(self, machine: str, request: JobRequest) -> JobRequest:
        """The request on that machine; what was told of one that nobody described goes with it, what it has of another
        machine does not."""
        runs_there = request.machine == machine or (request.machine is None and self.turn.utterance.main.act != "port")
        if request.machine not in (None, machine):
            request = replace(request, **{name: getattr(JobRequest(), name) for name in (*OF_MACHINE, "site_words")})
        if self.context.catalogue.find(machine):
            return replace(request, machine=machine, site_words="")
        told = next((one.site_words for one in (request, self.read) if one.machine == machine and one.site_words), "")
        said = [*(one.said for one in self.began.get("talk", ())), self.turn.words]
        words = (told or "\n".join(said))[:MOST_WORDS]
        own = self.state.get("own")
        if own and runs_there and draft_scheduler(words, machine) is None:  # their script tells what nobody said
            found = scheduler_told(understand_script(own.text).scheduler)
            words = running(words, found) if found else words
        return replace(request, machine=machine, site_words=words)

    def name_of(self, cluster: Cluster) -> str:
        """What a request calls the machine: its id, or the name that the person gave it."""
        return cluster.title if is_stand_in(cluster) else cluster.id

    def cluster_of(self, request: JobRequest) -> Cluster:
        return self.context.cluster(request) or self.known(request.machine or "none")

    def set(self, **change: object) -> None:
        """Other values of the state."""
        self.state = State(**{**self.state, **change})  # type: ignore[typeddict-item]

    def kept(self) -> Hand:
        """All that a deed changes, to go back to where it fails."""
        return replace(self, left_out=dict(self.left_out), left=list(self.left))

    def go_back(self, kept: Hand) -> None:
        for name in ("state", "began", "left_out", "left", "ported"):
            setattr(self, name, getattr(kept, name))

    def offer(self, *offers: Offer, unasked: bool = False, beside: bool = False) -> None:
        """Put something at a price before the person, in the place of what was offered of the same fields; all offers
        of a turn stand together, by number. unasked: nobody ordered it; beside: it takes no other's place."""
        for one in offers:
            before = without_fields(self.state.get("pending"), [] if beside else [name for name, _ in one.change])
            held = before.offers if isinstance(before, OfferEdit) else ()
            held = tuple(other for other in held if not is_part(other, one))  # a trial that holds an earlier one
            new = replace(one, unasked=unasked)
            self.set(pending=OfferEdit(held if new in held else (*held, new)))

    def withdraw(self, names: Iterable[str]) -> None:
        """Fields that are spoken of again: what was offered or left out of them before holds no more."""
        spoken, pending = frozenset(names), self.state.get("pending")
        self.left_out = {name: value for name, value in self.left_out.items() if name not in spoken}
        if isinstance(pending, OfferChoice):
            again = pending.request and spoken & set(differing(self.request, pending.request))
            self.set(pending=None if again else pending)
        else:
            self.set(pending=without_fields(pending, spoken))

    def adopt(self, change: State, done: State | None = None, costs: str = "") -> str:
        """Take a change of the state over; what it made is kept for the person, its words go to the model.

        done: the state that the checks left; costs: the price of what was ordered.
        """
        said = change.get("said", ())
        before, pending = self.request, self.state.get("pending")
        self.set(**{name: value for name, value in change.items() if name != "said"})
        if not self.state.get("pending"):
            self.set(pending=gone_on(pending, before, self.request))
        made = [part for part in said if isinstance(part, Made)]
        told = [told_made(one) for one in made]
        told += [(WOULD_COST if self.is_trial else PRICE).format(costs)] if made and costs else []
        told += [getattr(part, "text", "") for part in said if not isinstance(part, Made)]
        found = [worded(one) for one in done["findings"]] if done else []
        return "\n".join(filter(None, [*told, *found])) or "done"

    def runs_on(self, name: str) -> str:
        """The person's own script is one for that machine. Raises InputError where the machine is not known."""
        cluster = self.known(name)
        of_site = {name: getattr(self.request, name) for name in OF_MACHINE}  # its lines stay
        request = replace(self.on(self.name_of(cluster), self.request), **of_site)
        scheduler = understand_script(self.script().text).scheduler
        if is_stand_in(cluster) and scheduler in get_args(Scheduler):
            request = replace(request, site_words=running(request.site_words, scheduler))
        self.set(request=request)
        return f"taken: this script is for {cluster.title}; its lines stay (port_script writes them anew)"

    def take_all_up(self) -> None:
        """The scripts of the message: the first one is in hand in the end, the others are parked."""
        beside = False
        for own in reversed(self.turn.message.scripts):
            if self.turn.state.get("bundle") and len(own.text.splitlines()) < SHORTEST:
                continue  # a line that is spoken of, not another script
            with suppress(MapleError):
                self.take_up(own, beside=beside)
                beside = True
        held = {name: self.state[name] for name in (*OF_SCRIPT, "jobs") if name in self.state}  # type: ignore[literal-required]
        self.came = State(**held)  # type: ignore[typeddict-item]

    def take_up(self, own: Paste, *, beside: bool = False) -> None:
        """A script that came with the message is the one in hand; another one is parked, to be had again by its name.

        beside: it came together with the one in hand.
        """
        held = self.script() if self.state.get("bundle") else None
        if own.name != UNNAMED and own.name in names_of(self.state):
            self.turn_to(own.name)  # a newer text of that file
        elif held and (beside or is_other(held, own)):
            self.park()
            self.set(**{**ASIDE, "jobs": self.state["jobs"]})
        self.set(**in_hand(self.now(), own))
        self.begin_with()

    def with_scripts(self, ruled: State) -> State:
        """A state that the rules would leave, with each script and file that came, in hand or parked."""
        parked, came = ruled.get("jobs", ()), self.came
        kept = State(files=self.state.get("files", ()))
        if self.turn.message.scripts:
            kept["jobs"] = (*parked, *(one for one in came.get("jobs", ()) if one not in parked))
        if self.turn.message.scripts and ruled.get("bundle") == self.turn.state.get("bundle"):  # they took none up
            kept = State(**{**came, **kept})
        return State(**{**ruled, **kept})

    def begin_with(self) -> None:
        """The script in hand is one that the turn begins with."""
        held = {name: self.state[name] for name in OF_SCRIPT if name in self.state}  # type: ignore[literal-required]
        self.began = State(**{**self.began, **held})  # type: ignore[typeddict-item]

    def take_rules(self) -> None:
        """The script that the rules wrote for this very message is the one in hand, where there was none."""
        made = [part for part in self.ruled.get("said", ()) if isinstance(part, Made)]
        if self.state.get("bundle") or not made or made[-1].bundle != self.ruled.get("bundle"):
            return
        names = ("request", "plan", "bundle", "own", "source", "revisions", "told", "left_to_us")
        self.set(**{name: self.ruled[name] for name in names if name in self.ruled})  # type: ignore[literal-required]

    def is_file(self, file: str) -> bool:
        """Whether a script of the thread is called so, or the one without a name may be."""
        own, beside = self.state.get("own"), [one.name for one in files_beside(self.state)]
        unnamed = own is not None and own.name == UNNAMED and not SEPARATE.search(self.turn.words)
        may_be_it = unnamed and file in self.words and file not in beside and not OTHER_FILE.search(file)
        return file in self.names() or may_be_it

    def names(self) -> tuple[str, ...]:
        """What the scripts of the thread are called, the one in hand first."""
        held = self.state.get("bundle")
        return (*([held.name] if held else []), *names_of(self.state))

    def may_be_new(self, file: str) -> bool:
        """Whether the person speaks of another file than those of the thread, by its name or as such."""
        return file in self.turn.words or SEPARATE.search(self.turn.words) is not None

    def turn_to(self, file: str) -> None:
        """The script of that name is the one in hand; one that was pasted without a name is called so from now on.

        Raises InputError with the names that there are.
        """
        jobs = tuple(self.state.get("jobs", ()))
        named = dict(zip(names_of(self.state), jobs, strict=True))
        held, own = self.state.get("bundle"), self.state.get("own")
        if held and held.name == file:
            return
        if file in named:
            found, revisions = named[file], in_one_step(self.began, self.state)
            self.leave()
            left = tuple(one for one in jobs if one is not found)
            parked = (*left, ParkedJob(revisions)) if revisions else left
            self.set(**{**ASIDE, **restored(self.now(), found.revisions, (), whole=True), "jobs": parked, "said": ()})
            self.begin_with()
        elif own and own.name == UNNAMED and file in self.words:
            self.set(**self.called(self.state, file))
            self.began = State(**{**self.began, **self.called(self.began, file)})
        else:
            there = ", ".join([*([held.name] if held else []), *named])
            raise InputError(f"no script '{file[:40]}' is in this thread; there are {there or 'none'}")

    def leave(self) -> None:
        """Keep what this turn did to the script in hand, to be told where another one takes its place."""
        if is_changed(self.began, self.state):
            self.left.append((self.began, self.state))

    def drop_draft(self) -> bool:
        """Whether the script in hand was begun in this turn: nobody saw it, so it is shown and kept no more."""
        begun, now = tuple(self.began.get("revisions", ())), tuple(self.state.get("revisions", ()))
        is_draft = bool(now) and not (begun and now[: len(begun)] == begun)
        if is_draft:
            self.set(**{name: value for name, value in CLEAN.items() if name in OF_SCRIPT})
        return is_draft

    def turn_back(self) -> None:
        """The script that the turn before left is the one in hand, where one that came with the message took its
        place: what was offered then is about that one."""
        before = self.turn.state.get("bundle")
        parked = zip(names_of(self.state), self.state.get("jobs", ()), strict=True)
        name = next((name for name, job in parked if job.revisions and job.revisions[-1].bundle == before), "")
        if before and name and self.state.get("bundle") != before:
            self.turn_to(name)

    def called(self, state: State, file: str) -> State:
        """The script that had no name by this one, in all its versions."""

        def anew(bundle: LaunchBundle | None) -> LaunchBundle | None:
            if bundle is None or bundle.name != UNNAMED:
                return bundle
            return replace(bundle, name=file, submit=bundle.submit.replace(UNNAMED, file))

        def named(own: Paste | None) -> Paste | None:
            return replace(own, name=file) if own and own.name == UNNAMED else own

        old = state.get("revisions", ())
        revisions = tuple(replace(one, bundle=anew(one.bundle), own=named(one.own)) for one in old)
        return State(bundle=anew(state.get("bundle")), own=named(state.get("own")), revisions=revisions)

    def park(self) -> bool:
        """Put the job in hand aside, to come back to; whether there was one. What this turn did to it is told."""
        revisions = tuple(self.state.get("revisions", ()))
        self.leave()
        if revisions:
            self.set(jobs=(*self.state.get("jobs", ()), ParkedJob(revisions)))
        return bool(revisions)


def files_beside(state: State) -> tuple[Paste, ...]:
    """What lies beside the script in hand: written with it, or pasted."""
    bundle = state.get("bundle")
    return (*(Paste(one.name, one.text) for one in (bundle.files if bundle else ())), *state.get("files", ()))


def names_of(state: State) -> tuple[str, ...]:
    """What the parked scripts are called, in their order, none like another or like the one in hand; empty where a job
    has none."""
    bundle, jobs = state.get("bundle"), state.get("jobs", ())
    files = [one.revisions[-1].bundle.name if one.revisions and one.revisions[-1].bundle else "" for one in jobs]
    taken = [*([bundle.name] if bundle else []), *files]
    return tuple(f"{name}#{at}" if name and taken.count(name) > 1 else name for at, name in enumerate(files, 1))


def scripts_in(state: State) -> dict[str, str]:
    """The person's own scripts by their text, with what each is called: the one in hand, and the parked ones."""
    parked = {
        one.revisions[-1].own.text: name
        for one, name in zip(state.get("jobs", ()), names_of(state), strict=True)
        if one.revisions and one.revisions[-1].own
    }
    own = state.get("own")
    return {**parked, **({own.text: "in hand"} if own else {})}


def without_fields(pending: Pending | None, names: Iterable[str]) -> Pending | None:
    """What is open without the offers of these fields."""
    if not isinstance(pending, OfferEdit):
        return pending
    gone = frozenset(names)
    kept = tuple(one for one in pending.offers if not gone & {name for name, _ in one.change})
    return OfferEdit(kept) if kept else None


def is_other(one: Paste, another: Paste) -> bool:
    """Whether two scripts are two files: both have a name and those differ, or neither and they are unlike."""
    if UNNAMED in (one.name, another.name):
        return not is_like(one.text, another.text)
    return one.name != another.name


def is_changed(began: State, ended: State) -> bool:
    """Whether there is another script at the end than at the beginning."""
    return ended.get("bundle") not in (None, began.get("bundle"))


def in_one_step(began: State, ended: State) -> tuple[Revision, ...]:
    """The scripts of the thread, with those of this turn as one step, and none where it changed nothing."""
    start, now = tuple(began.get("revisions", ())), tuple(ended.get("revisions", ()))
    if now[: len(start)] != start or len(now) <= len(start):
        return now
    return (*start, now[-1]) if is_changed(began, ended) or not start else start


def gone_on(pending: Pending | None, before: JobRequest, now: JobRequest) -> Pending | None:
    """What is open after a change from one request to another: of the fields that it changed, nothing."""
    changed = differing(before, now)
    if isinstance(pending, OfferChoice) and (refused := pending.request):
        theirs = differing(before, refused)
        kept = replace(now, **{name: getattr(refused, name) for name in theirs})
        return None if set(theirs) & set(changed) else replace(pending, request=kept)
    return without_fields(pending, changed) if isinstance(pending, OfferEdit) else None


def differing(one: JobRequest, other: JobRequest) -> tuple[str, ...]:
    """The fields that have another value."""
    return tuple(f.name for f in fields(JobRequest) if getattr(one, f.name) != getattr(other, f.name))


def pasted(bundle: LaunchBundle) -> Paste:
    return Paste(bundle.name, bundle.script)


def lines_that_do(script: str) -> list[str]:
    """The lines of a script without those that only remark."""
    return [row for row in script.splitlines() if not REMARK.match(row)]


def is_in_script(taken: Assumption, bundle: LaunchBundle) -> bool:
    """Whether what was taken is no placeholder, or one that the script has."""
    return not taken.value.startswith("YOUR_") or taken.value in bundle.script


def told_made(made: Made) -> str:
    """A script that was made, for the model: its difference, or the whole of the first one."""
    text = made.diff or cut("\n".join(lines_that_do(made.bundle.script)), MOST_SCRIPT)
    how = "some lines of a script, not one to submit" if made.bundle.is_excerpt else f"submit: {made.bundle.submit}"
    head = f"written: {made.bundle.name}, for {made.title}; {how}"
    files = f"files beside it: {', '.join(one.name for one in made.bundle.files)}" if made.bundle.files else ""
    assumed = [
        f"assumed {one.field} = {one.value}: {one.why}" for one in made.assumptions if is_in_script(one, made.bundle)
    ]
    notes = [f"note: {note}" for note in made.notes if not note.startswith("Checked")]
    return "\n".join(filter(None, [head, files, "; ".join(made.changes), text, *assumed, *notes]))


def is_part(one: Offer, whole: Offer) -> bool:
    """Whether an offer is another one without some of its changes."""
    if one == whole:
        return False

    def changes(offer: Offer) -> frozenset[tuple[object, ...]]:
        patches = (*offer.patches, *(offer.request.patches if offer.request else ()))
        return frozenset((*offer.change, *((patch.old, patch.new) for patch in patches)))

    return bool(changes(one)) and changes(one) <= changes(whole)


def in_short(value: object) -> str:
    """A field's value without the names of our types."""
    if isinstance(value, tuple):
        return ", ".join(map(in_short, value))
    if is_dataclass(value) and not isinstance(value, type):
        return " ".join(
            in_short(one) for f in fields(value) if (one := getattr(value, f.name)) not in (None, (), False)
        )
    return str(value)


def shortened(text: str, most: int) -> str:
    """The text up to the end of a sentence or a line, at most so many letters, and how many are left out."""
    if len(text) <= most:
        return text
    ends = [found.end() for found in SENTENCE_END.finditer(text[: most + 1])]
    end = ends[-1] if ends and 2 * ends[-1] > most else most
    return f"{text[:end].rstrip()} ({len(text) - end} letters more)"


def in_outline(text: str, most: int) -> str:
    """The text in at most so many letters: where it is longer, each line by its first sentence, or as much of that as
    leaves room for the others, so that a list keeps its points."""
    if len(text) <= most:
        return text
    rows = [row for row in text.splitlines() if row.strip()]
    width = max(NARROWEST, most // len(rows) - 4)
    firsts = (row[: end.end()] if (end := SENTENCE_END.search(row)) else row for row in rows)
    told = (row if len(row) <= width else f"{row[:width].rpartition(' ')[0]} ..." for row in firsts)
    return shortened("\n".join(told), most)


def in_rows(text: str, most: int) -> str:
    """A tool's answer in at most so many letters: of its longest list the last entries go, whole, and are counted."""
    rows = text.splitlines()
    while sum(len(row) + 1 for row in rows) > most and (entry := last_of_longest(rows)):
        first, behind, pad = entry
        told = MORE_TOLD.fullmatch(rows[behind].strip()) if behind < len(rows) else None
        count = int(told[1]) if told else 0
        rows[first : behind + bool(told)] = [pad + MORE.format(count + 1)]
    return text if len(text) <= most else in_outline("\n".join(rows), most)


def last_of_longest(rows: list[str]) -> tuple[int, int, str] | None:
    """The last entry of the list with the most letters: its first row, the row behind it, and how far in it stands.

    A list has three entries at least; its first two always stay.
    """
    lists: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for at, row in enumerate(rows):
        pad = len(row) - len(row.lstrip())
        if not row.lstrip().startswith("- "):
            continue
        deeper = (n for n in range(at + 1, len(rows)) if len(rows[n]) - len(rows[n].lstrip()) <= pad)
        behind = next(deeper, len(rows))
        above = next((n for n in range(at - 1, -1, -1) if len(rows[n]) - len(rows[n].lstrip()) < pad), -1)
        lists.setdefault((above, pad), []).append((at, behind))
    sizes = {key: sum(len(row) for first, end in found for row in rows[first:end]) for key, found in lists.items()}
    longest = max((key for key in lists if len(lists[key]) > 2), key=lambda key: sizes[key], default=None)
    return (*lists[longest][-1], " " * longest[1]) if longest else None


def cut(text: str, most: int) -> str:
    """The text's beginning and end, at most so many letters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n... ({len(text) - most} letters left out) ...\n{text[-half:]}"
