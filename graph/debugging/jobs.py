"""Which files are of one job: the ranks of a job are judged together, different jobs apart.

The job is told by the scheduler's number in a file's name or text, by the folder it lies in, and by names such as
run-1 and run-2; rank, node and stream numbers (rank-3, gpu04, stderr) do not part files. Files of a folder that tell
none of this, and whose names differ in more than a number, are jobs of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph.debugging.log import from_paths
from knowledge.opening import open_plain

HEAD = 16 << 10
# slurm-4711_3.out, train.o4711, train.e4711.2, 4711.out, job-4711-rank0.log; a date is no number of a job.
NAMED = (
    re.compile(r"slurm-(?P<job>\d+(?:_\d+)?)(?!\d)"),
    re.compile(r"\.(?:[oe]|out|err)(?P<job>\d{2,}(?:[.\[]\d+\]?)?)$"),
    re.compile(r"^(?P<job>\d{4,})\.(?:out|err|log|o|e)\b"),
    re.compile(r"(?:^|[-_.]|[Jj]ob(?:id)?)(?!(?:19|20)\d\d[01]\d[0-3]\d(?!\d))(?P<job>\d{5,9}(?:_\d{1,5})?)(?!\d)"),
)
WRITTEN = re.compile(
    rb"\b(?:SLURM_JOB_?ID|PBS_JOBID|LSB_JOBID|FLUX_JOB_ID)[=: ]+['\"]?(?P<job>\w+)"
    rb"|\*\*\* (?:JOB|STEP) (?P<job2>\d+)[. ]"
)
# Numbered things that are one job's parts, and those that are jobs of their own.
PART = re.compile(
    r"^(?:\d{1,4}|(?:rank|task|proc|process|worker|node|host|local_?rank|replica|pod|attempt|stage|gpu|std|out|err)[-_.]?\d*"
    r"|stdout|stderr|output|logs?|attempt_\d+|[a-z]{1,12}-?\d{2,6}(?:[-.]\w+)*|x\d+c\d+s\d+b\d+n\d+.*)$",
    re.IGNORECASE,
)
OWN = re.compile(
    r"^(?:.*[-_.])?(?:run|exp|experiment|job|trial|seed|sweep|version|v|test|try|config)[-_.]?\d+\b", re.IGNORECASE
)
# Names of a rank, a node or a stream: the files beside them are of the same job.
RANKED = re.compile(
    r"(?:^|[-_.])(?:rank|task|proc|process|worker|node|host|replica|pod|attempt|stage|gpu|std)[-_.]?(?:\d+|out|err)"
    r"(?![a-z\d])|(?:^|[-_.])(?:r|n)\d+(?![a-z\d])|^[a-z]{1,12}-?\d{2,6}$|^x\d+c\d+",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d+")
STREAM = re.compile(r"[-_.]?(?:stdout|stderr|out|err|log|txt|gz|o|e)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JobFiles:
    """Files of one job; the name is what a person reads, empty where there is only one job."""

    name: str
    paths: tuple[Path, ...]


def jobs(paths: Sequence[Path]) -> list[JobFiles]:
    """The jobs that these files and folders hold, in the order of their names. Raises InputError."""
    found: dict[str, list[Path]] = {}
    for base in paths:
        files = [source.path for source in from_paths([base]) if source.path]
        names = {path: _by_name(path.relative_to(base) if base.is_dir() else Path(path.name)) for path in files}
        for path, name in names.items():
            found.setdefault(name or _by_text(path), []).append(path)
    if "" in found and len(found) == 2:  # what has no number goes with the only job that there is
        return [JobFiles("", tuple(path for files in found.values() for path in files))]
    if list(found) == [""] and all(base.is_dir() for base in paths):
        found = _by_alike_names(found[""])
    single = len(found) == 1
    return [
        JobFiles("" if single else name or "files without a job's number", tuple(files))
        for name, files in found.items()
    ]


def _by_name(path: Path) -> str:
    """What the path says of the job, or empty: the scheduler's number, else a folder or name of a run."""
    for part in reversed(path.parts):
        for pattern in NAMED:
            if found := pattern.search(part):
                return f"job {found['job']}"
    for part in path.parts[:-1]:
        if not PART.match(part) or OWN.match(part):
            return part
    stem = STREAM.sub("", path.name)
    return stem if OWN.match(stem) else ""


def _by_alike_names(files: list[Path]) -> dict[str, list[Path]]:
    """Files of a folder with no job's number: one job where any is a rank's or a node's, else one for each name."""
    found: dict[str, list[Path]] = {}
    for path in files:
        stem = STREAM.sub("", path.name)
        name = NUMBER.sub("", stem).strip("-_. ")
        if not name or RANKED.search(stem):
            return {"": files}
        found.setdefault(name, []).append(path)
    return found


def _by_text(path: Path) -> str:
    """What the start of the file says of the job, where its name does not."""
    if path.suffix == ".gz":
        return ""
    try:
        with open_plain(path) as file:
            head = file.read(HEAD)
    except OSError:
        return ""
    found = WRITTEN.search(head)
    return f"job {(found['job'] or found['job2']).decode('ascii', 'replace')}" if found else ""
