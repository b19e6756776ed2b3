"""The end of a turn: what is shown, in which order, and what the thread keeps of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from graph.conversation.history import CLEAN
from graph.conversation.scripts import in_hand
from graph.conversation.turn import rather_asks
from graph.conversing.briefing import ROOM
from graph.conversing.composition import Composition
from graph.conversing.deciding import SIZE
from graph.conversing.guard import MARK, Guard
from graph.conversing.hand import Hand
from graph.conversing.looking import Looking
from graph.conversing.memory import remembered, script_told
from graph.conversing.notes import notes_of
from graph.conversing.orders import MOST_AGREEING
from graph.conversing.read_sizes import without_doubtful
from graph.conversing.rules_told import is_beside_their_own
from graph.conversing.sources import Numbered
from graph.conversing.trials import ORDERS
from graph.extraction.request import understand
from graph.state import State
from knowledge.types import JobRequest, Made, Said, Say

TOO_LONG = "Your message is long: its first and last {:,} characters were read. Say what stood between again, shorter."
# What a report may tell of a job too.
NAMED = ("machine", "site_words", "source_machine", "framework", "strategy", "model", "entry", "account", "environment")
# What the model's own deeds decide, or the turn itself; all else that the rules read is kept for the next turn.
DECIDED = (
    frozenset(CLEAN)
    | frozenset(("turn", "text", "attachments", "way", "outcome", "draft", "notes", "findings", "proof", "again"))
    | frozenset(("tries", "said", "unanswered", "searching", "reopened", "jobs", "talk", "grounds", "files"))
)


@dataclass(slots=True)
class AnswerEnding:
    """What an answer is put together from. ruled: the state that the rules would leave, with the part of their answer
    that the model was told; whole: with all of it; found: what tools told of facts."""

    hand: Hand
    looking: Looking
    sources: Numbered
    ruled: State
    as_text: Callable[[Said], str]
    whole: State
    found: Mapping[str, str] = field(default_factory=dict)

    def answered(self, said: str, guard: Guard) -> State:
        """The turn's end: what passed the guard, what is shown with it, and the thread as it is now."""
        hand, began = self.hand, self.hand.began
        guard.changed = hand.changed or "[[rules]]" in said
        text = guard.end()
        takes_rules = "[[rules]]" in text and not hand.changed and bool(self.ruled["said"])
        state = hand.with_scripts(self.ruled) if takes_rules else hand.state
        notes = notes_of(hand.began, state, hand.context, {} if takes_rules else hand.left_out)
        if not takes_rules:
            state = State(**{**state, "revisions": notes.revisions, "pending": notes.pending})
        ruled = self.ruled if MARK.sub("", text).strip() else self.whole  # alone, it is the whole answer
        document = Composition(hand, self.looking, self.sources, self.as_text, ruled, state, takes_rules, notes.made)
        parts = document.document(text)
        state = document.after
        if not parts:
            return remembered(hand.with_scripts(self.whole), began, hand.turn.words, found=self.found)
        if len(hand.turn.words) > ROOM["message"]:
            parts.append(Say(TOO_LONG.format(ROOM["message"] // 2)))
        parts = self.with_pages(parts)
        if not takes_rules and not state.get("bundle"):
            state = State(**{**state, "request": spoken_of(hand)})
        after = State(**{**state, **read_by(self.ruled), "way": "answer", "outcome": None, "said": tuple(parts),
                         "unanswered": False, "reopened": False, "draft": None})  # fmt: skip
        if not after.get("bundle") and (written := script_told(text)):
            # The model's own words hold it: it can be changed.
            after = State(**{**after, **in_hand(replace(hand.turn, state=after), written)})
        ground = self.looking.ground
        shown = [row for part in parts if isinstance(part, Made) for row in part.bundle.script.splitlines()]
        told = self.told(parts, notes.made)
        kept = replace(ground.kept(shown, hand.turn.words), pages=self.sources.kept())
        return remembered(after, began, hand.turn.words, told, kept, self.found)

    def with_pages(self, parts: list[Said]) -> list[Said]:
        """The pages that were cited, behind the last words."""
        pages = self.sources.listed()
        last = next((n for n in range(len(parts) - 1, -1, -1) if isinstance(parts[n], Say)), None)
        if pages and last is not None:
            parts[last] = Say(f"{cast(Say, parts[last]).text}\n\n{pages}")
        return parts

    def told(self, parts: Sequence[Said], made: Made | None) -> str:
        """The answer for the next turns: its words with the thread's numbers, and that a script was shown. made: what
        became of the script in hand, with all that is known of its change."""
        return "\n".join(self.told_part(part, made) for part in parts).strip()

    def told_part(self, part: Said, made: Made | None) -> str:
        if isinstance(part, Made):
            whole = made if made and made.bundle == part.bundle else part
            return f"[script: {'; '.join(whole.changes) or part.bundle.name}]"
        return self.sources.numbered(self.as_text(part))


def fallen_back(ruled: State, trouble: str) -> State:
    """The rules' answer, with the one line on why there is no other."""
    return State(**{**ruled, "said": (*ruled["said"], Say(trouble))}) if trouble else ruled


def spoken_of(hand: Hand) -> JobRequest:
    """The job of the turns before a script: what the person stated, which nobody guessed.

    A question or a report orders nothing: it only gives a name (a machine, a file, an account, a model) where there is
    none, for a number in it may be of anything.
    """
    request, read, clauses = hand.request, hand.read, hand.turn.utterance.clauses
    clauses = tuple(one for one in clauses if one.scope in ("plain", "corrected"))
    stated = " ".join(one.text for one in clauses if not (request.machine and rather_asks(one)))
    heard = understand(stated, request, None, None) if stated else None
    if heard and heard.intent in ("generate", "port"):
        known = hand.context.catalogue.find(heard.request.machine or "")
        sure = without_doubtful(heard.request, stated, request)
        orders = hand.turn.utterance.main.share("write", "port", "edit", "reply") >= ORDERS
        if not orders and len(stated.split()) > MOST_AGREEING:
            sure = replace(request, **{name: getattr(sure, name) for name in NAMED})
        sure = sure if looks_named(sure.entry) else replace(sure, entry=request.entry)
        request = replace(sure, machine=known.id if known else request.machine)
    if is_beside_their_own(hand.turn):  # of which of the two machines a size is, no rule can tell
        request = replace(request, **dict.fromkeys(SIZE))  # type: ignore[arg-type]
    if read.site_words and read.machine:
        return replace(request, machine=read.machine, site_words=read.site_words)
    machines = hand.turn.utterance.machines()
    shown, proved = hand.turn.printed_on
    spoken = read.machine if read.machine in machines else machines[0] if len(machines) == 1 else shown
    names = {"machine": spoken, "entry": read.entry, "account": read.account, "model": read.model}
    names |= {name: None for name in ("entry", "account") if not looks_named(names[name])}
    kept = {name: value for name, value in names.items() if getattr(request, name) is None}
    request = replace(request, **kept)  # type: ignore[arg-type]
    if shown and proved:  # whatever other machines the words name: `worked on polaris`
        request = replace(request, machine=shown)
    # Arguments go with a program: without one, they are pieces of a log or of a sentence.
    return replace(request, argument_edits=(), args=request.args if request.entry else None)


def looks_named(name: str | None) -> bool:
    """Whether it looks like a program's file or an account, and no word of a sentence or path of a warning."""
    return bool(name) and "site-packages" not in str(name) and re.search(r"[\d_.-]", str(name)) is not None


def read_by(ruled: State) -> State:
    """What the rules read in the message."""
    return cast(State, {name: value for name, value in ruled.items() if name not in DECIDED})
