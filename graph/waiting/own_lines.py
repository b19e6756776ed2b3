"""Lines of the paste that are quoted: the one of one's own that makes a job wait, and what staff or pages announce."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.ended import ran_for
from graph.waiting.words import tables
from knowledge.document import Step

# Characters of a line that is shown whole.
LONGEST = 120


def own_line(case: WaitCase) -> WaitingNote | None:
    """The line of the script, the submission or the job's settings, and what to write next time."""
    for row in tables()["own_lines"]:
        if case.job.scheduler == row["scheduler"] and case.found.reason.word in row["words"]:
            found = re.search(row["line"], case.text)
            if row.get("within") and not (ran_for(case.job) or row["within"]) < row["within"]:
                continue
            if found and not (row.get("unless") and re.search(row["unless"], case.text[found.end() :])):
                return told(row, found[0].strip())
    return None


def told(row: Mapping[str, Any], line: str) -> WaitingNote:
    says, do = row["says"].replace("LINE", f"`{line[:LONGEST]}`"), row["do"]
    if row.get("command") or row.get("only"):
        step = (Step(do, row.get("command", "")),)
        return WaitingNote(f"{says}.", instead=row.get("instead", ""), do=step, only=bool(row.get("only")))
    return WaitingNote(f"{says}: {do}.", instead=row.get("instead", ""))


def announced(case: WaitCase) -> WaitingNote | None:
    """What the person pasted or tells of an announcement, a page or a rule of the site, word for word."""
    for row in tables()["announced"]:
        reason = case.found.reason
        if reason.kind not in row["kinds"] or reason.word not in row.get("words", (reason.word,)):
            continue
        for line in case.words.splitlines():
            if len(line) < 3 * LONGEST and "?" not in line and re.search(row["line"], line):
                quoted = line.strip().strip("()- ")
                return WaitingNote(row["says"].replace("LINE", f"“{quoted}”"))
    return None


MISSING = re.compile(r"(?m)^ls: (?:cannot access|[^\n:]*:) *'?(/[^\n':]+)'?:? No such file or directory")
PATHS = ("Output_Path", "Error_Path", "StdOut", "StdErr", "WorkDir", "Command", "Output File", "CWD")


def missing_path(case: WaitCase) -> WaitingNote | None:
    """A path of the job below one that is shown not to exist."""
    gone = MISSING.search(case.text)
    paths = ((name, case.job.printed(name)) for name in PATHS)
    below = next((name for name, path in paths if gone and f"{gone[1].rstrip('/')}/" in f"{path}/"), "")
    if not gone or not below:
        return None
    says = f"Its {below} ({case.job.printed(below)}) lies below {gone[1]}, which does not exist: most likely the cause."
    return WaitingNote(says, do=(Step(f"correct the path ({below}), and submit it again in place of this one"),))
