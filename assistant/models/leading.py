"""Whether a model can lead: whole conversations through the real graph, each turn judged by what it must hold."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from graph.modelling.asking import Models, Trust
from knowledge.data_file import read_data

if TYPE_CHECKING:
    from graph.state import State

Case = Mapping[str, Any]
# From this share of right turns on a model leads, if none did harm.
ENOUGH = 0.8
# So much harm, or so few answers of its own, and it is not asked at all.
MOST_HARM, FEWEST_ANSWERS = 2, 0.2


@dataclass(frozen=True, slots=True)
class Led:
    """What came of the set. led: turns that the model answered itself; faults: what was wrong, a line each."""

    turns: int
    right: int
    harmful: int
    led: int
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    faults: tuple[str, ...] = ()

    @property
    def trust(self) -> Trust:
        """By the figures; where it does not lead, what it reads decides further (trial.py)."""
        if self.harmful >= MOST_HARM or self.led < FEWEST_ANSWERS * self.turns:
            return "off"
        return "leads" if self.right >= ENOUGH * self.turns and not self.harmful else "reads"


def cases() -> Sequence[Case]:
    return cast(Sequence[Case], read_data(Path(__file__).with_name("leading.yaml")))


def run(models: Models, of: Sequence[Case] | None = None) -> Led:
    """Every conversation, with the model leading whatever is known of it."""
    models = replace(models, trust=dict.fromkeys(models.loaders, "leads"))
    started, faults, judged = time.monotonic(), list[str](), list[tuple[bool, bool, bool]]()
    calls = tokens_in = tokens_out = 0
    for case in cases() if of is None else of:
        state: State = cast("State", {})
        for number, turn in enumerate(case["turns"], 1):
            models.uses.clear()
            before, state = state, take(state, number, turn["say"], models)
            asked = list(models.uses)
            calls += len(asked)
            tokens_in += sum(use.tokens_in for use in asked)
            tokens_out += sum(use.tokens_out for use in asked)
            led = all(use.went_well for use in asked)
            missed, harm = judge(turn, before, state)
            judged.append((led and not missed and not harm, bool(harm), led and bool(asked)))
            wrong = (*missed, *harm, *(() if led else ("no usable answer",)))
            faults += [f"{case['id']}, turn {number}: {one}" for one in wrong]
    right, harmful, led_turns = (sum(one[at] for one in judged) for at in range(3))
    took = time.monotonic() - started
    return Led(len(judged), right, harmful, led_turns, calls, tokens_in, tokens_out, took, tuple(faults))


def take(state: State, number: int, text: str, models: Models) -> State:
    """One turn on the state, kept nowhere."""
    from assistant.running import lent
    from graph.build import build
    from graph.context import Context
    from graph.state import new_turn

    entry = cast("State", {**state, **new_turn(number, text)})
    return cast("State", build().invoke(entry, context=Context(model=models, lent=lent)))


def judge(turn: Case, before: State, after: State) -> tuple[list[str], list[str]]:
    """What is missing, and what did harm."""
    from assistant.drawing import markdown
    from assistant.events import event_of

    said = "\n".join(markdown(event_of(part)) for part in after["said"])
    bundle, old = after.get("bundle"), before.get("bundle")
    script = bundle.script if bundle else ""
    missed = [f"the script lacks {want}" for want in turn.get("script", ()) if not holds(script, want)]
    missed += [f"not said: {want}" for want in turn.get("says", ()) if not holds(said.lower(), want)]
    harm = [f"it holds {bad!r}" for bad in turn.get("never", ()) if bad in said or bad in script]
    if turn.get("same") and script != (old.script if old else ""):
        harm.append("a question changed the script")
    return missed, harm


def holds(text: str, wanted: str) -> bool:
    """Whether one of the ways to say it stands there."""
    return any(way in text for way in wanted.split("|"))
