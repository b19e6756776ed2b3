"""The tools of a turn: the shared table's on this thread, and the thread's own; and how a call is carried out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.context import Lent
from graph.conversing.looking import Looking
from graph.conversing.script_deeds import ScriptDeeds
from graph.conversing.tools import BoundTool, as_text, checked, deed
from graph.modelling.model import ToolCall
from graph.planning.request_fields import FIELDS, with_fields
from graph.undescribed import NO_CARD, is_stand_in, told_draft
from knowledge.errors import InputError, MapleError
from knowledge.types import JobRequest, Offer, OfferRows

DEFAULT_FACTS = ("queues", "nodes")
# Arguments that a conversation's tools leave out: the thread gives them, or hardly anybody asks for them.
FILLED: Mapping[str, Mapping[str, object]] = {
    "check_script": {"script": "", "machine": ""},
    "plan_resources": {"gpu_memory_gb": None, "strategy": None},
    "search_knowledge": {"scheduler": None, "framework": None},
}
# What a conversation's tools are called in fewer words than for clients that know nothing else of us.
IN_SHORT = {
    "write_script": "A new script. entry: train.py, or '-m package.module'; walltime HH:MM:SS. text: all of it, else.",
    "check_script": "Findings on the script in hand.",
    "cluster_facts": "What is known of a machine, with sources.",
    "compare_clusters": "Machines side by side; none named: all.",
    "plan_resources": "Does a model fit, on which machine, how long.",
    "search_knowledge": "Passages of guides, issues, documents.",
}
# Letters of one answer with facts; the pages in it are numbers when it is told.
MOST_FACTS = 6600
MORE_MATTERS = "Not told for room, ask for it by itself: {}."
NOBODY = "nobody described {}: what you know of it you tell from memory, as such"
NOT_KNOWN = "not done: {}={}: nobody described that machine; {}"


def toolbox(deeds: ScriptDeeds, looking: Looking, lent: Lent) -> dict[str, BoundTool]:
    """name -> tool, the same and in the same order in every turn."""
    shared = {one.__name__: one for one in lent.tools}
    hand = deeds.hand

    def of_table(name: str) -> BoundTool:
        return deed(shared[name], IN_SHORT.get(name, ""), FILLED.get(name))

    made = [
        with_text(of_table("write_script")),
        deed(deeds.edit_script),
        deed(deeds.port_script),
        deed(deeds.mend_script),
        of_table("check_script"),
        deed(deeds.history),
        deed(deeds.take_offer),
        of_table("cluster_facts"),
        of_table("compare_clusters"),
        of_table("plan_resources"),
        of_table("search_knowledge"),
        deed(looking.ask_rules),
        deed(looking.log_lines),
        deed(looking.diagnose_log),
        deed(looking.explain_pending),
        deed(looking.offer_web_search),
    ]

    def plan_resources(machines: Sequence[str] = (), **given: object) -> object:
        known, others = described(machines)
        drafts = [] if known else [one for name in others if is_stand_in(one := hand.known(name))]
        told = NOBODY.format(", ".join(others)) if known and others else ""
        machines = known or machines
        if drafts:  # nobody knows its limits; its card is enough to say what fits
            card = drafts[0].node_types[0].gpus.model
            told = NOT_KNOWN.format("machines", ", ".join(machines), "weighed by its card alone, or usual GPUs")
            given, machines = {**given, "gpu": None if card == NO_CARD else card}, ()
        answer = shared["plan_resources"](machines=machines, **given)
        rows = rows_of(answer)
        if rows and not hand.offers:
            hand.set(pending=OfferRows(rows))
        return f"{told}\n{as_text(answer)}" if told else answer

    def described(names: Sequence[str]) -> tuple[list[str], list[str]]:
        """The machines of those names that somebody described, and the others."""
        known = [name for name in names if hand.context.catalogue.find(name)]
        return known, [name for name in names if name not in known]

    def compare_clusters(machines: Sequence[str] = ()) -> object:
        known, others = described(machines)
        if others and not known:
            raise InputError(NOBODY.format(", ".join(others)))
        answer = shared["compare_clusters"](machines=tuple(known))
        return f"{NOBODY.format(', '.join(others))}\n{as_text(answer)}" if others else answer

    def check_script() -> object:
        text, cluster = hand.script().text, hand.context.cluster(hand.request)
        draft = cluster if cluster and is_stand_in(cluster) else None
        found = shared["check_script"](script=text, machine="any" if draft else hand.request.machine or "")
        return f"{as_text(found)}\n{told_draft(draft)}" if draft else found

    def cluster_facts(machine: str, about: Sequence[str] = ()) -> object:
        cluster = hand.known(machine)
        if not is_stand_in(cluster):
            return whole_matters(about or DEFAULT_FACTS, lambda few: shared["cluster_facts"](machine, few))
        left = NOT_KNOWN.format("about", ", ".join(about), "this is all that is certain") if about else ""
        return f"{left}\n{told_draft(cluster)}".strip()

    runs: dict[str, Callable[..., object]] = {
        "plan_resources": plan_resources,
        "write_script": deeds.write_script,
        "check_script": check_script,
        "cluster_facts": cluster_facts,
        "compare_clusters": compare_clusters,
    }
    return {one.tool.name: replace(one, run=runs.get(one.tool.name, one.run)) for one in made}


def whole_matters(about: Sequence[str], facts: Callable[[Sequence[str]], Any]) -> object:
    """The facts of as many matters as one answer holds whole, the others by their names; a matter cut in
    its lines would have to be asked for again.
    """
    taken = list(about[:1])
    for one in about[1:]:
        if len(as_text(facts([*taken, one]))) <= MOST_FACTS:
            taken.append(one)
    left = [one for one in about if one not in taken]
    return f"{as_text(facts(taken))}\n{MORE_MATTERS.format(', '.join(left))}" if left else facts(taken)


def with_text(tool: BoundTool) -> BoundTool:
    """The tool with a whole text and its name as arguments more, which only a thread's own rules can judge."""
    properties = {**tool.tool.parameters["properties"], "text": {"type": "string"}, "file": {"type": "string"}}
    return replace(tool, tool=replace(tool.tool, parameters={**tool.tool.parameters, "properties": properties}))


def rows_of(answer: Any) -> tuple[Offer, ...]:
    """The ways of a plan that a script can be written of, as what its number takes in the next message."""
    rows = []
    for one in answer.options:
        if one.request:
            texts = {name: value for name, value in one.request.items() if name in FIELDS}
            request = with_fields(JobRequest(), [f"{name}={value}" for name, value in texts.items()])
            change = (("machine", one.request.get("machine")), *((name, getattr(request, name)) for name in texts))
            rows.append(Offer(f"{one.strategy} on {one.machine}, {one.nodes} nodes", change=change))
    return tuple(rows)


def carried_out(call: ToolCall, tools: Mapping[str, BoundTool], deeds: ScriptDeeds) -> str:
    """Carry one call out; what is wrong with it is its answer, and then the thread is as it was."""
    found = tools.get(call.name)
    if found is None:
        return f"there is no tool '{call.name[:40]}'; there are {', '.join(tools)}"
    kept = deeds.hand.kept()
    try:
        made = found.run(**checked(found.tool.parameters, call.arguments))
        return (made if isinstance(made, str) else as_text(made)) or "nothing found"
    except MapleError as error:
        deeds.hand.go_back(kept)
        return f"error: {error}"
    except Exception as error:  # a model may ask for what nobody thought of: the turn goes on
        deeds.hand.go_back(kept)
        logging.getLogger("maple-chat").warning("tool %s: %r", call.name, error)
        return "error: that could not be done; say it in another way"
