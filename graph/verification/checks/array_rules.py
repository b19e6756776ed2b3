# ruff: noqa: E501
"""Tasks of an array: do their indices fit the lists that they pick from, and do they keep out of each other's way?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from graph.extraction.amounts import arithmetic
from graph.extraction.shell_words import plain
from graph.extraction.training import TRAINS
from graph.verification.checks import sources
from graph.verification.checks.flow_rules import WRITES
from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.subject import Subject
from graph.verification.checks.tasks import option_pairs, task_text

# `$LRS`, and the index of `${LRS[TASK]}`, which needs no sign.
NAME = re.compile(r"(?:\$\{?[#!]?|(?<=\w\[))([A-Za-z_]\w*)")
INDEX = re.compile(r"SLURM_ARRAY_TASK_ID|PBS_ARRAY_?(INDEX|ID)|LSB_JOBINDEX|SGE_TASK_ID")
OWN_INDEX = {"slurm": ("SLURM_ARRAY_TASK_ID",), "pbs": ("PBS_ARRAY_INDEX", "PBS_ARRAYID"), "lsf": ("LSB_JOBINDEX",)}
# What differs from task to task of an array, or from run to run.
OWN = re.compile(
    rf"{INDEX.pattern}|SLURM_JOB_?ID|PBS_JOBID|LSB_JOBID|FLUX_JOB_ID|RANDOM|mktemp|\bdate\b|\$\$|uuid|TMPDIR"
)
PORT = re.compile(r"--(master[_-]port|main[_-]process[_-]port)|MASTER_PORT")
# What makes a log's name each task's own: its index, or the number that each task has as a job.
EACH_LOG = re.compile(r"%\d*[ajJ]")
GROWS = re.compile(
    r"\bfor\s+\w+\s+in\s+([^;\n$*?{`\"']+?)\s*[;\n]\s*do\s+(\w+)\+=\((?:\"[^\"\n]*\"|'[^'\n]*'|[^\s()]+)\)\s*;?\s*done\b"
)
MOST_TASKS, MOST_LISTS = 2_000, 20
SEPARATE = re.compile(r"\b(cd|pushd|mkdir|chdir)\b")
# Line 0 of a list, which no command prints.
BY_LINE = r"sed\s+-n\s+[\"']?\$\{{?{0}\}}?p|NR\s*==\s*[\"']*\$?\{{?{0}\b|-v\s+\w+=\"?\$\{{?{0}\b|cut\s[^|]*-f\s*\"?\$\{{?{0}\b|head\s+-n?\s*\"?\$\{{?{0}\b[^|]*\|\s*tail\s+-n?\s*1"


def reached(s: Subject, text: str) -> str:
    """The text with the values of all variables that it is made of behind it, as they are written."""
    seen: set[str] = set()
    found, left = [text], set(NAME.findall(text))
    while left - seen:
        name = (left - seen).pop()
        seen.add(name)
        values = [one.written for one in s.set_to(name)]
        found += [f"${name}", *values]
        left |= {inner for value in values for inner in NAME.findall(value)}
    return " ".join(found)


def whole_text(s: Subject) -> str:
    """Everything that the launch hands over, with what it is made of."""
    launch = s.launch
    if launch is None:
        return ""
    written = " ".join((*launch.root.written, *launch.command.written, *(v for _, v in launch.root.assignments)))
    return reached(s, f"{written} {task_text(s)}")


def in_array(s: Subject) -> bool:
    """Whether several tasks of an array run at once."""
    value = s.job.value("array")
    return bool(re.search(r"[-,]", value)) and not value.endswith("%1")


def array_clash(s: Subject) -> Iterator[Hit]:
    """Tasks of an array that differ, and write to one place, or meet at one port."""
    launch = s.launch
    if not in_array(s):
        return
    out = s.job.asked.get("output")
    if (
        out is not None
        and s.scheduler == "slurm"
        and not EACH_LOG.search(out.value)
        and not out.value.startswith("/dev/")
    ):
        says = f"all tasks of the array write to {out.value[:40]}"
        yield Hit(out.line, says, "write %A_%a into the name: each task opens the file anew", sources.SBATCH)
    yield from one_file(s)
    if launch is None or not INDEX.search(whole_text(s)) or not TRAINS.search(plain(launch.program.entry)):
        return
    for option, value in option_pairs(launch):
        if WRITES.fullmatch(option) and value and not value.startswith("-") and not OWN.search(reached(s, value)):
            says = f"{option} {value[:40]} is the same for all tasks of the array"
            yield Hit(launch.line, says, "they overwrite each other's files: put the array's index into it")
            return
    if (s.job.exclusive or (s.cluster and s.cluster.whole_nodes)) or s.several_nodes:
        return
    ports = [(one.line, one.written) for one in s.set_to("MASTER_PORT")]
    for layer in launch.layers:
        ports += [(launch.line, reached(s, plain(value))) for name, value in layer.options if PORT.fullmatch(name)]
    if ports and not any(OWN.search(reached(s, text)) or "$(" in text for _, text in ports):
        says = "all tasks of the array meet at one port"
        yield Hit(ports[-1][0], says, "two of them on one node: 'Address already in use'; add the array's index to it")


def index_without_array(s: Subject) -> Iterator[Hit]:
    """`$SLURM_ARRAY_TASK_ID` in a job that is no array, or in an array of another batch system."""
    own = OWN_INDEX.get(s.scheduler, ())
    if own and s.job.value("array") and not any(name in s.script.text for name in own) and not s.script.jobs:
        right = own[-1] if s.job.asked["array"].written == "-t" else own[0]
        uses = ((number, found[0]) for number, line in s.code_lines if (found := INDEX.search(line)))
        for number, name in list(uses)[:1]:
            says = f"{name} is another batch system's; here the task's number is {right}: all tasks do the same"
            edit = Edit(number, number, (s.line(number).replace(name, right),))
            yield Hit(number, says, "it is unset here: empty, or its default, in each task", None, "error", edit=edit)
        return
    if (
        "array" in s.job.asked
        or not s.job.asked
        or re.search(r"--array|\s-a\s*\d|\s-[tJ]\s*\d+-\d", s.script.text)
        or s.script.jobs
    ):
        return
    for number, line in s.code_lines:
        found = re.search(rf"\$\{{?({INDEX.pattern})(?!:?[-+=?])\b", line)
        if found and not re.search(rf"-[zn]\s+[\"']?\$\{{?{found[1]}|{found[1]}:?[-+=]", s.script.text):
            why = "it is empty in a single job"
            yield Hit(number, f"{found[1]} is set in arrays alone, and no directive asks for one", why)
            return


def one_file(s: Subject) -> Iterator[Hit]:
    """A redirection of a command that knows its index, to a file that all tasks open anew."""
    moved = any(
        SEPARATE.fullmatch(one.name) and OWN.search(reached(s, " ".join(one.written[1:]))) for one in s.script.commands
    )
    for command in s.script.commands if not moved else ():
        for redirect in command.redirects:
            target = re.match(r"[12&]?>\|?\s*([^\s&>|;(]+)", redirect)
            text = reached(s, target[1]) if target else ""
            own = (
                OWN.search(text)
                or text.startswith(("/dev/", "/tmp", "&"))
                or "$(" in text
                or "loop" in " ".join(command.inside)
            )
            if target and not own and INDEX.search(reached(s, " ".join(command.written))) and command.outer is None:
                yield Hit(command.line, f"all tasks of the array write to {target[1][:40]}",
                          "each opens the file anew, and what the others wrote is gone: put the array's index into its name")  # fmt: skip
                return


def indices(s: Subject) -> list[int]:
    """The numbers of an array's tasks; empty where the directive does not tell."""
    found: list[int] = []
    value = s.job.value("array").partition("%")[0]
    for part in value.split(",") if value else ():
        one = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6})(?::(\d{1,4}))?)?", part.strip())
        if one is None or len(found) > MOST_TASKS:
            return []
        found += list(range(int(one[1]), int(one[2] or one[1]) + 1, int(one[3] or 1) or 1))[:MOST_TASKS]
    return found


def out_of_range(s: Subject) -> Iterator[Hit]:
    """Indices of an array against the lists that the script itself holds."""
    tasks, line = indices(s), s.job.line("array")
    if not tasks or s.scheduler not in ("slurm", "pbs") or s.script.jobs:
        return
    some = [*tasks[:50], *tasks[50:][-50:]]
    code = "\n".join(text for _, text in s.code_lines)
    for name, length in list(lists(s).items())[:MOST_LISTS]:
        for used in re.finditer(rf"\$\{{{name}\[([^\]]+)\]\}}", code):
            places = [place_of(s, used[1], task) for task in some]
            beyond = [task for task, place in zip(some, places, strict=True) if place is not None and place >= length]
            if None in places or not INDEX.search(reached(s, f"${used[1]} {used[1]}") + used[1]) or not beyond:
                continue
            yield Hit(line, f"{name} has {length} entries, 0 to {length - 1}: task {shown(beyond)} of the array finds none",
                      "an entry that is not there is empty, and the program starts without it: lists of bash count from 0", sources.BASH + "#Arrays", "error")  # fmt: skip
            break
    for name in line_names(s):
        use = re.compile(BY_LINE.format(name))
        at = next((number for number, text in s.code_lines if use.search(text)), 0)
        file = next((one for one in s.script.documents if at and one.name and one.name in s.line(at)), None)
        length = len(file.text.rstrip("\n").split("\n")) if file is not None and len(s.set_to(name)) < 2 else max(tasks)
        if file is not None and max(tasks) > length:
            none = shown([task for task in tasks if task > length])
            yield Hit(line, f"{file.name} has {length} lines: task {none} of the array finds none", "a line that is not there is empty, and the program starts without it", None, "error")  # fmt: skip
            return
        if at and 0 in tasks:
            yield Hit(line, f"task 0 of the array asks for the one of number 0 on line {at}", "lines and fields are counted from 1: sed and cut refuse 0, and awk and head find nothing", None)  # fmt: skip
            return


def shown(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:3])) + (" and others" if len(numbers) > 3 else "")


def lists(s: Subject) -> dict[str, int]:
    """Name -> entries, for arrays that the script writes down once, each entry in full."""
    found = dict(grown(s.script.text))
    for one in s.script.assignments:
        text = one.written.strip()
        sure = text.startswith("(") and text.endswith(")") and not re.search(r"[*?{}$`<]|\]=", text)
        if (
            not sure
            or len(s.set_to(one.name)) != 1
            or re.search(rf"\b{one.name}\+=|\b{one.name}\[[^\]]*\]=", s.script.text)
        ):
            continue
        try:
            found[one.name] = len(shlex.split(text[1:-1], comments=True))
        except ValueError:
            continue
    return found


def grown(text: str) -> Iterator[tuple[str, int]]:
    """Lists that begin empty and get one entry a turn of a loop over written words."""
    for loop in GROWS.finditer(text):
        name = loop[2]
        if len(re.findall(rf"\b{name}\+?=", text)) == 2 and re.search(rf"(?m)^[^\S\n]*{name}=\(\)", text):
            yield name, len(loop[1].split())


def place_of(s: Subject, text: str, task: int, depth: int = 0) -> int | None:
    """The number behind the text of an index, for one task; None where it cannot be worked out."""
    inner = re.fullmatch(r"[\"']?\$\(\((.*)\)\)[\"']?", text.strip())
    bare = re.sub(r"\$\{?(\w+)\}?", r"\1", inner[1] if inner else text.strip().strip("\"'"))
    facts: dict[str, int] = {}
    for name in set(re.findall(r"[A-Za-z_]\w*", bare)):
        sets = s.set_to(name)
        if INDEX.fullmatch(name):
            facts[name] = task
        elif len(sets) == 1 and depth < 4 and not sets[0].inside:
            value = place_of(s, sets[0].written, task, depth + 1)
            facts |= {name: value} if value is not None else {}
    return arithmetic(bare, facts)


def line_names(s: Subject) -> list[str]:
    """The index, and variables that hold nothing else."""
    same = [
        one.name
        for one in s.script.assignments
        if re.fullmatch(rf"[\"']?\$\{{?({INDEX.pattern})\}}?[\"']?", one.written)
    ]
    return ["(?:SLURM_ARRAY_TASK_ID|PBS_ARRAY_INDEX)", *dict.fromkeys(same)]


RULES = (
    Rule("array-clash", "shell", "warning", "tasks of an array that write to one file or folder, or meet at one port", array_clash),
    Rule("array-range", "directives", "warning", "indices of an array that a list of the script does not have", out_of_range),
    Rule("array-no-index", "directives", "info", "an array's index in a job that is no array; another batch system's index in an array", index_without_array),
)  # fmt: skip
