# ruff: noqa: E501
"""What the shell of a job finds when it starts: its interpreter, its folder, unset names, conda, threads and cores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from graph.extraction.launch_shape import LaunchShape
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.option_tables import MARKS
from graph.verification.checks.rendezvous_rules import activates_only
from graph.verification.checks.rule import Edit, Hit, Rule, launch_rule
from graph.verification.checks.shell_rules import heredoc_lines
from graph.verification.checks.subject import Subject
from knowledge.commanding_variables import consequence
from knowledge.printable import TURNING
from knowledge.types import Severity
from knowledge.word_lists import in_order

HIDDEN = re.compile(f"[{TURNING}]")
NOUNSET = re.compile(r"^\s*set\s+(-\w*u\w*|-o\s+nounset|-\w+\s+-o\s+nounset)")
SHELLS = in_order("bash sh zsh ksh dash csh tcsh python python3 env fish perl flux busybox")
HOOK = re.compile(
    r"conda\.sh|shell\.\w+ hook|conda shell|\.bashrc|\.bash_profile|\.profile|mamba\.sh|micromamba shell|activate-?conda|setup_conda|conda-init|__conda"
)
# Set by login shells, schedulers and launchers: read without being set in the script.
OUTSIDE = re.compile(
    r"(SLURM|SBATCH|PBS|LSB|LS|FLUX|OMPI|PMI|PMIX|PALS|CUDA|ROCM|NV|MODULE|LMOD|CONDA|XDG|SSH|BASH|NCCL|CRAY|HIP|EBROOT|SINGULARITY|APPTAINER|COBALT|JSM|MPI)\w*"
    r"|HOME|USER|LOGNAME|PATH|PWD|OLDPWD|SHELL|HOSTNAME|HOST|TMPDIR|TMP|TEMP|LANG|TERM|EDITOR|MAIL|UID|EUID|PPID|RANDOM|SECONDS|LINENO|IFS|OPTARG|OPTIND"
    r"|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|MANPATH|PKG_CONFIG_PATH|CPATH|LIBRARY_PATH|DISPLAY|NCPUS|P?SCRATCH|WORK|PROJECT|STORE|DATA|VIRTUAL_ENV|FUNCNAME|PIPESTATUS|REPLY|EPOCHSECONDS|COLUMNS|LINES|PS1|VISUAL|_"
)  # fmt: skip
MOST_UNSET = 4
LITTLE_TIME = 100
# Bare numbers that people write for hours.
MEANT_HOURS = (1, 2, 3, 4, 6, 8, 12, 24, 36, 48, 72, 96)
# Hours in seconds, which as minutes would be longer than queues are.
SECONDS_MEANT = frozenset(hours * 3600 for hours in (6, 8, 10, 12, 16, 18, 20, 24, 36, 48, 72, 96, 120, 168))
MOST_SECONDS = frozenset(range(60))
# Who reads a bare number.
UNITS = {"slurm": "Slurm", "lsf": "LSF", "pbs": "PBS"}


def interpreter(s: Subject) -> Iterator[Hit]:
    """`#!bin/bash`, `#!/bin/bsh`: the kernel finds no such program."""
    found = re.match(r"#!\s*(\S+)", s.line(1))
    if not found or not s.job.asked:
        return
    name = found[1].rsplit("/", 1)[-1]
    near = get_close_matches(name, SHELLS, 1, 0.6)
    if not found[1].startswith("/") and "$" not in found[1]:
        yield Hit(1, f"{found[1]} is no absolute path", "the interpreter is looked for in the folder of the job: 'bad interpreter'", None,
                  edit=Edit(1, 1, (s.line(1).replace(found[1], f"/{found[1].lstrip('/')}"),)))  # fmt: skip
    elif re.match(r"/(usr/)?bin/", found[1]) and name not in SHELLS and near and not re.search(r"\d", name):
        says = f"there is no shell called {name}; the nearest is {near[0]}"
        yield Hit(1, says, "'bad interpreter: No such file or directory'")


def strange_directives(s: Subject) -> Iterator[Hit]:
    """A line of another batch system among many of one, on a machine that nobody named."""
    if s.cluster is not None:
        return
    lines = {one.line: one.scheduler for one in s.script.directives if one.line in s.comment_lines and one.active}
    mine = [line for line, name in lines.items() if name == s.scheduler]
    others = [line for line, name in lines.items() if name != s.scheduler]
    mark = MARKS.get(s.scheduler)
    if mark and len(others) == 1 and len(mark) and len(mine) > 2:
        yield Hit(others[0], f"this is a directive of another batch system; the script's others are {mark} lines")


def nounset_line(s: Subject) -> int:
    """The line from which an unset name ends the script; 0 for none."""
    return next((number for number, line in s.code_lines if NOUNSET.match(line)), 0)


def strict_too_early(s: Subject) -> Iterator[Hit]:
    """`set -u` above modules or conda, whose own scripts read unset names."""
    strict = nounset_line(s)
    if not strict or not s.is_shell:
        return
    for command in s.script.commands:
        words = command.argv
        enters = words[:2] in (("conda", "activate"), ("module", "load")) or words[:2] == ("source", "activate")
        if enters and command.line > strict and not relaxed(s, command.line):
            what = "conda's activation scripts read" if "activate" in words else "module files and their hooks may read"
            says = f"`set -u` (line {strict}) holds here, and {what} unset names"
            yield Hit(command.line, says, severity=None if "activate" in words else "info")
            return


def relaxed(s: Subject, line: int) -> bool:
    """Whether `set +u` stands between."""
    last = [text for number, text in s.code_lines if number <= line and re.search(r"\bset [-+]\w*u", text)]
    return bool(last) and re.search(r"\bset \+\w*u", last[-1]) is not None


def conda_hook(s: Subject) -> Iterator[Hit]:
    """`conda activate` in a shell that reads no start-up file."""
    if not s.is_shell or re.search(r"#!.*bash.*\s-\w*[li]", s.script.shebang) or s.script.modules:
        return
    for command in s.script.commands:
        if command.argv[:2] != ("conda", "activate") or command.inside or "heredoc" in " ".join(command.inside):
            continue
        before = "\n".join(text for number, text in s.code_lines if number <= command.line)
        if not HOOK.search(before) and not any(line < command.line for line, _ in s.script.sourced):
            yield Hit(command.line, "conda is not set up in this shell: nothing sources conda.sh or runs its hook")
            return


def threads(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """OMP_NUM_THREADS x processes of a node against the cores that the job asks for there."""
    job = s.job
    one = next((a for a in reversed(s.set_to("OMP_NUM_THREADS")) if not a.inside), None)
    number = s.facts.get("OMP_NUM_THREADS") if one else None
    if one is None or not number or not job.cpus_per_task:
        return
    cores = job.cpus_per_task * (job.tasks_per_node or 1 if launch.spawner else 1)
    processes = (launch.procs or 1) if launch.spawner else 1
    if number * processes > cores and number > 1:
        each = f"{processes} processes with {number} threads each" if processes > 1 else f"{number} threads"
        yield Hit(one.line, f"{each} run on {cores} cores")


def stays_at_home(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """PBS starts a job in the home folder."""
    if s.scheduler != "pbs" or not s.job.asked or launch.program.kind not in ("script", "shell"):
        return
    entry = plain(launch.program.entry)
    options = {one.written for one in s.script.directives}
    goes = any(re.search(r"(^|[;&|(\s])(cd|pushd)\s", line) for number, line in s.code_lines if number <= launch.line)
    code = "\n".join(line for _, line in s.code_lines if not re.match(r"\s*(echo|printf)\b", line))
    told = re.search(r"-wdir|--wdir|-wd\b|--chdir|--pwd|PBS_O_WORKDIR", code) is not None
    told = told or "sandbox" in s.script.text or "-d" in options
    # NCI's PBS starts in the folder of qsub with `-l wd` (https://opus.nci.org.au/spaces/Help/pages/236880942).
    told = told or bool(re.search(r"(?m)^#PBS\s.*(-l\s*|,)wd\s*(,|$)", s.script.text))
    if entry and not entry.startswith(("/", "$", "~", "-")) and not goes and not told:
        yield Hit(launch.line, f"PBS starts a job in your home folder: {entry[:40]} is looked for there")


def tasks_disagree(s: Subject) -> Iterator[Hit]:
    """--ntasks that is not nodes x --ntasks-per-node."""
    job = s.job
    if s.scheduler != "slurm" or job.mixed or not (job.nodes and job.ntasks and job.tasks_per_node):
        return
    if not {"nodes", "ntasks", "ntasks-per-node"} <= set(job.asked) or job.ntasks == job.nodes * job.tasks_per_node:
        return
    if job.nodes == 1 and job.ntasks < job.tasks_per_node:
        return
    says = f"--ntasks={job.ntasks} is not {job.nodes} nodes x {job.tasks_per_node} tasks"
    why = "with --ntasks, --ntasks-per-node is only an upper bound: tasks may fall unevenly on the nodes"
    if job.ntasks > job.nodes * job.tasks_per_node:
        why = "srun answers that it can't honor --ntasks-per-node and ignores it"
    yield Hit(job.line("ntasks"), says, why)


def little_time(s: Subject) -> Iterator[Hit]:
    """`--time=24` and `-W 24` are 24 minutes; PBS's `walltime=24` seconds; 86400 is meant in seconds, and read in minutes."""
    one = s.job.asked.get("walltime" if s.scheduler == "pbs" else "time")
    found = re.fullmatch(r"(\d{1,6})(:00)?", one.value) if one is not None else None
    if s.scheduler not in UNITS or one is None or found is None or (found[2] and s.scheduler != "slurm"):
        return
    number, who = int(found[1]), UNITS[s.scheduler]
    if found[2] and number not in MEANT_HOURS:
        return
    unit, long = ("seconds", MOST_SECONDS) if s.scheduler == "pbs" else ("minutes", SECONDS_MEANT)
    hours = number / (3600 if unit == "seconds" else 60)
    hint = "hours are HH:MM" + ":SS" * (s.scheduler != "lsf") if number < LITTLE_TIME else f"that is {hours:.4g} hours"
    if unit == "minutes" and number in SECONDS_MEANT:
        hint += f"; {number // 3600} hours in seconds would be that number"
    meant = number in MEANT_HOURS or number in long
    if s.scheduler != "slurm" and not meant:
        return
    says = f"{one.written} {one.value} is {number} {unit}: {hint}"
    why = f"a bare number is {unit} to {who}" + ", and of two the first" * (s.scheduler == "slurm")
    yield Hit(
        one.line,
        says,
        why,
        {"slurm": sources.SBATCH, "lsf": sources.BSUB, "pbs": sources.PBS}[s.scheduler],
        "warning" if meant else "info",
    )


def unset_names(s: Subject) -> Iterator[Hit]:
    """Under `set -u`, names that neither the script nor a scheduler or login shell sets."""
    strict = nounset_line(s)
    if not strict or not s.is_shell or not activates_only(s) or s.script.jobs:
        return
    text = s.script.text
    given = s.names
    given |= set(
        re.findall(
            r"\b(?:for|read(?:\s+-\w+)*|local|declare(?:\s+-\w+)*|readonly|mapfile(?:\s+-\w+)*|select|getopts\s+\S+)\s+([A-Za-z_]\w*)",
            text,
        )
    )
    given |= set(re.findall(r"\bfor\s*\(\(\s*([A-Za-z_]\w*)\s*=", text))
    told: dict[str, int] = {}
    for number, line in s.code_lines:
        if number < strict or number in heredoc_lines(s):
            continue
        code = re.sub(r"'[^']*'|\\\$|\s#.*", "", line)
        for found in re.finditer(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", code):
            name = found[1] or found[2]
            tried = re.search(rf"\b{name}=|\$\{{{name}[:\-=+?]|-[nzv] \"?\$?\{{?{name}", text)
            if name not in given and not OUTSIDE.fullmatch(name) and not tried:
                told.setdefault(name, number)
    if told:
        first, *others = told
        more = (
            f", nor {', '.join(others[:MOST_UNSET])}{' and more' if len(others) > MOST_UNSET else ''}" if others else ""
        )
        says = f"{first} is set nowhere in the script{more}"
        why = f"`set -u` (line {strict}) ends the script here unless your own environment sets it"
        yield Hit(told[first], says, why)


def odd_exports(s: Subject) -> Iterator[Hit]:
    """`export $NAME=1` and `NAME= 1`: bash takes neither for an assignment of that name."""
    for number, line in s.code_lines:
        dollar = re.match(r"\s*(?:export\s+)?\$\{?([A-Za-z_]\w*)\}?=(?!=)", line)
        if emptied := re.match(r"\s*unset\s+([A-Za-z_]\w*)=\S*\s*$", line):
            kept = (line.partition("=")[0],)
            yield Hit(number, f"unset takes a name: '{emptied[0].split()[-1]}' is none, and {emptied[1]} keeps its value",
                      "'not a valid identifier'", severity="warning", edit=Edit(number, number, kept))  # fmt: skip
        gap = re.match(r"\s*(?:export\s+)?([A-Za-z_]\w*)=[ \t]+(\d+|\"[^\"]*\"|'[^']*'|\$\([^)]*\))\s*$", line)
        if number in heredoc_lines(s) or not (dollar or gap):
            continue
        name = (dollar or gap)[1]  # type: ignore[index]
        fixed = line.replace(f"${name}=", f"{name}=", 1) if dollar else re.sub(r"=[ \t]+", "=", line, count=1)
        says = (
            f"a dollar sign stands before the name that is set, {name}"
            if dollar
            else f"a blank stands behind the = of {name}: it is set to nothing"
        )
        why = "bash expands the name, or runs the value as a command"
        yield Hit(number, says, why, edit=Edit(number, number, (fixed,)))


def hidden_marks(s: Subject) -> Iterator[Hit]:
    """Marks that turn the order of letters: the line reads otherwise than it runs."""
    for number, line in enumerate(s.script.text.splitlines(), 1):
        if marks := sorted({f"U+{ord(char):04X}" for char in HIDDEN.findall(line)}):
            code = not line.lstrip().startswith("#") or line.lstrip().startswith(("#SBATCH", "#PBS", "#BSUB"))
            says = f"{', '.join(marks)}: invisible marks that turn the order of letters"
            fixed = Edit(number, number, (HIDDEN.sub("", line),))
            yield Hit(number, says, severity="error" if code else "warning", edit=fixed)


def commanding(s: Subject) -> Iterator[Hit]:
    """LD_PRELOAD, BASH_ENV and a PATH without the old one: said, since they change which programs run."""
    for one in s.script.assignments:
        does = consequence(one.name, one.written)
        if does and (one.exported or one.name == "PATH"):
            severity: Severity = "warning" if one.name == "PATH" else "info"
            yield Hit(one.line, f"{one.name} is set: {does}", severity=severity)


RULES = (
    Rule("shell-hidden", "shell", "error", "direction marks and isolates, which hide what a line runs", hidden_marks, sources.UNICODE_MARKS,
         why="the line reads otherwise than it runs (CVE-2021-42574)"),
    Rule("variable-commanding", "shell", "info", "LD_PRELOAD, BASH_ENV; a PATH without the old one", commanding, sources.BASH,
         why="it changes which programs run"),
    Rule("shell-interpreter", "shell", "error", "a #! line whose interpreter does not exist", interpreter),
    Rule("directive-stray", "directives", "warning", "one directive of another batch system among those of the script's own", strange_directives,
         why="it is read as a comment, so what it asks for is left out"),
    Rule("shell-nounset-early", "shell", "warning", "`set -u` above conda or modules, whose scripts read unset names", strict_too_early, sources.BASH + "#The-Set-Builtin",
         why="'unbound variable' ends the job: put `set -u` below, or `set +u` around it"),
    Rule("environment-conda-hook", "environment", "warning", "`conda activate` in a shell where nothing set conda up", conda_hook, "https://docs.conda.io/projects/conda/en/stable/dev-guide/deep-dives/activation.html",
         why="a batch script reads no ~/.bashrc: 'CommandNotFoundError: Your shell has not been properly configured to use conda activate'"),
    launch_rule("environment-threads", "environment", "warning", "more threads than cores: OMP_NUM_THREADS x processes against the CPUs asked for", threads, sources.SRUN,
                why="threads beyond the cores of a task wait for each other and slow it down"),
    launch_rule("environment-folder", "environment", "warning", "a PBS job that stays in the home folder", stays_at_home, sources.PBS,
                why='put `cd "$PBS_O_WORKDIR"` above'),
    Rule("directive-tasks", "directives", "warning", "--ntasks that is not nodes x --ntasks-per-node", tasks_disagree, sources.SBATCH),
    Rule("directive-minutes", "directives", "warning", "`--time=24`, `-W 24`: 24 minutes; `walltime=24`: seconds; `-W 86400`: 60 days", little_time),
    Rule("variable-nounset", "shell", "warning", "under `set -u`, a name that nothing sets", unset_names, sources.BASH),
    Rule("shell-export", "shell", "error", "`export $NAME=1`, `NAME= 1`", odd_exports, sources.BASH),
)  # fmt: skip
