"""One message with all that it meets: its parts, its reading, the thread before it, and the facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.context import Context
from graph.extraction.machine import machine_shown
from graph.extraction.sentences.lexicon import IDEOGRAPH
from graph.reading.message import DIRECTIVE, Message, take_apart
from graph.reading.reader import plain_orders, read_utterance
from graph.reading.utterance import Clause, ThreadView, Utterance
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.types import AskField, JobRequest, LaunchBundle, OfferChoice, OfferEdit, Paste, Pending, Question


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Everything that a handler may look at. settled: the machine of the thread is that of the script in hand, whatever
    other machines the message names."""

    state: State
    context: Context
    message: Message
    utterance: Utterance
    settled: bool = False

    @property
    def words(self) -> str:
        return self.message.words

    @property
    def request(self) -> JobRequest:
        return self.state.get("request") or JobRequest()

    @property
    def pending(self) -> Pending | None:
        return self.state.get("pending")

    @property
    def printed_on(self) -> tuple[str | None, bool]:
        """The machine that the message's logs and outputs show, and whether by its paths or hosts, which prove it."""
        return machine_shown(one.text for one in (*self.message.logs, *self.message.outputs))

    @property
    def machines(self) -> Sequence[str]:
        """The machines named, once each; last those on which the same ran well."""
        told = self.utterance.of_kind("Machine")
        last = {one.start for one in told if RAN_ON.search(self.utterance.text[max(0, one.start - 40) : one.start])}
        return tuple(dict.fromkeys(str(one.value) for one in sorted(told, key=lambda one: one.start in last)))

    @property
    def act(self) -> str:
        """What the message is for, where that is plain; else empty."""
        main = self.utterance.main
        return main.act if main.share(main.act) >= SURE else ""

    @property
    def may_fail(self) -> bool:
        """Whether any clause reads as one that tells of a failure."""
        return any(one.act in ("diagnose", "pending") or one.topic[:4] == "log." for one in self.utterance.clauses)

    @property
    def wanting(self) -> tuple[Clause, ...]:
        """The clauses that may want something of the person's own job: neither plainly asked nor told of what was.

        In a message that orders as a whole what names something, and is no question by its form, is part of the order.
        """
        read = self.utterance
        parts = read.clauses if orders_as_whole(read, SURE) else ()
        named = [one for one in parts if not asks_by_form(one) and names_something(read, one)]
        return tuple(one for one in read.clauses if not is_told(one) and (one in named or not rather_asks(one)))

    @property
    def wishes(self) -> str:
        """The words that may want something of a job; empty where none do."""
        kept, read = self.wanting, self.utterance
        if len(kept) == len(read.clauses):
            return self.words
        asked = read.clauses if orders_as_whole(read, SURE) and self.script is None else ()
        values = [(one.start, found[1]) for one in asked if one not in kept and (found := PROPOSED.match(one.text))]
        # `Can vLLM serve it on one node? Need a script`: an order with no work of its own is of what was asked about,
        # and so is one of a file alone (`how do I start jax there? I need a script for train.py`).
        named = {name.kind for one in kept for name in read.within(one)}
        lacks = WORK if not named & WORK else set() if named & HOW else {"Framework"}
        kept = (*kept, *(one for one in asked if any(name.kind in lacks for name in read.within(one))))
        pieces = sorted((*((one.start, one.text) for one in kept), *values))
        return " ".join(text for _, text in pieces)

    @property
    def sure_wishes(self) -> str:
        """The words of clauses that plainly want something of a job."""
        return " ".join(one.text for one in self.wanting if one.share(*WANTING) >= SURE)

    @property
    def leads_to_ask(self) -> bool:
        """Whether the message as a whole plainly asks, whatever a sentence of it tells."""
        main = self.utterance.main
        return main.leads and main.share(*ASKING) >= LEADING

    @property
    def wants_nothing(self) -> bool:
        """Whether the message is more likely than not for something that wants nothing of a job."""
        main = self.utterance.main
        nothing = main.act in ASKING or main.act == "outside"
        most = 2 * HARDLY if main.act == "outside" else HARDLY
        return nothing and main.confidence >= RATHER and main.share(*WANTING) < most

    @property
    def only_asks(self) -> bool:
        """Whether no clause wants anything of a job."""
        clauses = self.utterance.clauses
        if self.leads_to_ask and not any(map(self.orders, clauses)):
            return True  # `I want to run a 70B model there. Does it fit?` wants no script
        weighty = [one for one in clauses if len(one.text.split()) > FEW_WORDS or one.share(*WANTING) >= SURE]
        asks = any(map(rather_asks, clauses))  # then what is told of somebody else's job is what it asks about
        if all(rather_asks(one) or (asks and one.scope == "others") for one in weighty or clauses):
            return True
        surely = any(one.act in ("ask", "plan") and one.share(*ASKING) >= SURE for one in clauses)
        return surely and not any(one.share(*WANTING) >= RATHER for one in clauses)

    def orders(self, clause: Clause) -> bool:
        """Whether a clause surely changes a script, says that it wants one, or wants to run a program by its name."""
        names_program = any(name.kind == "Path" for name in self.utterance.within(clause))
        runs = clause.share("write") >= SURE and names_program and not asks_by_form(clause)
        return runs or clause.share(*CHANGING) >= SURE or ORDERED.search(clause.text) is not None

    @property
    def question(self) -> Question | None:
        """The field's question that is open."""
        return self.pending.question if isinstance(self.pending, AskField) else None

    @property
    def cluster(self) -> Cluster | None:
        return self.context.cluster(self.request)

    @property
    def script(self) -> Paste | None:
        """The script in hand: the person's own, else ours."""
        bundle = self.state.get("bundle")
        return self.state.get("own") or (Paste(bundle.name, bundle.script) if bundle else None)


# `the exact same script runs on perlmutter`: what stands before the name of a machine that is not this one.
RAN_ON = re.compile(
    r"(?i)\b(?:r[ua]ns?|works?|worked|fine|ok|läuft|lief|geht|ging|tourne|marche|funciona\w*|corre)\b[^.!?;\n]{0,20}"
    r"\b(?:on|at|in|auf|sur|en|su)\s*$|\b(?:from|von)\s*$"
)
# `train.py --lr 3` in back quotes is what stands in them; behind a sign of equality they run a command.
QUOTED_CODE = re.compile(r"(?<![`=\w])`([^`\n]{1,300})`(?!`)")
# A word in Latin letters beside Chinese, Japanese or Korean ones, with no blank between (`squeue\uc5d0`); no path.
SIDE_BY_SIDE = re.compile(
    rf"(?<=[A-Za-z]{{2}})(?=[{IDEOGRAPH}])(?!\S*/)|(?<=[{IDEOGRAPH}])(?=[A-Za-z]{{2}}[^\s/]*(?:[\s{IDEOGRAPH}]|$))"
)


def open_turn(state: State, context: Context) -> TurnContext:
    message = take_apart(state["text"], state["attachments"])
    from knowledge.masking import hide

    words = SIDE_BY_SIDE.sub(" ", QUOTED_CODE.sub(r"\1", hide(message.words)))  # a key goes no further than here
    message = replace(message, words=words)
    view = replace(view_of(state), new_script=bool(message.scripts), new_log=bool(message.logs))
    read = read_utterance(message.words, view)
    if (plain := plain_orders(read)) != read.text:
        message, read = replace(message, words=plain), read_utterance(plain, view)
    return TurnContext(state, context, message, read)


def with_words(turn: TurnContext, words: str) -> TurnContext:
    """The turn as if only these words had been said."""
    read = read_utterance(words, view_of(turn.state))
    return replace(turn, message=replace(turn.message, words=words), utterance=read)


def view_of(state: State) -> ThreadView:
    """What the reader of words may know of the thread."""
    pending, request = state.get("pending"), state.get("request") or JobRequest()
    question = pending.question if isinstance(pending, AskField) else None
    return ThreadView(
        asked=question.field if question else None,
        options=question.options if question else (),
        last_topic=state.get("last_topic", ""),
        last_machine=request.machine,
        last_act=state.get("last_act", ""),
        last_field=state.get("last_field"),
        has_script=bool(state.get("bundle") or state.get("own")),
        has_log=state.get("diagnosed") is not None,
        has_offer=isinstance(pending, OfferChoice | OfferEdit),
    )


# From this probability of an act on it is taken at its word: held out, of those above 0.8 19 in 20 are right, of those
# between 0.6 and 0.7 one in two.
SURE = 0.75
ASKING = ("ask", "chat", "review", "diagnose", "pending", "plan", "help")
# From it on a clause beside a question wants something of a job.
RATHER = 0.5
# From it on a message of several sentences asks as a whole.
LEADING = 0.6
# Below it no script is written: of 200 requests one was read so.
HARDLY = 0.1
WANTING = ("write", "edit", "port", "reply", "mend")
# Names that tell what a job runs, and how.
WORK, HOW = {"Framework", "Path", "Model"}, {"Framework", "Method"}
# What is wanted beside a question; a script is written beside one only where that is said.
CHANGING = ("edit", "port", "reply", "mend")
ORDERED = re.compile(r"(?i)\b(?:write|make|create|generate|draft|give)\b.{0,20}\b(?:script|job file|sbatch)\b")
# `Is 24 h per run ok?` beside a first order: the value, which is asked about too.
PROPOSED = re.compile(
    r"(?i)\W*(?:(?:and|und|et|y|e) )?(?:is|are|would|ist|sind|w[äa]re\w*|est(?:-ce que)?|es|son|[èe]|sono) "
    r"(\d+ ?(?:h|hrs?|hours?|days?|min(?:ute)?s?|nodes?|gpus?|stunden|std|tage?|knoten|heures?|jours?|n[oœ]e?uds?"
    r"|horas?|d[ií]as?|nodos?|ore|giorni|nodi))\b[^?]*\b(?:ok(?:ay)?|fine|enough|good|allowed|possible|sensible|genug"
    r"|gut|erlaubt|m[öo]glich|bien|assez|permis|suficiente\w*|abbastanza|va bene)\b[^?]*\?"
)
MARKS = ("?", "\uff1f")
# A word or two beside a question, as in `(slurm)`, decide nothing.
FEW_WORDS = 2


def is_told(clause: Clause) -> bool:
    """Whether a clause only tells of another run, or of somebody else's, and is no order beside that."""
    return clause.scope in ("past", "others", "hypothetical") and clause.share(*WANTING) < SURE


def orders_as_whole(read: Utterance, least: float) -> bool:
    """Whether a message of several clauses, taken together, wants something of a job with that probability."""
    return read.main.leads and read.main.share(*WANTING) >= least


def names_something(read: Utterance, clause: Clause) -> bool:
    """Whether a clause holds a name or an amount, or anything else that a job has."""
    if any(True for _ in read.within(clause)):
        return True
    from graph.extraction.request import understand

    return understand(clause.text, None, None, None).request != JobRequest()


def asks_by_form(clause: Clause) -> bool:
    """Whether a clause is a question by its form."""
    return clause.scope == "asked" or clause.text.rstrip().endswith(MARKS)


def rather_asks(clause: Clause) -> bool:
    """Whether a clause wants nothing of a job: surely, or by its mark and rather than not."""
    asks = clause.share(*ASKING)
    return asks >= SURE or (clause.text.rstrip().endswith(MARKS) and asks > clause.share(*WANTING))


SUBMIT = {"slurm": "sbatch {}", "pbs": "qsub {}", "lsf": "bsub < {}", "flux": "flux batch {}"}


# How a script is handed over whose directives no reader of ours knows, by their first sign: Grid Engine, Fujitsu's,
# OAR, LoadLeveler.
SUBMIT_BY_SIGN = {
    "$ -": "qsub {}",
    "PJM": "pjsub {}",
    "OAR": "oarsub -S ./{}",
    "@": "llsubmit {}",
}
# TSUBAME's resources: without a group its qsub takes a job for a short trial run.
# Source: https://www.t4.cii.isct.ac.jp/docs/handbook.en/jobs/
OF_GROUP = re.compile(r"^#\$ -l (?:node_[fhqo]|gpu_[1h]|cpu_\d+)=", re.M)
SIGN = re.compile(r"^#(\$ -|PJM|OAR|@)(?=\s|\w)", re.M)


SUBMITS_OTHERS = re.compile(r"(?m)^[^\S\n]*(?:\w+=\$\()?(?:sbatch|qsub|bsub|flux batch)\b")


def bundle_of(own: Paste, scheduler: str) -> LaunchBundle:
    """A person's own script as what is handed over; one without directives, or that submits others, is run."""
    sign = SIGN.search(own.text)
    if sign is None and SUBMITS_OTHERS.search(own.text) and not any(map(DIRECTIVE.match, own.text.splitlines())):
        scheduler = "none"
    how = SUBMIT.get(scheduler) or (SUBMIT_BY_SIGN[sign[1]] if sign else "bash {}")
    how = "qsub -g YOUR_GROUP {}" if OF_GROUP.search(own.text) else how
    return LaunchBundle(own.name, own.text, (), how.format(own.name))
