# ruff: noqa: E501
"""Can the scheduler read what a directive asks for? Values: times, placeholders, variables, PBS chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from graph.extraction.directives import DirectiveLine
from graph.verification.checks import sources
from graph.verification.checks.directive_rules import own_lines, seen
from graph.verification.checks.option_tables import SUBMITS, TIME_OPTION, WALLTIME_FORMS, WALLTIMES
from graph.verification.checks.rule import Hit, Rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.template_rules import HOLE
from knowledge.slurm_options import slurm_options

ANGLE = re.compile(
    r"<[A-Za-z][\w .:/@-]*>|^<\w|\[(?:your|my|account|project|partition|queue)[\w -]*\]|\{\{?\s*[a-z_]+\s*\}\}?", re.I
)
STANDS_FOR = re.compile(
    r"(your|my)[-_ ]?\w*(account|project|allocation|partition|queue|group|budget|bank|email|name)\w*|change[-_]?me\w*|x{3,}|\?{2,}|\.{3}"
    r"|todo\w*|fixme|insert[-_]\w+|(account|project|allocation|partition|queue|grp|proj)[-_]?(name|id|here|code)|<.*>",
    re.I,
)
OF_SUBMIT = re.compile(r"SLURM_SUBMIT_DIR")
NAMED = ("account", "project", "group", "bank", "partition", "queue", "qos", "reservation", "mail-user")
# Options whose value is any text: a variable in it is a name with a dollar sign, not a refusal.
TAKEN_AS_TEXT = frozenset({"output", "error", "input", "chdir", "mail-user", "export", "job-name", "wckey"})
COUNTS = {
    "nodes": r"\d+k?(-\d+k?)?(,.*)?|\d+-\d+:\d+",
    "ntasks": r"\d+",
    "ntasks-per-node": r"\d+",
    "cpus-per-task": r"\d+",
    "time": r".*",
}
# sbatch's letters in a file's name, and the variables that hold the same (sbatch(1), "filename pattern").
IN_LOG_NAMES = {"j": "SLURM_JOB_ID", "A": "SLURM_ARRAY_JOB_ID", "a": "SLURM_ARRAY_TASK_ID", "u": "USER"}
NOT_EXPANDED = {"slurm": "sbatch", "pbs": "qsub"}


def walltime_format(s: Subject) -> Iterator[Hit]:
    form = WALLTIMES.get(s.scheduler)
    for one in own_lines(s):
        if form is None or not seen(one) or one.option != TIME_OPTION[s.scheduler]:
            continue
        if not form.fullmatch(one.value) and "$" not in one.value and not ANGLE.search(one.value):
            new = rewritten(s.scheduler, one.value)
            says = f"'{one.value}' is no walltime: write {WALLTIME_FORMS[s.scheduler]}"
            edit = s.swapped(one.line, one.value, new) if new and one.value else None
            yield Hit(one.line, says, f"{SUBMITS[s.scheduler]} refuses a time that it cannot read", edit=edit)


def walltime_short(s: Subject) -> Iterator[Hit]:
    """`--time=01:00` is one minute: two numbers are minutes and seconds."""
    time, option = s.job.walltime, TIME_OPTION.get(s.scheduler, "")
    one = s.job.asked.get(option)
    if time is not None and one is not None and 0 < time <= 120 and one.value.count(":") == 1:
        yield Hit(one.line, f"'{one.value}' is {time:.0f} seconds")


def rewritten(scheduler: str, text: str) -> str | None:
    """The same time as this scheduler writes it; None where it is not clear."""
    clock = re.fullmatch(r"(\d+):(\d{2}):(\d{2})", text)
    unit = re.fullmatch(r"(\d+)\s*(d|h|hours?|m|min|minutes?)", text, re.I)
    if clock:
        minutes = int(clock[1]) * 60 + int(clock[2]) + (1 if int(clock[3]) else 0)
    elif unit:
        minutes = int(unit[1]) * {"d": 1440, "h": 60, "m": 1}[unit[2][0].lower()]
    else:
        return None
    if scheduler == "lsf":
        return f"{minutes // 60}:{minutes % 60:02d}"
    return f"{minutes}m" if scheduler == "flux" else f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def placeholder(s: Subject) -> Iterator[Hit]:
    """Not an error: it is for a person to fill in, and nobody else can. All of them are one finding."""
    found = {one.line: one for one in own_lines(s) if seen(one) and (is_gap(s, one) or is_empty(s, one))}
    if not found:
        return
    first, *others = sorted(found)
    one = found[first]
    holds = f"still holds the placeholder '{one.value}'" if one.value else "has no value"
    says = f"{one.written.split()[-1]} {holds}: put your own there"
    if others:
        says += f"; so do lines {', '.join(map(str, others[:6]))}{' and more' if len(others) > 6 else ''}"
    yield Hit(first, says)


def is_empty(s: Subject, one: DirectiveLine) -> bool:
    """Whether an option of Slurm that takes a value has none. An empty count has an error of its own."""
    option = slurm_options().options.get(one.option) if s.scheduler == "slurm" and not one.value else None
    return option is not None and "sbatch" in option.commands and option.takes == "value" and one.option not in COUNTS


def is_gap(s: Subject, one: DirectiveLine) -> bool:
    """Whether a person still has to fill in the value of a directive."""
    word = None if "$" in one.value or (s.scheduler == "flux" and "{{" in one.value) else ANGLE.search(one.value)
    named = one.option in NAMED and (STANDS_FOR.fullmatch(one.value) or re.match(r"YOUR_[A-Z]+", one.value))
    open_ = "$" not in one.raw and (word or has_hole(one.raw))
    return bool((open_ and "%" not in one.value and not s.script.jobs) or named)


@lru_cache(maxsize=256)
def has_hole(raw: str) -> bool:
    """Whether a directive line has a gap. Kept: each of a line's directives asks for it again."""
    return bool(HOLE.search(raw.partition(" #")[0]))


def variable(s: Subject) -> Iterator[Hit]:
    """`--output=$HOME/x`: the shell never sees a directive."""
    tool = NOT_EXPANDED.get(s.scheduler)
    for one in own_lines(s):
        found = re.search(r"\$\{[^}]*\}|\$\w+|\$\(", one.value)
        if (
            not tool
            or not found
            or not seen(one)
            or s.script.jobs
            or one.option in ("variables", "comment", "attributes")
        ):
            continue
        if s.scheduler == "pbs" and one.option in ("output", "error"):
            continue  # some of PBS's descendants expand $PBS_JOBID there
        weight = "warning" if one.option in TAKEN_AS_TEXT else "error"
        instead = (
            ": write the path itself, or %x and %j"
            if s.scheduler == "slurm" and weight == "warning"
            else ": write the value itself"
        )
        says = f"{found[0]} is not expanded in a directive{instead}"
        why = f"{tool} reads directives itself, as comments, and knows no shell variables"
        yield Hit(one.line, says, why, severity="warning" if weight == "warning" else None)


def number_format(s: Subject) -> Iterator[Hit]:
    """Counts that are no numbers, such as `--nodes=two`."""
    shapes = {
        "slurm": COUNTS,
        "flux": {"nodes": r"\d+(-\d+)?\+?(:.*)?", "nslots": r"\d+", "gpus-per-slot": r"\d+"},
        "lsf": {"nodes": r"\d+(,\d+|!)?"},
    }.get(s.scheduler, {})
    for one in own_lines(s):
        shape = shapes.get(one.option)
        plain_value = (
            seen(one) and "$" not in one.value and not ANGLE.search(one.value) and not one.value.startswith("=")
        )
        if shape and plain_value and not re.fullmatch(shape, one.value):
            given = f"'{one.value}' is no count" if one.value else "no count is given"
            yield Hit(one.line, f"{one.written}: {given}", f"{SUBMITS[s.scheduler]} refuses the script")


def pbs_select(s: Subject) -> Iterator[Hit]:
    if s.scheduler != "pbs":
        return
    lines = [one for one in own_lines(s) if one.active]
    options = {one.option for one in lines}
    for one in lines:
        blank = re.search(r"-l\s+\S+,\s+\w+=", one.raw) or re.search(r"-l\s+\w+\s+=|-l\s+\w+=\s", one.raw)
        if blank:
            yield Hit(one.line, "a blank stands inside the resource list", "qsub reads only up to the blank and refuses the rest",
                      edit=s.swapped(one.line, blank[0], squeezed(blank[0])))  # fmt: skip
        elif one.option == "select" and not re.fullmatch(
            r"\d+(:[\w.-]+=[^:+=\s]+)*(\+\d+(:[\w.-]+=[^:+=\s]+)*)*", one.value
        ):
            if "$" not in one.value and not ANGLE.search(one.value):
                says = f"'select={one.value}' is no list of chunks: write select=NODES:name=value"
                yield Hit(one.line, says, "qsub refuses a selection that it cannot read")
        elif one.option == "select" and re.search(r":ppn=", one.value):
            yield Hit(one.line, "ppn belongs to -l nodes=; in a chunk it is mpiprocs", "qsub knows no chunk resource ppn",
                      edit=s.swapped(one.line, ":ppn=", ":mpiprocs="))  # fmt: skip
        elif one.option in ("nodes", "ncpus", "ngpus", "mpiprocs") and "select" in options:
            says = f"-l {one.option} stands beside -l select"
            yield Hit(one.line, says, f"qsub refuses both together: put {one.option} into the chunks")


def squeezed(text: str) -> str:
    return re.sub(r"\s*([=,])\s*", r"\1", text)


def late_folder(s: Subject) -> Iterator[Hit]:
    """A folder of the log that the job itself makes: Slurm opens the log before the script runs."""
    names = {**{name: f"%{letter}" for letter, name in IN_LOG_NAMES.items()}, "SLURM_JOB_NAME": s.job.value("job-name")}
    made = {
        re.sub(r"\$\{?(\w+)\}?", lambda found: names.get(found[1], found[0]), word)
        .removeprefix("./")
        .rstrip("/"): one.line
        for one in s.script.commands
        if one.name == "mkdir" and one.outer is None and not one.inside
        for word in one.argv[1:]
    }
    away = [
        one.line
        for one in s.script.commands
        if one.name in ("cd", "pushd") and not OF_SUBMIT.search(" ".join(one.written))
    ]
    for one in (s.job.asked[name] for name in ("output", "error") if name in s.job.asked):
        folder = one.value.strip("\"'").removeprefix("./").rpartition("/")[0].rstrip("/")
        folder = folder.replace("%x", s.job.value("job-name") or "%x")
        line = made.get(folder, 0) if folder else 0
        moved = not folder.startswith("/") and any(at < line for at in away)
        known = re.search(rf"(?m)^[^\S\n]*#.*mkdir.*{re.escape(folder)}", s.script.text)
        if s.scheduler == "slurm" and line > one.line and not (moved or known or s.script.jobs):
            says = f"{folder[:60]} is made on line {line}, and Slurm opens the log before the script runs"
            yield Hit(one.line, says, severity="warning")
            return


RULES = (
    Rule("directive-walltime-format", "directives", "error", "a walltime that this scheduler cannot read (LSF and Flux take no HH:MM:SS)", walltime_format),
    Rule("directive-walltime-short", "directives", "warning", "a walltime of a minute or two, written with a colon", walltime_short, sources.SBATCH,
         why="of two numbers the first is minutes (in LSF hours): write HH:MM:SS where hours are meant"),
    Rule("directive-number-format", "directives", "error", "a count that is no number", number_format, sources.SBATCH),
    Rule("directive-placeholder", "directives", "warning", "`YOUR_ACCOUNT`, `<account>` and their like, left to be filled in", placeholder,
         why="the scheduler takes it to the letter and refuses the job"),
    Rule("directive-variable", "directives", "error", "a shell variable in a directive, which nobody expands", variable, sources.SBATCH),
    Rule("directive-log-folder", "directives", "warning", "a folder for the log that only the job itself makes", late_folder, sources.SBATCH,
         why="where it is not there yet the job ends at once, without a log: make it before you submit"),
    Rule("pbs-select", "directives", "error", "a `select` that PBS cannot read, or counts beside it", pbs_select, sources.PBS),
)  # fmt: skip
