"""Which machine's facts a script is checked or rehearsed with: the one named, else the one that a strong mark tells."""

from __future__ import annotations

from dataclasses import dataclass

from graph.extraction.machine import MachineGuess, guess_machine
from graph.extraction.script import read_script
from graph.extraction.script_record import scheduler_of
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.errors import InputError

GENERAL = "only the rules that hold on every machine were applied"


@dataclass(frozen=True, slots=True)
class ScriptMachine:
    """cluster: whose facts hold (None: nobody's); says: how that is known, in a sentence without its full stop."""

    cluster: Cluster | None
    says: str = ""


def script_machine(text: str) -> ScriptMachine:
    """The machine that a script's own marks tell. Weak marks are said and not acted on. Never raises."""
    try:
        script = read_script(text)
        guess = guess_machine(script, scheduler_of(script))
    except (InputError, RecursionError):
        guess = None
    if guess is None:
        return ScriptMachine(None, f"Nothing in the script tells the machine: {GENERAL}; --machine NAME adds its own")
    cluster = catalogue().find(guess.machine)
    if cluster is None:
        says = f"The script seems to be for {guess.machine} ({mark_of(guess)}), which is not described here: {GENERAL}"
        return ScriptMachine(None, says)
    if not guess.strong:
        says = f"The script may be for {cluster.title} ({mark_of(guess)}), which is not certain: {GENERAL}"
        return ScriptMachine(None, f"{says}; --machine {cluster.id} adds its own")
    says = f"Taken for a script for {cluster.title} by {mark_of(guess)}; --machine names another, --machine any none"
    return ScriptMachine(cluster, says)


def mark_of(guess: MachineGuess) -> str:
    """The mark, and where it stands."""
    return f"'{' '.join(guess.mark.split())[:40]}'" + (f" on line {guess.line}" if guess.line else "")
