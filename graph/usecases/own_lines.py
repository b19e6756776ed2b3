"""Where a line has its place in a person's own script: beside the launch, and under which scheduler."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_record import record_of
from graph.extraction.shell_tree import parse
from graph.planning.directives import PREFIX
from graph.usecases.edit_script import Edited
from knowledge.errors import InputError
from knowledge.types import Scheduler

AS_PATCH = "the script has no place for it that is sure: give it as a patch"
FOREIGN = "it asks a scheduler whose options no field knows: give the changed line as a patch"
# Grid Engine's, Fujitsu's, Cobalt's and OAR's directives.
OF_FOREIGN = re.compile(r"(?m)^#(?:\$ -|PJM|COBALT|OAR)")
NO_SCHEDULER = "the file asks no scheduler for anything: write_script makes a job of it (entry: bash {})"


def scheduler_of(text: str, file: str) -> Scheduler:
    """The scheduler whose directives the script has. Raises InputError where it has none."""
    record = record_of(read_script(text))
    found = next((name for name in PREFIX if name == record.scheduler), None)
    if found is None:
        raise InputError(FOREIGN if OF_FOREIGN.search(text) else NO_SCHEDULER.format(file))
    return found


def beside_launch(now: Edited, line: str, says: str = "", *, after: bool = False) -> Edited:
    """The line before or after the whole statement (its loop too) in which the program is launched.

    Raises InputError where another program, a function or another job's text runs it.
    """
    rows = now.text.split("\n")
    if line in (row.strip() for row in rows) and not after:
        return now
    first, last = launch_rows(read_script(now.text), now.text)
    at = last if after else first
    if after and rows[at : at + 1] == [line]:
        return now
    text = "\n".join([*rows[:at], line, *rows[at:]])
    place = "after" if after else "before"
    return replace(now, text=text, says=(*now.says, says or f"`{line}` {place} the launch"))


def launch_rows(script: ReadScript, text: str) -> tuple[int, int]:
    """The first row (from 0) of the statement with the launch, and the row behind it; without one, of the last.

    Raises InputError where something else runs the launch.
    """
    nodes = [one for one in parse(text).root_node.children if one.type not in ("comment", "&", ";")]
    if not nodes or script.jobs or script.language != "bash":
        raise InputError(AS_PATCH)
    row = script.training.line - 1 if script.training else nodes[-1].start_point[0]
    at = next((n for n, one in enumerate(nodes) if one.start_point[0] <= row <= one.end_point[0]), None)
    if at is None or nodes[at].type == "function_definition":
        raise InputError(AS_PATCH)
    held = nodes[at].text or b""
    waits = [one for one in nodes[at + 1 :] if (one.text or b"").split()[:1] == [b"wait"]]
    end = (waits or [nodes[at]])[-1]
    if held.lstrip().startswith(b"exec "):
        raise InputError(f"line {row + 1} is `exec`: nothing runs after it; {AS_PATCH}")
    behind = end.end_point[0] + (1 if end.end_point[1] else 0)
    return nodes[at].start_point[0], behind
