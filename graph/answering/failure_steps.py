"""After a diagnosis: which step of the cure the words mean, where its variable is set, how its files are fetched."""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.answering.hub_files import as_in_log, asked_of_hub, folder_of, kept_in
from graph.answering.in_hand import in_hand
from graph.answering.log import after_failure, rows
from graph.answering.site_days import cache_of
from graph.answering.situation import list_steps, write_document
from graph.conversation.fix_followup import named
from knowledge.document import Code, Document
from knowledge.techniques import find_techniques
from knowledge.types import Diagnosis

# A variable of the environment in a step; options of a program are written small, but for the proxies.
SETTING = re.compile(r"`(?:export )?((?:[A-Z][A-Z0-9_]*|[a-z]+_proxy)=[^`]*)`")
LAUNCHING = re.compile(
    r"^[^\S\n]*(?:srun|mpiexec|mpirun|jsrun|ibrun|torchrun|flux run|accelerate|deepspeed|python)", re.M
)


def words_meant(ask: Ask, report: Diagnosis) -> str:
    """The words; where they name no step and only point (`where do I set that?`), the question that they go on from."""
    own = find_techniques(ask.text) or named(ask.text, list(report.fix))
    return ask.text if own or not ask.last_topic.startswith("log.") else ask.before


def step_meant(ask: Ask, report: Diagnosis) -> str:
    """The step of the cure that the words name and no other; empty where none or several are."""
    steps = named(words_meant(ask, report), list(report.fix))
    return steps[0] if len(steps) == 1 else ""


def place_of_variable(ask: Ask, report: Diagnosis) -> Document | None:
    """Where the variable of the step that is meant is set; None where that step sets none."""
    exports = [f"export {one}" for one in SETTING.findall(step_meant(ask, report))]
    if not exports:
        return None
    hand, places = in_hand(ask), after_failure()["places"]
    start = LAUNCHING.search(hand.text) if hand else None
    if hand is None or start is None:
        return write_document(places["variable"], Code("\n".join(exports)), places["before-start"])
    line = hand.text[: start.start()].count("\n") + 1
    told = places["variable-line"].format(file=hand.name, line=line)
    return write_document(told, Code("\n".join((*exports, start[0].strip() + " ..."))), places["before-start"])


def fetch_steps(ask: Ask, report: Diagnosis) -> Document | None:
    """How what the log asks of the hub is fetched before the job, with its name and folder; None for other causes."""
    lines = [*(one.text for one in report.evidence), *(row for log in ask.logs for row in rows(log))]
    name, is_data = asked_of_hub(lines)
    if report.cause not in after_failure()["reached"] or not name:
        return None
    telling, machine, hand = after_failure()["fetch"], ask.machine, in_hand(ask)
    place = f"{as_in_log(cache_of(machine), lines)}/hf" if machine else telling["folder"]
    home = folder_of(hand.text if hand else "", lines) or place
    values = {
        "home": home,
        "name": name,
        "kind": "--repo-type dataset " if is_data else "",
        "kept": kept_in(name, is_data),
    }
    there = machine.internet.as_there if machine else str
    steps = list_steps(*((there(one["says"]), one["run"].format(**values)) for one in telling["steps"]))
    proxy = machine.internet.proxy if machine and machine.internet.access == "proxy" else {}
    through = " ".join(f"{one}={value}" for one, value in proxy.items())
    return write_document(
        steps,
        telling["same"],
        *((telling["proxy"].format(machine=machine.title), Code(f"export {through}")) if machine and through else ()),
    )
