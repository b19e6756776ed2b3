# ruff: noqa: E501
"""What a submit command answers, and what a script makes of it: a job that waits needs the number alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.commands import Assignment
from graph.verification.checks import sources
from graph.verification.checks.array_rules import reached
from graph.verification.checks.rule import Hit, Rule
from graph.verification.checks.subject import Subject

NUMBER = "4711"
# Each batch system's answer (sbatch(1), qsub of PBS and of Grid Engine, bsub(1)).
REPLIES = {
    "slurm": f"Submitted batch job {NUMBER}",
    "pbs": f"{NUMBER}.server",
    "sge": f'Your job {NUMBER} ("job.sh") has been submitted',
    "lsf": f"Job <{NUMBER}> is submitted to queue <normal>.",
}
WANTED = {"slurm": r"\d+", "pbs": r"\d+(\.\w+)?", "sge": r"\d+", "lsf": r"\d+"}
RIGHT = {
    "slurm": "--dependency takes the number alone: NAME=$(sbatch --parsable ...)",
    "pbs": "depend takes the job's identifier as qsub prints it",
    "sge": "-hold_jid takes the number alone: NAME=$(qsub -terse ...)",
    "lsf": "the condition takes the number alone: `| grep -o '[0-9]*' | head -n 1`",
}
PAGES = {"slurm": sources.SBATCH, "pbs": sources.PBS, "lsf": sources.BSUB}
# Where a job is told which one it waits for; the names in it come behind.
WAITS = re.compile(
    r"(?:after(?:ok|any|notok|corr|burstbuffer)?:|(?:done|ended|exit|started)\(|-hold_jid[ =])((?:[\"'\w:?,.]|\$\{?\w+[^\s}]*\}?)*)"
)
SUBSTITUTION = re.compile(r"[\"']?(?:\$\((?!\()(.*)\)|`(.*)`)[\"']?", re.S)
PARAMETER = re.compile(r"[\"']?\$(?:(\w+)|\{(\w+)([^}]*)\})[\"']?")
PIPE = re.compile(r"(?<!\|)\|(?!\|)")
FIELD = re.compile(r"g?awk\s+(?:-F\s*(['\"]?)(\S)\1\s+)?'\{\s*print\s+\$(NF|\d+)\s*;?\s*\}'")
CUT = re.compile(r"cut\s+-d\s*(?:'(.)'|\"(.)\"|\\?(\S))\s+-f\s*(\d+)|cut\s+-f\s*(\d+)\s+-d\s*(?:'(.)'|\"(.)\"|\\?(\S))")
DIGITS_ALONE = re.compile(
    r"tr\s+-(?:dc|cd)\s+\S*(?:0-9|\[:digit:\])\S*|e?grep\s+-\w*o\w*\s+['\"]?(\\d|\[0-9\]|\[\[:digit:\]\])\S*"
)


def unread_reply(s: Subject) -> Iterator[Hit]:
    """`JOB=$(sbatch ...)` and `--dependency=afterok:$JOB`: the whole sentence where a number is wanted."""
    told: set[str] = set()
    for number, line in s.code_lines:
        for place in WAITS.finditer(line):
            for used in re.finditer(r"\$(?:(\w+)|\{(\w+)([^}]*)\})", place[1]):
                name = used[1] or used[2]
                value = reply_in(s, used[0], number, sge="hold_jid" in place[0]) or collected(s, name)
                if value is None or name in told or re.fullmatch(WANTED[value[0]], value[1]):
                    continue
                told.add(name)
                who = submits(value[0])
                says = f"{name} is '{value[1]}'" if value[1] else f"{name} is empty"
                says += (
                    f": the whole answer of {who}"
                    if value[1] == REPLIES[value[0]]
                    else f" here; {who} answers '{REPLIES[value[0]]}'"
                )
                yield Hit(number, says, RIGHT[value[0]], PAGES.get(value[0]))


def collected(s: Subject, name: str) -> tuple[str, str] | None:
    """The same for answers that a list collects, where nothing on the way takes the number out."""
    text = reached(s, f"${name}")
    whole = re.search(r"\$\(\s*(sbatch|bsub)\s[^|()]*\)", text)
    lists = re.search(r"\+?=\(|\[[@*]\]", text) or any(one.written.startswith("(") for one in s.script.assignments)
    if (
        not whole
        or not lists
        or "--parsable" in text
        or re.search(r"\b(awk|cut|grep|sed|tr|read|mapfile)\b|##|%%|//|\[-1\]|:\d", text)
    ):
        return None
    system = "slurm" if whole[1] == "sbatch" else "lsf"
    return (
        (system, REPLIES[system])
        if any(whole[0] in one.written for one in s.script.assignments if one.written.startswith("("))
        else None
    )


def submits(system: str) -> str:
    return {"slurm": "sbatch", "lsf": "bsub"}.get(system, "qsub")


def reply_in(s: Subject, text: str, line: int, sge: bool, depth: int = 0) -> tuple[str, str] | None:
    """(batch system, value) of a text that holds what a submit command answered; None where that cannot be told."""
    if depth > 5:
        return None
    parameter = PARAMETER.fullmatch(text.strip())
    if parameter:
        one = set_before(s, parameter[1] or parameter[2], line)
        value = reply_in(s, one.written, one.line, sge, depth + 1) if one else None
        return shaped(value, parameter[3] or "")
    inside = SUBSTITUTION.fullmatch(text.strip())
    if inside is None:
        return None
    first, *filters = PIPE.split((inside[1] or inside[2] or "").strip())
    value = answer(first, sge)
    printed = re.match(r"echo\s+(\S+)\s*$", first.strip())
    if printed:
        value = reply_in(s, printed[1], line, sge, depth + 1)
    for command in filters:
        value = filtered(value, command.strip()) if value else None
    return value


def set_before(s: Subject, name: str, line: int) -> Assignment | None:
    """The assignment that counts at a line: the last above it; none where branches differ."""
    above = [one for one in s.set_to(name) if one.line < line]
    return above[-1] if above and "branch" not in " ".join(above[-1].inside) else None


def answer(command: str, sge: bool) -> tuple[str, str] | None:
    """What a submit command prints, where its options leave no doubt."""
    words = command.split("\n")[0].split()
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if name == "sbatch" and not any(re.match(r"-M|--clusters?|-Q|--quiet|--test-only", word) for word in words):
        return "slurm", NUMBER if "--parsable" in words else REPLIES["slurm"]
    if name == "bsub" and not {"-K", "-I", "-Is", "-Ip"} & set(words):
        return "lsf", REPLIES["lsf"]
    if name == "qsub":
        return ("sge", NUMBER if "-terse" in words else REPLIES["sge"]) if sge else ("pbs", REPLIES["pbs"])
    return None


def shaped(value: tuple[str, str] | None, operation: str) -> tuple[str, str] | None:
    """A value behind `${NAME##* }` and its like; None for what is not worked out here."""
    if value is None or not operation:
        return value
    system, text = value
    match operation:
        case "##* " | "##*\\ " | '##*" "':
            return system, text.rsplit(" ", 1)[-1]
        case "%%.*" | "%.*":
            return system, text.split(".")[0]
        case "//[^0-9]/" | "//[!0-9]/" | "//[^0-9]" | "//[!0-9]":
            return system, re.sub(r"\D", "", text)
        case "%% *":
            return system, text.split(" ")[0]
        case _:
            return None


def filtered(value: tuple[str, str], command: str) -> tuple[str, str] | None:
    """What a command at a pipe's end makes of one line; None for what is not worked out here."""
    system, text = value
    if field := FIELD.fullmatch(command):
        parts = text.split(field[2]) if field[2] else text.split()
        at = len(parts) if field[3] == "NF" else int(field[3])
        return system, text if at == 0 else parts[at - 1] if at <= len(parts) else ""
    if cut := CUT.fullmatch(command):
        by = next((one for one in (*cut.group(1, 2, 3), *cut.group(6, 7, 8)) if one), " ")
        parts, at = text.split(by), int(cut[4] or cut[5])
        return system, text if len(parts) == 1 else parts[at - 1] if at <= len(parts) else ""
    if DIGITS_ALONE.fullmatch(command):
        return system, NUMBER
    if removed := re.fullmatch(r"tr\s+-d\s+['\"]([<>]+)['\"]", command):
        return system, "".join(char for char in text if char not in removed[1])
    if re.fullmatch(r"(head|tail)\s+(-n\s*1|-1)|xargs", command):
        return value
    return None


RULES = (
    Rule("submit-reply", "shell", "error", "`JOB=$(sbatch ...)` without --parsable, or the wrong word of the answer, in a dependency", unread_reply),
)  # fmt: skip
