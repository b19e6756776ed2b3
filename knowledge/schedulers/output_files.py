"""Where a job's output stands: by the scheduler's own paths, else by the directives and the scheduler's rule."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.submitted import sbatch_parts

# https://slurm.schedmd.com/sbatch.html, "filename pattern" (read 2026-11-22). The rest becomes `*`.
PATTERN = re.compile(r"%(\d*)([A-Za-z%])")
# Flux takes `flux:` and `FLUX:` behind anything that is no word:
# https://github.com/flux-framework/flux-core/blob/master/src/bindings/python/flux/job/directives.py (2026-11-22).
DIRECTIVE = re.compile(r"^(?:#SBATCH|[^\w\n]*(?:flux|FLUX):)([ \t].*?)(?:[ \t]#.*)?$", re.MULTILINE)
# Flux's own, `{{id}}` and `{{jobid}}` in any form; https://flux-framework.readthedocs.io flux-submit(1) (2026-11-22).
BRACES = re.compile(r"\{\{(\w+)(?:\.\w+)?\}\}")
# More files than these are a sweep's, not a job's.
MOST = 64


OUTPUT_OPTION = re.compile(r"(?:^|\s)(?:-[oe]\s*|--(?:output|error)[= ])(\S+)")


def output_files(job: QueuedJob, script: str = "", submitted: str = "") -> tuple[Path, ...]:
    """The job's output files that are there, its own paths first.

    `submitted`: the command line that it was sent with, whose options win over the script's.
    """
    told = [
        path for name in ("StdOut", "StdErr") if (path := job.printed(name)) and path not in ("(null)", "/dev/null")
    ]
    told += [job.printed(name).split(":", 1)[-1] for name in ("Output_Path", "Error_Path")]
    told += [job.printed(name) for name in ("Output File", "Error File")]
    if job.scheduler in ("slurm", "flux") and not any(told):
        told = typed(submitted) or directed(script) or [default_name(job)]
    folder = Path(job.printed("WorkDir") or job.printed("CWD") or ".")
    named = (expanded(pattern, job) for pattern in dict.fromkeys(told) if pattern)
    return existing(folder, (path for path in named if "*" not in path or has_number(path, job)))


def has_number(path: str, job: QueuedJob) -> bool:
    """Whether the job's number stands in it: without one `*.out` and `train-*.out` are other jobs' files, too."""
    whole = job.id[1:] if job.scheduler == "flux" else job.id.partition("_")[0]
    return any(one and one in path for one in (whole, job.printed("JobId"), job.printed("JobIDRaw")))


def typed(line: str) -> list[str]:
    """The names in what was typed at sbatch; what stands behind the script is the program's."""
    try:
        words = shlex.split(line)[1:]
    except ValueError:  # a quote without its end
        return []
    pairs = (option.partition("=") for option in sbatch_parts(words)[0])
    return [shlex.split(value)[0] for name, _, value in pairs if name in ("--output", "--error") and value]


def directed(script: str) -> list[str]:
    """The names in a script's directives, of which a line may hold several."""
    return [name for line in DIRECTIVE.findall(script) for name in OUTPUT_OPTION.findall(line)]


def default_name(job: QueuedJob) -> str:
    if job.scheduler == "flux":
        return "flux-{{id}}.out"
    return "slurm-%A_%a.out" if "_" in job.id else "slurm-%j.out"


def expanded(pattern: str, job: QueuedJob) -> str:
    """The path with Slurm's or Flux's signs filled in; what is not known becomes `*`."""
    if job.scheduler == "flux":
        known = {"id": f"*{job.id[1:]}", "jobid": f"*{job.id[1:]}", "name": job.name}
        return BRACES.sub(lambda found: known.get(found[1]) or "*", pattern)
    whole, _, task = job.id.partition("_")
    values: Mapping[str, str] = {
        "j": job.printed("JobId") or job.printed("JobIDRaw") or whole,
        "J": whole,
        "A": whole,
        "a": task,
        "x": job.name,
        "u": job.user,
        "%": "%",
    }

    def fill(found: re.Match[str]) -> str:
        value = values.get(found[2], "")
        return value.zfill(int(found[1])) if value and found[1] else value or "*"

    return PATTERN.sub(fill, pattern)


def existing(folder: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """The files that the patterns name, those of a relative path in the job's folder."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        path = folder / pattern
        matches = path.parent.glob(path.name) if "*" in path.name else [path]
        found |= dict.fromkeys(match for match in sorted(matches) if match.is_file())
    return tuple(found)[:MOST]
