"""The end of a turn: what is shown, in which order, and what the thread keeps of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from graph.conversation.history import CLEAN
from graph.conversation.turn import rather_asks
from graph.conversing.briefing import ROOM
from graph.conversing.composition import Composition
from graph.conversing.guard import Guard
from graph.conversing.hand import Hand, cut, in_outline, shortened
from graph.conversing.looking import Looking
from graph.conversing.sources import Numbered
from graph.extraction.request import understand
from graph.state import State
from knowledge.types import Exchange, Grounds, JobRequest, Made, Said, Say

TOO_LONG = "Your message is long: its first and last {:,} characters were read. Say what stood between again, shorter."
TURNS_KEPT, MOST_KEPT, MOST_CAME = 4, 3000, 1200
# What the model's own deeds decide, or the turn itself; all else that the rules read is kept for the next turn.
DECIDED = (
    frozenset(CLEAN)
    | frozenset(("turn", "text", "attachments", "way", "outcome", "draft", "notes", "findings", "proof", "again"))
    | frozenset(("tries", "said", "unanswered", "searching", "reopened", "jobs", "talk", "grounds"))
)


@dataclass(slots=True)
class AnswerEnding:
    """What an answer is put together from. ruled: the state that the rules would leave; own: the model's own words."""

    hand: Hand
    looking: Looking
    sources: Numbered
    ruled: State
    as_text: Callable[[Said], str]
    own: list[Say] = field(default_factory=list)

    def answered(self, said: str, guard: Guard) -> State:
        """The turn's end: what passed the guard, what is shown with it, and the thread as it is now."""
        hand, began = self.hand, self.hand.began
        guard.changed = bool(hand.made) or "[[rules]]" in said
        text = guard.end()
        takes_rules = "[[rules]]" in text and not hand.made
        state = State(**self.ruled) if takes_rules else hand.state
        if hand.made:
            state = State(**{**state, "revisions": hand.result()[1]})
        document = Composition(hand, self.looking, self.sources, self.as_text, self.ruled, state, takes_rules)
        parts = document.document(text)
        if not parts:
            return remembered(self.ruled, began, None)
        self.own = document.own
        if len(hand.turn.words) > ROOM["message"]:
            parts.append(Say(TOO_LONG.format(ROOM["message"] // 2)))
        parts = self.with_pages(parts)
        if not takes_rules and not state.get("bundle"):
            state = State(**{**state, "request": spoken_of(hand)})
        after = State(**{**state, **read_by(self.ruled), "way": "answer", "outcome": None, "said": tuple(parts),
                         "unanswered": False, "reopened": False, "draft": None})  # fmt: skip
        ground = self.looking.ground
        shown = [row for part in parts if isinstance(part, Made) for row in part.bundle.script.splitlines()]
        told = self.told(parts)
        kept = ground.kept([*guard.sure, *shown], hand.turn.words)
        cited = "\n".join([*(one.answered for one in began.get("talk", ())[1 - TURNS_KEPT :]), told])
        beside = "\n".join(f"{one.name}\n{one.text}" for one in hand.turn.message.scripts[1:])
        return remembered(after, began, told, replace(kept, pages=self.sources.named_in(cited)), beside)

    def with_pages(self, parts: list[Said]) -> list[Said]:
        """The pages that were cited, behind the last words."""
        pages = self.sources.listed()
        last = next((n for n in range(len(parts) - 1, -1, -1) if isinstance(parts[n], Say)), None)
        if pages and last is not None:
            whole = Say(f"{cast(Say, parts[last]).text}\n\n{pages}")
            self.own = [whole if one == parts[last] else one for one in self.own]
            parts[last] = whole
        return parts

    def told(self, parts: Sequence[Said]) -> str:
        """The answer for the next turns: its words with the thread's numbers, and that a script was shown."""
        return "\n".join(map(self.told_part, parts)).strip()

    def told_part(self, part: Said) -> str:
        if isinstance(part, Made):
            return f"[script: {'; '.join(part.changes) or part.bundle.name}]"
        text = self.as_text(part)
        return self.sources.as_on_thread(text) if part in self.own else self.sources.numbered(text)


def fallen_back(ruled: State, trouble: str) -> State:
    """The rules' answer, with the one line on why there is no other."""
    return State(**{**ruled, "said": (*ruled["said"], Say(trouble))}) if trouble else ruled


def remembered(
    after: State, before: State, answered: str | None, grounds: Grounds | None = None, came: str = ""
) -> State:
    """The state with this turn added to what a model is told of the talk, and to what its answers may stand on. came:
    the files beside the script in hand."""
    words = after.get("words") or before["text"]
    told = answered if answered is not None else " ".join(getattr(one, "text", "") for one in after.get("said", ()))
    one = Exchange(shortened(words, MOST_KEPT), in_outline(told, MOST_KEPT), cut(came, MOST_CAME))
    kept = State(grounds=grounds) if grounds else State()
    return State(**{**after, **kept, "talk": (*before.get("talk", ()), one)[-TURNS_KEPT:]})


def spoken_of(hand: Hand) -> JobRequest:
    """The job of the turns before a script: what the person stated, which nobody guessed.

    A question orders nothing: it only gives a name (a machine, a file, an account, a model) where there is none.
    """
    request, read, clauses = hand.request, hand.read, hand.turn.utterance.clauses
    clauses = tuple(one for one in clauses if one.scope in ("plain", "corrected"))
    stated = " ".join(one.text for one in clauses if not (request.machine and rather_asks(one)))
    heard = understand(stated, request, None, None) if stated else None
    if heard and heard.intent in ("generate", "port"):
        known = hand.context.catalogue.find(heard.request.machine or "")
        request = replace(heard.request, machine=known.id if known else request.machine)
    if read.site_words and read.machine:
        return replace(request, machine=read.machine, site_words=read.site_words)
    machines = hand.turn.utterance.machines()
    spoken = read.machine if read.machine in machines else machines[0] if len(machines) == 1 else None
    names = {"machine": spoken, "entry": read.entry, "account": read.account, "model": read.model}
    kept = {name: value for name, value in names.items() if getattr(request, name) is None}
    return replace(request, **kept)  # type: ignore[arg-type]


def read_by(ruled: State) -> State:
    """What the rules read in the message."""
    return cast(State, {name: value for name, value in ruled.items() if name not in DECIDED})
