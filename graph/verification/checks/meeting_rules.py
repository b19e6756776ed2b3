# ruff: noqa: E501
"""How do the nodes meet: port, each node's number, the kind of rendezvous?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.extraction.commands import Command
from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import LaunchShape, text_of
from graph.extraction.shell_tree import parse
from graph.extraction.shell_words import plain
from graph.verification.checks import sources
from graph.verification.checks.count_rules import node_spawner
from graph.verification.checks.rendezvous_rules import several
from graph.verification.checks.rule import Hit, Rule, launch_rule
from graph.verification.checks.shell_nodes import (
    LOOPS,
    ancestors,
    found,
    in_background,
    lines_of,
    program_of,
    statement_of,
)
from graph.verification.checks.subject import Subject, number_of
from graph.verification.checks.tasks import in_task

SPAWNERS = ("torchrun", "accelerate", "deepspeed")
BACKENDS = ("c10d", "static", "etcd", "etcd-v2", "zeus-adapter", "mast-tcpstore")


def port(s: Subject) -> Iterator[Hit]:
    for line, name, text, nested in ports(s):
        wrong = wrong_port(s, name, text, nested)
        if wrong:
            yield Hit(line, f"{name} {wrong[0]}", wrong[1], severity="warning" if wrong[0].startswith("may") else None)


def ports(s: Subject) -> Iterator[tuple[int, str, str, bool]]:
    """(line, name, text, inside the tasks): the last MASTER_PORT, and what the spawner is told besides."""
    told = [(one.line, one.name, one.value, in_task(s, one.inside)) for one in s.set_to("MASTER_PORT")][-1:]
    yield from told
    layer = s.launch.spawner if s.launch else None
    if s.launch is None or layer is None:
        return
    given = " ".join((*s.launch.command.written, *s.launch.root.written))
    for one in s.script.assignments:
        if (
            in_task(s, one.inside)
            and one.name != "MASTER_PORT"
            and re.search(rf"(port|endpoint)[= ]\S*\$\{{?{one.name}\b", given)
        ):
            yield one.line, one.name, one.written, True
    endpoint = re.search(r":(\d+)$", text_of(layer, "--rdzv-endpoint") or "")
    for text in (text_of(layer, "--master-port", "--main-process-port") or "", endpoint[1] if endpoint else ""):
        if text and text not in [one[2] for one in told]:
            yield s.launch.line, "the port", text, False


OF_JOB = r"(?:SLURM_JOB_?ID|PBS_JOBID|LSB_JOBID|JOB_ID)"


def wrong_port(s: Subject, name: str, text: str, nested: bool) -> tuple[str, str] | None:
    """(what it is, why that is wrong)."""
    number = s.facts.get("MASTER_PORT") if name == "MASTER_PORT" else None
    number = int(text) if re.fullmatch(r"\d{1,9}", text) else number
    if number is not None and (number > 65535 or 0 < number < 1024):
        return (
            f"is {number}: a port lies between 1024 and 65535",
            "lower ones belong to the system, higher ones do not exist",
        )
    if re.fullmatch(r"[A-Za-z][\w.-]*", text):
        return f"is '{text}', not a number", "the rendezvous needs a port number"
    if re.fullmatch(
        rf"[\"']?(?:\$\(\(\s*)?(?:\d+\s*\+\s*)?\$?\{{?{OF_JOB}\}}?(?:\s*\+\s*\d+)?(?:\s*\)\))?[\"']?", text
    ):
        return (
            "follows the number of the job, which may be above 65535",
            "keep it in range: $((10000 + number % 50000))",
        )
    drawn = re.sub(r"[$\w{}]+\s*%\s*(\d+)", lambda found: str(int(found[1]) - 1), text)
    most = (
        number_of(re.sub(r"\$?\{?\bRANDOM\b\}?", "32767", drawn), s.facts)
        if drawn != text or "RANDOM" in text
        else None
    )
    if most is not None and most > 65535:
        return f"may be {most}: a port lies below 65536", "some starts fail, and it looks like the network"
    several_tasks = s.launch is not None and s.launch.parallel is not None and s.launch.tasks != 1
    if nested and several_tasks and re.search(r"RANDOM|shuf|randint|free_port|\(0\)", text):
        return (
            "is drawn by every task for itself",
            "all ranks need the same port: draw it in the batch script and export it",
        )
    return None


def shared_port(s: Subject) -> Iterator[Hit]:
    """A fixed port on a node that others use too."""
    if (
        s.cluster is None
        or s.cluster.whole_nodes
        or s.job.exclusive
        or s.launch is None
        or not s.devices
        or not s.node_devices
    ):
        return
    layer = s.launch.spawner
    values = [one.value for one in s.set_to("MASTER_PORT")] + (
        [text_of(layer, "--master-port", "--main-process-port") or ""] if layer else []
    )
    if (
        s.devices < s.node_devices
        and any(re.fullmatch(r"\d{4,5}", value) for value in values)
        and not (layer is not None and layer.has("--standalone"))
    ):
        line = next((one.line for one in reversed(s.set_to("MASTER_PORT"))), s.launch.line)
        yield Hit(line, "the port is fixed, and other jobs may share the node")


def node_rank(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """A static rendezvous needs each node's own number."""
    layer = node_spawner(launch)
    if layer is None or launch.parallel is None or launch.remote or not several(s) or launch.per_node not in (1, None):
        return
    word = "--machine_rank" if layer.name == "accelerate" else "--node_rank"
    value = text_of(layer, "--machine-rank", "--node-rank")
    elastic = (text_of(layer, "--rdzv-backend") or "static") != "static" or layer.has("--standalone")
    page = sources.ACCELERATE if layer.name == "accelerate" else sources.TORCHRUN
    if value is not None and value.strip("'\"").isdigit() and not elastic:
        says = f"{word} is {value} on every node"
        yield Hit(launch.line, says, "each node needs its own number, or all claim to be the first", page)
    elif value is None and elastic and layer.name == "accelerate" and layer.role("nodes") is not None:
        if layer.role("config") is None and not launch.open and static_told(layer):
            says = "accelerate has no --machine_rank and stops at its start: int() of nothing"
            yield Hit(
                launch.line,
                says,
                "with c10d, which numbers the nodes itself, --machine_rank 0 does on every node",
                page,
            )
    elif value is None and not elastic and not launch.open and static_told(layer) and layer.role("nodes") is not None:
        variable = {"srun": "$SLURM_NODEID", "flux": "$FLUX_TASK_RANK"}.get(
            launch.parallel.name, "the launcher's rank variable"
        )
        yield Hit(launch.line, f"{layer.name} has no {word}: every node claims to be number 0",
                  f"with one task a node it is {variable}, inside bash -c '...'; or --rdzv-backend=c10d, which numbers the nodes itself", page)  # fmt: skip


def static_told(layer: Layer) -> bool:
    if layer.name == "accelerate":
        return text_of(layer, "--main-process-ip") is not None
    return layer.name in ("torchrun", "tune") and any(
        text_of(layer, option) for option in ("--master-addr", "--rdzv-endpoint")
    )


def backend_mismatch(s: Subject, launch: LaunchShape) -> Iterator[Hit]:
    """--master-addr with c10d is not read; --rdzv-backend that torchrun does not have."""
    layer = launch.spawner
    if layer is None or layer.name not in ("torchrun", "tune"):
        return
    backend = text_of(layer, "--rdzv-backend")
    addressed = text_of(layer, "--master-addr") is not None and text_of(layer, "--rdzv-endpoint") is None
    if backend == "c10d" and addressed and several(s):
        says = "with --rdzv-backend=c10d the address is --rdzv-endpoint; --master-addr is not read"
        yield Hit(launch.line, says, "each node looks for the meeting point on itself", sources.TORCHRUN)
    if backend is not None and "$" not in backend and backend not in BACKENDS:
        yield Hit(launch.line, f"torchrun has no rendezvous backend '{backend}'",
                  "c10d, static, etcd and etcd-v2 are there; nccl and gloo belong to the program", sources.RENDEZVOUS)  # fmt: skip
    drawn = plain(next((value for name, value in reversed(layer.options) if name == "--rdzv-id"), ()))
    late = any((word.startswith("'") and drawn in word) or f"\\{drawn}" in word for word in launch.root.written)
    if launch.command.outer is not None and re.search(r"RANDOM|date|uuidgen", drawn) and several(s) and late:
        says = "--rdzv-id is drawn by every node for itself"
        yield Hit(launch.line, says, "nodes with different ids never meet", sources.TORCHRUN)


def met_twice(s: Subject) -> Iterator[Hit]:
    """Spawners side by side on one node, with one port."""
    root = parse(s.script.text).root_node
    started: dict[str, int] = {}
    spawners = {one.line: one for one in reversed(s.script.commands) if set(SPAWNERS) & set(one.argv)}
    for node in found(root, "command"):
        command = spawners.get(lines_of(node)[0])
        layer = next((one for one in command.chain.layers if one.name in SPAWNERS), None) if command else None
        if program_of(node) == "wait":
            started.clear()
        if (
            command is None
            or layer is None
            or command.outer is not None
            or len([one for one in command.chain.layers if one.kind != "wrapper"]) > 1
        ):
            continue
        where = fixed_port(s, command, layer)
        background = in_background(statement_of(node))
        loop = next((one for one in ancestors(node) if one.type in LOOPS), None)
        alone = any(one.type in ("if_statement", "case_statement", "function_definition") for one in ancestors(node))
        if not where or alone:
            continue
        if where in started and started[where] != command.line:
            says = f"{layer.name} meets at port {where}, as the launch on line {started[where]} does, which still runs"
            why = "'Address already in use', or the two wait for each other: give each a port of its own"
            yield Hit(command.line, says, why)
            return
        waits = loop is not None and any(program_of(one) == "wait" for one in found(loop, "command"))
        if background and loop is not None and not waits:
            says = f"all turns of the loop start {layer.name} at port {where}, side by side"
            why = "'Address already in use' in all but one: let the loop's variable into the port"
            yield Hit(command.line, says, why)
            return
        if background and loop is None:
            started[where] = command.line


def fixed_port(s: Subject, command: Command, layer: Layer) -> str:
    """The port of a spawner by itself, where it is a number: its own option, the endpoint's, or what it takes else."""
    if layer.has("--standalone") or (text_of(layer, "--rdzv-backend") or "static") not in ("static", "c10d"):
        return ""
    endpoint = text_of(layer, "--rdzv-endpoint")
    told = text_of(layer, "--master-port", "--main-process-port") or (endpoint or "").rpartition(":")[2]
    written = " ".join(command.written)
    if told:
        # A loop's variable may be worked into the value here, as one of its turns has it.
        named = re.search(r"(?:port|endpoint)[= ]\S*?[$`](?:\{?(\w+)\}?)?", written)
        sets = s.set_to(named[1] or "") if named else []
        varies = named and not (len(sets) == 1 and sets[0].written.strip("\"'").isdigit() and not sets[0].inside)
        return told if re.fullmatch(r"[1-9]\d{2,4}", told) and not varies else ""
    if layer.has("--rdzv-backend") or endpoint or "PET_" in s.script.text:
        return ""
    alone = (
        layer.name == "accelerate"
        and not layer.has("--multi-gpu")
        and (text_of(layer, "--num-processes") or "1") == "1"
    )
    return "" if alone else "29500"


RULES = (
    Rule("rendezvous-port", "rendezvous", "error", "a port that is none, or that every task draws for itself", port, sources.TORCH_DISTRIBUTED),
    Rule("rendezvous-twice", "rendezvous", "error", "launches side by side on one node with one port", met_twice, sources.TORCHRUN),
    Rule("rendezvous-shared-port", "rendezvous", "info", "a fixed port on a shared node", shared_port, sources.TORCH_DISTRIBUTED,
         why="a second job with the same port fails: 'address already in use'; derive it from the job's number"),
    launch_rule("rendezvous-node-rank", "rendezvous", "error", "a static rendezvous without each node's own number", node_rank),
    launch_rule("rendezvous-backend", "rendezvous", "error", "rendezvous options that do not go together", backend_mismatch),
)  # fmt: skip
