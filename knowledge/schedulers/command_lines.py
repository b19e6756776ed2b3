"""Command lines pasted with their output: the job that they ask for, and the columns that they name."""

from __future__ import annotations

import re

PROMPT = re.compile(r"\s*(?:\[[^\]]*\]\s*|\([^)]*\)\s*)*(?:[\w.@:~/-]*\s*)?[$%#>\u276f]\s+(?=\S)")
COMMAND = re.compile(
    r"(?:squeue|scontrol|sacct|sprio|sinfo|sshare|sacctmgr|sbatch|qstat|tracejob|pbsnodes|qsub|bjobs|bhist|bsub|bqueues|flux|sq)\b"
)
ID = re.compile(r"(?<![\w.:/=-])(\d{2,}(?:_\d+|\[\d*\])?|[ƒf][1-9A-HJ-NP-Za-km-z]{4,})(?:\.[\w.-]+)?(?![\w:])")
# squeue's letters (https://slurm.schedmd.com/squeue.html, read 2026-11-22) and the headers that they print.
LETTERS = {
    "i": "JOBID",
    "A": "JOBID",
    "P": "PARTITION",
    "j": "NAME",
    "u": "USER",
    "t": "ST",
    "T": "STATE",
    "M": "TIME",
    "l": "TIME_LIMIT",
    "D": "NODES",
    "C": "CPUS",
    "R": "NODELIST(REASON)",
    "r": "REASON",
    "N": "NODELIST",
    "S": "START_TIME",
    "V": "SUBMIT_TIME",
    "e": "END_TIME",
    "q": "QOS",
    "a": "ACCOUNT",
    "Q": "PRIORITY",
    "b": "TRES_PER_NODE",
    "m": "MIN_MEMORY",
    "f": "FEATURES",
    "E": "DEPENDENCY",
    "L": "TIME_LEFT",
    "Y": "SCHEDNODES",
}
FORMAT = re.compile(r"(?:-o|-\w*o|--format|\bformat)[= ]*(?:'([^']+)'|\"([^\"]+)\"|(\S+))")


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
    if command.startswith("squeue"):
        letters = re.findall(r"%\.?\d*([A-Za-z])", wanted)
        known = tuple(LETTERS.get(letter, "COMMENT") for letter in letters)
        return ("squeue", known, job) if known else None
    if found := re.match(r"(sacct|sacctmgr) ", command):
        return found[1], tuple(name.split("%")[0] for name in wanted.split(",")), job
    return None
