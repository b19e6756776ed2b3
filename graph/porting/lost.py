"""What stays behind with the old machine and has no counterpart by itself: each thing said once, with what to do."""

from __future__ import annotations

from collections.abc import Iterator

from graph.extraction.launch_chain import Layer
from graph.extraction.launch_shape import root_of
from graph.extraction.launchers import base_name, is_python
from graph.extraction.script import ReadScript
from graph.extraction.script_files import configured
from graph.extraction.script_record import ScriptRecord
from graph.extraction.shell_words import plain
from graph.planning.plan import ACCOUNT_PLACEHOLDER
from graph.porting.account import PortNote
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.launcher_options import launcher_table
from knowledge.types import LaunchPlan
from knowledge.word_lists import word_set

# Options of launchers that the new launch sets itself, or that say what the plan already holds.
ANEW = word_set(
    "--nnodes --nproc-per-node --rdzv-backend --rdzv-endpoint --rdzv-id --rdzv-conf --node-rank --master-addr "
    "--master-port --standalone --local-addr --module -m --use-env --num-machines --num-processes --machine-rank "
    "--main-process-ip --main-process-port --multi-gpu --use-fsdp --use-deepspeed --use-xpu --same-network "
    "--config-file --mixed-precision --zero-stage --num-nodes --num-gpus --hostfile -H --launcher --no-ssh "
    "--force-multi --include -i --no-local-rank --"
)
# Options of a parallel launcher that change what happens, and not where or how much.
BEHAVIOUR = word_set(
    "--no-kill -k --network --output -o --error -e --chdir -D --wait -W --task-prolog --epilog -l --label "
    "--container-workdir --container-mount-home --container-name --container-env --no-container-mount-home"
)
# Wrappers that bind, trace or measure: the new launch binds by itself.
KEPT_OUT = ("numactl", "taskset", "nsys", "profiler", "wrapper")


def lost(script: ReadScript, record: ScriptRecord, target: Cluster, decided: LaunchPlan) -> tuple[PortNote, ...]:
    """Notes on the queue, the account, wishes in directives, and launcher options."""
    source = catalogue().find(record.machine) if record.machine else None
    old = source.title if source else "the old machine"
    notes = []
    if record.queue and record.queue != decided.queue:
        goes = f"the new job goes to {decided.queue}; *queue NAME* (`--queue`) takes another"
        says = f"Queue {record.queue} is {old}'s: {goes}."
        notes.append(PortNote(line(script, "partition", "queue", "qos"), says))
    if record.account and record.account != decided.account:
        notes += account_note(script, record.account, old, target, decided)
    notes += [*constraint_note(script, old, decided), *behaviour_notes(script, decided)]
    spawners = [layer for layer in script.layers if layer.kind == "spawner"]
    notes += [note for layer in spawners for note in launcher_notes(script, layer, decided)]
    return (*notes, *wrapper_notes(script))


def wrapper_notes(script: ReadScript) -> Iterator[PortNote]:
    """Programs that stood around the training and that the new launch does not know."""
    training = script.training
    if training is None:
        return
    first = training.fields[0]
    unknown = training.chain.layers or is_python(first)
    program = training.chain.program
    itself = plain(first) in ("exec", "eval") or program is None or plain(first) == plain(program.entry)
    if unknown and not itself and not is_python(first) and base_name(first) not in launcher_table().by_name:
        says = f"`{plain(first)}` stood around the program and is not carried over: look at what it sets."
        yield PortNote(training.line, says)
    names = [layer.written for layer in script.layers if layer.kind == "wrapper" and layer.name in KEPT_OUT]
    if names:
        says = f"{', '.join(dict.fromkeys(names))} around the program is not carried over: binding is the new launch's."
        yield PortNote(training.line, says)


def constraint_note(script: ReadScript, old: str, decided: LaunchPlan) -> list[PortNote]:
    """A kind of node that was asked for; the bare word for GPU nodes says no more than the plan does."""
    directive = script.active.get("constraint")
    if directive is None or directive.value.strip("\"'").lower() in ("gpu", "gpus"):
        return []
    says = f"--constraint {directive.value} is {old}'s: the new job takes {decided.gpu_model} nodes."
    return [PortNote(directive.line, says)]


def behaviour_notes(script: ReadScript, decided: LaunchPlan) -> Iterator[PortNote]:
    """What the old launch did when a rank failed, and options of it that no count or binding is."""
    training = script.training
    if training is None:
        return
    for layer in script.layers:
        own = [name for name, _ in layer.options if name in BEHAVIOUR and layer.kind == "parallel"]
        if own:
            says = f"{layer.written}'s {', '.join(own)}: not carried over: add to the new launch what you still need."
            yield PortNote(root_of(training).line, says)


def account_note(script: ReadScript, account: str, old: str, target: Cluster, decided: LaunchPlan) -> list[PortNote]:
    """Said where the new script has a placeholder or none at all; an account that was given needs no word."""
    if decided.account and not decided.account.startswith(ACCOUNT_PLACEHOLDER):
        return []
    instead = "give" if decided.account else "the default allocation pays unless you give"
    says = f"Account {account} is {old}'s: {instead} {target.title}'s with --account."
    return [PortNote(line(script, "account", "project", "bank", "group"), says)]


def launcher_notes(script: ReadScript, layer: Layer, decided: LaunchPlan) -> list[PortNote]:
    """Options of torchrun, accelerate or deepspeed that were the user's choice."""
    at = script.training.line if script.training else 0
    notes = []
    own = [name for name, _ in layer.options if name not in ANEW]
    if layer.name not in ("torchrun", "accelerate", "deepspeed", "lightning"):
        says = f"{layer.written} is replaced by {decided.launch.launcher}: look at what else it set for the program."
        notes.append(PortNote(at, says))
    if own:
        shown = ", ".join(dict.fromkeys(own))
        says = f"not carried over: {decided.launch.launcher} starts the ranks there, without {layer.name}."
        if decided.launch.workers == layer.name:
            where = "to accelerate.yaml" if layer.name == "accelerate" else "to the new launch line"
            says = f"not carried over: add {where} what you still need."
        notes.append(PortNote(at, f"{layer.name}'s {shown}: {says}"))
    config = layer.role("config")
    if config is not None and not dict(configured(script, layer)):
        says = f"{plain(config)} is not read here: compare it with what the new script sets for Accelerate."
        if decided.config_file:
            says = f"{decided.config_file} is kept: it has to lie there; the launch line's counts go before its."
        notes.append(PortNote(at, says))
    elif layer.name == "accelerate" and not precision_of(script):
        says = f"The old script names no mixed precision, the new one says {decided.mixed_precision}: change it there."
        notes.append(PortNote(at, says))
    return notes


def own_config(script: ReadScript) -> str:
    """The accelerate configuration that lies beside the script; empty where there is none, or the script writes it."""
    for layer in script.layers:
        config = layer.role("config") if layer.name == "accelerate" else None
        if config is not None and not any(piece.open for piece in config) and not dict(configured(script, layer)):
            return "" if plain(config).startswith(("/", "~", "$")) else plain(config)
    return ""


def precision_of(script: ReadScript) -> str:
    """The mixed precision that accelerate was told by an option or by a file that the script writes; empty if none."""
    for layer in script.layers:
        if layer.name == "accelerate":
            said = [plain(value) for name, value in layer.options if name == "--mixed-precision"]
            settings = dict(configured(script, layer))
            return said[-1] if said else settings.get("mixed_precision", "").strip("'\"")
    return ""


def line(script: ReadScript, *options: str) -> int:
    return next((script.active[name].line for name in options if name in script.active), 0)
