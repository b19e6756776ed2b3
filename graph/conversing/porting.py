"""A port of the person's own script in their own lines, as the model gives it: the machine's checks judge it, and each
of their lines that is in it no more is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.conversation.script_job import machine_for
from graph.conversation.scripts import made_of
from graph.conversing.changing import GIVEN_UP, MOST_REFUSED, change_own, changed_text, faults_of_text, in_its_lines
from graph.conversing.ground import stands
from graph.conversing.hand import REMARK, Hand
from graph.conversing.rewriting import key
from graph.conversing.tools import Swap
from graph.extraction.script import read_script
from graph.extraction.script_record import understand_script
from graph.nodes.verify import worded
from graph.undescribed import is_stand_in
from graph.verification.checks import check
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.script_keys import keys_from_shell
from knowledge.types import Paste

OTHER_SCHEDULER = "their script is for {}, {} runs {}: without text, by port_script"
REFUSED = "not ported; the checks for {} refuse it: {}"
GONE = "lines of theirs that it has no more (tell each, and why): {}"
LOADS = re.compile(r"\s*(?:module|ml)\b")
# A word of a line by which it is known, and those that stand in many.
SHORTEST = 5
PART = re.compile(rf"[\w./%@-]{{{SHORTEST},}}")
DIRECTIVE_SIGN = re.compile(r"^#\s?(?:sbatch|pbs|bsub|flux:)\s+")
COMMON = frozenset({"sbatch", "export", "module", "source", "python", "python3", "activate"})
SETS = re.compile(r"\s*(?:export\s+)?(\w+)(?==)")


def port_text(
    hand: Hand, cluster: Cluster, patch: Sequence[Swap], text: str, given: Mapping[str, Any] | None = None
) -> str:
    """The script in hand as it is to run on another machine of the same scheduler, by its changed text.

    given: fields that change beside it. Raises InputError with what the machine's checks find.
    """
    source, facts = hand.script(), None if is_stand_in(cluster) else cluster
    scheduler = understand_script(source.text).scheduler
    if facts and scheduler not in ("none", facts.scheduler):
        raise InputError(OTHER_SCHEDULER.format(scheduler, facts.title, facts.scheduler))
    if hand.refused >= MOST_REFUSED:
        raise InputError(GIVEN_UP)
    now, kept = changed_text(hand, source, patch, text)
    now, keys = keys_from_shell(now)
    came_from = machine_for(hand.now(), source)
    request = replace(hand.on(hand.name_of(cluster), hand.request), source_machine=None)
    if faults := faults_of_text(hand, request, now, facts):
        hand.refused += 1
        raise InputError(REFUSED.format(cluster.title, "; ".join(faults[:5])))
    own = Paste(source.name, in_its_lines(source.text, now))
    theirs = came_from.id if came_from and came_from.id != cluster.id else None
    hand.set(request=replace(request, source_machine=theirs))
    made = made_of(hand.now(), own, *keys, before=source)
    hand.ported = hand.ported or source.text
    told = [hand.adopt(made), kept]
    told += [worded(one) for one in check(now, facts) if one.severity == "warning"]
    if gone := gone_lines(source.text, now):
        told.append(GONE.format("; ".join(gone)))
    told += [change_own(hand, own, given)] if given else []
    return "\n".join(filter(None, told))


def gone_lines(before: str, after: str) -> list[str]:
    """The lines that did something in a script and have no counterpart in the other: the same option, the same name,
    the same command. Of modules, each other line is told."""
    old, new = read_script(before), read_script(after)
    kept = {at.line: name in new.active for name, at in old.active.items()}
    rows, there = before.splitlines(), {row.strip() for row in after.splitlines()}
    names = set(map(name_of, after.splitlines()))
    return [
        row.strip()
        for at, row in enumerate(rows, 1)
        if not REMARK.match(row)
        and not row.startswith("#!")
        and row.strip() not in there
        and not rows[at - 2].rstrip().endswith("\\")
        and not kept.get(at, bool(not LOADS.match(row) and name_of(row) in names))
        and not is_within(row, there)
    ]


def is_within(row: str, others: Iterable[str]) -> bool:
    """Whether most words of a command stand in another line: behind a wrapper, or in another launch."""
    words = row.split()
    return len(words) > 2 and any(2 * sum(one in other.split() for one in words) > len(words) for other in others)


def name_of(row: str) -> str:
    """What a line sets or runs."""
    found = SETS.match(row)
    return found[1] if found else key(row)


def untold(lines: Iterable[str], words: str) -> list[str]:
    """The lines of which the words name nothing: neither what they set, nor a value that tells them."""
    said = words.lower()

    def is_named(row: str) -> bool:
        bare = DIRECTIVE_SIGN.sub("", row.lower())
        parts = {part.strip("-") for part in PART.findall(bare)}
        parts |= {name for part in parts for name in part.strip("/").split("/")[1:] if len(name) >= SHORTEST}
        return stands(bare, said) or any(part in said for part in parts - COMMON)

    return [one for one in lines if not is_named(one)]
