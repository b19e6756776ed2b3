"""The thread while a model works on it: its state as it is now, the scripts that were made, and what was offered."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass, replace

from graph.changes import diff
from graph.context import Context
from graph.conversation.scripts import in_hand
from graph.conversation.turn import TurnContext
from graph.conversing.said import plain
from graph.nodes.verify import worded
from graph.reading.own_machine import MOST_WORDS
from graph.state import State
from graph.undescribed import is_stand_in, slips
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, LaunchBundle, Made, Offer, OfferEdit, ParkedJob, Paste, Revision

MOST_SCRIPT = 5000
# A line that says nothing to a shell or a scheduler.
REMARK = re.compile(r"^\s*(?:#(?!\s?(?:SBATCH|PBS|BSUB|flux:|!)).*)?$")
NO_SCRIPT = "no script is in hand: call write_script"
PRICE = "What that costs: {}."
# Letters of a line of an outline, the widest that fits.
WIDTHS = (400, 240, 160, 100, 60)
LISTS = ("made", "offers", "costs", "musts")


@dataclass(slots=True)
class Hand:
    """One turn's work. state: the thread as it is now; words: what the person said, these and earlier turns.

    ruled: the state that the rules would leave; began: the state before the turn; made: scripts made in this turn, the
    newest last; offers: what this turn offers at a price; whole: the last script is another job's, no change of one;
    costs: the prices of what was done; musts: what the person has to be told of it, whatever the model says.
    """

    turn: TurnContext
    context: Context
    state: State
    words: str
    ruled: State
    began: State = field(default_factory=State)
    made: list[Made] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    whole: bool = False
    refused: int = 0
    costs: list[str] = field(default_factory=list)
    musts: list[str] = field(default_factory=list)

    @property
    def request(self) -> JobRequest:
        return self.state.get("request") or JobRequest()

    @property
    def read(self) -> JobRequest:
        """The request as the rules read it."""
        return self.ruled.get("request") or JobRequest()

    def now(self) -> TurnContext:
        return replace(self.turn, state=self.state)

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
            hint = f"near: {near}" if near else "see compare_clusters"
            raise InputError(f"no machine '{name[:40]}' is known; {hint}")
        return cluster

    def drafted(self, name: str) -> Cluster | None:
        """What is certain of a machine that nobody described and the person named; None where it may be a slip."""
        request = self.request if self.request.site_words else self.read
        theirs = bool(request.site_words) and request.machine == name
        if not theirs and (plain(name) not in plain(self.words) or slips(name, self.context.catalogue)):
            return None
        return self.context.cluster(self.on(name, request if request.site_words else self.request))

    def on(self, machine: str, request: JobRequest) -> JobRequest:
        """The request on that machine; what was told of one that nobody described goes with it."""
        if self.context.catalogue.find(machine):
            return replace(request, machine=machine, site_words="")
        told = request.site_words or self.read.site_words or self.words
        return replace(request, machine=machine, site_words=told[:MOST_WORDS])

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
        lists = {name: list(getattr(self, name)) for name in LISTS}
        return replace(self, **lists)  # type: ignore[arg-type]

    def go_back(self, kept: Hand) -> None:
        for name in (*LISTS, "state", "whole"):
            setattr(self, name, getattr(kept, name))

    def offer(self, *offers: Offer) -> None:
        """Put something at a price before the person; all offers of a turn stand together, by number."""
        self.offers += [one for one in offers if one not in self.offers]
        self.set(pending=OfferEdit(tuple(self.offers)) if self.offers else None)

    def adopt(self, change: State, done: State | None = None, costs: str = "") -> str:
        """Take a change of the state over; what it made is kept for the person, its words go to the model.

        done: the state that the checks left; costs: the price of what was ordered.
        """
        said = change.get("said", ())
        self.set(**{name: value for name, value in change.items() if name != "said"})
        if self.offers and not self.state.get("pending"):
            self.offer()
        made = [part for part in said if isinstance(part, Made)]
        if made and costs:
            self.costs.append(costs)
        self.made += made
        told = [told_made(one) for one in made]
        told += [PRICE.format(costs)] if made and costs else []
        told += [getattr(part, "text", "") for part in said if not isinstance(part, Made)]
        found = [worded(one) for one in done["findings"]] if done else []
        return "\n".join(filter(None, [*told, *found])) or "done"

    def take_up(self, own: Paste) -> None:
        """A script that came with the message is the one in hand."""
        self.set(**in_hand(self.now(), own))
        self.began = State(**{**self.began, "bundle": self.state.get("bundle"), "revisions": self.state["revisions"]})

    def take_rules(self) -> None:
        """The script that the rules wrote for this very message is the one in hand, where there was none."""
        made = [part for part in self.ruled.get("said", ()) if isinstance(part, Made)]
        if self.state.get("bundle") or not made or made[-1].bundle != self.ruled.get("bundle"):
            return
        names = ("request", "plan", "bundle", "own", "source", "revisions", "told", "left_to_us")
        self.set(**{name: self.ruled[name] for name in names if name in self.ruled})  # type: ignore[literal-required]
        self.made += made[-1:]

    def park(self) -> bool:
        """Put the job in hand aside, to come back to; whether there was one."""
        revisions = tuple(self.state.get("revisions", ()))
        if revisions:
            self.set(jobs=(*self.state.get("jobs", ()), ParkedJob(revisions)))
        self.whole = True
        return bool(revisions)

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
        as_change = before and last.diff and not self.whole  # a first script is shown whole
        shown = diff(before, last.bundle) if as_change else ""
        told = () if self.whole else changes
        return Made(last.bundle, last.title, tuple(assumed.values()), (), told, shown), revisions


def pasted(bundle: LaunchBundle) -> Paste:
    return Paste(bundle.name, bundle.script)


def lines_that_do(script: str) -> list[str]:
    """The lines of a script without those that only remark."""
    return [row for row in script.splitlines() if not REMARK.match(row)]


def told_made(made: Made) -> str:
    """A script that was made, for the model: its difference, or the whole of the first one."""
    text = made.diff or cut("\n".join(lines_that_do(made.bundle.script)), MOST_SCRIPT)
    head = f"written: {made.bundle.name}, for {made.title}; submit: {made.bundle.submit}"
    files = f"files beside it: {', '.join(one.name for one in made.bundle.files)}" if made.bundle.files else ""
    assumed = [f"assumed {one.field} = {one.value}: {one.why}" for one in made.assumptions]
    notes = [f"note: {note}" for note in made.notes if not note.startswith("Checked")]
    return "\n".join(filter(None, [head, files, "; ".join(made.changes), text, *assumed, *notes]))


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
    ends = [found.end() for found in re.finditer(r"[.!?](?=\s)|(?=\n)", text[: most + 1])]
    end = ends[-1] if ends and 2 * ends[-1] > most else most
    return f"{text[:end].rstrip()} ({len(text) - end} letters more)"


def in_outline(text: str, most: int) -> str:
    """The text in at most so many letters, with the beginning of each line: a list keeps all of its points."""
    if len(text) <= most:
        return text
    rows = [row for row in text.splitlines() if row.strip()]
    for longest in WIDTHS:
        told = "\n".join(row if len(row) <= longest else f"{row[:longest].rstrip()} ..." for row in rows)
        if len(told) <= most:
            return told
    return shortened(text, most)


def cut(text: str, most: int) -> str:
    """The text's beginning and end, at most so many letters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n... ({len(text) - most} letters left out) ...\n{text[-half:]}"
