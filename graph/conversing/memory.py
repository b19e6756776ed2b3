"""What a thread keeps of a turn for the next: the words, the answer, what tools found, what a scheduler printed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.conversing.briefing import as_typed
from graph.conversing.earlier import still_offered
from graph.conversing.hand import cut, in_outline, shortened
from graph.reading.message import DIRECTIVE, SHEBANG
from graph.state import State
from knowledge.schedulers.outputs import scheduler_output
from knowledge.types import Exchange, Grounds, Paste

TURNS_KEPT, MOST_SAID, MOST_ANSWERED, MOST_OF_FILE, FILES_KEPT = 6, 3000, 6000, 4000, 4
# Tools whose answers are facts that hold in the next turns too; letters of one of them, of a turn's, of
# their rows, and before a row that stays in any case.
LOOKUPS = frozenset(
    ("cluster_facts", "compare_clusters", "plan_resources", "search_knowledge", "ask_rules", "explain_pending")
)
MOST_FOUND, MOST_OF_TURN, LONGEST_ROW, SHALLOW = 600, 1200, 150, 2
MOST_PRINTED = 6000
# What stands around a tool's facts: how they are shown, fields without news, the same once more as data.
AROUND = re.compile(r"\[\[T\d+\]\] shows .*|(?:id|title|old|as_of|known|fits|text|machine|notice|more):.*|\(read as .*")
AS_DATA = re.compile(r"^options:\n", re.M)
FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})(\w*)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.M | re.S)
# So many lines are advice on a script, no script.
FEW_LINES = 6
# A block is the script in hand where more of its lines than this stand there.
HELD = 0.6
SCRIPT_NAME = re.compile(r"\b[\w-][\w.-]*\.(?:sh|sbatch|slurm|pbs|lsf|flux|job)\b")
SHOWN = "[the script or its difference was shown]"
OF_DIFF = re.compile(r"(?m)^(?:--- .*\n\+\+\+ |@@ )")


def remembered(
    after: State,
    before: State,
    words: str,
    answered: str | None = None,
    grounds: Grounds | None = None,
    found: Mapping[str, str] | None = None,
) -> State:
    """The state with this turn added to what a model is told of the talk, and to what its answers may stand on.

    words: the person's own, whole; answered: the answer, that of the rules where it is None; found: what
    tools answered, by their calls.
    """
    told = answered if answered is not None else " ".join(getattr(one, "text", "") for one in after.get("said", ()))
    one = Exchange(
        shortened(as_typed(words, after.get("text", "")), MOST_SAID),
        in_outline(without_scripts(told, after), MOST_ANSWERED),
        facts_in_short(found or {}),
    )
    kept = State(grounds=grounds) if grounds else State()
    open_ = still_offered(before, after, words)
    return State(**{**after, **kept, "earlier": open_, "talk": (*before.get("talk", ()), one)[-TURNS_KEPT:]})


def without_scripts(text: str, after: State) -> str:
    """The answer without the script in hand and differences of it: that one is told with each message anyway."""
    own, bundle = after.get("own"), after.get("bundle")
    in_hand = own.text if own else bundle.script if bundle else ""
    lines = {row.strip() for row in in_hand.splitlines() if row.strip()}

    def shown(found: re.Match[str]) -> str:
        rows = [row.strip() for row in found[3].splitlines() if row.strip()]
        held = sum(row in lines for row in rows) > HELD * len(rows)
        is_script = is_job_script(found[3]) and held
        return SHOWN if is_script or found[2] == "diff" or OF_DIFF.search(found[3]) else found[0]

    return FENCED.sub(shown, text)


def is_job_script(text: str) -> bool:
    """Whether a block of code is a script of a job, and more than a few lines of one."""
    rows = text.splitlines()
    return len(rows) > FEW_LINES and any(SHEBANG.match(row) or DIRECTIVE.match(row) for row in rows)


def script_told(answer: str) -> Paste | None:
    """The one job script that an answer's own words hold, by the name that they give it."""
    scripts = [found[3] for found in FENCED.finditer(answer) if is_job_script(found[3]) and SHEBANG.match(found[3])]
    named = SCRIPT_NAME.search(FENCED.sub("", answer))
    return Paste(named[0] if named else "job.sh", scripts[0]) if len(scripts) == 1 else None


def named_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call of a tool in a line: its name and the values that it was given."""
    values = (" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in arguments.values())
    return f"{tool} {', '.join(values)}"[:LONGEST_ROW]


def facts_in_short(found: Mapping[str, str]) -> tuple[str, ...]:
    """What tools answered, by the rows that say something, each cut; the newest of them where they are too many."""
    told: list[str] = []
    for call, text in reversed(list(found.items())):
        rows = (row.rstrip() for row in AS_DATA.split(text)[0].splitlines())
        kept = [row_in_short(row) for row in rows if row.strip() and not AROUND.match(row)]
        while len("\n".join(kept)) > MOST_FOUND and (deepest := max(map(depth, kept))) > SHALLOW:
            kept = [row for row in kept if depth(row) < deepest]  # what is indented tells more of the line above it
        one = f"{call}:\n{shortened(chr(10).join(kept), MOST_FOUND)}"
        if sum(map(len, told)) + len(one) > MOST_OF_TURN and told:
            break
        told.insert(0, one)
    return tuple(told)


def row_in_short(row: str) -> str:
    """A row of facts up to a word's end, with the pages that it cites."""
    if len(row) <= LONGEST_ROW:
        return row
    begins = row[:LONGEST_ROW].rpartition(" ")[0]
    return " ".join([begins, "..", *re.findall(r"\[\d+\]", row[len(begins) :])])


def depth(row: str) -> int:
    """How far a row is indented, in letters."""
    return len(row) - len(row.lstrip())


def with_files(before: Sequence[Paste], now: Sequence[Paste]) -> tuple[Paste, ...]:
    """The files beside the scripts, the newest last: one that comes again takes the place of its older text."""
    came = [replace(one, text=cut(one.text, MOST_OF_FILE), path="") for one in now]
    names = [one.name for one in came]
    return (*(one for one in before if one.name not in names), *came)[-FILES_KEPT:]


def newest_output(before: str, now: str) -> str:
    """What schedulers printed so far: what is printed again of the same jobs takes the place of the earlier, all else
    stays, the newest last."""
    new = printed(now)
    again = {(command, job) for command, jobs, _ in new for job in jobs}
    kept: list[str] = []
    for command, jobs, text in printed(before):
        left = [job for job in jobs if (command, job) not in again]
        if left == list(jobs):
            kept.append(text)
        elif left:
            gone = [job for job in jobs if job not in left]
            kept.append("\n".join(row for row in text.splitlines() if not any(job and job in row for job in gone)))
    parts = [*kept, *(text for _, _, text in new)]
    while len(parts) > 1 and sum(map(len, parts)) > MOST_PRINTED:
        parts.pop(0)
    return "\n".join(parts)


def printed(text: str) -> list[tuple[str, tuple[str, ...], str]]:
    """The outputs of a text: the command, the ids of its jobs, the lines; the text itself where none is known."""
    if not text.strip():
        return []
    rows = text.split("\n")
    found: list[tuple[str, tuple[str, ...], str]] = [
        (
            one.command,
            tuple(job.id for job in one.jobs) or (rows[one.first],),
            "\n".join(rows[one.first : one.last + 1]),
        )
        for one in scheduler_output(text)
    ]
    return found or [("", (text,), text)]
