"""What an answer of this turn may stand on, before any tool was asked and after one answered."""

from __future__ import annotations

import re
from collections.abc import Callable

from graph.conversing.briefing import rules
from graph.conversing.ground import Ground
from graph.conversing.guard import UNDESCRIBED
from graph.conversing.hand import Hand
from graph.conversing.machine_facts import machine_in_short
from graph.state import State
from graph.undescribed import is_stand_in, names_of
from knowledge.cluster import Cluster
from knowledge.types import Diagnosis, Grounds, Said

COMMENT = re.compile(r"^\s*#(?!\s?(?:SBATCH|PBS|BSUB|flux:|!))")
# Letters of a machine's name in a sentence: `S3` and `PM` mean other things there.
LEAST_NAME = 3
MOST_RULES, MOST_LOG = 20_000, 40_000


# What `module avail` prints, which is the machine's own word.
LISTS_MODULES = re.compile(r"-{3,}\s?/[^\n]*-{3,}|-{3,}[^\n]*modulefiles")


def stand_on(ground: Ground, hand: Hand, ruled: State, as_text: Callable[[Said], str]) -> None:
    """The described machines, the script in hand, the rules' answer, the log and its diagnosis, earlier turns."""
    state, message, plan = hand.state, hand.turn.message, hand.state.get("plan")
    ground.words = hand.words
    ground.go_on(state.get("grounds") or Grounds())
    clusters = hand.context.catalogue.clusters.values()
    ground.machines = {name.lower(): one for one in clusters for name in names_of(one) if len(name) >= LEAST_NAME}
    named, held = map(hand.context.catalogue.find, hand.turn.utterance.machines()), hand.context.cluster(hand.request)
    shown, proved = hand.turn.printed_on
    printed = hand.context.catalogue.find(shown) if shown and (proved or not held) else None
    # A script's own machine comes first.
    spoken_of = [held, printed, *named] if state.get("bundle") else [printed, *named, held]
    here = [one for one in spoken_of if one] if any(spoken_of) or hand.read.machine else last_spoken_of(ground, hand)
    ground.here = list({one.id: one for one in here if not is_stand_in(one)}.values())
    ground.add(*map(machine_in_short, ground.here))
    ground.undescribed = next((one.title for one in spoken_of if one and is_stand_in(one)), hand.read.machine or "")
    told = any(UNDESCRIBED.format(ground.undescribed) in one.answered for one in hand.began.get("talk", ()))
    ground.undescribed = "" if ground.here or told else ground.undescribed
    counts = (plan.nodes, plan.ranks_per_node) if plan else (hand.request.nodes, hand.request.gpus_per_node)
    ground.job = [f"{one} {what}" for one, what in zip(counts, ("nodes", "GPUs"), strict=True) if one]
    ground.job += [f"time {plan.walltime if plan else hand.request.walltime or ''}"]
    bundle, own = state.get("bundle"), state.get("own")
    rows = (own.text if own else bundle.script if bundle else "").splitlines()
    ground.job += [row for row in rows if not (own and COMMENT.match(row))]
    ground.job += [f"{one.value} {one.why}" for one in (plan.assumptions if plan else ())]
    ground.add(*([] if message.logs else [rules(ruled, State(), as_text, MOST_RULES, MOST_RULES)]))
    outputs = [one.text for one in message.outputs] or [state.get("output", "")]
    ground.add(*(text for one in state.get("talk", ()) for text in one.found))
    ground.printed = outputs
    ground.add(*filter(LISTS_MODULES.search, (hand.turn.message.words, *(one.text for one in message.logs))))
    ground.pasted += [row for row in rows if own and COMMENT.match(row)]
    ground.pasted += [
        one.text[:MOST_LOG]
        for one in (*message.scripts[1:], *state.get("files", ()), *message.logs, *state.get("logs", ()))
    ]
    found = [part for part in ruled.get("said", ()) if isinstance(part, Diagnosis)]
    for one in (*found, *filter(None, [state.get("diagnosed")])):
        ground.add(one.says, *one.fix, *(value for _, value in one.facts))
        ground.pasted += [line.text for line in one.evidence]


def last_spoken_of(ground: Ground, hand: Hand) -> list[Cluster]:
    """The machines that the talk was about last: those that the person named, or else the answer."""
    told = (text for one in reversed(hand.began.get("talk", ())) for text in (one.said, one.answered))
    return next((found for text in told if (found := ground.machines_in(text))), [])


def stand_on_result(ground: Ground, tool: str, text: str) -> None:
    """What a tool answered: of a log it proves nothing, of a page that somebody read in it has to be cited."""
    if tool == "diagnose_log":
        ground.pasted.append(text)
    elif tool == "search_knowledge":
        shipped, read_in = apart(text)
        ground.add(*shipped)
        ground.pages += read_in
    elif tool != "log_lines":
        ground.add(text)


def apart(text: str) -> tuple[list[str], list[str]]:
    """The passages of a search: those that are shipped, and those that somebody read in."""
    passages = re.split(r"(?m)^(?=\s*- title:)", text)
    shipped = [one for one in passages if re.search(r"(?m)^[^\S\n]*kind: (?:fact|card)$", one)]
    return shipped, [one for one in passages if one not in shipped]
