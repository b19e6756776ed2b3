"""The directives of a ported script: the new machine's, with the person's own wishes among them; what goes is named."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from graph.extraction.places import Change, line_of, tree_of
from graph.extraction.script import ReadScript, read_script
from graph.porting.account import PortNote
from graph.porting.walk import Placing, listed
from knowledge.types import SCHEDULER_TITLES, LaunchPlan, Scheduler
from knowledge.word_lists import word_set

# Directives that ask for something of the person's, in the same words on each machine of that scheduler.
OWN_DIRECTIVES = word_set(
    "array error open-mode signal requeue no-requeue comment begin dependency export kill-on-invalid-dep wckey"
)
# What the plan of the new job decides: nodes, tasks, GPUs, time, queue, who pays, names of the job and its files.
PLANNED = word_set(
    "nodes ntasks ntasks-per-node tasks-per-node ntasks-per-gpu ntasks-per-socket ntasks-per-core cpus-per-task "
    "cpus-per-gpu threads-per-core hint gres gpus gpus-per-node gpus-per-task gpus-per-socket gpu gpu-bind exclusive "
    "time time-limit walltime account project bank group group_list partition queue output error join job-name "
    "constraint select place filesystems ncpus ngpus nslots cores-per-slot gpus-per-slot mpiprocs ompthreads span "
    "rusage nnodes shell interactive keep wd mail mail-type mail-user mail-begin mail-end export get-user-env array "
    "distribution cpu-bind unbuffered verbose image container-image V S j k cwd h_rt node_f"
)
# Directives that name what the old site alone has.
OF_THE_SITE = word_set("licenses nodelist reservation exclude clusters")
SIGNS: dict[Scheduler, str] = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "flux": "# flux:"}
ARRAYS: dict[Scheduler, str] = {"slurm": "#SBATCH --array={}", "pbs": "#PBS -J {}"}
MOST_NAMED = 15


@dataclass
class Header:
    """lines: the rendered script's above its first heading. scheduler: the old script's."""

    walk: Placing
    plan: LaunchPlan
    lines: list[str]
    scheduler: Scheduler
    notes: list[PortNote] = field(default_factory=list)

    def note(self, line: int, says: str) -> None:
        self.notes.append(PortNote(line, says))

    def changes(self) -> list[Change]:
        """The new directives in the place of the old ones, with those that are the person's own wish."""
        lines = [one for one in self.walk.script.directives if one.active]
        new = [row for row in self.lines[1:] if row.strip() and row != "set -eo pipefail"]
        new = self.with_own(new)
        rows = self.walk.text.split("\n")
        starts = [0]
        for row in rows:
            starts.append(starts[-1] + len(row) + 1)
        numbers = sorted({one.line for one in lines})
        begins = 2 if rows[0].startswith("#!") else 1
        first = numbers[0] if numbers else begins
        code = next((line_of(one) for one in tree_of(self.walk.text).named_children if one.type != "comment"), first)
        first = begins if code < first else first  # LSF reads directives anywhere, others above the first command
        found = [Change(starts[number - 1], starts[number], "") for number in numbers]
        at = starts[first - 1]
        shebang = self.lines[0]
        if not rows[0].startswith("#!"):
            new = [shebang, *new]
        elif shebang != rows[0].rstrip() and re.search(r"\s-\w", shebang):
            found.append(Change(0, len(rows[0]), shebang))
        return [Change(at, at, "\n".join(new) + "\n"), *found]

    def with_own(self, new: list[str]) -> list[str]:
        """The header's lines, the person's own directives behind the machine's."""
        script, scheduler = self.walk.script, self.scheduler
        there = {one.option for one in read_script("\n".join(("#!/bin/bash", *new, "true"))).directives}
        own, sign = list[str](), SIGNS[self.plan.scheduler]
        title, array = SCHEDULER_TITLES[self.plan.scheduler], array_of(script)
        if array and self.plan.array is None and scheduler != self.plan.scheduler:
            known = ARRAYS.get(self.plan.scheduler)
            own += [known.format(array)] if known else []
            if not known:
                self.note(0, f"the array {array} is not carried over: add it in {title}'s words.")
        for name, one in script.active.items():
            carried = name == "error" and scheduler == self.plan.scheduler and not one.value.startswith("/")
            if name in ("output", "error") and one.value not in "\n".join(new) and not carried:
                self.note(one.line, f"--{name} {one.value}: what is printed goes to the output file of the new script.")
            if name in OF_THE_SITE and name not in there:
                self.note(one.line, f"--{name} {one.value} is not carried over: it is the old machine's.")
            if name in there or name not in OWN_DIRECTIVES or (name == "array" and scheduler != self.plan.scheduler):
                continue
            if scheduler != self.plan.scheduler and name != "error":
                shown = f"--{name} {one.value}".strip()
                self.note(one.line, f"{shown} is not carried over: add it in {title}'s words.")
            elif scheduler == self.plan.scheduler and (name != "error" or not one.value.startswith("/")):
                between = "=" if one.written.startswith("--") and one.value else " "
                own.append(f"{sign} {one.written}{between}{one.value}".rstrip())
        self.unplanned(there, own)
        last = max(
            (at for at, row in enumerate(new) if row.startswith(("#SBATCH", "#PBS", "#BSUB", "# flux:"))), default=-1
        )
        return [*new[: last + 1], *dict.fromkeys(own), *([""] if last >= 0 else []), *new[last + 1 :]]

    def unplanned(self, there: set[str], own: list[str]) -> None:
        """Names each directive that is neither carried nor answered by the plan, and a name that could not stay."""
        script, shown = self.walk.script, list[str]()
        for one in script.directives:
            name = one.option
            if not one.active:
                continue
            carried = name in there or name in PLANNED or name in OF_THE_SITE or any(one.written in row for row in own)
            memory = name in ("mem", "mem-per-cpu", "mem-per-gpu") and one.value not in ("0", "")
            cores = name in ("cpus-per-task", "ncpus") and not re.search(r"cpus|ncpus|-n \d|cores", " ".join(there))
            if memory or cores or (not carried and name not in OWN_DIRECTIVES):
                shown.append(f"{one.written} {one.value}".strip())
        queue = next((script.active[name].value for name in ("partition", "queue") if name in script.active), "")
        if "qos" in script.active and queue:
            shown.append(f"--qos {script.active['qos'].value}")
        named = script.active.get("job-name") or script.active.get("jobname")
        if named and named.value.partition("[")[0] not in (self.plan.job_name, ""):
            self.note(named.line, f"the job is called {self.plan.job_name}: {named.value} is no name that goes along.")
        if shown:
            what = listed(dict.fromkeys(shown), MOST_NAMED)
            asks = f"{self.walk.target.title}'s own lines ask for what the new job needs."
            self.note(0, f"{what}: not carried over; {asks}")


def array_of(script: ReadScript) -> str:
    """The indices of the old script's array (`1-24`, `0-7%2`); empty for none."""
    if "array" in script.active:
        return script.active["array"].value
    name = script.active.get("job-name")
    found = re.search(r"\[([\d,:-]+)\](%\d+)?", name.value) if name else None
    return f"{found[1]}{found[2] or ''}" if found else ""
