# ruff: noqa: E501
"""Can sbatch read the value of an option? One row an option: the shape of its values, as sbatch(1) tells them and sbatch 22.05 takes them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from difflib import get_close_matches

from graph.extraction.directives import DirectiveLine, is_placeholder
from graph.verification.checks import sources
from graph.verification.checks.directive_rules import joins, own_lines, seen
from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.subject import Subject
from knowledge.slurm_options import slurm_options
from knowledge.word_lists import word_set

DEPENDENCIES = word_set("after afterany afterburstbuffer aftercorr afternotok afterok expand singleton")
MAILS = word_set(
    "none begin end fail requeue all invalid_depend stage_out time_limit time_limit_90 time_limit_80 time_limit_50 array_tasks"
)
SIGNALS = word_set("hup int quit abrt kill alrm term usr1 usr2 urg cont stop tstp ttin ttou xcpu")
SIZE = re.compile(r"\d+([KMGT]B?)?", re.I)
PART = r"\d+(-\d+(:\d+)?)?"
ARRAY = re.compile(rf"{PART}(,{PART})*,?(%\d+)?")
TIME_WORDS = word_set("now today tomorrow midnight noon fika teatime elevenses")
EXCLUSIVE = word_set("exclusive user mcs topo oversubscribe")
Wrong = tuple[str, str, str] | None
"""(what is said of the value, the part that is wrong, what stands there instead where that is clear)."""


def size(value: str) -> Wrong:
    if SIZE.fullmatch(value):
        return None
    whole = re.match(r"(\d+[KMGT])iB", value, re.I)
    return "is no size: write a whole number with K, M, G or T, as 200G", value, whole[1] if whole else ""


def array(value: str) -> Wrong:
    says = "is no list of task numbers: write 1-4, 1,3,5 or 0-15:4, and %2 behind it for two at a time"
    return None if ARRAY.fullmatch(value) else (says, value, "")


def dependency(value: str) -> Wrong:
    """Kinds only: a bare number is an old form, and whether the job exists is not for the text to tell."""
    for part in re.split(r"[,?]", value):
        kind = part.partition(":")[0]
        if kind.lower() not in DEPENDENCIES and not re.fullmatch(r"\d+(_(\d+|\*))?|", kind):
            return named(kind, DEPENDENCIES, "is no kind of dependency", str.lower)
        for job in part.split(":")[1:]:
            if re.fullmatch(r"[A-Za-z][\w.-]*", job):
                return f"'{job}' is no job's number, which is all that a dependency takes", job, ""
    return None


def mail(value: str) -> Wrong:
    """Slurm skips words that it does not know (parse_mail_type) and refuses a list in which it knows none."""
    kinds = [kind for kind in value.split(",") if kind]
    if not kinds or any(kind.lower() in MAILS for kind in kinds):
        return None
    return named(kinds[0], MAILS, "is no event to be mailed of", str.upper)


def named(word: str, known: frozenset[str], says: str, spelt: Callable[[str], str]) -> Wrong:
    """A word that is none of the known ones, with the nearest of them or all."""
    near = get_close_matches(word.lower(), sorted(known), 1, 0.7)
    if near:
        return f"{says}; the nearest is {spelt(near[0])}", word, spelt(near[0])
    return f"{says}; there are {', '.join(spelt(one) for one in sorted(known))}", word, ""


def begin(value: str) -> Wrong:
    """Only words: what begins with a digit may be any of many forms of a date."""
    word = re.match(r"[A-Za-z]+", value)
    if not word or word[0].lower() in TIME_WORDS or re.fullmatch(r"uts\d+", value):
        return None
    return "is no time: write HH:MM, YYYY-MM-DDTHH:MM, now+1hour or tomorrow", value, ""


def signal(value: str) -> Wrong:
    name, at, seconds = re.sub(r"^(R|B|RB|BR):", "", value, flags=re.I).partition("@")
    if not name.isdigit() and name.lower().removeprefix("sig") not in SIGNALS:
        return "is no signal: write its name or number, as USR1", name, ""
    return ("is no number of seconds", seconds, "") if at and not seconds.isdigit() else None


def exclusive(value: str) -> Wrong:
    says = "is no kind of --exclusive: it stands alone, or is user, mcs or topo"
    return None if value.lower() in EXCLUSIVE else (says, value, "")


def nodes(value: str) -> Wrong:
    found = re.fullmatch(r"(\d+)-(\d+)", value)
    if not found or int(found[1]) <= int(found[2]):
        return None
    return "asks for more nodes at least than at most: write MIN-MAX", value, f"{found[2]}-{found[1]}"


def resource(value: str) -> Wrong:
    """A misspelt `gpu` only: any other name may be one of the site's own (vgpu, shard, ...)."""
    for part in value.split(","):
        name = re.split(r"[:=]", part)[0]
        if found := re.fullmatch(r"gpu(\d+)", part):
            return "is no resource: a colon is missing", part, f"gpu:{found[1]}"
        if name != "gpu" and (name.lower().removesuffix("s") == "gpu" or sorted(name.lower()) == sorted("gpu")):
            return "is no resource: GPUs are called gpu", name, "gpu"
    return gpus(value)


def gpus(value: str) -> Wrong:
    """`4:a100`: the kind stands before the number."""
    for part in value.split(","):
        if found := re.fullmatch(r"(gpu:)?(\d+):([A-Za-z][\w.-]*)", part):
            return "has the number before the kind: write KIND:NUMBER", part, f"{found[1] or ''}{found[3]}:{found[2]}"
    return None


def loose_word(s: Subject) -> Iterator[Hit]:
    """`--mem=200 GB`: a word that no option takes. sbatch: 'Invalid directive found in batch script'."""
    known = slurm_options().options
    letters = {one.letter: one for one in known.values() if one.letter and "sbatch" in one.commands}
    told = {one.line: one for one in own_lines(s) if seen(one)} if s.scheduler == "slurm" else {}
    for line, one in told.items():
        if re.search(r"[{}<>\[\]]", one.raw) or joins(one.raw)[0]:
            continue  # a gap to be filled in, or blanks around the =, which have a finding of their own
        try:
            words = shlex.split(one.raw.removeprefix("#SBATCH"), comments=True)
        except ValueError:
            continue  # an open quote
        taken = False
        for word in words:
            option = known.get(word[2:].partition("=")[0]) if word.startswith("--") else letters.get(word[1:2])
            if not word.startswith("-"):
                if not taken and not word.startswith("=") and words[0] not in ("hetjob", "packjob"):
                    says = f"'{word}' belongs to no option: a value has no blanks"
                    yield Hit(line, says, source=SET_OPTIONS)
                    break
                taken = False
            elif word.startswith("--"):
                taken = "=" not in word and (option is None or option.takes == "value")
            else:
                taken = option is None or (option.takes == "value" and len(word) == 2)


READERS: dict[str, Callable[[str], Wrong]] = {
    "mem": size, "mem-per-cpu": size, "array": array, "dependency": dependency, "mail-type": mail, "begin": begin,
    "signal": signal, "exclusive": exclusive, "nodes": nodes, "gres": resource,
    "gpus": gpus, "gpus-per-node": gpus, "gpus-per-task": gpus,
}  # fmt: skip


def unreadable(s: Subject) -> Iterator[Hit]:
    for one in own_lines(s) if s.scheduler == "slurm" else ():
        reader = READERS.get(one.option)
        if reader is None or not seen(one) or is_placeholder(one.value) or one.value.startswith("="):
            continue
        wrong = reader(one.value)
        if wrong:
            says, part, instead = wrong
            yield Hit(one.line, f"{one.written}: '{part}' {says}", edit=cured(s, one, part, instead))


def cured(s: Subject, one: DirectiveLine, part: str, instead: str) -> Edit | None:
    """The directive with the part replaced; none where the line does not hold it as it is."""
    if not instead or one.value not in s.line(one.line):
        return None
    return s.swapped(one.line, one.value, one.value.replace(part, instead, 1))


SET_OPTIONS = "https://github.com/SchedMD/slurm/commit/540dac06ee6c0c70aa8dcc9a8bd8ccccd3b3bcb9"
RULES = (
    Rule("directive-loose-word", "directives", "error", "a word that belongs to no option: `--mem=200 GB`", loose_word,
         why="sbatch from 19.05 on answers 'Invalid directive found in batch script'; older ones ignore every directive after it"),
    Rule("directive-value", "directives", "error", "a value that sbatch cannot read: memory, array, dependency, begin, mail, signal, exclusive, gres, MIN-MAX nodes", unreadable, sources.SBATCH,
         why="sbatch refuses the job"),
)  # fmt: skip
