"""What messages of one run mean together, and none of them alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from graph.debugging.events import Event

# The ranks that a line speaks of: srun's `tasks 0-3,7: Exited`, `[Rank 3]` of a process group.
TASKS = re.compile(r"\bsrun: error: \S+: tasks? (?P<list>[\d,-]{1,200})(?:\.\.\.)?: ")
RANK = re.compile(r"\[(?:PG (?:ID )?\d[^\]]{0,60} )?Rank (?P<rank>\d{1,6})\]")
MOST_RANKS = 4096
# A step that Slurm cancels because one of its tasks ended badly; a person's cancelling shows as Terminated or Killed.
TASK_ENDED = re.compile(r"\bsrun: error: \S+: tasks? [^:]{1,200}: (?:Exited|Aborted|Segm|Bus |Illegal|Float|Out )")
STEP_CANCELLED = re.compile(r"\*\*\* STEP \S+ ON \S+ CANCELL?ED AT [\d:T-]+ (?:\*\*\*|DUE (?:to|TO) SIGNAL)")
ABORTED = "aborted"
# How launchers say that a process crashed. What processes say of the network after that is of no weight of its own.
CRASHED, NETWORK, AFTER_CRASH = ("srun-task-segfault", "mpi-exited-segfault"), "communication", 20
PEER_CLOSED, AFTER_CLOSED = "nccl-remote-closed", ("nccl-ib-completion", "watchdog-stuck")
AFTER_TASK = 9
CLIENTS = re.compile(r"(?P<joined>\d+)/(?P<world>\d+) clients joined")
STORE_WAITED, STORE_TAKEN = "store-clients-missing", ("c10d-port-in-use", "c10d-listen-failed")
STORE_CLOSED, RENDEZVOUS_LOST = "c10d-store-closed", "rendezvous-connection"
NO_CONNECTION = ("c10d-connect-timeout", "c10d-connect-failed")
WORLD, WORLD_SAID = "world-size-said", re.compile(r"(?i)\b(?:nranks |world[ _]?size\"?(?: is)?[ :=]{1,3})(\d{1,7})")
# A file of settings that the job script reads: without it variables, modules and keys are missing, and nothing else.
SETTINGS = re.compile(r"\bline \d+: \S+(?:\.(?:sh|bash|env)|rc|profile): No such file")
SETTINGS_MISSING, OF_NO_SETTING = "shell-file-missing", 42
OWN_FAULTS = ("IndexError", "TypeError", "AttributeError", "ZeroDivisionError", "UnboundLocalError", "AssertionError")
# Python keeps its locks and queues in /dev/shm.
LOCKS, LOADER = re.compile(r"/multiprocessing/(?:synchronize|context)\.py$"), "/torch/utils/data/"
SAVING = re.compile(r"_?(?:save|dump|write|to_(?:csv|json|parquet|pickle))")
NOT_OPENED = re.compile(r"(?i)cannot be opened|(?:failed|unable) to open|\[Errno 2\]|does not exist")
NOT_WRITTEN = (
    "A file could not be written: the folder it is to be saved in does not exist on this node, or is not yours."
)
WRITE_FIX = (
    "Make the folder before the program saves to it (`mkdir -p`), on a file system that this node can write to.",
)
CAUGHT_IN_WORKER = re.compile(r"\bCaught (\w+) in (?:DataLoader worker process|pin memory thread|replica)\b")
ENVIRON = re.compile(r"/os\.py$|^<frozen os>$")
NOT_FOUND = re.compile(r"(?:^|[\s:])([\w.-]+): command not found|execve\(\): ([\w.-]+): No such file")
NOT_ON_ALL = "{name} is known to some of the ranks and not to others: the environment does not reach all nodes."
NO_COMPILER = "No compiler was found that could be started while a kernel was built."
COMPILER = re.compile(
    r"(?:^|[\s:])(?:g\+\+|gcc|c\+\+|cc|clang(?:\+\+)?|nvcc|hipcc|icpx)(?:-\d+)?: (?:command )?not found"
)
BUILDERS = re.compile(r"/torch/(?:_inductor|utils/cpp_extension)|/triton/(?:runtime|backends|common)|/cpp_builder\.py$")
SHM_FULL = "/dev/shm, in which Python keeps the locks of its worker processes, is full or too small; no disk is."
TWO_MASTERS = (
    "Two processes of this job both wanted to be rank 0 and open the store's port: RANK (or the node rank) is the same"
    " for several of them."
)
# Where the shell stops reading a script.
SYNTAX = ("shell-syntax", "shell-runs-python")
MAKE_FAILED = re.compile(r"\bmake(?:\[\d+\])?: \*\*\* \[(?:[^\]:]{1,200}:\d+: )?([^\]:\s]{1,200})\] Error \d")
# What the shell and its tools say behind the name of what is not there.
NOT_THERE = (": No such file", ": command not found", ": not found")
NOT_BUILT = "{name} was never built: make failed, and the job went on."
BUILD_FIX = (
    "Mend the build: the first `error` or `fatal` of the compiler or linker above that line names why it failed (a "
    "toolkit, an option or an architecture that does not fit, mostly). Build before the job, or end it when make fails "
    "(`make || exit 1`).",
)
BUILT = 76
# So much of a message is looked through for names.
LONGEST = 400
NOT_MADE = re.compile(
    r"cannot create directory \W{0,3}(/[^'\"\u2019:]{1,200})['\"\u2019]?: (?:Permission denied|Read-only)"
)
TOO_FEW = "The world size is {world}, but only {joined} processes were started, and all of them joined."


def told_ranks(event: Event) -> set[int]:
    """The ranks that a message names, where no prefix tells who printed it."""
    if event.rank is not None:
        return set()
    if tasks := TASKS.search(event.text):
        return numbers(tasks["list"])
    named = RANK.search(event.text)
    return {int(named["rank"])} if named else set()


def numbers(listed: str) -> set[int]:
    """The numbers of `0-3,7`."""
    found: set[int] = set()
    for part in listed.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            until = int(last) if last.isdigit() else int(first)
            found.update(range(int(first), min(until, int(first) + MOST_RANKS) + 1))
    return found


def read_together(events: Sequence[Event]) -> None:
    """Give events the cause that the others around them show. Changes them."""
    _store_lost(events)
    _after_crash(events)
    _after_watchdog(events)
    _after_task(events)
    _not_sourced(events)
    _no_shared_memory(events)
    _raised_in_workers(events)
    _variables_of_some(events)
    _programs_of_some(events)
    _no_compiler(events)
    _not_written(events)
    _script_not_read(events)
    _not_built(events)
    _folder_refused(events)
    waited = next((e for e in events if e.signature.id == STORE_WAITED), None)
    clients = CLIENTS.search(waited.text) if waited else None
    if waited is None or clients is None:
        return
    taken = [e for e in events if e.signature.id in STORE_TAKEN]
    for event in taken:  # a store was open and counted: who found its port taken was one more master
        _settle(event, "comm-world-size", TWO_MASTERS)
    joined, world = int(clients["joined"]), int(clients["world"])
    tasks = {rank for e in events if TASKS.search(e.text) for rank in e.ranks}
    if not taken and not _unreached(events) and joined < world and tasks == set(range(joined)):
        _settle(waited, "comm-world-size", TOO_FEW.format(world=world, joined=joined))


def _store_lost(events: Sequence[Event]) -> None:
    """Who lost a store that had answered before was left by another process, and had met it."""
    if _unreached(events) or not any(e.signature.id == STORE_CLOSED for e in events):
        return
    for event in events:
        if event.signature.id in (STORE_CLOSED, RENDEZVOUS_LOST):
            _settle(event, "comm-remote-exit", "")


def _after_crash(events: Sequence[Event]) -> None:
    """The launcher reports a crashed process first, or its peers that it closed: the others then only lost it."""
    crashed = min((e.order for e in events if _named(e) & set(CRASHED)), default=math.inf)
    closed = min((e for e in events if e.signature.id == PEER_CLOSED), key=lambda e: e.order, default=None)
    for event in events:
        said = event.signature
        if closed is not None and event.order > closed.order and said.id in AFTER_CLOSED:
            event.signature = closed.signature
        elif event.order > crashed and said.group.startswith(NETWORK) and said.kind in ("cause", "error"):
            event.signature = replace(said, kind="effect", strength=AFTER_CRASH)


def _after_watchdog(events: Sequence[Event]) -> None:
    """The watchdog that finds a collective hanging aborts its process: the abort names no cause of its own."""
    timeout = min((e.order for e in events if e.signature.cause == "comm-collective-timeout"), default=None)
    for event in events:
        if timeout is not None and event.order > timeout and event.signature.id == ABORTED:
            _settle(event, "comm-remote-exit", "")


def _after_task(events: Sequence[Event]) -> None:
    """Slurm cancels the rest of a step after one of its tasks ended badly: nobody cancelled the job."""
    ended = min((e.order for e in events if TASK_ENDED.search(e.text)), default=None)
    for event in events:
        if ended is not None and event.order > ended and STEP_CANCELLED.search(event.text):
            _settle(event, "comm-remote-exit", "")
            event.signature = replace(event.signature, kind="effect", strength=AFTER_TASK)


def _not_sourced(events: Sequence[Event]) -> None:
    """A program that ran without a file of settings, and broke over something that no setting would have changed."""
    broke = [e for e in events if e.error and not e.error.ignored and _of_no_setting(e)]
    for event in events:
        missing = event.signature.id == SETTINGS_MISSING and SETTINGS.search(event.text)
        if missing and any(e.order > event.order and e.file == event.file for e in broke):
            event.signature = replace(event.signature, kind="effect", strength=OF_NO_SETTING)


def _no_shared_memory(events: Sequence[Event]) -> None:
    """Where Python's multiprocessing finds no space, it is in /dev/shm."""
    for event in events:
        error = event.error
        if error and "[Errno 28]" in error.text and any(LOCKS.search(f.file) for f in error.frames[-2:]):
            loads = any(LOADER in f.file for f in error.frames)
            _settle(event, "fw-dataloader" if loads else "env-disk", SHM_FULL)


def _raised_in_workers(events: Sequence[Event]) -> None:
    """A data worker that passes an exception on did not die: the exception itself, which follows, is the cause."""
    for event in events:
        caught = CAUGHT_IN_WORKER.search(event.text)
        if caught and any(e.error and e is not event and e.error.type == caught[1] for e in events):
            event.signature = replace(event.signature, kind="effect", strength=AFTER_CRASH)


def _variables_of_some(events: Sequence[Event]) -> None:
    """A variable that some ranks have and others lack was not handed on to all nodes."""
    told = {rank for event in events for rank in event.ranks}
    for event in events:
        looked_up = event.error and event.error.frames and ENVIRON.search(event.error.frames[-1].file)
        if looked_up and event.error and event.error.type == "KeyError" and event.ranks and told - event.ranks:
            _settle(event, "env-not-propagated", NOT_ON_ALL.format(name=event.error.text))


def _programs_of_some(events: Sequence[Event]) -> None:
    """A program that one node runs and another does not find: its environment is not the same."""
    for event in events:
        missing = NOT_FOUND.search(event.text)
        frames = (frame.file for e in events if e.error and e is not event for frame in e.error.frames)
        if missing and any(file.endswith(f"/bin/{missing[1]}") for file in frames):
            _settle(event, "env-not-propagated", NOT_ON_ALL.format(name=missing[1]))


def _no_compiler(events: Sequence[Event]) -> None:
    """A program that cannot be started while an extension is built is the compiler."""
    for event in events:
        files = [frame.file for frame in event.error.frames] if event.error else []
        started = event.error and event.error.frames and event.error.frames[-1].name == "_execute_child"
        if started and any(BUILDERS.search(file) for file in files):
            _settle(event, "env-compiler", NO_COMPILER)
        if COMPILER.search(event.text) and any(e.signature.cause == "fw-op-build" for e in events):
            _settle(event, "env-compiler", NO_COMPILER)
            event.order = event.last_order = min(e.order for e in events) - 1


def _not_written(events: Sequence[Event]) -> None:
    """A file that cannot be opened while something is saved is one that cannot be written; nothing was loaded."""
    for event in events:
        names = [frame.name for frame in event.error.frames[-4:]] if event.error else []
        if any(SAVING.match(name) for name in names) and NOT_OPENED.search(event.text):
            _settle(event, "env-file-missing", NOT_WRITTEN, WRITE_FIX)


def _script_not_read(events: Sequence[Event]) -> None:
    """The shell stopped reading at a syntax error: no missing module explains it, and no exception before it."""
    broken = next((e for e in events if e.signature.id in SYNTAX), None)
    if broken is None:
        return
    before = [e for e in events if e.order < broken.order and e.file == broken.file]
    if any(e.error and not e.error.ignored for e in before):
        broken.signature = replace(broken.signature, kind="effect", strength=OF_NO_SETTING)
        return
    for event in before:
        if event.signature.cause == "env-module":
            event.signature = replace(event.signature, kind="effect", strength=OF_NO_SETTING)


def _not_built(events: Sequence[Event]) -> None:
    """What make failed to build is not there afterwards: the build is to be mended, no path."""
    failed = [(found[1].removeprefix("./"), e) for e in events if (found := MAKE_FAILED.search(e.text[:LONGEST]))]
    targets = {name.rpartition("/")[2]: (f"/{name}", e) for name, e in failed}
    for event in events:
        missing = not_there(event.text) if targets else ""
        name, built = targets.get(missing.rpartition("/")[2], ("", None))
        if built is not None and f"/{missing}".endswith(name) and built.order < event.order:
            _settle(built, built.signature.cause, NOT_BUILT.format(name=missing), BUILD_FIX)
            built.signature = replace(built.signature, strength=max(built.signature.strength, BUILT))
            event.signature = replace(event.signature, kind="effect", strength=AFTER_CRASH)


def _folder_refused(events: Sequence[Event]) -> None:
    """A folder that could not be made is missing in all that follows below it: the refusal is what bites there."""
    refused = [(e, found[1]) for e in events if (found := NOT_MADE.search(e.text[:LONGEST]))]
    for event in events:
        if not refused or event.signature.cause != "env-file-missing":
            continue
        missing = not_there(event.text)
        if first := next((e for e, path in refused if below(missing, path) and e.order < event.order), None):
            event.signature, event.line, event.text, event.raw = first.signature, first.line, first.text, first.raw


def not_there(text: str) -> str:
    """The name of what a line says is not there; empty where it says no such thing."""
    heads = (head for said in NOT_THERE for head, found, _ in [text.partition(said)] if found)
    return re.split(r"[\s'\"\u2018\u2019`]", next(heads, "").rstrip("'\"\u2019"))[-1]


def below(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _of_no_setting(event: Event) -> bool:
    """Whether an exception is of the program's own making, or of the GPU's memory. None may be an unset variable."""
    if event.signature.cause == "gpu-oom":
        return True
    own = event.error is not None and event.error.type in OWN_FAULTS and "None" not in event.error.text
    return own and event.signature.cause == "user-code"


def _named(event: Event) -> set[str]:
    return {event.signature.id, *(also.id for also in event.also)}


def _unreached(events: Sequence[Event]) -> bool:
    return any(e.signature.id in NO_CONNECTION for e in events)


def _settle(event: Event, cause: str, says: str, fix: tuple[str, ...] = ()) -> None:
    event.signature = replace(event.signature, cause=cause, says=says, fix=fix)
    event.settled = True


def silent(winner: Event, events: Iterable[Event]) -> str:
    """The few ranks that do not report what nearly all others do, as words; empty where none can be told."""
    if winner.signature.cause != "comm-collective-timeout":
        return ""
    events = list(events)
    reported = {rank for e in events if e.signature.cause == winner.signature.cause for rank in e.ranks}
    told = [int(size) for e in events if e.signature.id == WORLD for size in WORLD_SAID.findall(e.text)]
    world = max([*told, *(rank + 1 for e in events for rank in e.ranks)], default=0)
    missing = sorted(set(range(min(world, MOST_RANKS))) - reported)
    few = 0 < len(missing) <= max(1, len(reported) // 4)
    if not few or not (len(reported) > 1 or told):
        return ""
    return f"rank{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
