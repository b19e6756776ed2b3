"""The change that helps, as a diff of the job's own script: the directive of what the command changes in the queue."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import unified_diff

# What `scontrol update` calls it, and the directive's two spellings.
DIRECTIVES = {
    "TimeLimit": ("-t", "--time"),
    "NumNodes": ("-N", "--nodes"),
    "Account": ("-A", "--account"),
    "Partition": ("-p", "--partition"),
    "QOS": ("-q", "--qos"),
}
UPDATE = re.compile(rf"\b({'|'.join(DIRECTIVES)})=([\w:.-]+)")
SELECT = re.compile(r"^#PBS -l (select=\S+)$")
SCRIPT = re.compile(r"^#!.*\n(?:.*\n)*?#(?:SBATCH|PBS|BSUB|flux:).*", re.MULTILINE)


def script_in(text: str) -> str:
    """The job script in a message, from its first line on; empty where there is none."""
    found = SCRIPT.search(text)
    return text[found.start() :] if found else ""


def changed_script(script: str, commands: Iterable[str]) -> str:
    """The script with the first change of a command that it has a directive for; as it is where none has."""
    for command in commands:
        if found := UPDATE.search(command):
            short, long = DIRECTIVES[found[1]]
            # In the queue least and most nodes are set (`2-2`); a script says one number.
            value = re.sub(r"^(\d+)-\1$", r"\1", found[2]) if found[1] == "NumNodes" else found[2]
            line = re.compile(rf"^(#SBATCH\s+(?:.*\s)?)(?:{long}[= ]|{short}[= ]?)\S+", re.MULTILINE)
            changed, times = line.subn(rf"\g<1>{long}={value}", script, count=1)
            if times:
                return changed
        if (select := SELECT.match(command)) and re.search(r"^#PBS -l\s*select=", script, re.MULTILINE):
            return re.sub(r"(?m)^(#PBS -l\s*)select=[^\s,]+", rf"\g<1>{select[1]}", script, count=1)
    return script


def script_diff(script: str, commands: Iterable[str]) -> str:
    """The change as a unified diff; empty where the script has no such directive."""
    changed = changed_script(script, commands)
    if changed == script:
        return ""
    return "\n".join(
        unified_diff(script.splitlines(), changed.splitlines(), "script", "script, changed", lineterm="", n=1)
    )
