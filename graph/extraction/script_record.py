"""The fields of a request, read from a script that works elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.extraction.directives import is_placeholder
from graph.extraction.launch_chain import LaunchedProgram
from graph.extraction.machine import gpus_of_queue, machine_of
from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_counts import count
from graph.extraction.script_strategy import arguments, framework_of, strategy_of
from graph.extraction.shell_words import Field, plain, to_shell
from graph.extraction.training import layers_of
from graph.extraction.walltime import walltime_of
from knowledge.word_lists import in_order

# Signs of a batch system in the commands and variables of a script without directives.
SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "slurm",
        re.compile(r"\$\{?#?SLURM_|^[^\S\n]*(srun|sbatch|salloc|ibrun)\s|[\s;&('\"](srun|sbatch|scontrol)\s", re.M),
    ),
    ("pbs", re.compile(r"\$\{?#?PBS_|(^|[\s;&(])qsub\s|pbsdsh", re.M)),
    ("lsf", re.compile(r"\$\{?#?(LSB|LS)_|(^|[\s;&(])(bsub|jsrun|blaunch|lrun)\s", re.M)),
    ("flux", re.compile(r"\$\{?#?FLUX_|(^|[\s;&(])flux\s+(run|batch|submit|mini|alloc)\b", re.M)),
    ("cobalt", re.compile(r"\$\{?#?COBALT_", re.M)),
)
MODEL_OPTIONS = in_order("model model_name model_name_or_path model-name-or-path arch model-name base_model backbone")
TYPED_GPUS = re.compile(r"(?:^|gpu:)(?!gpu:)(?P<kind>[A-Za-z][\w.-]*):\d+")


@dataclass(frozen=True, slots=True)
class ScriptRecord:
    """What a script says, by the names of the request's fields. None: the text does not tell."""

    scheduler: str
    launcher: str | None = None
    machine: str | None = None
    framework: str | None = None
    strategy: str | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    walltime: str | None = None
    model: str | None = None
    entry: str | None = None
    account: str | None = None
    queue: str | None = None
    container: str | None = None
    args: str | None = None


def understand_script(text: str) -> ScriptRecord:
    """The record of a script's text. Raises InputError on what is no script."""
    return record_of(read_script(text))


def record_of(script: ReadScript) -> ScriptRecord:
    """The record of a script that was read."""
    scheduler = scheduler_of(script)
    counts = count(script, scheduler)
    machine = machine_of(script, scheduler)
    queue = queue_of(script)
    if counts.gpus_per_node is None:
        counts.gpus_per_node = gpus_of_queue(machine, queue)
    strategy = strategy_of(script, counts)
    program = script.program
    return ScriptRecord(
        scheduler,
        launcher_of(script),
        machine,
        framework_of(script, counts, strategy),
        strategy,
        counts.nodes,
        counts.gpus_per_node,
        counts.total_gpus if counts.nodes is None else None,
        walltime(script, scheduler),
        model_of(arguments(script, counts).pairs),
        entry_of(program) if program else None,
        account_of(script),
        queue,
        container_of(script),
        args_text(program.args) if program else None,
    )


def missing_fields(record: ScriptRecord) -> tuple[str, ...]:
    """What a port needs and the script does not tell. The target machine is asked for by whoever ports."""
    needed = ("entry", "framework", "strategy", "nodes", "gpus_per_node", "walltime")
    return tuple(name for name in needed if getattr(record, name) is None)


def entry_of(program: LaunchedProgram) -> str | None:
    """The program's name; None where a whole command comes from outside the text."""
    outside = program.kind == "executable" and len(program.entry) == 1 and program.entry[0].open
    return None if outside or re.fullmatch(r"\$\{?[@*]\}?", plain(program.entry)) else plain(program.entry)


def args_text(args: tuple[Field, ...]) -> str:
    """Arguments as a line for a shell."""
    return " ".join(to_shell(one) for one in args)


def scheduler_of(script: ReadScript) -> str:
    """By the directives; without any, by the variables and commands of the body; else `none`."""
    found = [one.scheduler for one in script.directives if one.active]
    if found:
        return max(set(found), key=found.count)
    code = "\n".join(line for line in script.text.splitlines() if not line.lstrip().startswith("#"))
    return next((name for name, sign in SIGNS if sign.search(code)), "none")


def launcher_of(script: ReadScript) -> str | None:
    """What starts the workers: the innermost spawner, else the innermost parallel launcher, else python itself."""
    layers = script.layers
    program = script.program
    if program is None:
        return None
    for kind in ("spawner", "parallel"):
        found = [layer.name for layer in layers if layer.kind == kind]
        if found:
            return "ray" if kind == "parallel" and on_ray(script) else found[-1]
    if on_ray(script):
        return "ray"
    if program.kind != "executable" and (program.interpreter or program.kind == "script"):
        return "python"
    remote = [layer.name for layer in layers if layer.kind == "remote"]
    return remote[-1] if remote else None


def on_ray(script: ReadScript) -> bool:
    """Whether the script builds a Ray cluster before it trains."""
    return any(
        command.chain.program is not None
        and plain(command.chain.program.entry).rsplit("/", 1)[-1] == "ray"
        and [plain(a) for a in command.chain.program.args[:1]] == ["start"]
        for command in script.commands
    )


def directive(script: ReadScript, *options: str) -> str | None:
    """The first of these options that is filled in."""
    for option in options:
        one = script.active.get(option)
        if one is not None and not is_placeholder(one.value):
            return one.value
    return None


def step(script: ReadScript, role: str) -> str | None:
    """What the launch line itself asks of the scheduler, where no directive does."""
    for layer in script.layers:
        value = layer.role(role) if layer.kind in ("parallel", "submit") else None
        if value is not None and not is_placeholder(plain(value)):
            return plain(value)
    return None


def account_of(script: ReadScript) -> str | None:
    return directive(script, "account", "project", "bank", "group") or step(script, "account")


def queue_of(script: ReadScript) -> str | None:
    return directive(script, "partition", "queue", "qos") or step(script, "queue") or step(script, "qos")


def gpu_kind_of(script: ReadScript) -> str | None:
    """The kind of GPU that the scheduler is asked for, `v100-32` of `--gpus=v100-32:4`; else the constraint."""
    for option in ("gpus", "gpus-per-node", "gres", "gpus-per-task"):
        found = TYPED_GPUS.search(directive(script, option) or "")
        if found:
            return found["kind"]
    return directive(script, "constraint")


def walltime(script: ReadScript, scheduler: str) -> str | None:
    said = directive(script, "time", "walltime", "time-limit", "h_rt")
    if said is None and not any(one.active for one in script.directives):
        said = step(script, "time")
    return walltime_of(scheduler, said) if said else None


def container_of(script: ReadScript) -> str | None:
    """The image, from the innermost container layer, from the launcher's options, or from a directive.

    Where no training step is to be seen, any step's.
    """
    found: str | None = None
    other = (layer for command in script.commands for layer in layers_of(command))
    for layer in script.layers or other:
        value = layer.operand if layer.kind == "container" and layer.operand else layer.role("container")
        if value:
            found = plain(value)
    found = found or directive(script, "image", "container-image", "environment", "edf", "container")
    return re.sub(r"^docker:(?!//)", "", found) if found and not is_placeholder(found.replace("$", "")) else None


def model_of(pairs: tuple[tuple[str, str], ...]) -> str | None:
    """The model that the program is told by name."""
    for name, value in pairs:
        if name.rsplit(".", 1)[-1] in MODEL_OPTIONS and re.fullmatch(r"[A-Za-z][\w./-]*", value):
            return value.rsplit("/", 1)[-1]
    return None
