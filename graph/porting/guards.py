"""Lines that stop a ported script where a name that it reads is set by nobody on the new machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graph.extraction.script import ReadScript
from graph.porting.account import PortNote
from graph.porting.own_names import JOB_ID_NAMES
from graph.porting.ownership import facts_variables, is_site_path
from knowledge.cluster import Cluster
from knowledge.word_lists import word_set

UNSET = "of the machine before, put your own place at the top and take this line out"
# Set in the new script itself, or by every shell.
GIVEN = word_set(
    "MASTER_ADDR MASTER_PORT WORLD_SIZE NNODES RANKS_PER_NODE HOME USER PWD HOSTNAME TMPDIR LOGNAME SHELL OLDPWD "
    "CONDA_PREFIX VIRTUAL_ENV RANDOM SECONDS UID BASH_SOURCE"
)
OWN_OF = {
    "slurm": re.compile(r"SLURM_"), "pbs": re.compile(r"PBS_"), "lsf": re.compile(r"LSB_|LS_"),
    "flux": re.compile(r"FLUX_"),
}  # fmt: skip
SCHEDULERS_OWN = re.compile(r"(SLURM|PBS|LSB|FLUX)_")


@dataclass(frozen=True, slots=True)
class Guards:
    """Finds what nothing sets. known: names that the new script, or the site itself, sets. leads: whether a name that a
    path begins with counts, which nothing in the script sets."""

    script: ReadScript
    target: Cluster
    known: frozenset[str]
    leads: bool

    def lines(self, code: str) -> tuple[tuple[str, ...], tuple[PortNote, ...]]:
        """The lines for the names that the code reads, and what is told of them."""
        missing = self.missing(code)
        if not missing:
            return (), ()
        them = "it" if len(missing) == 1 else "them"
        names = ", ".join(f"${name}" for name in missing)
        says = f"{names}: nothing sets {them} on {self.target.title}; the script stops there until you do."
        return tuple(f': "${{{name}:?{UNSET}}}"' for name in missing), (PortNote(0, says),)

    def missing(self, code: str) -> list[str]:
        looped = re.findall(r"\bfor\s+(\w+)\s+in\b|\bread\s+(?:-\w+\s+)*(\w+)", code)
        used = dict.fromkeys(re.findall(r"(?<!\\)\$\{?([A-Za-z_]\w*)(?=\b(?!:?[-=?+]))", code))
        places = set(re.findall(r"(?<![\w:])\$\{?([A-Za-z_]\w*)\}?/", code)) if self.leads else set[str]()
        there: Iterable[str] = re.findall(r"\$\{?(\w+)", " ".join(self.target.filesystems.values()))
        set_here = {name for pair in looped for name in pair} | {*facts_variables(self.target), *there}
        return [name for name in used if name not in set_here and self.is_unset(name, name in places)]

    def is_unset(self, name: str, leads: bool) -> bool:
        """Whether nothing sets a name that is the old site's or scheduler's, or that leads a path."""
        if name in self.known or name in JOB_ID_NAMES or name in GIVEN:
            return False
        if any(one.name == name for one in self.script.assignments):
            return False
        if OWN_OF[self.target.scheduler].match(name) and not is_site_path(f"${name}"):
            return False
        return bool(leads or SCHEDULERS_OWN.match(name) or is_site_path(f"${name}"))
