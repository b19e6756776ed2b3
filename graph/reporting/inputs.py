"""What a report reads: each job's own logs and script, joined with its row of the scheduler's accounting."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graph.debugging.jobs import jobs
from knowledge.schedulers.output_files import output_files
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.submitted import LONGEST_SCRIPT, as_submitted

SCRIPTS = frozenset((".sh", ".sbatch", ".slurm", ".pbs", ".lsf", ".bsub", ".flux", ".job"))
# What lies beside logs and is none.
NO_LOGS = frozenset(
    f".{end}"
    for end in (
        *("py", "pyc", "yaml", "yml", "json", "jsonl", "toml", "md", "csv", "parquet", "png", "jpg", "svg", "html"),
        *("pt", "pth", "bin", "npz", "npy", "pkl", "safetensors", "zip", "tar", "ckpt", "sqlite", "db"),
    )
)


@dataclass(frozen=True, slots=True)
class JobInput:
    """One job to read. It travels to other processes and machines, which must see the same paths."""

    key: str
    """The same in every run; no two jobs share it."""
    name: str
    """What a person knows it by: the scheduler's id, else the name by which its files were told apart."""
    logs: tuple[Path, ...] = ()
    scripts: tuple[Path, ...] = ()
    script: str = ""
    """The script as the scheduler keeps it."""
    accounted: QueuedJob | None = None
    shown: str = ""
    """The files as a report names them: below the folder that was given."""

    def stamp(self) -> str:
        """What changes when anything that is read of the job changes: sizes and times of its files, its row."""
        told = [f"{path}\0{_state(path)}" for path in (*self.logs, *self.scripts)]
        told += [repr(self.accounted.fields) if self.accounted else "", self.script]
        return hashlib.blake2b("\n".join(told).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _state(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "gone"
    return f"{found.st_size} {found.st_mtime_ns}"


def from_folders(folders: Sequence[Path], accounted: Iterable[QueuedJob] = ()) -> list[JobInput]:
    """The jobs of folders (or single files), with their rows; rows of which no file is here are jobs too.

    Raises InputError where a folder is not there or holds no file.
    """
    rows: dict[str, QueuedJob] = {}
    for job in accounted:
        rows |= {name: job for name in (job.id, job.printed("JobIDRaw"), job.printed("JobID")) if name}
    found: dict[str, JobInput] = {}
    for folder in folders:
        for one in jobs([folder]):
            name = one.name.removeprefix("job ") or folder.name
            logs = tuple(p for p in one.paths if p.suffix not in SCRIPTS | NO_LOGS)
            scripts = tuple(p for p in one.paths if p.suffix in SCRIPTS)
            if not logs:
                continue
            shown = ", ".join(_below(folder, path) for path in logs[:3]) + (", ..." if len(logs) > 3 else "")
            key = f"{folder.resolve()}:{name}"
            found[key] = JobInput(key, name, logs, scripts, accounted=rows.get(name), shown=shown)
    read = {one.accounted.id for one in found.values() if one.accounted}
    left = {job.id: job for job in rows.values() if job.id not in read}
    return [*found.values(), *from_accounting(left.values(), {}, look=False)]


def _below(folder: Path, path: Path) -> str:
    return str(path.relative_to(folder)) if folder.is_dir() else path.name


def from_accounting(accounted: Iterable[QueuedJob], scripts: Mapping[str, str], *, look: bool = True) -> list[JobInput]:
    """The jobs of an accounting with their own output files where they can be seen; look: whether to look for them."""
    found = []
    for job in accounted:
        script = scripts.get(job.printed("JobIDRaw") or job.id, "")[:LONGEST_SCRIPT]
        # Where the scheduler tells the output, no script is opened for it.
        told = script if job.printed("StdOut") or not look else as_submitted(job, script)
        logs = output_files(job, told) if look else ()
        shown = ", ".join(path.name for path in logs[:3])
        key = f"{job.scheduler}:{job.printed('Cluster')}:{job.id}:{job.submitted}"
        found.append(JobInput(key, job.id, logs, (), script, job, shown))
    return found
