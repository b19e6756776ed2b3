"""Command lines pasted with their output: the job that they ask for, and the columns that they name."""

from __future__ import annotations

import re

from knowledge.schedulers.slurm import LETTERS

PROMPT = re.compile(r"\s*(?:\[[^\]]*\]\s*|\([^)]*\)\s*)*(?:[\w.@:~/-]*\s*)?[$%#>\u276f]\s+(?=\S)")
COMMAND = re.compile(
    r"(?:squeue|scontrol|sacct|sprio|sinfo|sshare|sacctmgr|sbatch|qstat|tracejob|pbsnodes|qsub|bjobs|bhist|bsub|bqueues|flux|sq)\b"
)
ID = re.compile(r"(?<![\w.:/=-])(\d{2,}(?:_\d+|\[\d*\])?|[ƒf][1-9A-HJ-NP-Za-km-z]{4,})(?:\.[\w.-]+)?(?![\w:])")
# A letter that prints what nothing here reads.
UNREAD = "UNREAD"
FORMAT = re.compile(r"(?:(?<!\S)-(?:\w*o(?=[= '\"%])|o)|--format|\bformat)[= ]*(?:'([^']+)'|\"([^\"]+)\"|(\S+))")


def prompted(line: str) -> str:
    """The command of a line that begins with a prompt, or with a scheduler's command; empty where it is neither."""
    found = PROMPT.match(line)
    rest = line[found.end() :] if found else line.strip()
    return rest if found or COMMAND.match(rest) else ""


def id_asked(line: str) -> str:
    """The job id that a command line asks for."""
    command = prompted(line)
    found = ID.search(command) if COMMAND.search(command) else None
    return found[1] if found else ""


def columns_asked(line: str) -> tuple[str, tuple[str, ...], str] | None:
    """The command, the columns and the job of a command, alone or in a sentence, that prints rows without a header."""
    named = COMMAND.search(line)
    command = prompted(line) or (line[named.start() :] if named else "")
    shape = FORMAT.search(command)
    if not shape or not re.search(r"\s(?:-\w*[hn]\w*|--noheader)\b", command):
        return None
    wanted = next(text for text in shape.groups() if text)
    job = id_asked(line)
    for name, letters in LETTERS.items():
        if command.startswith(name):
            known = tuple(letters.get(one, UNREAD) for one in re.findall(r"%\.?\d*([A-Za-z])", wanted))
            return (name, known, job) if known else None
    if found := re.match(r"(sacct|sacctmgr) ", command):
        return found[1], tuple(name.split("%")[0] for name in wanted.split(",")), job
    if command.startswith("bjobs "):  # `-o "jobid:8 gpu_num"`
        return "bjobs", tuple(name.split(":")[0].upper() for name in wanted.split()), job
    if command.startswith("flux jobs "):  # `-no "{id.f58} {t_remaining!F}"`
        names = (one.upper() for one in re.findall(r"\{(\w+)", wanted))
        return "flux jobs", tuple(FLUX_NAMES.get(one, UNREAD if "_" in one else one) for one in names), job
    return None


# Fields of `flux jobs -o` by the columns that hold the same (man flux-jobs).
FLUX_NAMES = {
    "ID": "JOBID",
    "DURATION": "T_LIMIT",
    "T_REMAINING": "TIME_LEFT",
    "STATUS_ABBREV": "ST",
    "STATE_SINGLE": "ST",
}


SHOWN = re.compile(r"scontrol\b(?: +-\S+)* +(?:-\S+ +)*show +(?:-\S+ +)*(job|part|res|node)[a-z]*(?:[ =]+([\w.-]+))?")


def block_asked(line: str) -> tuple[str, str]:
    """What a `scontrol show` asks for (`job`, `part`, `res`, `node`) and its name; empty where it asks for nothing."""
    found = SHOWN.search(prompted(line))
    return (found[1], found[2] or "") if found else ("", "")


FILTERS = {
    "PARTITION": re.compile(r"(?:\s-p[ =]*|--partition[ =])([\w-]+)(?![\w,-])"),
    "STATE": re.compile(r"(?:\s-t[ =]*|--states?[ =])([A-Za-z]+)(?![\w,])"),
    "ACCOUNT": re.compile(r"(?:\s-A[ =]*|--account[ =])([\w-]+)(?![\w,-])"),
    "QOS": re.compile(r"(?:\s-q[ =]*|--qos[ =])([\w-]+)(?![\w,-])"),
    "USER": re.compile(r"(?:\s-u[ =]*|--user[ =])([\w-]+)(?![\w,.-])"),
}


def filters_asked(line: str) -> dict[str, str]:
    """What `sinfo` (partition, state) or `squeue` is narrowed to, where it is one: its rows need not print that."""
    command = prompted(line)
    names = {"sinfo": ("PARTITION", "STATE"), "squeue": tuple(FILTERS)}.get(command.split(" ")[0], ())
    return {name: found[1] for name in names if (found := FILTERS[name].search(command))}
