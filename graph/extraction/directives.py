"""Reads the scheduler directives of a batch script: every option with its line, and whether it counts and why not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from graph.extraction.directive_tables import BY_SCHEDULER, SYNTAXES, Syntax

PLACEHOLDER = re.compile(
    r".*[<>{}\[\]].*|x{3,}|\?+|\.{3}|_+|-+|changeme|todo.*|grpname|[a-z_-]*(account|project|partition|queue|qos|allocation)[_-]?(name|id|here)"
    r"|(your|my|some|the|insert)[ _-].*|account|project|partition|queue|allocation|.*x{4,}.*|n/?a|none|null",
    re.I,
)


@dataclass(frozen=True, slots=True)
class DirectiveLine:
    """One option of one directive line. option is its long name; written is the option as it stands.

    active is false where the scheduler does not see it (commented out, misspelt, after the first command, said again
    further down); why_not tells which. A PBS `-l` is split into its resources: option `select`, `walltime`, ...
    """

    line: int
    scheduler: str
    raw: str
    option: str
    written: str
    value: str
    active: bool = True
    why_not: str = ""


# What stands between the parts of a heterogeneous job (https://slurm.schedmd.com/heterogeneous_jobs.html).
NEW_PART = re.compile(r"(hetjob|packjob)\b.*")


# Options of one line: whoever asks each of thousands about its line reads that line as often.
MOST_OPTIONS = 200
# Of a whole text: dozens of rules ask each of them; honest scripts have tens.
MOST_DIRECTIVES = 1_000
# Characters of one; what stands behind them is no part of it.
LONGEST_LINE = 4_000
# A comment in which some syntax sees a directive, alive or dead: most lines are none, and looked at once.
MARKED = re.compile("|".join(f"(?:{one.pattern})" for syntax in SYNTAXES for one in (syntax.mark, syntax.dead)))


def read_directives(text: str) -> tuple[DirectiveLine, ...]:
    """The first MOST_DIRECTIVES, in order. The last of several active ones with one name is the one that counts."""
    found: list[DirectiveLine] = []
    seen_command = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped:
            continue
        if not stripped.startswith("#"):
            seen_command = True
            continue
        if len(stripped) > LONGEST_LINE:
            stripped = stripped[:LONGEST_LINE]
        for syntax in SYNTAXES if MARKED.match(stripped) else ():
            found += directives_of(stripped, number, syntax, seen_command)
        if len(found) >= MOST_DIRECTIVES:
            break
    return tuple(found[:MOST_DIRECTIVES])


def directives_of(line: str, number: int, syntax: Syntax, seen_command: bool) -> Iterator[DirectiveLine]:
    """The options of one comment line in one syntax, dead ones with the reason."""
    mark = syntax.mark.match(line)
    why_not = ""
    if mark:
        rest = line[mark.end() :]
        if seen_command and syntax.stops_at_command:
            why_not = "it stands after the first command: the scheduler has stopped reading directives"
    else:
        mark = syntax.dead.match(line)
        if not mark:
            return
        rest = re.sub(r"^\W*\w+:?\s*", "", line)
        misspelt = not re.search(syntax.scheduler[:1] + r"|bsub|batch|pbs", mark[0], re.I) or "SBATCH" not in line
        why_not = "it is misspelt" if misspelt and syntax.scheduler == "slurm" else "it is commented out"
    if syntax.scheduler == "slurm" and NEW_PART.fullmatch(rest.strip()) and not why_not:
        yield DirectiveLine(number, syntax.scheduler, line, "hetjob", rest.strip(), "", False, "it begins another part")
    for written, option, value in islice(options(split_directive(rest), syntax), MOST_OPTIONS):
        yield DirectiveLine(number, syntax.scheduler, line, option, written, value, not why_not, why_not)


def split_directive(text: str) -> list[str]:
    """The words of a directive: quotes taken off, a comment behind a blank dropped."""
    words: list[str] = []
    for match in re.finditer(r"""\s+#.*$|((?:"[^"]*"|'[^']*'|\$\{[^}]*\}|[^\s"'])+)""", text):
        if match[1] is None or len(words) == 2 * MOST_OPTIONS:
            break
        words.append(re.sub(r"""["']""", "", match[1]))
    return words


def options(words: list[str], syntax: Syntax) -> Iterator[tuple[str, str, str]]:
    """(as written, long name, value) for each option among the words of a directive or of a submit command."""
    i = 0
    while i < len(words):
        word = words[i]
        i += 1
        if not word.startswith("-") or word == "-":
            continue
        written, name, value, needs_value = option_of(word, syntax)
        if needs_value and value is None and i < len(words) and not re.match(r"--?[A-Za-z]", words[i]):
            value = words[i]
            i += 1
            if (
                name == "parallel" and words[i : i + 1] and words[i][0].isdigit()
            ):  # a parallel environment and its slots
                value, i = f"{value} {words[i]}", i + 1
        if name == "resource" and syntax.scheduler in ("pbs", "sge"):
            for key, amount in resources(value or ""):
                yield f"{written} {key}", key, amount
        elif name == "setattr" and (value or "").startswith(("bank=", "system.bank=")):
            yield written, "bank", (value or "").partition("=")[2]
        else:
            yield written, name, value or ""


def option_of(word: str, syntax: Syntax) -> tuple[str, str, str | None, bool]:
    """(as written, long name, value if attached, whether a value follows) of one option word."""
    if word.startswith("--"):
        written, equals, value = word.partition("=")
        name = full_name(written[2:], syntax)
        return written, name, value if equals else None, not equals and name not in syntax.flags
    if word in syntax.short:
        name = syntax.short[word]
        return word, name, None, name not in syntax.flags
    written, equals, value = word.partition("=")
    if equals and written in syntax.short:
        return written, syntax.short[written], value, False
    if word[:2] in syntax.short and len(word) > 2 and syntax.scheduler != "lsf":
        name = syntax.short[word[:2]]
        return word[:2], name, None if name in syntax.flags else word[2:].lstrip("="), False
    return word, word.lstrip("-"), None, True


def full_name(name: str, syntax: Syntax) -> str:
    """The long name of an option: aliases and unambiguous beginnings resolved, as getopt does."""
    name = syntax.short.get(name, name)
    if name in syntax.long or name in syntax.flags:
        return name
    starts = [known for known in syntax.long | syntax.flags if known.startswith(name)]
    return starts[0] if len(starts) == 1 else name


def resources(text: str) -> list[tuple[str, str]]:
    """The resources of a PBS `-l`: `nodes=2:ppn=4,walltime=1:00:00` is two."""
    found: list[tuple[str, str]] = []
    for part in re.split(r",(?=[A-Za-z_][\w.]*(?:=|$))", text):
        key, _, value = part.partition("=")
        if key:
            found.append((key.strip(), value.strip()))
    return found


def from_command(scheduler: str, words: Iterable[str], line: int, raw: str) -> tuple[DirectiveLine, ...]:
    """The options of a submit command (`sbatch -N 4 job.sh`, `flux batch -N 2 ...`) as directives of its line."""
    before_program: list[str] = []
    syntax = BY_SCHEDULER[scheduler]
    takes_value = False
    for word in words:
        if not word.startswith("-") and not takes_value:
            break
        takes_value = word.startswith("-") and option_of(word, syntax)[3]
        before_program.append(word)
    return tuple(
        DirectiveLine(line, scheduler, raw, option, written, value)
        for written, option, value in options(before_program, syntax)
    )


def is_placeholder(value: str) -> bool:
    """Whether a value is left for the reader to fill in, or a variable that the scheduler will not expand."""
    return not value or "$" in value or bool(PLACEHOLDER.fullmatch(value))


def in_force(directives: Iterable[DirectiveLine]) -> dict[str, DirectiveLine]:
    """Option -> the directive that counts: active, filled in, the last of its name."""
    found: dict[str, DirectiveLine] = {}
    for one in directives:
        if one.active and (one.option not in found or not is_placeholder(one.value)):
            found[one.option] = one
    return found


def mark_overridden(directives: Iterable[DirectiveLine]) -> tuple[DirectiveLine, ...]:
    """The directives with those marked inactive that a later one of the same name replaces."""
    listed = one_part(list(directives))
    chosen = in_force(listed)
    repeats = {"resource", "mail-type"}
    return tuple(
        one
        if not one.active or one.option in repeats or chosen.get(one.option) is one or one.scheduler == "lsf"
        else replace(one, active=False, why_not=f"line {chosen[one.option].line} says it again")
        for one in listed
    )


def one_part(directives: list[DirectiveLine]) -> list[DirectiveLine]:
    """Of a heterogeneous job the part with GPUs, else the first; what that part leaves out is the first part's."""
    starts = [at for at, one in enumerate(directives) if one.option == "hetjob"]
    if not starts:
        return directives
    bounds = [0, *starts, len(directives)]
    parts = [range(begin, end) for begin, end in pairwise(bounds)]
    with_gpus = (part for part in parts if any(asks_for_gpus(directives[at]) for at in part))
    counted = next(with_gpus, parts[0])
    names = {directives[at].option for at in counted if directives[at].active}

    def counts(at: int) -> bool:
        return at in counted or (at in parts[0] and directives[at].option not in names)

    return [
        one if counts(at) or not one.active else replace(one, active=False, why_not="it is of another part of the job")
        for at, one in enumerate(directives)
    ]


def asks_for_gpus(one: DirectiveLine) -> bool:
    return one.active and ("gpu" in one.value or one.option.startswith("gpus"))
