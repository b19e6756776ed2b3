"""Finds what schedulers printed inside any text: tables, blocks, refusals, with the lines that each stands in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knowledge.long_numbers import short_numbers
from knowledge.schedulers import flux, lsf, pbs, slurm
from knowledge.schedulers.blocks import GOES_ON, pair_block, read_pairs, read_settings, rest_of, setting_block
from knowledge.schedulers.command_lines import COMMAND, block_asked, columns_asked, filters_asked, id_asked, prompted
from knowledge.schedulers.messages import message_at
from knowledge.schedulers.records import Fields, Kind, Phase, QueuedJob, Scheduler, SchedulerOutput
from knowledge.schedulers.tables import CELL, DATA, Column, header_columns, realigned, row_fields, ruled, unplaced

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")
Lines = Sequence[str]
# So many braces that begin no JSON of a scheduler: then none is looked for. Each look goes to the end of the text.
MOST_BROKEN = 50
# Outputs of one text; nobody pastes more, and each may be looked for by each reader.
MOST_OUTPUTS = 4_000
# Characters of the shortest line with which an output begins: `JOBID`.
SHORTEST = 5
Read = list[SchedulerOutput]


def scheduler_output(text: str) -> list[SchedulerOutput]:
    """Every output of a scheduler's command in the text, in order; their lines never overlap.

    `first` and `last` count the lines of `text.split("\\n")` from 0. Words between the outputs belong to nobody here.
    """
    lines = [ANSI.sub("", line) for line in short_numbers(text).split("\n")]
    found: list[SchedulerOutput] = []
    at = broken = 0
    barren: dict[Reader, int] = {}
    while at < len(lines) and len(found) < MOST_OUTPUTS:
        is_json = lines[at].lstrip().startswith("{") and broken < MOST_BROKEN
        short = len(lines[at].strip()) < SHORTEST and not is_json
        if short and not (at and lines[at].strip() and columns_asked(lines[at - 1])):  # nothing begins with it
            at += 1
            continue
        if (
            0 < at < len(lines) - 1
            and lines[at - 1] == lines[at] == lines[at + 1]
            and not (found and found[-1].last == at - 1)
        ):
            at += 1  # what began nothing above begins nothing here
            continue
        here = read_json(lines, at) if is_json else []
        broken += is_json and not here
        readers = (one for one in READERS if barren.get(one, 0) <= at)
        here = here or next((read for reader in readers if (read := reader(lines, at))), [])
        for reader, block in BLOCKS.items() if not here else ():
            # Looked through once: not again from each of its lines.
            if barren.get(reader, 0) <= at and (one := block(lines, at)):
                barren[reader] = one.first + len(one.lines)
        found += [with_id(output, lines) for output in here]
        at = max([at + 1, *(output.last + 1 for output in here)])
    return found


def with_id(output: SchedulerOutput, lines: Lines) -> SchedulerOutput:
    """What the command line above names and its rows do not print: a single job's id, the partition, the state."""
    if output.first == 0:
        return output
    above = lines[output.first - 1]
    asked = filters_asked(above)
    if asked and output.command == "sinfo":
        return replace(output, rows=tuple(tuple((asked | dict(row)).items()) for row in output.rows))
    if asked and output.command == "squeue":
        output = replace(output, jobs=tuple(narrowed(job, asked) for job in output.jobs))
    if len(output.jobs) != 1 or output.jobs[0].id:
        return output
    named = id_asked(above)
    return replace(output, jobs=(replace(output.jobs[0], id=named),)) if named else output


def narrowed(job: QueuedJob, asked: Mapping[str, str]) -> QueuedJob:
    """The job with what `squeue` was narrowed to, as far as its row does not print that itself."""
    state = asked.get("STATE", "")
    if state and not job.state:
        job = replace(job, state=state, phase=slurm.state_phase(state))
    named = {
        "queue": asked.get("PARTITION", ""),
        "user": asked.get("USER", ""),
        "account": asked.get("ACCOUNT", ""),
        "qos": asked.get("QOS", ""),
    }
    return replace(job, **{name: value for name, value in named.items() if value and not getattr(job, name)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class OutputTable:
    """A command's table: the columns it may have, those of which it must have one each, and what a row becomes."""

    scheduler: Scheduler
    command: str
    kind: Kind
    columns: Mapping[str, str]
    needs: tuple[frozenset[str], ...]


def columns_of(row: Mapping[str, Any]) -> Mapping[str, str]:
    """The columns of a table with what stands in each."""
    if by_kind := row.get("columns"):
        return {name: kind for kind, names in by_kind.items() for name in names}
    return slurm.COLUMNS[row["command"]]


TABLES: tuple[OutputTable, ...] = tuple(
    OutputTable(row["scheduler"], row["command"], row["kind"], columns_of(row), tuple(map(frozenset, row["needs"])))
    for row in DATA["tables"]
)


# A state beside one of these, and no job: nodes of sinfo in columns of one's own.
SINFO_ONLY = frozenset(("GRES", "AVAIL", "AVAIL_FEATURES", "HOSTNAMES"))
HEADER = re.compile("|".join(sorted({re.escape(name) for table in TABLES for name in table.needs[0]})))


def read_table(lines: Lines, at: int) -> Read:
    """A table from its header on."""
    if not HEADER.search(lines[at]):
        return []
    for table in TABLES:
        columns = header_columns(lines[at], table.columns)
        names = {column.name for column in columns}
        nodes = (
            table.command == "squeue"
            and "JOBID" not in names
            and (names & SINFO_ONLY or (at and "sinfo" in lines[at - 1]))
        )
        if columns and not nodes and all(names & needed for needed in table.needs):
            start = at + 1
            if table.command == "qstat" and columns[-1].name == "Time":
                # qstat -n1 prints the hosts behind the last column, under no header.
                columns = (*columns, Column("Hosts", "free", columns[-1].end + 1, 10**6))
            if table.command == "pbsnodes":
                names_of = iter(pbs.FREE_OF_ALL)
                columns = tuple(replace(c, name=next(names_of, c.name)) if c.name == "f/t" else c for c in columns)
            if start < len(lines) and (drawn := ruled(columns, lines[start])) != columns:
                columns, start = drawn, start + 1
            return [table_rows(lines, at, start, table, columns)]
    return []


def table_rows(lines: Lines, first: int, at: int, table: OutputTable, columns: Sequence[Column]) -> SchedulerOutput:
    """The rows below a header, each with the lines that tell more of it."""
    jobs: list[QueuedJob] = []
    rows: list[Fields] = []
    columns = realigned(columns, lines[at : at + FEW_ROWS])
    while at < len(lines):
        if at > first + 1 and COMMAND.match(prompted(lines[at])):
            break
        line, below = unbroken(lines[at], table, columns), at + 1
        if not lines[at].strip() and below < len(lines) and jobs and is_row(lines[below], columns):
            at = below
            continue
        fields = row_fields(line, columns)
        if not lines[at].strip() or fields is None or not first_fits(fields, columns):
            break
        said, at = told_below(lines, below, table, columns)
        rows.append(fields)
        jobs += job_of(table, fields, said)
    return SchedulerOutput(
        table.scheduler, table.command, table.kind, first, at - 1, tuple(jobs), () if jobs else tuple(rows)
    )


def unbroken(line: str, table: OutputTable, columns: Sequence[Column]) -> str:
    """A row of qstat -was1 without the comment at its end, which no column holds."""
    found = PBS_COMMENT.search(line) if table.command == "qstat" and columns else None
    return line[: found.start()] if found else line


def is_row(line: str, columns: Sequence[Column]) -> bool:
    fields = row_fields(line, columns)
    return fields is not None and first_fits(fields, columns)


def first_fits(fields: Fields, columns: Sequence[Column]) -> bool:
    """A row names what it is about, and its state where the table has states: a sentence below a table does not."""
    words = " ".join(value for _, value in fields).split()
    if (words[-1:] and words[-1][-1] in "?!") or (len(words) > FEW_WORDS and not re.search(r"[\d|]", " ".join(words))):
        return False
    kinds = {column.kind: value for column, (_, value) in zip(columns, fields, strict=True)}
    about = kinds["id"] if "id" in kinds else fields[0][1]
    exact = [value for column, (_, value) in zip(columns, fields, strict=True) if column.kind in ("count", "number")]
    return (
        any(character.isalnum() for character in about)
        and bool(kinds.get("state", "-"))
        and (any(exact) or not exact or "id" in kinds)
    )


# Rows by which a header is put over its columns again.
FEW_ROWS = 4
# No table has a row of more words than these without a number in it.
FEW_WORDS = 4
PBS_COMMENT = re.compile(r"\s(?:Not Running|Can Never Run|Job run at|Job held|Job Array)\b.*")
LSF_REASON = re.compile(r"\s+\S.*;?\s*|.*(?:;|hosts?\)?:)\s*")
COMMENT_BELOW = re.compile(r"\s{2,}\S.*|\s*(?:Not Running|Can Never Run|Job held|job held).*")


def told_below(lines: Lines, at: int, table: OutputTable, columns: Sequence[Column]) -> tuple[list[str], int]:
    """The reasons below a row of bjobs and the comment below one of qstat, and the line behind them."""
    shape = {"bjobs": LSF_REASON, "qstat": COMMENT_BELOW}.get(table.command)
    said: list[str] = []
    if table.command == "qstat" and (found := PBS_COMMENT.search(lines[at - 1])):
        said.append(found.group().strip())
    while shape and at < len(lines) and shape.fullmatch(lines[at]) and not is_row(lines[at], columns):
        said.append(lines[at].strip().rstrip(";"))
        at += 1
    return said, at


def job_of(table: OutputTable, fields: Fields, said: Sequence[str]) -> list[QueuedJob]:
    if table.command == "bjobs":
        return [lsf.listed_job(fields, said)]
    if table.command == "qstat":
        return [pbs.table_job(fields, " ".join(said))]
    rows = {"squeue": slurm.queue_job, "flux jobs": flux.listed_job, "sacct": slurm.accounted_job}
    made = rows.get(table.command)
    return [made(fields)] if made else []


# The default columns of each command, for rows pasted without their header.
DEFAULTS: tuple[tuple[OutputTable, tuple[str, ...]], ...] = tuple(
    (next(table for table in TABLES if table.command == row["command"]), tuple(row["columns"]))
    for row in DATA["defaults"]
)


PHASES: Mapping[Scheduler, Callable[[str], Phase]] = {
    "slurm": slurm.state_phase,
    "pbs": pbs.phase_of,
    "lsf": lsf.phase_of,
    "flux": flux.phase_of,
}


SETTING_BEHIND = re.compile(r"\s{2,}([A-Za-z]\w*) = (\S+)\s*$")


def read_bare_row(lines: Lines, at: int) -> Read:
    """A row that stands there without its header: every cell filled, and a state where the state stands."""
    # `Hold_Types = u` behind the row is the person's own note of a setting.
    noted = SETTING_BEHIND.search(lines[at])
    row = lines[at][: noted.start()] if noted else lines[at]
    words = row.split()
    if len(words) < 6 or not CELL["id"].fullmatch(words[0]):
        return []
    for table, names in DEFAULTS:
        state = next(i for i, name in enumerate(names) if table.columns[name] == "state" or name == "State")
        if table.scheduler != "flux" and words[0][0] in "ƒf":
            continue
        if state >= len(words) or PHASES[table.scheduler](words[state]) == "unknown" or words[state].islower():
            continue
        columns = unplaced(table.columns, names)
        fields = row_fields(unbroken(row, table, columns), columns)
        if fields is None or not all(value for _, value in fields):
            continue
        fields = (*fields, (noted[1], noted[2])) if noted else fields
        said, behind = told_below(lines, at + 1, table, columns)
        return [
            SchedulerOutput(
                table.scheduler, table.command, table.kind, at, behind - 1, (job_of(table, fields, said)[0],)
            )
        ]
    return []


STATE_WORDS = {word for _, word, _ in slurm.STATES}
MOST_CELLS = 6


def read_state_row(lines: Lines, at: int) -> Read:
    """A row of columns that nothing names, as `sacct -nP -o` prints it: an id, a state in full, an exit code."""
    line = lines[at].strip()
    cells = [cell.strip() for cell in line.split("|")] if "|" in line else line.split()
    state = next((cell for cell in cells[1:] if cell.split(" ")[0].rstrip("+") in STATE_WORDS), "")
    if not state or len(cells) > MOST_CELLS or not re.fullmatch(r"\d{3,}(?:_\d+)?", cells[0]):
        return []
    code = next((cell for cell in cells if re.fullmatch(r"\d{1,3}:\d{1,3}", cell)), "")
    if not all(cell == state or not re.search(r"[A-Za-z]{2}", cell) for cell in cells):
        return []
    fields = (("JobID", cells[0]), ("State", state), ("ExitCode", code))
    return [SchedulerOutput("slurm", "sacct", "accounting", at, at, (slurm.accounted_job(fields),))]


def read_asked_columns(lines: Lines, at: int) -> Read:
    """Rows without a header beside a command line that names their columns: `squeue -h -o "%i %l"`, `sacctmgr -nP`."""
    asked = (columns_asked(lines[at - 1]) if at else None) or (
        columns_asked(lines[at + 1]) if "|" in lines[at] and at + 1 < len(lines) else None
    )
    if not asked or not lines[at].strip():
        return []
    command, names, job = asked
    table = next(t for t in TABLES if t.command == command)
    whole = {name.lower(): name for name in table.columns} | SACCTMGR_LONG
    columns = unplaced(table.columns, [whole.get(name.lower(), name) for name in names])
    end = at + 1
    while end < len(lines) and same_shape(lines[at], lines[end], command):
        end += 1
    rows = [fields for line in lines[at:end] if (fields := row_fields(line, columns)) is not None]
    jobs = [replace(made, id=made.id or job) for fields in rows for made in job_of(table, fields, ())]
    if not rows:
        return []
    return [
        SchedulerOutput(table.scheduler, command, table.kind, at, end - 1, tuple(jobs), () if jobs else tuple(rows))
    ]


def same_shape(first: str, line: str, command: str) -> bool:
    """Whether a line is one more row: as many bars, or (of sinfo and squeue: no blanks in cells) as many words."""
    if "|" in first:
        return line.count("|") == first.count("|")
    return (
        command in ("sinfo", "squeue", "flux jobs") and len(line.split()) == len(first.split()) and not prompted(line)
    )


# Long names that `sacctmgr` takes in format= (https://slurm.schedmd.com/sacctmgr.html, read 2026-11-22).
SACCTMGR_LONG = {
    "maxtresperuser": "MaxTRESPU",
    "maxtresperaccount": "MaxTRESPA",
    "maxtresperjob": "MaxTRES",
    "maxwalldurationperjob": "MaxWall",
    "maxjobsperuser": "MaxJobsPU",
    "maxsubmitjobsperuser": "MaxSubmitPU",
}


def read_pair_blocks(lines: Lines, at: int) -> Read:
    """Blocks of scontrol, whole or in part."""
    block = pair_block(lines, at)
    if block is None:
        return []
    found: Read = []
    for part in slurm.split_blocks(block):
        pairs = read_pairs(part.lines)
        asked, name = block_asked(lines[part.first - 1]) if part.first else ("", "")
        known = (slurm.ASKED.get(asked) or slurm.block_kind(pairs)) if pairs else None
        if known is None:
            continue
        command, kind = known
        if asked not in ("", "job") and name and slurm.HEADS[asked] not in dict(pairs):
            pairs = ((slurm.HEADS[asked], name), *pairs)
        jobs = (slurm.block_job(pairs),) if kind == "jobs" else ()
        rows = () if jobs else (pairs,)
        found.append(SchedulerOutput("slurm", command, kind, part.first, part.first + len(part.lines) - 1, jobs, rows))
    return found


def read_job_settings(lines: Lines, at: int) -> Read:
    """A job of `qstat -f`, from its head or from a setting that only a job of PBS has."""
    head = pbs.JOB_HEAD.fullmatch(lines[at])
    block = setting_block(lines, at + 1 if head else at)
    if block is None:
        return []
    settings = read_settings(block.lines)
    if not head and not any(pbs.JOB_SETTINGS.fullmatch(name) for name, _ in settings):
        return []
    job = pbs.settings_job(head[1] if head else "", settings)
    return [SchedulerOutput("pbs", "qstat -f", "jobs", at, block.first + len(block.lines) - 1, (job,))]


# What Maui's and Moab's checkjob says of a job of Torque.
BLOCKED = re.compile(r"(?:BLOCK MSG|NOTE): +(job .*?)(?: \(recorded .*)?$|Holds: +(?=\w+ +\()(.*)$")


SETTING_BESIDE = re.compile(r"(?:^|[ ,])(queue|Resource_List\.\w+|Job_Owner|Hold_Types) = ([^,\n]+?)(?=,|$)")


def read_comment(lines: Lines, at: int) -> Read:
    """A comment of PBS's scheduler by itself, wherever it was copied from."""
    found = re.search(r"(?:comment\s*[=:]\s*)?((?:Not Running|Can Never Run): .*)", lines[at]) or BLOCKED.match(
        lines[at]
    )
    if not found or lines[at][: found.start()].count(" ") > 12:
        return []
    end = at + 1
    while end < len(lines) and GOES_ON.match(lines[end]):
        end += 1
    comment = "".join([found[found.lastindex or 1], *map(rest_of, lines[at + 1 : end])])
    # Several settings in one line, as a person writes them behind each other.
    beside = tuple(pair for pair in SETTING_BESIDE.findall(lines[at]))
    job = pbs.settings_job(id_asked(lines[at][: found.start()]), (("comment", comment), *beside))
    return [SchedulerOutput("pbs", "qstat -s", "jobs", at, end - 1, (job,))]


LONG_END = re.compile(r"\s*(?:SCHEDULING PARAMETERS|RESOURCE REQUIREMENT DETAILS|EXTERNAL MESSAGES)|-{10,}")
PENDING_HEAD = re.compile(r"\s*PENDING REASONS:\s*")


def read_long_jobs(lines: Lines, at: int) -> Read:
    """A job of `bjobs -l`: head, events, reasons, and the table of load limits that follows."""
    if not lsf.LONG_HEAD.match(lines[at]):
        return []
    end = at + 1
    while end < len(lines) and not lsf.LONG_HEAD.match(lines[end]) and not prompted(lines[end]):
        if not lines[end].strip() and not more_of_long(lines, end):
            break
        end += 1
    body = lines[at:end]
    cut = next((i for i, line in enumerate(body) if PENDING_HEAD.fullmatch(line)), len(body))
    stop = next((i for i, line in enumerate(body) if i > cut and (LONG_END.match(line) or not line.strip())), len(body))
    told = behind_reasons(body, cut, stop)
    if told < stop == len(body):  # what the person wrote right below the reasons
        end, body = at + told, body[:told]
    stop = told
    reasons = [line.strip().rstrip(";") for line in body[cut + 1 : stop]]
    events = next((i for i, line in enumerate(body) if i and not line.startswith(" " * 10)), len(body))
    job = lsf.long_job(lsf.unwrapped(body[:events]), lsf.unwrapped(body[events:cut]), reasons)
    return [SchedulerOutput("lsf", "bjobs -l", "jobs", at, end - 1, (job,))]


PART_OF_LONG = re.compile(
    r"\s*(?:[\w./]+>, )?,? ?(?:Dependency Condition <|Specified (?:Hosts|start time) <)|\s*PENDING REASONS:"
)


def read_long_part(lines: Lines, at: int) -> Read:
    """The dependency and the reasons cut out of `bjobs -l` (by grep), without the job's head."""
    end = at
    while end < len(lines) and lines[end].strip() and not prompted(lines[end]) and PART_OF_LONG.match(lines[at]):
        end += 1
    if end == at:
        return []
    cut = next((i for i in range(at, end) if PENDING_HEAD.fullmatch(lines[i])), end)
    end = behind_reasons(lines, cut, end)
    reasons = [line.strip().rstrip(";") for line in lines[cut + 1 : end]]
    job = replace(lsf.long_job("", lsf.unwrapped(lines[at:cut]), reasons), state="PEND", phase="waiting")
    return [SchedulerOutput("lsf", "bjobs -l", "jobs", at, end - 1, (job,))]


def behind_reasons(lines: Lines, head: int, end: int) -> int:
    """The line behind the reasons below that heading: LSF indents them, or ends them by a semicolon."""
    return next((i for i in range(head + 2, end) if not LSF_REASON.fullmatch(lines[i])), end)


def more_of_long(lines: Lines, at: int) -> bool:
    """Whether the empty line stands inside the long form: what follows is indented or one of its headings."""
    return at + 1 < len(lines) and bool(re.match(r" |\s*(?:PENDING|SCHEDULING|RESOURCE|EXTERNAL)", lines[at + 1]))


def read_events(lines: Lines, at: int) -> Read:
    """The events of one job of Flux."""
    end, events = at, list[tuple[str, str]]()
    while end < len(lines) and (event := flux.event_of(lines[end])):
        events.append(event)
        end += 1
    if not events or (len(events) == 1 and "=" not in events[0][1]):
        return []
    job = flux.job_of_events("", tuple(events))
    return [SchedulerOutput("flux", "flux job eventlog", "events", at, end - 1, (job,))]


def read_json(lines: Lines, at: int) -> Read:
    """The JSON of squeue, sacct, qstat, bjobs or flux; the line begins with a brace."""
    text = "\n".join(lines[at:])
    try:
        value, length = json.JSONDecoder().raw_decode(text.lstrip())
    except RecursionError:  # too deep for anything that a scheduler prints
        return []
    except ValueError:
        return read_cut_json(lines, at)
    from knowledge.schedulers.json_forms import output_of_json

    last = at + text.lstrip()[:length].count("\n")
    try:
        output = output_of_json(value, at, last)
    except (AttributeError, TypeError, ValueError):  # text where an object belongs: no scheduler printed it
        output = None
    return [output] if output else []


JSON_LINE = re.compile(r"\s*[\]\[{}\"].*")
MOST_CUT = 2000


def read_cut_json(lines: Lines, at: int) -> Read:
    """JSON of which only the first lines were pasted (`| head -60`): read up to its last whole value."""
    end = at
    while end < len(lines) and end < at + MOST_CUT and JSON_LINE.fullmatch(lines[end]):
        end += 1
    body = "\n".join(lines[at:end]).rstrip().rstrip(",")
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", body)
    opened: list[str] = []
    for sign in re.findall(r"[\[\]{}]", bare):
        if sign in "[{":
            opened.append("]" if sign == "[" else "}")
        elif opened:
            opened.pop()
    try:
        value = json.loads(body + "".join(reversed(opened))) if opened else None
    except (ValueError, RecursionError):
        return []
    from knowledge.schedulers.json_forms import output_of_json

    output = output_of_json(value, at, end - 1)
    return [output] if output else []


def read_message(lines: Lines, at: int) -> Read:
    """What a command said in words."""
    found = message_at(lines[at])
    return [SchedulerOutput(found[0], found[1], "refusal", at, at, message=lines[at].strip())] if found else []


Reader = Callable[[Lines, int], Read]
READERS: tuple[Reader, ...] = (
    read_table,
    read_asked_columns,
    read_long_jobs,
    read_long_part,
    read_job_settings,
    read_pair_blocks,
    read_events,
    read_message,
    read_comment,
    read_bare_row,
    read_state_row,
)
# What the block is that a reader looks at: where it found nothing in one, a later line of it begins nothing either.
BLOCKS = {read_job_settings: setting_block, read_pair_blocks: pair_block}
