"""A job's script as sbatch took it: with the options of the command line, which outweigh the script's own.

https://slurm.schedmd.com/sbatch.html and sacct.html, "SubmitLine" (read 2026-11-22): the accounting keeps the words of
the command line; the script itself only where the site asks for it (AccountingStoreFlags=job_script).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from knowledge.opening import read_plain
from knowledge.schedulers.accounting import submit_of
from knowledge.schedulers.records import QueuedJob
from knowledge.slurm_options import slurm_options

# No more than the reader of scripts takes.
LONGEST_SCRIPT = 150_000
# Clocks of a file server and of the scheduler differ; nobody edits a script that soon.
CLOCKS_S = 5.0
# What tells sbatch how to answer, and nothing of the job.
OF_THE_ANSWER = ("parsable", "quiet", "verbose", "wait", "hold", "test-only", "wrap")


def as_submitted(job: QueuedJob, kept: str) -> str:
    """The script with the options of its command line. kept: as the scheduler keeps it; where it keeps none, the file.

    Empty where nothing is known of it, or where the file was changed since.
    """
    line = job.printed("SubmitLine")
    with suppress(ValueError):  # a quote without its end
        command, *words = shlex.split(line) or [""]
        if Path(command).name == "sbatch":
            options, script = sbatch_parts(words)
            text = kept or _read(job, script)
            return _with(text, options) if text else ""
    return kept


def sbatch_parts(words: Sequence[str]) -> tuple[list[str], str]:
    """The options of sbatch, each as `--name=value` or `--name`, and the script's path; empty where it read a pipe."""
    options, left = list[str](), iter(words)
    for word in left:
        if not word.startswith("-") or word == "-":
            return options, word
        options += _option(word, left)
    return options, ""


def _option(word: str, left: Iterator[str]) -> Iterator[str]:
    known = slurm_options()
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        name = known.aliases.get(name, name)
    else:
        name, value = _letters().get(word[1], ""), word[2:].removeprefix("=")
    option = known.options.get(name)
    takes = option.takes if option else known.plugins.get(name, "nothing")
    if takes == "value" and not value:
        value = next(left, "")
    if name and name not in OF_THE_ANSWER:
        yield f"--{name}={shlex.quote(value)}" if value else f"--{name}"


@cache
def _letters() -> dict[str, str]:
    return {one.letter: name for name, one in slurm_options().of("sbatch").items() if one.letter}


def _read(job: QueuedJob, script: str) -> str:
    """The file, where it is what was submitted; empty where it is not, or cannot be seen from here."""
    path, submitted = Path(job.printed("WorkDir")) / script, submit_of(job)
    with suppress(OSError):
        if script and submitted is not None and path.is_file() and path.stat().st_mtime <= submitted + CLOCKS_S:
            text = read_plain(path, LONGEST_SCRIPT).decode("utf-8", "replace")
            return text if text.startswith("#!") else ""
    return ""


def _with(script: str, options: Sequence[str]) -> str:
    """The options stand behind the script's own: of two that say the same the last counts."""
    lines = script.splitlines(keepends=True)
    # Behind the first command a directive is void, such as one in a script that this one writes.
    first = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    last = max((n for n, line in enumerate(lines[:first]) if line.startswith("#SBATCH")), default=0)
    return "".join([*lines[: last + 1], *(f"#SBATCH {option}\n" for option in options), *lines[last + 1 :]])
