"""`maple-chat clusters discover --node-job`: shows a one-minute job, sends it after a yes, reads what it printed."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import InputError
from assistant.reading import is_agreed
from graph.discovery.found import MachineFound, NodeKind, QueueFound
from graph.discovery.node_job import SUBMIT, NodeFacts, complete, probe_script, read_node
from knowledge.opening import read_plain
from knowledge.schedulers.asking import CouldNotAsk, ask_command

SCRIPT, OUTPUT = "maple-discover-node.sh", "maple-discover-node.out"
LARGEST = 1 << 20
WORD = re.compile(r"[\w.@+-]{0,80}")
# Seconds between looks at the output, and how long is waited for it.
LOOK = 2.0
DEBUG = re.compile(r"debug|dev|test|short")


@dataclass(frozen=True, slots=True)
class NodeJobWish:
    """What the person wants of the job. output: a file of one that has run, which is read and nothing sent."""

    queue: str = ""
    account: str = ""
    agreed: bool = False
    minutes: float = 10.0
    output: str = ""


def told_by_node(machine: MachineFound, wish: NodeJobWish) -> tuple[NodeFacts, NodeKind] | None:
    """The facts and the kind of nodes that they are of; None where no job was wanted or it has not ended yet."""
    queue = chosen(machine, wish.queue)
    if queue is None:
        return None
    kind = next(kind for kind, _ in queue.kinds if kind.gpus)
    if len([one for one, _ in queue.kinds if (one.gpu, one.gpus) == (kind.gpu, kind.gpus)]) > 1:
        raise InputError(f"the nodes of {queue.name} differ in more than their GPUs' name; give --queue with one kind")
    if wish.output:
        return facts_in(Path(wish.output)), kind
    if not WORD.fullmatch(wish.account):
        raise InputError(f"'{wish.account[:40]}' is no account; write its name as the scheduler has it")
    text = probe_script(machine, queue, wish.account, OUTPUT)
    if not wish.agreed and not yes_to(text):
        say("no job was sent: what only a node tells stays unknown")
        return None
    return (sent(machine, text, wish.minutes), kind) if text else None


def chosen(machine: MachineFound, name: str) -> QueueFound | None:
    """The queue that was named, else one for trying, else the default. Raises InputError where it has no GPUs."""
    with_gpus = [queue for queue in machine.queues if queue.has_gpus]
    if name:
        found = next((queue for queue in with_gpus if queue.name == name), None)
        if found is None:
            names = ", ".join(queue.name for queue in with_gpus)
            raise InputError(f"no queue {name[:40]} with GPUs is here; there are: {names}")
        return found
    usual = next((queue for queue in with_gpus if queue.default), with_gpus[0] if with_gpus else None)
    return next((queue for queue in with_gpus if queue.up and DEBUG.search(queue.name)), usual)


def say(text: str) -> None:
    print(f"maple-chat: {text}", file=sys.stderr, flush=True)


def yes_to(text: str) -> bool:
    """Shows the job and asks. Anything but yes is a no; so is a closed input."""
    return is_agreed(f"{text}\nSubmit this one-minute job?")


def sent(machine: MachineFound, text: str, minutes: float) -> NodeFacts:
    """Submit the job and wait for its last line. Raises InputError where it is refused or has not ended in time."""
    script, output = Path(SCRIPT), Path(OUTPUT)
    if os.path.lexists(output):
        raise InputError(
            f"{OUTPUT} is here already; read it with --node-output {OUTPUT}, or move it away to send a new job"
        )
    try:
        with script.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise InputError(f"{SCRIPT} is here already and is not overwritten; move it away to send a new job") from error
    except OSError as error:
        raise InputError(f"cannot write {SCRIPT} here: {error.strerror}; change to a folder of yours") from error
    told = ask_command([*SUBMIT[machine.scheduler], *own_options(machine, text), SCRIPT], patience=60)
    if isinstance(told, CouldNotAsk):
        script.unlink(missing_ok=True)
        raise InputError(f"the job was not taken ({told.why}); name --queue and --account, or leave out --node-job")
    say(f"sent: {' '.join(told.text.split())}; waiting for {OUTPUT} (Ctrl-C ends the waiting, not the job)")
    until = time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        if output.exists() and complete(read_plain(output, LARGEST).decode("utf-8", "replace")):
            script.unlink(missing_ok=True)
            return facts_in(output)
        time.sleep(LOOK)
    raise InputError(
        f"the job has not ended within {minutes:g} min; once {OUTPUT} is there: "
        f"maple-chat clusters discover --node-output {OUTPUT}"
    )


def own_options(machine: MachineFound, text: str) -> list[str]:
    """LSF reads `#BSUB` only from standard input: there the options are written on the line."""
    if machine.scheduler != "lsf":
        return []
    lines = [line.removeprefix("#BSUB ") for line in text.splitlines() if line.startswith("#BSUB ")]
    return [*(word for line in lines for word in shlex.split(line)), "bash"]


def facts_in(path: Path) -> NodeFacts:
    """What a node's output tells. Raises InputError where it cannot be read, or is no such output."""
    try:
        text = read_plain(path, LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give the output of the job") from error
    if not complete(text):
        raise InputError(f"{path} is not the whole output of such a job (its last line is `== end`)")
    return read_node(text)
