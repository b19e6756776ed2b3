"""The job that a person's own script is: what its text asks for, and the machine that it is for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

from graph.conversation.script_review import MOVES
from graph.conversation.turn import SURE, TurnContext
from graph.extraction.script_record import understand_script
from graph.reading.own_machine import YOURS, machine_told, running, scheduler_told
from knowledge.cluster import Cluster
from knowledge.types import JobRequest, Paste, Scheduler

# What stands before the name of the machine that a script is to go to.
GOES_TO = re.compile(r"(?i)\b(?:on)?to\s+(?:the\s+)?$|\b(?:nach|zu|auf|vers|hacia|verso)\s+$")


def job_of(turn: TurnContext, own: Paste) -> JobRequest:
    """What the script asks for, and where: on a described machine, or on one that the person named."""
    from graph.debugging.remedies import request_of

    record, cluster = understand_script(own.text), machine_for(turn, own)
    read = replace(request_of(record), entry=record.entry, model=record.model, container=record.container)
    if cluster:
        return replace(read, machine=cluster.id, source_machine=carried_from(turn))
    name, words = their_machine(turn)
    if name and record.scheduler in get_args(Scheduler) and not scheduler_told(words):
        words = running(words, record.scheduler)
    return replace(read, machine=name, site_words=words)


def machine_for(turn: TurnContext, own: Paste) -> Cluster | None:
    """The described machine of a script: one that is named and takes such a script, its own marks', the thread's. One
    that is named may be where it is to go: there its own marks tell."""
    from graph.undescribed import is_stand_in
    from graph.usecases.diagnose_job import machine_of

    scheduler, marked, before = understand_script(own.text).scheduler, machine_of(own.text), carried_from(turn)
    here = turn.cluster if turn.settled else None
    if here and not is_stand_in(here) and scheduler in ("none", here.scheduler):
        return here
    marked = None if marked and marked.id == before else marked  # what is left in it of the machine that it comes from
    mentions = turn.utterance.of_kind("Machine") if marked else ()
    goals = {str(one.value) for one in mentions if GOES_TO.search(turn.words, 0, one.start)}
    known = [name for name in turn.utterance.machines() if is_known(turn, name) and name not in goals | {before}]
    named = [turn.context.catalogue.clusters[name] for name in known]
    held = [one for one in (turn.cluster,) if one and not is_stand_in(one)]
    fitting, going_on = ([one for one in some if scheduler in ("none", one.scheduler)] for some in (named, held))
    if marked and (marked in fitting or not fitting):
        return marked
    return next(iter((*fitting, *going_on)), None)


def carried_from(turn: TurnContext) -> str | None:
    """The machine from which the person's own script in hand was carried to another, in its own lines."""
    return turn.request.source_machine if turn.state.get("own") else None


def their_machine(turn: TurnContext) -> tuple[str | None, str]:
    """The machine that nobody described and the script is for, with what was told of it: as this message names it, or
    the thread; where the script is to go is another one."""
    told = None if unknown_target(turn) else machine_told(turn.words)
    if told and turn.context.catalogue.find(told) is None and not (told == YOURS and turn.request.site_words):
        return told, turn.words
    return (turn.request.machine, turn.request.site_words) if turn.request.site_words else (None, "")


def unknown_target(turn: TurnContext) -> str | None:
    """A machine that nobody described and that a script is to be carried to."""
    moves = MOVES.search(turn.words) is not None and turn.utterance.main.share("port", "edit", "write") >= SURE
    named = [one for one in turn.utterance.machines() if is_known(turn, one)]
    return machine_told(turn.words) if moves and not named else None


def is_known(turn: TurnContext, name: str) -> bool:
    return name in turn.context.catalogue.clusters
