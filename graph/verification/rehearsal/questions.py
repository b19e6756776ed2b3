"""What is asked of a rehearsal's records: one function a question, one table of them. Each yields findings."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from graph.extraction.script import ReadScript
from graph.extraction.script_counts import GPU_SIGNS
from graph.verification.checks.shell_rules import plain_shell
from graph.verification.checks.subject import read_subject
from graph.verification.rehearsal.types import Rank
from graph.verification.simulator.allocation import Allocation
from graph.verification.simulator.cluster import commands
from graph.verification.simulator.config import TOO_MANY, TOO_MUCH, StandIn
from graph.verification.simulator.running import Ran
from knowledge.types import Finding, Severity
from knowledge.word_lists import word_set

# Lmod's and Tcl modules' words that load something, and others; `ml NAME` has none.
LOADING = ("load", "add", "try-load", "try-add", "load-any", "switch", "swap")
NOT_LOADING = word_set(
    "use unuse purge reset list avail unload del delete rm spider show display restore save savelist describe disable "
    "is-avail is-loaded is-saved is-used whatis keyword key search help overview refresh clear test path paths config"
)
SHELL_ERRORS = re.compile(
    r"^.*: line \d+: (?!.*(?:Terminated|Killed)).*$|^.*syntax error.*$|^.*unbound variable.*$", re.M
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that the questions below may look at."""

    ran: Ran
    facts: StandIn
    job: Allocation
    script: ReadScript
    text: str
    ranks: tuple[Rank, ...]
    promised: int

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.ran.records if one.get("kind") == kind]

    def line_of(self, word: str) -> int:
        """The line of the script that holds the word, for people to look at; 0 when it stands nowhere."""
        lines = enumerate(self.script.text.splitlines(), 1)
        return next((n for n, text in lines if word in text and not text.lstrip().startswith("#")), 0)

    @property
    def adopted(self) -> bool:
        """Whether the training's ranks were found out from the launcher's variables, as the user's program must do."""
        groups = {rank.group for rank in self.ranks}
        return any(one["group"] in groups and "RANK" in one["names"] for one in self.of("adopted"))

    @property
    def here(self) -> int:
        """The ranks that should form the group on the part of the job that has processes."""
        devices = self.facts.gpus_per_node or 1
        return self.facts.running * min(devices, self.facts.sampled or devices)


def finding(rule: str, line: int, says: str, why: str, severity: Severity = "error") -> Finding:
    return Finding(f"rehearsal-{rule}", severity, line, says, why)


def world_size(e: Evidence) -> Iterator[Finding]:
    """Did one group of the size that the job's GPUs call for form?"""
    line = launch_line(e)
    if not e.ranks:
        return
    sizes = Counter(rank.world_size for rank in e.ranks)
    formed = [rank for rank in e.ranks if not rank.error and rank.sums_right]
    whole = len(formed) == len(e.ranks) and set(sizes) == {len(e.ranks)}
    distinct = {rank.rank for rank in e.ranks}
    if not whole and set(sizes) == {len(e.ranks)} and len(distinct) == len(e.ranks):
        return  # the counts are right: what the ranks say, or their sums, is the cause
    if not whole or len(distinct) != len(e.ranks):
        said = ", ".join(f"{count} ranks believe in a world of {size}" for size, count in sizes.items())
        yield finding(
            "world-size", line, f"no single process group formed: {said}", "counts on the launch line disagree"
        )
    elif len(e.ranks) != e.here and e.facts.gpus_per_node:
        devices = f"{e.facts.running} nodes x {e.here // e.facts.running} GPUs"
        what = "GPUs stay idle" if len(e.ranks) < e.here else "ranks share GPUs"
        says = f"{len(e.ranks)} ranks formed where {devices} = {e.here} are the job's: {what}"
        why = (
            "right only where the program starts the others itself" if e.adopted else "ranks and GPUs of the job differ"
        )
        yield finding("world-size", line, says, why, "warning" if e.adopted else "error")


def launch_line(e: Evidence) -> int:
    return next((e.line_of(one["launcher"].split()[0]) for one in reversed(e.of("launch"))), 0)


def twice(e: Evidence) -> Iterator[Finding]:
    """Does each process have a number of its own?"""
    mine = {rank.group for rank in e.ranks}
    numbers = Counter(one["variables"].get("RANK") for one in e.of("seen") if one.get("group", "") in mine)
    again = sorted(number for number, count in numbers.items() if number and count > 1)
    if again and not any("torch.distributed" in one["program"] for one in e.of("inner")):
        says = f"{numbers[again[0]]} processes have rank {again[0]}"
        yield finding("rank-twice", launch_line(e), says, "RANK is not the number of the process in the whole job")


def node_counts(e: Evidence) -> Iterator[Finding]:
    """Where the job hung: does a launcher inside the tasks wait for nodes that never come?"""
    for one in e.of("inner") if e.ran.timed_out else ():
        found = re.search(r"--(?:nnodes|num[_-]machines)[= ](?:\d+:)?(\d+)", " ".join(one["words"]))
        if found and int(found[1]) != e.job.nodes:
            says = f"{one['program']} waits for {found[1]} nodes, the job has {e.job.nodes}"
            yield finding("nodes", e.line_of(found[1]), says, "the node count on the launch line is not the job's")
            return


def submission(e: Evidence) -> Iterator[Finding]:
    """Would sbatch take the file at all? In its own words."""
    if e.facts.scheduler == "slurm" and "\r\n" in e.text:
        yield finding(
            "refused", 1, "sbatch refuses: Batch script contains DOS line breaks (\\r\\n)", "save it with Unix ones"
        )
    if e.facts.scheduler == "slurm" and not e.text.startswith("#!"):
        says = "sbatch refuses: This does not look like a batch script. The first line must start with #!"
        yield finding("refused", 1, says, "the first line names the interpreter")


def unknown_modules(e: Evidence) -> Iterator[Finding]:
    """Modules that the facts do not name: a slip of the pen when close to one of theirs; else they may exist."""
    known = e.facts.known_modules
    for name in modules(e) if known else ():
        base = name.split("/")[0]
        near = difflib.get_close_matches(base, known, 1, 0.85) if len(base) > 5 else []
        if near and base not in known and letters(base) != letters(near[0]):
            says = f'Lmod has detected the following error: The following module(s) are unknown: "{name}"'
            yield finding("unknown-module", e.line_of(name), says, f"did you mean {near[0]}?")
        elif base not in known:
            says = f"the facts of this machine do not name the module {name}"
            yield finding("unknown-module", e.line_of(name), says, "check it with module spider", "info")


def letters(name: str) -> str:
    """A name without digits: python and python3 are two modules, not one misspelt."""
    return re.sub(r"[\d.]+", "", name)


def modules(e: Evidence) -> tuple[str, ...]:
    """What `module load` and its short forms loaded, in order."""
    loaded: list[str] = []
    for one in e.of("shell"):
        words = [word for word in one["words"] if not word.startswith("-")]
        if one["what"] == "module" and words and words[0] not in NOT_LOADING:
            old = words[0] in ("switch", "swap") and len(words) > 2
            loaded += words[1 + old :] if words[0] in LOADING else words
    return tuple(dict.fromkeys(loaded))


def lost(e: Evidence) -> Iterator[Finding]:
    """Is the training program looked for in the folder that it lies in?"""
    for one in e.of("lost")[:1]:
        yield finding(
            "wrong-folder", launch_line(e), one["says"], 'a PBS job starts at home: cd "$PBS_O_WORKDIR" first'
        )


UNGIVEN = re.compile(r"line (\d+): (?:\$?\{?)(\w+)\}?: (?:unbound variable|.*(?:not set|parameter null or not set).*)")


def from_outside(e: Evidence) -> Iterator[Finding]:
    """A value that the script takes from whoever submits it: nothing can be said of the rest without it."""
    found = ungiven(e)
    if found:
        says = f"{found[2]} comes from outside the script, and is not set here"
        why = f"export {found[2]} at its top, or give it a default, and rehearse again"
        yield finding("from-outside", int(found[1]), says, why)


def ungiven(e: Evidence) -> re.Match[str] | None:
    found = UNGIVEN.search(e.ran.output) if e.ran.code and not e.ranks else None
    names = {one.name for one in e.script.assignments}
    return found if found and (found[2].isdigit() or found[2] not in names) else None


def unplaceable(e: Evidence) -> Iterator[Finding]:
    """A file of the site that the script insists on, and that cannot be put where it looks: ours to say."""
    for path in missing_guards(e):
        says = f"the script ends without {path}, which cannot be put there on this computer"
        why = "not the script's fault: leave that test out here, or rehearse where user namespaces are allowed"
        yield finding("guard", e.line_of(path.rsplit("/", 1)[-1]), says, why)


def missing_guards(e: Evidence) -> list[str]:
    shown = (one["words"][0] for one in e.of("shell") if one["what"] == "guard-missing" and one["words"])
    return list(dict.fromkeys(shown)) if e.ran.code else []


def started(e: Evidence) -> Iterator[Finding]:
    """Did the training program start at all?"""
    fine = not e.job.node_type.gpus.model and not e.ran.code  # no training: whatever it runs has run
    if not e.ranks and not e.ran.timed_out and not ungiven(e) and not missing_guards(e) and not fine:
        reasons = [one["says"] for kind in ("inner_failed", "refused") for one in e.of(kind)]
        why = (reasons or [last_words(e.ran.output)])[0]
        yield finding("no-ranks", launch_line(e), "the training program never started", why or "nothing is launched")


def last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def rank_errors(e: Evidence) -> Iterator[Finding]:
    """What ranks say went wrong, each wording once."""
    wordings = Counter(re.sub(r"\d+", "N", rank.error) for rank in e.ranks if rank.error)
    for wording, count in wordings.items():
        first = next(rank for rank in e.ranks if rank.error and re.sub(r"\d+", "N", rank.error) == wording)
        says = f"{count} of {len(e.ranks)} ranks failed; rank {first.rank} on {first.node}: {first.error}"
        yield finding("rank-failed", launch_line(e), says, "the training program would fail in the same way")


def sums(e: Evidence) -> Iterator[Finding]:
    wrong = [rank.rank for rank in e.ranks if not rank.error and not rank.sums_right]
    if wrong:
        yield finding("wrong-sum", launch_line(e), f"the all-reduce or all-gather was wrong on ranks {wrong}",
                      "two ranks have one number, or groups are mixed")  # fmt: skip


def devices(e: Evidence) -> Iterator[Finding]:
    """Does each rank of a node have a GPU of its own?"""
    taken = Counter((rank.node, rank.device) for rank in e.ranks if rank.device not in ("", "cpu"))
    shared = [place for place, count in taken.items() if count > 1]
    if shared:
        node, device = shared[0]
        yield finding("shared-gpu", launch_line(e), f"{taken[shared[0]]} ranks on {node} take GPU {device}",
                      "LOCAL_RANK is not the number of the rank on its node, or too few GPUs are visible",
                      "warning" if e.adopted else "error")  # fmt: skip
    if not e.job.node_type.gpus.model:
        code = "\n".join(line for line in e.text.splitlines() if not line.lstrip().startswith("#"))
        weight: Severity = "warning" if GPU_SIGNS.search(code) else "info"
        says, why = "the script asks for no GPU, and had none here", "where nodes come with theirs: --gpus-per-node N"
        yield finding("no-gpus", 0, says, why, weight)
    elif e.facts.gpus_per_node == 0 and e.ranks:
        yield finding("no-gpus", 0, "the directives ask for no GPU", "this machine gives GPUs only to jobs that ask",
                      "warning" if e.adopted else "error")  # fmt: skip


def own_needs(e: Evidence) -> Iterator[Finding]:
    """What the program has to find out by itself: said, since the script does not tell it."""
    groups = {rank.group for rank in e.ranks if e.job.node_type.gpus.model}
    for one in [one for one in e.of("adopted") if one["group"] in groups][:1]:
        names = ", ".join(one["names"])
        who = "the launcher's own variables" if one["step"] else "nothing"
        says = f"{names}: set by nobody here; your program must find them out itself"
        yield finding("own-needs", launch_line(e), says, f"the rehearsal took them from {who}", "info")


def spread(e: Evidence) -> Iterator[Finding]:
    """Are the ranks spread evenly over the nodes?"""
    counts = Counter(rank.node for rank in e.ranks)
    alone = (e.adopted and len(e.ranks) == 1) or not e.facts.gpus_per_node
    if e.ranks and not alone and (len(counts) < e.facts.running or len(set(counts.values())) > 1):
        where = ", ".join(f"{count} on {node}" for node, count in sorted(counts.items()))
        yield finding("spread", launch_line(e), f"ranks are not spread over the job's nodes: {where}",
                      f"the job has {e.facts.running} nodes here", "warning" if e.adopted else "error")  # fmt: skip


def rendezvous(e: Evidence) -> Iterator[Finding]:
    """Do all ranks meet at one address, and is it on the node of rank 0?"""
    mine = {rank.group for rank in e.ranks}
    started = [one["variables"] for one in e.of("seen") if one.get("group", "") in mine]
    masters = {f"{v['MASTER_ADDR']}:{v['MASTER_PORT']}" for v in started if {"MASTER_ADDR", "MASTER_PORT"} <= set(v)}
    if len(masters) > 1:
        says = f"ranks have different addresses: {sorted(masters)[:3]}"
        why = "the address is worked out on every node instead of once"
        yield finding("master-differs", e.line_of("MASTER_ADDR"), says, why)
    local = [m for m in masters if m.split(":")[0] in ("localhost", "127.0.0.1", "0.0.0.0")]
    if local and e.facts.running > 1:
        yield finding("master-local", e.line_of("MASTER_ADDR"), f"{local[0]} is another host on every node",
                      "ranks of other nodes cannot reach it")  # fmt: skip


def interfaces(e: Evidence) -> Iterator[Finding]:
    """Does NCCL_SOCKET_IFNAME name an interface that the machine has?"""
    for seen in e.of("seen")[:1]:
        named = seen["variables"].get("NCCL_SOCKET_IFNAME", "")
        wanted = [name.lstrip("=") for name in named.split(",") if name and not name.startswith("^")]
        known = re.sub(r"\d+$", "", e.facts.interface)
        if wanted and known != "eth" and not any(re.sub(r"\d+$", "", name) == known for name in wanted):
            says = f"NCCL_SOCKET_IFNAME={named} is no interface of a node"
            why = f"the machine's fast network is {e.facts.interface}"
            yield finding("interface", e.line_of("NCCL_SOCKET_IFNAME"), says, why, "warning")


def refusals(e: Evidence) -> Iterator[Finding]:
    """What launchers refused or warned of, outer and inner ones."""
    for one in e.of("refused"):
        yield finding("refused", e.line_of(one["launcher"].split()[0]), f"{one['launcher']} refuses: {one['says']}",
                      "its real counterpart refuses this too")  # fmt: skip
    failed = [(one["program"], one["says"]) for one in e.of("inner_failed")]
    for program, says in dict.fromkeys(
        one for one in failed if not one[1].startswith("ChildFailedError") or not e.ranks
    ):
        yield finding("inner-failed", e.line_of(program.split(".")[0]), f"{program}: {says}",
                      "the launcher inside the task stopped")  # fmt: skip
    for one in e.of("launch"):
        for warning in one["warnings"]:
            yield finding("launcher-warning", e.line_of(one["launcher"].split()[0]), f"{one['launcher']}: {warning}",
                          "the layout differs from what was asked", "warning")  # fmt: skip


def own_failures(e: Evidence) -> Iterator[Finding]:
    """Where the stand-in cluster itself broke: the script is not to blame."""
    for name, says in dict.fromkeys((one["name"], one["says"]) for one in e.of("crashed")):
        yield finding(
            "own-failure", 0, f"the stand-in {name} broke: {says}", "not the script's fault: please report it"
        )


def unknown_commands(e: Evidence) -> Iterator[Finding]:
    """A command that nobody knows: a slip of the pen when it is close to one that the cluster has."""
    unknown = [one["words"][0] for one in e.of("shell") if one["what"] == "unknown"]
    for name in dict.fromkeys(unknown):
        near = difflib.get_close_matches(name, commands.names(), 1, 0.75)
        hint = f"did you mean {near[0]}?" if near else "it is neither here nor in the stand-in cluster"
        weight: Severity = "error" if near else "warning"
        yield finding("unknown-command", e.line_of(name), f"{name}: command not found", hint, weight)


def plain_sh(e: Evidence) -> Iterator[Finding]:
    """Does the script need another shell than it names? Here /bin/sh is bash, as on RHEL and SLES."""
    for hit in plain_shell(read_subject(e.text, None)):
        yield finding("shell-plain", hit.line, hit.says, hit.why, "warning")


BROKEN = re.compile(
    r"(?:line (\d+): )?[^\n]*(division by 0|bad substitution|unbound variable|arithmetic syntax error)[^\n]*"
)


def expansions(e: Evidence) -> Iterator[Finding]:
    """Did the shell fail to work out a value? Without `set -e` it goes on with an empty one."""
    for found in BROKEN.finditer(e.ran.output) if not e.ran.code else ():
        yield finding("expansion", int(found[1] or 0), found[0].strip()[-200:], "the value is empty from there on")


def exit_code(e: Evidence) -> Iterator[Finding]:
    """Did the script itself end well?"""
    if e.ran.timed_out:
        yield finding(
            "timeout", 0, "the script did not end in the time given", "it hangs, or waits for input or another node"
        )
    elif e.ran.code == TOO_MANY:
        yield finding(
            "processes", 0, "the script started hundreds of processes and was ended", "a loop that starts itself"
        )
    elif e.ran.code == TOO_MUCH:
        for one in e.of("limit"):
            yield finding(one["what"], 0, f"the rehearsal was ended: {one['says']}", "it fills this computer")
    elif ungiven(e) or missing_guards(e):
        return
    elif e.ran.code:
        found = SHELL_ERRORS.findall(e.ran.output)
        number = re.search(r"line (\d+)", found[0]) if found else None
        yield finding("exit-code", int(number[1]) if number else 0, f"the script ended with code {e.ran.code}",
                      found[0][-300:] if found else last_words(e.ran.output))  # fmt: skip
    else:
        for text in dict.fromkeys(SHELL_ERRORS.findall(e.ran.output)):
            number = re.search(r"line (\d+)", text)
            yield finding(
                "shell-error", int(number[1]) if number else 0, text[-300:], "the shell went on after it", "warning"
            )


QUESTIONS: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    submission, own_failures, lost, from_outside, unplaceable, started, twice, node_counts, rank_errors, world_size,
    own_needs, sums, devices, spread, rendezvous, plain_sh, expansions, interfaces, refusals, unknown_commands,
    unknown_modules, exit_code,
)  # fmt: skip
