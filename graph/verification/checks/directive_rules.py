# ruff: noqa: E501
"""Is each directive one, and does the scheduler see it? Lines as they stand, before what they ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache

from graph.extraction.directives import DirectiveLine
from graph.verification.checks import sources
from graph.verification.checks.option_tables import (
    FLUX_LETTERS,
    FLUX_LONG,
    LSF_OPTIONS,
    MARKS,
    PBS_LETTERS,
    PBS_RESOURCES,
    SLURM_LETTERS,
    SLURM_LONG,
    SLURM_PLUGINS,
    SUBMITS,
)
from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.subject import Subject
from knowledge.slurm_options import slurm_options
from knowledge.types import Severity
from knowledge.word_lists import word_set

WEIGHTY = word_set(
    "nodes time walltime time-limit account project bank group partition queue qos gpus gres gpus-per-node "
    "gpus-per-task select filesystems constraint ntasks ntasks-per-node cpus-per-task mem gpu ngpus"
)
# What came before this release is taken to be there everywhere.
OLD_ENOUGH = "23.11"
# Keys beside the first letter of each mark.
BESIDE = {"S": "AWEDXZ", "P": "OL", "B": "VGHN", "F": "DRTGVC"}
LOOKS_LIKE = re.compile(r"#[ \t]?([A-Za-z]{3,8}):?[ \t]+-{1,2}[A-Za-z]")


def own_lines(s: Subject) -> Iterator[DirectiveLine]:
    """Directives of the script's scheduler that stand as comments of the file itself."""
    for one in s.script.directives:
        if one.scheduler == s.scheduler and one.line in s.comment_lines and s.line(one.line).strip() == one.raw:
            yield one


def seen(one: DirectiveLine) -> bool:
    """Whether the scheduler reads the line at all: a later one of the same name does not keep it from that."""
    return one.active or "says it again" in one.why_not


def unknown_option(s: Subject) -> Iterator[Hit]:
    judge = JUDGES.get(s.scheduler)
    for one in own_lines(s):
        if judge and seen(one):
            yield from judge(s, one)


def slurm_option(s: Subject, one: DirectiveLine) -> Iterator[Hit]:
    if not one.written.startswith("--"):
        yield from slurm_letter(s, one)
        return
    name = one.written[2:]
    known = SLURM_LONG | SLURM_PLUGINS
    begun = sorted(full for full in known if full.startswith(name))
    if name in known or len(begun) == 1 or in_facts(s, one.written):
        yield from of_some_releases(one, name)
        return
    others = slurm_options().options
    if name in others:
        says = f"--{name} is {others[name].commands[0]}'s: sbatch does not take it"
        yield Hit(one.line, says, "sbatch refuses a script with an option that it does not know")
        return
    if begun:
        says = f"--{name} may be {', '.join(f'--{full}' for full in begun[:4])}: sbatch refuses what is ambiguous"
        yield Hit(one.line, says, "only a beginning that a single option has may be cut short")
        return
    near = get_close_matches(name, SLURM_LONG, 1, 0.75)
    if near:
        says = f"sbatch has no option --{name}; the nearest is --{near[0]}"
        yield Hit(one.line, says, "sbatch refuses a script with an option that it does not know",
                  severity="error", edit=s.swapped(one.line, one.written, f"--{near[0]}"))  # fmt: skip
    else:
        says = f"--{name} is none of sbatch's own options"
        why = "unless a plug-in of the site adds it, sbatch refuses the script"
        yield Hit(one.line, says, why, severity="warning")


def of_some_releases(one: DirectiveLine, name: str) -> Iterator[Hit]:
    """An option that only some releases of Slurm have."""
    option = slurm_options().options.get(name)
    if option is not None and option.until:
        says = f"--{name} was taken up to Slurm {option.until}; later ones refuse it"
        yield Hit(one.line, says, "sbatch refuses a script with an option that it does not know", severity="warning")
    elif option is not None and option.since > OLD_ENOUGH:
        says = f"--{name} needs Slurm {option.since} or later"
        yield Hit(one.line, says, "an older sbatch refuses the script: `sbatch --version` tells", severity="info")


def slurm_letter(s: Subject, one: DirectiveLine) -> Iterator[Hit]:
    why = "sbatch refuses a script with an option that it does not know"
    whole = re.search(rf"(?<=\s){re.escape(one.written)}[\w-]*", one.raw)
    name = (whole[0] if whole else one.written).lstrip("-")
    if len(name) > 3 and name.replace("_", "-") in SLURM_LONG:
        says = f"-{name} has one hyphen: long options take two"
        yield Hit(one.line, says, why, edit=s.swapped(one.line, f"-{name}", f"--{name.replace('_', '-')}"))
    elif name[:1] not in SLURM_LETTERS:
        yield Hit(one.line, f"sbatch has no option -{name[:1]}", why)


def in_facts(s: Subject, option: str) -> bool:
    """Whether the machine's own directives use the option."""
    facts = [fact.text for fact in s.cluster.directives] if s.cluster else []
    return any(re.match(rf"{re.escape(option)}(?=[= ]|$)", text) for text in facts)


def pbs_option(s: Subject, one: DirectiveLine) -> Iterator[Hit]:
    letter, _, resource = one.written.partition(" ")
    if letter.startswith("--") and len(letter) > 2:
        yield Hit(one.line, f"qsub has no option {letter}", "qsub takes single letters only and refuses the script")
    elif letter[1:2] not in PBS_LETTERS:
        why = "qsub refuses a script with an option that it does not know"
        yield Hit(one.line, f"qsub has no option {letter}", why)
    elif resource and resource not in PBS_RESOURCES:
        near = get_close_matches(resource, PBS_RESOURCES - {"switch"}, 1, 0.8)
        if near and len(resource) > 4:
            says = f"no resource is called '{resource}'; the nearest is '{near[0]}'"
            why = "qsub answers 'Unknown resource' and refuses the script"
            yield Hit(one.line, says, why, edit=s.swapped(one.line, resource, near[0]))


def lsf_option(s: Subject, one: DirectiveLine) -> Iterator[Hit]:
    name = one.written.lstrip("-")
    if name in LSF_OPTIONS:
        return
    near = get_close_matches(name, [o for o in LSF_OPTIONS if len(o) > 2], 1, 0.75)
    says = f"bsub has no option -{name}" + (f"; the nearest is -{near[0]}" if near else "")
    edit = s.swapped(one.line, one.written, f"-{near[0]}") if near else None
    yield Hit(one.line, says, "bsub refuses a script with an option that it does not know", edit=edit)


def flux_option(s: Subject, one: DirectiveLine) -> Iterator[Hit]:
    why = "flux batch refuses a script with an option that it does not know"
    if not one.written.startswith("--"):
        if one.written[1:2] not in FLUX_LETTERS:
            yield Hit(one.line, f"flux batch has no option {one.written}", why)
        return
    name = one.written[2:]
    if name not in FLUX_LONG and not any(full.startswith(name) for full in FLUX_LONG):
        near = get_close_matches(name, FLUX_LONG, 1, 0.75)
        says = f"flux batch has no option --{name}" + (f"; the nearest is --{near[0]}" if near else "")
        edit = s.swapped(one.line, one.written, f"--{near[0]}") if near else None
        yield Hit(one.line, says, why, edit=edit)


JUDGES = {"slurm": slurm_option, "pbs": pbs_option, "lsf": lsf_option, "flux": flux_option}


def badly_joined(s: Subject) -> Iterator[Hit]:
    """`--nodes = 2` and `-N=2`: the equals sign becomes the value."""
    if s.scheduler not in ("slurm", "flux"):
        return
    for one in own_lines(s):
        blank, short = joins(one.raw)
        why = f"{SUBMITS[s.scheduler]} takes the equals sign, or nothing, for the value and refuses the script"
        if blank and one.written == blank[1]:
            says = f"blanks stand around the = of {blank[1]}"
            yield Hit(one.line, says, why, edit=s.swapped(one.line, blank[0], f"{blank[1]}="))
        elif short and s.scheduler == "slurm" and one.written == short[1]:
            says = f"{short[1]} is followed by =: a short option takes its value after a blank"
            yield Hit(one.line, says, why, edit=s.swapped(one.line, short[0], f"{short[1]} "))


@lru_cache(maxsize=256)
def joins(raw: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """A long option with blanks around its =, a short one with an =. Kept: each of a line's directives asks again."""
    return (
        re.search(r"(--[\w-]+)(\s+=\s*|=\s+)(?=[^\s#-])", raw),
        re.search(r"(?<=\s)(-[A-Za-z])=(?=\S)", raw),
    )


def misspelt_mark(s: Subject) -> Iterator[Hit]:
    """`#SBTACH --nodes=2` is a comment like any other. Slurm compares seven letters, so `#SBATCH--nodes` is read."""
    mark = MARKS.get(s.scheduler, "")
    wanted = mark.strip("#:").upper()
    first = next((number for number, _ in s.code_lines), len(s.lines) + 1)
    for number, line in enumerate(s.lines[: first - 1], 1):
        found = LOOKS_LIKE.match(line)
        if not found or number not in s.comment_lines or not wanted:
            continue
        word = found[1]
        same = word == wanted or (s.scheduler == "flux" and word in ("flux", "FLUX"))
        apart, low = line.startswith("# "), word.islower()
        if (apart and low) or ((apart or low) and re.search(r"\s(<|\S+\.\w+\s*$)", line[found.end() :])):
            continue  # `# sbatch -N 4 job.sh` tells how the script is submitted
        if is_slip(word.upper(), wanted) and not same:
            says = f"{line.split()[0]} is not {mark}: the line is an ordinary comment"
            yield Hit(number, says, edit=Edit(number, number, (re.sub(r"^#[ \t]?\w+:?", mark, line, count=1),)))


def is_slip(word: str, mark: str) -> bool:
    """Whether a word is a mark mistyped. With a first letter from elsewhere on the keyboard it is another system's."""
    near = word == mark or bool(get_close_matches(word, [mark], 1, 0.7)) or sorted(word) == sorted(mark)
    swapped_first = sorted(word) == sorted(mark) or word == mark[1:]
    return near and (swapped_first or word[0] == mark[0] or word[0] in BESIDE.get(mark[0], ""))


def after_command(s: Subject) -> Iterator[int]:
    """The lines of directives that stand below the first command."""
    in_force = {(one.option, one.value) for one in s.script.directives if one.active}
    for one in own_lines(s):
        late = one.why_not.startswith("it stands after")
        if late and (one.option, one.value) not in in_force and not s.script.jobs:
            yield one.line


def moved_up(s: Subject) -> Iterator[Hit]:
    """One finding for all of them, and one edit: the lines go above the first command."""
    late = sorted(set(after_command(s)))
    if not late:
        return
    first = next(number for number, _ in s.code_lines)
    kept = tuple(line for number, line in enumerate(s.lines, 1) if number >= first and number not in late)
    edit = Edit(first, len(s.lines), (*(s.line(number) for number in late), *kept))
    says = f"this directive stands after the first command (line {first}) and is ignored"
    if len(late) > 1:
        says = f"this directive and {len(late) - 1} more (to line {late[-1]}) stand after the first command (line {first}) and are ignored"
    why = f"{SUBMITS.get(s.scheduler, 'the scheduler')} stops reading directives at the first line of code"
    yield Hit(late[0], says, why, edit=edit)


def commented_out(s: Subject) -> Iterator[Hit]:
    active = {one.option for one in s.script.directives if one.active}
    told: set[int] = set()
    for one in own_lines(s):
        if one.why_not == "it is commented out" and one.option not in active and one.line not in told:
            told.add(one.line)
            if one.option in WEIGHTY and re.match(r"#[#\s]*#|#\s+[A-Z]+\s+-", one.raw):
                # `##SBATCH` switches a line off; a blank behind the # is as often a slip.
                slip: Severity | None = "warning" if re.match(r"#[ \t]+[A-Z]+\s+-", one.raw) else None
                yield Hit(one.line, f"{one.written} is commented out, and no other line sets it", severity=slip)


def other_scheduler(s: Subject) -> Iterator[Hit]:
    """Directives of another batch system than the machine's."""
    if s.cluster is None:
        return
    mine, name = s.cluster.scheduler, s.cluster.title
    lines = [one for one in s.script.directives if one.line in s.comment_lines and one.active]
    foreign = [one for one in lines if one.scheduler != mine]
    if foreign and len(foreign) == len(lines):
        says = f"{foreign[0].raw.split()[0]} directives mean nothing on {name}: it takes {MARKS[mine]} lines"
        why = f"{SUBMITS[mine]} reads them as comments, so the job gets defaults or is refused"
        yield Hit(foreign[0].line, says, why)
    elif foreign and not any(one.scheduler == foreign[0].scheduler for one in lines if one.scheduler == mine):
        stray = foreign if len({one.line for one in foreign}) == 1 and len(lines) > 3 else []
        for one in stray[:1]:
            says = f"this is a directive of another batch system; {name} takes {MARKS[mine]} lines"
            yield Hit(one.line, says, "it is not read as one, so what it asks for is left out", severity="warning")


def said_twice(s: Subject) -> Iterator[Hit]:
    for one in own_lines(s):
        again = re.fullmatch(r"line (\d+) says it again", one.why_not)
        last = s.job.asked.get(one.option)
        if (
            again
            and "$" not in one.value
            and last is not None
            and last.value != one.value
            and one.line != last.line
            and not s.script.jobs
        ):
            says = f"{one.written} is {one.value or 'set'} here and {last.value or 'set'} on line {last.line}"
            yield Hit(one.line, says)


RULES = (
    Rule("directive-unknown-option", "directives", "error", "an option that the scheduler does not have (with the nearest one)", unknown_option, sources.SBATCH),
    Rule("directive-badly-joined", "directives", "error", "`--nodes = 2`, `-N=2`: the value is lost", badly_joined, sources.SBATCH),
    Rule("directive-misspelt-mark", "directives", "error", "`#SBTACH`, `#pbs`: a comment instead of a directive", misspelt_mark, sources.SBATCH,
         why="the scheduler reads only its exact mark, so this option is silently left out"),
    Rule("directive-after-command", "directives", "error", "a directive below the first command, silently ignored", moved_up, sources.SBATCH),
    Rule("directive-commented-out", "directives", "info", "a weighty option that only stands commented out (`##SBATCH`)", commented_out, sources.SBATCH,
         why="a line that does not begin with the exact mark is a comment to the scheduler"),
    Rule("directive-other-scheduler", "directives", "error", "directives of another batch system than the machine's", other_scheduler),
    Rule("directive-said-twice", "directives", "warning", "the same option twice with different values", said_twice, sources.SBATCH,
         why="of two directives with one name the last one counts"),
)  # fmt: skip
