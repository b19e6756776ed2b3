"""From a script that works on one machine to the script for another: read, keep the user's part, plan the rest anew.

The number of ranks stays, and with it the global batch; where the new machine's nodes hold another number of GPUs,
the nodes change. What has no counterpart is a note, what was decided an assumption of the plan.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, fields, replace
from itertools import pairwise

from graph.extraction.dialects import NOT_SHELL, to_bash
from graph.extraction.script import ReadScript, read_script
from graph.extraction.script_counts import DEVICE_OPTIONS
from graph.extraction.script_record import ScriptRecord, record_of
from graph.extraction.shell_words import plain
from graph.porting.account import AccountLine, PortNote
from graph.porting.batch import default_of, keep_batch
from graph.porting.container import own_container, own_options
from graph.porting.in_place import NewPlan, OldScript, in_place
from graph.porting.layout import devices_of, layout_note, planned, spread_evenly
from graph.porting.lost import lost, own_config, precision_of
from graph.porting.parts import UserPart, user_part
from graph.porting.wishes import own_mail
from graph.verification.checks.subject import Subject
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.masking import hide
from knowledge.types import (
    FRAMEWORKS,
    STRATEGIES,
    Heard,
    JobRequest,
    LaunchBundle,
    LaunchPlan,
    Refusal,
    Strategy,
)

WORLD_OPTIONS = re.compile(r"--?(world[_-]size|total[_-]gpus)")
# The collective library by name, as programs take it (`--dist-backend nccl`), and the devices that it is for.
LIBRARY_OPTIONS = re.compile(r"--?((ddp|dist|distributed|torch)[_-])?backend")
LIBRARIES: dict[str, str] = {"cuda": "nccl", "rocm": "nccl", "xpu": "xccl"}
# PyTorch's word for a GPU (`--device cuda:0`).
KIND_OPTIONS, KIND = re.compile(r"--?device([_-]type)?"), re.compile(r"(cuda|xpu)((?::\d+)?)")
NODE_OPTIONS = re.compile(r"(?:--?)?(?:trainer\.)?(num[_-]nodes|nnodes|n[_-]nodes|nodes)")
NO_GPUS = "the script asks for no GPUs and starts {}, no Python training: a port would make a GPU job of it"
# `python <script>`: bash reads a redirection, which swallows the words behind it.
GAP = re.compile(r"(?<=\s)<[A-Za-z_]+>(?=\s|$)")
OUTPUT = re.compile(r"(?![/~.])[\w%/.{}-]+")
# PBS takes names that begin with a letter.
JOB_NAME, NAME_OF_PBS = re.compile(r"[\w.+-]{1,63}"), re.compile(r"[A-Za-z][\w.+-]{0,62}")
GOES_ALONG = ("framework", "strategy", "total_gpus", "walltime", "model", "entry", "args", "setup", "variables")
# What the script itself tells, or the thread: not said beside it.
NOT_BESIDE = frozenset(
    ("machine", "source_machine", "total_gpus", "model", "setup", "variables", "heard", "site_words", "patches")
)
SAID_BESIDE = tuple(one.name for one in fields(JobRequest) if one.name not in NOT_BESIDE)


BASH = "#!/bin/bash\n"
# What stands for a condition that is not turned into bash (dialects.yaml).
CONDITION = "csh_condition"
# What runs a program in its project's environment, with its own options.
PROJECT_RUN = re.compile(
    r"\b(?:uv|pixi|poetry|pipenv|hatch|rye|conda|mamba|micromamba) run"
    r"(\s+--?[\w-]+(=\S+|\s+(?!python|torchrun|accelerate|deepspeed|-)[\w./@-]+(?=\s))?)*(?=\s)"
)
# Arguments of Lightning's trainer, as its command line and Hydra take them.
OF_LIGHTNING = re.compile(r"(--)?trainer\.(devices|num_nodes|accelerator|strategy|precision)\b")
ONE_NODE = (
    "No number of nodes stands in the script (it may have been given when it was submitted): one node is taken; "
    "{} takes another."
)
SAID_ON: dict[str, str] = {
    "slurm": "`sbatch --nodes=N` or `--nodes N`", "flux": "`flux batch --nodes=N` or `--nodes N`",
    "pbs": "`--nodes N`", "lsf": "`--nodes N`",
}  # fmt: skip
ONE_BEFORE = (
    "The old script starts one process; the new launch starts {} ranks: where the program is not parallel, say so "
    "(`--strategy none`)."
)
ONE_A_NODE = (
    "The old launch starts one process a node, which has to take all of its GPUs itself, and so does the new one; for "
    "one a GPU say how many processes a node gets."
)
ELSEWHERE = (
    "line {} starts the training with words that stand elsewhere (in a function, a list, a text that the script writes "
    "or submits): write the launch out there, or give that text as the script"
)


@dataclass(frozen=True, slots=True)
class Ported:
    """The new script with all that led to it. notes are for a person: what to look at before submitting."""

    source: ReadScript
    record: ScriptRecord
    part: UserPart
    plan: LaunchPlan
    bundle: LaunchBundle
    notes: tuple[PortNote, ...]
    account: tuple[AccountLine, ...] = ()


@dataclass(frozen=True, slots=True)
class OldJob:
    """The old script as it is understood. source: its machine, as far as known."""

    script: ReadScript
    record: ScriptRecord
    source: Cluster | None
    part: UserPart

    @property
    def line(self) -> int:
        """Where the training starts."""
        return self.script.training.line if self.script.training else 0

    @property
    def starts_one(self) -> bool:
        """Whether the old script starts one plain Python process."""
        return starts_one(self.script) and is_plain_python(self.record, self.part)


def port(text: str, target: Cluster, changes: JobRequest | None = None) -> Ported | Refusal:
    """The script for the target machine. `changes` holds what was said beside (account, queue, nodes, ...).

    Raises InputError where the text is no script, starts no training program, or leaves something open.
    """
    job = understood(readable(text), target)
    beside = changes or JobRequest()
    request, notes = wanted(job, target, beside)
    decided, more = decide(request, job, target, beside)
    if isinstance(decided, Refusal):
        return decided
    decided, told = with_own_part(decided, request, job, target, beside.args is not None)
    notes += (*conditions_left(job.script), *more, *told, *lost(job.script, job.record, target, decided))
    from templates.render import render

    own = own_request(job.record, job.part)
    old = replace(decided, args=split(own.args), user_variables=job.part.variables, user_setup=job.part.files)
    placed = in_place(
        OldScript(job.script, job.source, job.part, old, (job.record.gpus_per_node, own.total_gpus)),
        NewPlan(
            decided,
            target,
            said=beside.variables,
            args=beside.args is not None,
            boxed=bool(request.container),
            method_said=bool(beside.strategy or beside.framework),
            gpus=(request.gpus_per_node or 0) if request.processes_per_node == 1 else 0,
        ),
    )
    if placed is None:
        raise InputError(ELSEWHERE.format(job.line))
    bundle = replace(render(decided), script=placed.text)
    decided = replace(decided, user_setup=(), args=tuple(map(hide, decided.args)))
    return Ported(job.script, job.record, job.part, decided, bundle, (*notes, *placed.notes), placed.account)


def readable(text: str) -> ReadScript:
    """The script as bash reads it. Raises InputError where it is a program in another language or still a template."""
    script = read_script(text)
    launch = script.text.split("\n")[script.training.line - 1] if script.training else ""
    if gap := GAP.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", launch)):
        raise InputError(f"the launch still holds the placeholder {gap[0]}: put your own there first")
    if script.language in NOT_SHELL.values():
        language = script.language[0].upper() + script.language[1:]
        raise InputError(f"this is a {language} program, not a launch script; give the script that starts it")
    if script.language == "bash":
        return script
    # What is written is a bash script: the old one's lines are read as bash, line for line.
    lines = to_bash(text, script.language)
    return read_script(BASH + (lines.partition("\n")[2] if text.startswith("#!") else lines))


def conditions_left(script: ReadScript) -> tuple[PortNote, ...]:
    """What a shell of another kind asked and was not put into bash's words."""
    lines = [str(n) for n, row in enumerate(script.text.split("\n"), 1) if CONDITION in row]
    if not lines:
        return ()
    says = f"line {', '.join(lines)}: a condition of the old script's shell stands as `{CONDITION}`: write it for bash."
    return (PortNote(0, says),)


def understood(script: ReadScript, target: Cluster) -> OldJob:
    """Raises InputError where no training program is seen."""
    record = record_of(script)
    source = catalogue().find(record.machine) if record.machine else None
    part = user_part(script, source, target)
    if part is None:
        raise InputError(
            "no training program can be seen in the script; name it with --entry, or give the file it runs"
        )
    return OldJob(script, record, source, part)


def wanted(job: OldJob, target: Cluster, beside: JobRequest) -> tuple[JobRequest, tuple[PortNote, ...]]:
    """The request for the new machine: what the script has, what it was started like, and what was said beside it."""
    if job.record.strategy is None and beside.strategy is None and job.starts_one:
        # One process was started, whatever GPUs its job had: more of them would each do the whole work.
        beside = replace(beside, strategy="none")
    request, notes = request_for(job.record, job.part, target, beside)
    output, mail = request.output or own_output(job.script, target), request.mail or own_mail(job.script)
    request, one_each = started_alike(replace(request, output=output, mail=mail), job, target)
    request, boxed = own_container(job.script, job.record, (job.source, target), request)
    return request, (*notes, *one_each, *boxed)


def decide(
    request: JobRequest, job: OldJob, target: Cluster, beside: JobRequest
) -> tuple[LaunchPlan | Refusal, tuple[PortNote, ...]]:
    """The plan, and what of its size and launch is another than the old one's."""
    said, notes = counts_said(beside), list[PortNote]()
    decided, more = planned(request, target, not said)
    no_mail = isinstance(decided, Refusal) and any(way.change == (("mail", None),) for way in decided.instead)
    if isinstance(decided, Refusal) and no_mail and not beside.mail:
        notes.append(PortNote(0, f"{decided.says} The script's mail is left out."))
        decided, more = planned(replace(request, mail=None), target, not said)
    if isinstance(decided, Refusal):
        return decided, ()
    decided, in_its_project = in_front(decided, job.script, request)
    notes += in_its_project
    if decided.ranks > 1 and job.starts_one:
        notes.append(PortNote(job.line, ONE_BEFORE.format(decided.ranks)))
    if decided.framework == "lightning" and job.record.nodes not in (None, decided.nodes):
        counts = f"num_nodes={decided.nodes} and devices={decided.ranks_per_node}"
        notes.append(PortNote(0, f"Lightning's Trainer needs {counts} in the program."))
    asked = (request.nodes or 0) * (request.gpus_per_node or 0)
    told = job.record.nodes or job.record.total_gpus
    kept = decided.ranks == asked or (request.processes_per_node and decided.nodes == request.nodes)
    if told and not said and kept:
        notes += layout_note(request, job.record, target)
    return decided, (*notes, *more)


def with_own_part(
    decided: LaunchPlan, request: JobRequest, job: OldJob, target: Cluster, said_args: bool
) -> tuple[LaunchPlan, tuple[PortNote, ...]]:
    """The plan with the person's program, names, sizes and threads, and with the global batch that they had."""
    own, entry = own_request(job.record, job.part), job.part.entry
    args, counted = counted_args(split(request.args), job.record, decided)
    late = () if request.args != own.args else job.part.late
    program = job.script.program
    if program and program.kind == "script" and decided.entry_kind == "program" and entry[:1] == "$":
        decided = replace(decided, entry_kind="script")  # Python ran what a variable names
    decided = own_sizes(own_choices(job.script, replace(decided, args=args, late_args=late), request.job_name))
    decided, threads = own_threads(decided, target)
    before = None if said_args or request.processes_per_node else own.total_gpus
    decided, batch = keep_batch(replace(decided, user_setup=job.part.files), before)
    return decided, (*batch, *threads, *counted)


def starts_one(script: ReadScript) -> bool:
    """Whether nothing starts more than one process: no launcher anywhere, or one that is told, or left at, one task."""
    if any(layer.kind == "spawner" for one in script.commands for layer in one.chain.layers):
        return False
    kinds = {layer.kind for layer in script.layers}
    if "parallel" not in kinds:
        return not any(layer.kind == "parallel" for one in script.commands for layer in one.chain.layers)
    told = [plain(value) for layer in script.layers if (value := layer.role("tasks")) is not None]
    asked = script.active.get("ntasks")
    return "remote" not in kinds and (told == ["1"] or (not told and asked is not None and asked.value == "1"))


def in_front(decided: LaunchPlan, script: ReadScript, request: JobRequest) -> tuple[LaunchPlan, tuple[PortNote, ...]]:
    """The launch with what the person puts in front of the program: the old container's own options, `uv run`."""
    wrapper = decided.launch.wrapper
    if request.container and (found := re.match(r"(apptainer|singularity) exec ", wrapper)):
        own = own_options(script, found[1])
        wrapper = f"{found[0]}{own} {wrapper[found.end() :]}" if own else wrapper
    notes: tuple[PortNote, ...] = ()
    if script.training and (project := PROJECT_RUN.search(" ".join(script.training.argv))):
        wrapper = project[0].strip()
        says = f"`{wrapper}` runs the program in its project's environment, which has to be made for these nodes"
        notes = (PortNote(script.training.line, f"{says}; the software above does not reach into it."),)
    return replace(decided, launch=replace(decided.launch, wrapper=wrapper)), notes


def started_alike(request: JobRequest, job: OldJob, target: Cluster) -> tuple[JobRequest, tuple[PortNote, ...]]:
    """A task of the launcher for each process where the old launch had one, and one process a node where it started
    that many on nodes of several GPUs: a program may read the scheduler's ranks, or start processes itself."""
    launch = Subject(job.script.text, job.script, job.source).launch
    if request.strategy == "none" or launch is None or launch.spawner is not None:
        return request, ()
    by_ssh = launch.parallel is None and launch.remote and launch.program.kind in ("shell", "executable")
    if (launch.parallel is None and not by_ssh) or job.record.framework not in (None, "pytorch"):
        return request, ()
    own = next((one.launcher for one in target.launch["pytorch"] if one.launcher != "none"), None)
    request = replace(request, launcher=request.launcher or own)
    lone = (launch.per_node == 1 or by_ssh) and not launch.open and (job.record.gpus_per_node or 2) > 1
    if not lone or request.processes_per_node:
        return request, ()
    return replace(request, processes_per_node=1), (PortNote(launch.line, ONE_A_NODE),)


def is_plain_python(record: ScriptRecord, part: UserPart) -> bool:
    """Whether Python was started by itself, by nothing that makes ranks of it."""
    return record.framework in (None, "pytorch", "lightning", "hf-trainer", "jax", "tensorflow") and (
        part.is_module or part.entry.endswith(".py")
    )


def carried_over(text: str) -> JobRequest:
    """The part of a request that a script gives, for a conversation that goes on. Raises InputError as `port` does."""
    script = read_script(text)
    record = record_of(script)
    source = catalogue().find(record.machine) if record.machine else None
    machine = source or next(iter(catalogue().clusters.values()))
    part = user_part(script, source, machine)
    if part is None:
        raise InputError("no training program can be seen in the script; paste the script that starts it")
    return own_request(record, part)


def own_request(record: ScriptRecord, part: UserPart) -> JobRequest:
    """What the script says about the job itself; GPUs go along as a total.

    Raises InputError for a job that no launch of ours starts: without GPUs, and no Python.
    """
    total = record.total_gpus
    is_python = part.is_module or part.entry.endswith(".py")
    if not (total or record.gpus_per_node or record.framework or is_python):
        raise InputError(NO_GPUS.format(part.entry))
    by_words = "horovod" if record.launcher == "horovodrun" else None
    if any(OF_LIGHTNING.match(word) for word in part.args):
        by_words = "lightning"
    if record.nodes and record.gpus_per_node:
        total = record.nodes * record.gpus_per_node
    known = next((name for name in FRAMEWORKS if name == (record.framework or by_words)), None)
    return JobRequest(
        source_machine=record.machine,
        framework=known,
        strategy=next((name for name in STRATEGIES if name == record.strategy), None),
        total_gpus=total,
        walltime=record.walltime,
        model=record.model,
        entry=f"-m {part.entry}" if part.is_module else part.entry,
        args=shlex.join(re.sub(r"\s+", " ", word) for word in part.args) or None,
        variables=part.variables,
        heard=tuple(Heard(name, "script", "the script") for name in GOES_ALONG if getattr(record, name, None)),
    )


def request_for(
    record: ScriptRecord, part: UserPart, target: Cluster, changes: JobRequest
) -> tuple[JobRequest, tuple[PortNote, ...]]:
    """The request for the new machine: the script's own part, then what was said beside it."""
    if record.framework is not None and record.framework not in FRAMEWORKS and changes.framework is None:
        raise InputError(f"the script uses {record.framework}: scripts are written for {', '.join(FRAMEWORKS)}")
    notes: tuple[PortNote, ...] = ()
    said = {name: value for name in SAID_BESIDE if (value := getattr(changes, name)) not in (None, ())}
    if record.machine == target.id:
        queue = record.queue if record.queue and target.queue(record.queue) else None
        said = {"account": record.account, "queue": queue} | said
    request = replace(own_request(record, part), machine=target.id, **said)
    anew = {one.name for one in changes.variables}
    kept = tuple(one for one in request.variables if one.name not in anew)
    request = replace(request, variables=(*kept, *changes.variables))
    if request.strategy is None:
        usual = usual_strategy(request.framework)
        request = replace(request, strategy=usual)
        says = f"The script does not name its strategy: {usual} assumed; the program decides, the launch is the same."
        notes = (PortNote(0, says),)
    if counts_said(changes):
        return replace(request, total_gpus=None), notes
    if request.strategy == "none" and request.total_gpus:
        # One process has the GPUs of one node, however many it was given.
        each = min(request.total_gpus, devices_of(target, None))
        return replace(request, nodes=1, gpus_per_node=each, total_gpus=None), notes
    if request.total_gpus is None:
        if record.nodes:
            return replace(request, nodes=record.nodes), notes
        return one_node(request, record, target, notes)
    return spread_evenly(request, target), notes


def one_node(
    request: JobRequest, record: ScriptRecord, target: Cluster, notes: tuple[PortNote, ...]
) -> tuple[JobRequest, tuple[PortNote, ...]]:
    """One node where the script tells none, with as many GPUs as it took of each."""
    there, here = record.gpus_per_node, devices_of(target, None)
    says = ONE_NODE.format(SAID_ON[target.scheduler])
    if there and there > here:
        says += f" The old script takes {there} GPUs of a node, {target.title}'s have {here}."
    each = min(there, here) if there else None
    return replace(request, nodes=1, gpus_per_node=each), (*notes, PortNote(0, says))


def counts_said(changes: JobRequest | None) -> bool:
    return changes is not None and bool(changes.nodes or changes.gpus_per_node)


def usual_strategy(framework: str | None) -> Strategy:
    return "zero2" if framework == "deepspeed" else "ddp"


def split(args: str | None) -> tuple[str, ...]:
    return tuple(shlex.split(args or ""))


def counted_args(
    args: tuple[str, ...], record: ScriptRecord, decided: LaunchPlan
) -> tuple[tuple[str, ...], tuple[PortNote, ...]]:
    """Arguments that tell the program its nodes and GPUs (`--devices 4`) follow the new counts."""
    made, notes, i = list(args), [], 0
    while i < len(made):
        name, equals, value = made[i].partition("=")
        following = i + 1 < len(made) and not equals
        at = i + 1 if following else i
        old = made[at] if following else value
        new = new_count(name, old, record, decided)
        if new is not None and (equals or following) and str(new) != old:
            made[at] = f"{name}={new}" if equals else str(new)
            told = "its nodes and GPUs" if str(new).isdigit() else f"the word for {decided.gpu_model} GPUs"
            notes.append(PortNote(0, f"{name} {old} becomes {new}: the program is told {told}."))
        i = at + 1 if new is not None and following else i + 1
    return tuple(made), tuple(notes)


def new_count(name: str, value: str, record: ScriptRecord, decided: LaunchPlan) -> int | str | None:
    """The new value for an option that holds the old counts, library or device; None for any other option."""
    if LIBRARY_OPTIONS.fullmatch(name) and value in ("nccl", "xccl", "ccl"):
        return value if decided.backend == "xpu" and value == "ccl" else LIBRARIES[decided.backend]
    if KIND_OPTIONS.fullmatch(name) and (kind := KIND.fullmatch(value)):
        return ("xpu" if decided.backend == "xpu" else "cuda") + kind[2]
    if WORLD_OPTIONS.fullmatch(name) and record.nodes and record.gpus_per_node:
        counted = {str(record.nodes): decided.nodes, str(record.nodes * record.gpus_per_node): decided.ranks}
        return counted.get(value)
    if NODE_OPTIONS.fullmatch(name) and (value == str(record.nodes) or value.startswith("$")):
        return decided.nodes
    if DEVICE_OPTIONS.fullmatch(name) and (value == str(record.gpus_per_node) or value.startswith("$")):
        return decided.ranks_per_node
    return None


def own_choices(script: ReadScript, decided: LaunchPlan, name: str | None) -> LaunchPlan:
    """The job's name, accelerate's configuration and its precision are the user's, where the script tells them. name:
    another one that was asked for."""
    directive = script.active.get("job-name") or script.active.get("jobname")
    form = NAME_OF_PBS if decided.scheduler == "pbs" else JOB_NAME
    if directive is not None:
        directive = replace(directive, value=directive.value.partition("[")[0])  # LSF's array stands behind it
    if name is None and directive is not None and form.fullmatch(directive.value):
        decided = replace(decided, job_name=directive.value)
    decided = replace(decided, config_file=own_config(script) if decided.launch.workers == "accelerate" else "")
    precision = precision_of(script)
    return replace(decided, mixed_precision=precision) if precision in ("bf16", "fp16", "no") else decided  # type: ignore[arg-type]


def own_output(script: ReadScript, target: Cluster) -> str | None:
    """Where the script has its output written, in the words of the same scheduler; a full path is the old machine's."""
    directive = script.active.get("output")
    if directive is None or not OUTPUT.fullmatch(directive.value) or directive.value.endswith("/"):
        return None
    if directive.scheduler != target.scheduler and re.search(r"[%{]", directive.value):
        return None
    return directive.value


def own_threads(decided: LaunchPlan, target: Cluster) -> tuple[LaunchPlan, tuple[PortNote, ...]]:
    """OMP_NUM_THREADS of the old machine where a rank has fewer cores on the new one."""
    told = next((one for one in decided.user_variables if one.name == "OMP_NUM_THREADS"), None)
    queue = target.queue(decided.queue or "") or target.default_queue
    if not decided.on_gpus:
        return decided, ()
    cpu = target.node_type(queue.node_types[0]).cpu
    cores = (cpu.cores or 0) // max(1, decided.ranks_per_node)
    if told is None or not told.value.isdigit() or not 0 < cores < int(told.value):
        return decided, ()
    changed = tuple(replace(one, value=str(cores)) if one is told else one for one in decided.user_variables)
    says = f"OMP_NUM_THREADS {told.value} becomes {cores}: {cpu.cores} cores for {decided.ranks_per_node} ranks."
    return replace(decided, user_variables=changed), (PortNote(0, says),)


def own_sizes(decided: LaunchPlan) -> LaunchPlan:
    """Tensor and pipeline sizes that the program is told already are the user's, not the plan's default."""
    sizes = {"--tensor-model-parallel-size": 1, "--pipeline-model-parallel-size": 1}
    values = {f"${one.name}": default_of(one) for one in decided.user_variables}
    words = [part for word in decided.args for part in word.split("=", 1)]
    words = [values.get(word.replace("{", "").replace("}", ""), word) for word in words]
    told = {name: int(after) for name, after in pairwise(words) if name in sizes and after.isdigit()}
    if not told:
        return decided
    sizes |= told
    return replace(
        decided,
        tensor_parallel=sizes["--tensor-model-parallel-size"],
        pipeline_parallel=sizes["--pipeline-model-parallel-size"],
        assumptions=tuple(a for a in decided.assumptions if a.field != "parallel sizes"),
    )
