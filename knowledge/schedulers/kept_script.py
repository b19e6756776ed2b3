"""The script of a job whose scheduler keeps none for its user: in the record's own words, or the file that it names."""

from __future__ import annotations

import re
from pathlib import Path

from knowledge.data_file import parse_json
from knowledge.opening import LARGEST_SCRIPT, read_plain
from knowledge.schedulers.records import QueuedJob

WORKDIR = re.compile(r"PBS_O_WORKDIR=([^,]+)")
ARGUMENT = re.compile(r"<jsdl-hpcpa:Argument>([^<]*)</jsdl-hpcpa:Argument>")
LINE_END = re.compile(r"(?<!;);(?!;)")


def submitted_script(job: QueuedJob) -> str:
    """LSF prints the text of `bsub < FILE` with `;` for line ends; a file is read as it is now. Empty: none is told."""
    if job.scheduler == "lsf":
        command = job.printed("Command")
        if command.startswith("#!"):
            return LINE_END.sub("\n", command).strip() + "\n"
        return text_of(Path(job.printed("CWD") or "."), command.split())
    if job.scheduler == "pbs":
        folder = WORKDIR.search(job.printed("Variable_List"))
        told = job.printed("Submit_arguments")
        return text_of(Path(folder[1] if folder else "."), ARGUMENT.findall(told) or told.split())
    return ""


def script_in_jobspec(jobspec: str) -> str:
    """The script of `flux batch` in what `flux job info ID jobspec` prints; empty for `flux submit`, which has none.

    https://flux-framework.readthedocs.io/projects/flux-rfc/en/latest/spec_14.html; the older place is `batch.script`.
    """
    try:
        told = parse_json(jobspec)
    except ValueError:
        return ""
    system = under(under(told, "attributes"), "system")
    kept = under(under(under(system, "files"), "script"), "data") or under(under(system, "batch"), "script")
    return kept if isinstance(kept, str) else ""


def under(value: object, name: str) -> object:
    """What stands under the name; None where that is no mapping."""
    return value.get(name) if isinstance(value, dict) else None


def text_of(folder: Path, words: list[str]) -> str:
    """The text of the last word that is a script there."""
    for word in reversed(words):
        path = folder.expanduser() / word
        try:
            text = read_plain(path, LARGEST_SCRIPT).decode("utf-8", "replace") if path.is_file() else ""
        except OSError:
            continue
        if text.startswith("#!"):
            return text
    return ""
