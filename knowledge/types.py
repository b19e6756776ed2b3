"""Every type that travels between folders.

Checkpoints store a class by its module path: this file never moves. All are frozen dataclasses; what is read from
files (clusters, signatures) has models of its own beside its loader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from knowledge.document import Document
from knowledge.job_parts import (
    ArgumentEdit,
    ContainerRuntime,
    Dependency,
    EnvironmentKind,
    JobArray,
    LimitSignal,
    Mail,
    Patch,
    Precision,
    Program,
    Starter,
)

Scheduler = Literal["slurm", "pbs", "lsf", "flux"]
Framework = Literal[
    "pytorch",
    "deepspeed",
    "accelerate",
    "lightning",
    "megatron",
    "hf-trainer",
    "torchtitan",
    "jax",
    "tensorflow",
    "horovod",
    "ray",
    "vllm",
    "sglang",
]
# Frameworks that people name and no template serves: heard, so that the refusal can say so.
UnservedFramework = Literal["tgi", "other"]
Strategy = Literal["ddp", "fsdp", "zero1", "zero2", "zero3", "tp", "pp", "3d", "none"]
Intent = Literal["generate", "port", "diagnose", "question", "smalltalk", "other"]
Origin = Literal["said", "script", "answer"]
Severity = Literal["error", "warning", "info"]
Backend = Literal["cuda", "rocm", "xpu"]

SCHEDULERS: tuple[Scheduler, ...] = get_args(Scheduler)
FRAMEWORKS: tuple[Framework, ...] = get_args(Framework)
# These serve models; knowledge/served_models.yaml tells how each is told things.
SERVERS: tuple[Framework, ...] = ("vllm", "sglang")
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
# How each scheduler is called, and what its directives begin with.
SCHEDULER_TITLES: Mapping[str, str] = {"slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "flux": "Flux"}
DIRECTIVE_MARKS: Mapping[Scheduler, str] = {"slurm": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "flux": "# flux:"}


@dataclass(frozen=True, slots=True)
class Heard:
    """Where one value of a request came from: the field, the words it was read from, and who gave them."""

    field: str
    origin: Origin
    words: str


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What was asked. None means: not said. Nothing here is a default.

    machine and source_machine are catalogue ids, or the name in lower case where the catalogue has none; walltime is
    HH:MM:SS (hours may pass 99); gpus_per_node counts what the person counted (cards or tiles: planning settles which);
    total_gpus only where a total was said; node_type is an id of the machine's facts. setup and variables are the
    user's own lines and exports, carried over from a script.

    The parts from job_name on are what people change of a script (knowledge/job_parts.py holds the larger ones):
    memory_gb is a node's, 0 for all of it; processes_per_node where not one a GPU; nodelist and exclude_nodes are host
    names; extra_directives stand as the person wrote them; modules come after the site's in this order, NAME/VERSION in
    the place of another version of NAME; before and after are commands on the first node; then and beside are further
    programs of the job; stage_in are paths copied to each node's own disk; chain is a number of jobs one after another
    (a dependency `afterok` that names no job: each only if the one before ended well);
    spare_nodes: the nodes are tried in pairs first, and so many are asked for beside those that train (0: only tried);
    least_nodes: the job goes on with so many when others die; config_file: the person's own configuration of the
    framework (Accelerate's YAML, DeepSpeed's JSON), in the place of one written for them; patches: changes of the text
    that no field holds.
    site_words: what was told of a machine that nobody described.
    """

    machine: str | None = None
    source_machine: str | None = None
    framework: Framework | UnservedFramework | None = None
    strategy: Strategy | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    walltime: str | None = None
    model: str | None = None
    entry: str | None = None
    account: str | None = None
    queue: str | None = None
    args: str | None = None
    environment: str | None = None
    container: str | None = None
    setup: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    heard: tuple[Heard, ...] = ()
    node_type: str | None = None
    job_name: str | None = None
    output: str | None = None
    memory_gb: int | None = None
    cpus_per_task: int | None = None
    processes_per_node: int | None = None
    launcher: Starter | None = None
    cpu_only: bool | None = None
    array: JobArray | None = None
    dependency: Dependency | None = None
    chain: int | None = None
    requeue: bool | None = None
    signal: LimitSignal | None = None
    mail: Mail | None = None
    exclusive: bool | None = None
    reservation: str | None = None
    constraint: str | None = None
    begin: str | None = None
    nodelist: tuple[str, ...] = ()
    exclude_nodes: tuple[str, ...] = ()
    extra_directives: tuple[str, ...] = ()
    environment_kind: EnvironmentKind | None = None
    modules: tuple[str, ...] = ()
    modules_removed: tuple[str, ...] = ()
    modules_only: bool | None = None
    source_files: tuple[str, ...] = ()
    container_runtime: ContainerRuntime | None = None
    binds: tuple[str, ...] = ()
    stage_in: tuple[str, ...] = ()
    stage_environment: bool | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    then: tuple[Program, ...] = ()
    beside: tuple[Program, ...] = ()
    argument_edits: tuple[ArgumentEdit, ...] = ()
    first_run: bool | None = None
    spare_nodes: int | None = None
    least_nodes: int | None = None
    offline: bool | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    site_words: str = ""
    context_parallel: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    gradient_accumulation: int | None = None
    precision: Precision | None = None
    offload_optimizer: bool | None = None
    offload_parameters: bool | None = None
    activation_checkpointing: bool | None = None
    sequence_length: int | None = None
    port: int | None = None
    config_file: str | None = None
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True, slots=True)
class Understood:
    """One message, read: the intent, the request so far, and what a careful assistant still asks for, in order.

    left: the pieces of the message that found no place in the request, in the person's words; notes: readings that may
    be another's, to be said; doubtful: two readers differ, or none is sure, so it is said before it is done; rival:
    the request as the other reader has it, where it is a change as well.
    """

    intent: Intent
    request: JobRequest
    missing: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    doubtful: bool = False
    rival: JobRequest | None = None


@dataclass(frozen=True, slots=True)
class Assumption:
    """A default that planning took: which field, what value, why, and the page that says so (or None: our own rule)."""

    field: str
    value: str
    why: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a machine cannot do: one sentence, its source, and the nearest things that it can (field -> value)."""

    says: str
    why: str
    source: str | None = None
    instead: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """A way round a refusal: words for the person, and the request fields that would take it."""

    says: str
    change: tuple[tuple[str, str | int | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable of the script, with the reason it is there. value is text: quoted when rendered."""

    name: str
    value: str
    why: str = ""
    expand: bool = False


@dataclass(frozen=True, slots=True)
class Directive:
    """One scheduler directive, filled in: the text after `#SBATCH `, and a comment where it is not obvious."""

    text: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file beside the script: its name (no folders) and its text."""

    name: str
    text: str


DIRECTIVE = re.compile(r"(?m)^#(?:SBATCH|PBS|BSUB|PJM|COBALT|\$|[^\S\n]?flux:)")


@dataclass(frozen=True, slots=True)
class LaunchBundle:
    """What is handed over: the script, the files beside it, and the command that submits it."""

    name: str
    script: str
    files: tuple[SideFile, ...]
    submit: str

    @property
    def is_excerpt(self) -> bool:
        """Whether it is some lines out of a job's script, which no scheduler takes: no command, or no first line and no
        directive of a scheduler that needs none."""
        if not any(row.strip() and not row.lstrip().startswith("#") for row in self.script.splitlines()):
            return True
        told = DIRECTIVE.search(self.script)
        return not self.script.startswith("#!") and (told is None or told[0] == "#SBATCH")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a check found. line counts from 1 (0: the whole script); change: plan fields that would cure it."""

    rule: str
    severity: Severity
    line: int
    says: str
    why: str
    source: str | None = None
    change: tuple[tuple[str, str | int | None], ...] = ()


@dataclass(frozen=True, slots=True)
class LogEvidence:
    """A line of the log: its number in the original (from 1), its text without control characters, and its rank."""

    line: int
    text: str
    rank: int | None = None
    file: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Considered:
    """Another cause that was weighed, and why it is not the answer."""

    cause: str
    why_not: str
    evidence: LogEvidence | None = None


# What a diagnosis says where it names no cause.
NO_CAUSE = ("no-failure", "unknown")
# How a step of a diagnosis begins that is a sum of the log's numbers, and nothing to try.
BY_NUMBERS = "By the log's numbers"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a job failed. cause is an id of causes.yaml; confidence is 0 to 1; change holds plan fields that cure it."""

    cause: str
    says: str
    confidence: float
    evidence: tuple[LogEvidence, ...] = ()
    fix: tuple[str, ...] = ()
    change: tuple[tuple[str, str | int | None], ...] = ()
    considered: tuple[Considered, ...] = ()
    send_next: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    captured: tuple[tuple[str, str], ...] = field(default=())
    facts: tuple[tuple[str, str], ...] = field(default=())
    """What else the log tells that the steps need: numbers, paths, ranks, times."""
    signature: str = ""
    """The id of the signature that told the cause; empty where none did."""
    noticed: tuple[str, ...] = field(default=())
    """What the log tells of the run beside the cause, failed or not: network, steps, use of the GPUs."""


@dataclass(frozen=True, slots=True)
class ToldStatement:
    """One thing that an answer said. about: what it was said of; source: the page that bears it (empty: none)."""

    text: str
    about: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """What is done on a yes: what it does, its price, and the request's fields, the whole request, the script, or the
    patches of it. unasked: nobody ordered it in any words; ordered: words did so plainly, though not all were placed.
    """

    says: str
    price: str = ""
    change: tuple[tuple[str, str | int | None], ...] = ()
    script: str = ""
    patches: tuple[Patch, ...] = ()
    request: JobRequest | None = None
    unasked: bool = False
    ordered: bool = False


PassageKind = Literal["fact", "card", "doc", "issue", "ticket", "web"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that can be found and cited.

    source is an address or a path; date is ISO, or empty; path are the headings above it; score counts where it was
    found (higher is better). machine, scheduler and framework are empty where it holds for any. asks: ways to ask for
    it, by which it is found too.
    """

    text: str
    title: str
    source: str
    date: str = ""
    path: tuple[str, ...] = ()
    score: float = 0.0
    kind: PassageKind = "doc"
    machine: str = ""
    scheduler: str = ""
    framework: str = ""
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked next: the request's field, the words, and the choices that this machine offers (may be empty).

    help: what the choices mean, which one is usual, and how to leave it to us.
    """

    field: str
    text: str
    options: tuple[str, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """How the workers start: the outer launcher, and what each of its tasks is (knowledge/cluster.py, LaunchForm).

    rank and local_rank are shell text that a task expands; options are filled in; cpus_per_task None: not known.
    """

    launcher: str
    workers: str
    tasks_per_node: int
    cpus_per_task: int | None = None
    options: tuple[str, ...] = ()
    rank: str = ""
    local_rank: str = ""
    wrapper: str = ""
    python: str = "python"
    torchrun: str = "torchrun"
    torchrun_options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedProgram:
    """A further program of a job, decided: nodes and ranks on each are its part; devices are its GPUs' numbers there.

    devices "": all of them. helper: it is ended with the main program. wait_port: it starts when that port answers.
    """

    entry: str
    entry_kind: Literal["script", "module", "program"]
    args: tuple[str, ...]
    nodes: int
    ranks_per_node: int
    devices: str = ""
    helper: bool = False
    wait_port: int | None = None


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What was decided; nothing is open. The only thing that a template is given.

    ranks_per_node counts devices as the framework sees them: one rank each. entry is a path, a module (entry_kind
    `module`) or a program that is not Python. Shell text from the facts: preamble, setup, rendezvous_*, launch.rank and
    launch.local_rank, settings and variables with expand. Everything else is quoted when rendered. stage is the ZeRO
    stage, None without ZeRO. late_args are arguments that name what the rendezvous sets (MASTER_ADDR, WORLD_SIZE).
    network_cards: of a node, 0 where not known. config_file: the person's own one of the
    framework (Accelerate's YAML, DeepSpeed's JSON), empty where it is written for them.

    From output on: what people add (JobRequest says what each means). before and after are shell lines; then and
    beside are further programs, each with its own words in `args`; stage_in goes to node_disk (shell text) on every
    node; files are written beside the script; submit_options stand on the submitting command; jobs follow this one, and
    jobs_before have to end well before it.
    """

    cluster: str
    title: str
    as_of: str
    scheduler: Scheduler
    submit: str
    shebang: str
    job_name: str
    framework: Framework
    strategy: Strategy
    node_type: str
    gpu_model: str
    backend: Backend
    nodes: int
    ranks_per_node: int
    counting: str
    queue: str
    walltime: str
    account: str
    directives: tuple[Directive, ...]
    launch: Launch
    rendezvous_host: str
    rendezvous_port: str
    entry: str
    entry_kind: Literal["script", "module", "program"] = "script"
    args: tuple[str, ...] = ()
    stage: int | None = None
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    mixed_precision: Literal["bf16", "fp16", "fp8", "no"] = "bf16"
    rendezvous_lines: tuple[str, ...] = ()
    preamble: tuple[str, ...] = ()
    settings: tuple[Variable, ...] = ()
    setup: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    user_setup: tuple[str, ...] = ()
    user_variables: tuple[Variable, ...] = ()
    late_args: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    output: str = ""
    array: JobArray | None = None
    chain: int = 1
    chain_kind: Literal["afterany", "afterok"] = "afterany"
    requeue: bool = False
    signal: LimitSignal | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    then: tuple[PlannedProgram, ...] = ()
    beside: tuple[PlannedProgram, ...] = ()
    stage_in: tuple[str, ...] = ()
    node_disk: str = ""
    broadcast: tuple[str, ...] = ()
    files: tuple[SideFile, ...] = ()
    first_run: bool = False
    network_cards: int = 0
    spare_nodes: int | None = None
    least_nodes: int | None = None
    submit_options: str = ""
    output_folder: str = ""
    gradient_accumulation: int = 1
    micro_batch: int = 1
    activation_checkpointing: bool = False
    offload: tuple[str, ...] = ()
    jobs: tuple[LaunchPlan, ...] = ()
    jobs_before: tuple[LaunchPlan, ...] = ()
    config_file: str = ""

    @property
    def ranks(self) -> int:
        """The world size."""
        return self.nodes * self.ranks_per_node

    @property
    def on_gpus(self) -> bool:
        """Whether the job has GPUs. Without any, framework, strategy and backend say nothing."""
        return bool(self.gpu_model)

    @property
    def asks_server(self) -> tuple[PlannedProgram, ...]:
        """The programs that ask the job's own server of a model; empty where it has none, or nobody asks it."""
        return self.then if self.serves_model else ()

    @property
    def serves_model(self) -> bool:
        """`vllm serve` or a server's own module; a program of one's own passes the sizes to the engine itself."""
        if self.entry_kind == "module":
            return self.entry.startswith(("vllm.entrypoints", "sglang.launch_server"))
        return self.entry_kind == "program" and self.entry.rpartition("/")[2] in SERVERS

    @property
    def alone(self) -> bool:
        """Whether one process is all there is: it has nobody to meet."""
        lone = self.ranks == 1 or (self.strategy == "none" and self.framework not in SERVERS)
        return self.launch.workers == "single" and lone and not (self.beside or self.late_args)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text that came beside a message, kept in a file: its name as shown, its path, and how many lines it has."""

    name: str
    path: str
    lines: int


@dataclass(frozen=True, slots=True)
class Paste:
    """One text that came with a message. name is the file's (or what it is); path is set where a file holds it."""

    name: str
    text: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """Words of the assistant, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Made:
    """A script that was made, and all that a person should read with it.

    changes and diff tell what differs from the script before (empty for the first one; no diff for another machine).
    assumptions and notes are those not said with that script already; a placeholder account is always among them.
    submit_told: the words beside it say how it is submitted, or that it is not.
    """

    bundle: LaunchBundle
    title: str
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    diff: str = ""
    submit_told: bool = False


@dataclass(frozen=True, slots=True)
class AskField:
    """A field of the request was asked for."""

    question: Question


@dataclass(frozen=True, slots=True)
class OfferChoice:
    """Ways round a refusal were offered. request: what was refused, while an earlier script stands (else None)."""

    refusal: Refusal
    request: JobRequest | None = None


@dataclass(frozen=True, slots=True)
class OfferEdit:
    """Changes or cures were offered, and are made on a yes."""

    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class OfferRows:
    """Ways of a resource plan stood in an answer: one is taken by its number, never by a bare yes."""

    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class OfferSearch:
    """A web search was offered."""

    query: str


@dataclass(frozen=True, slots=True)
class AwaitLog:
    """A failure was told without its log, and the log was asked for."""

    asked: bool = True


Pending = AskField | OfferChoice | OfferEdit | OfferRows | OfferSearch | AwaitLog
"""What the last answer left open: the next message may be the answer to it."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A script that was agreed on: what was asked, the script carried over or edited in place (own), the result."""

    request: JobRequest
    source: str = ""
    own: Paste | None = None
    plan: LaunchPlan | None = None
    bundle: LaunchBundle | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn as a model is told of it later: the person's words and the answer's. found: what tools told of facts, each
    behind its call, in short."""

    said: str
    answered: str
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grounds:
    """Items of earlier turns that a model may name again: from facts and tools, from the person's words, pasted.

    pages: the pages that its last answers cite, by their number on the thread; masked: the placeholders under which a
    server was told of names, and the names; coined: what a server's model wrote in the last turns.
    """

    known: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    pasted: tuple[str, ...] = ()
    pages: tuple[tuple[int, str], ...] = ()
    masked: tuple[tuple[str, str], ...] = ()
    coined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParkedJob:
    """Another job of the same conversation, as it was left."""

    revisions: tuple[Revision, ...]


@dataclass(frozen=True, slots=True)
class Writing:
    """A piece of an answer while a model still words it; the whole answer follows and takes its place."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """What takes time in a turn, and how far it is: done of total, 0 of 0 where nobody can know."""

    what: str
    done: int = 0
    total: int = 0


Said = Say | Question | Made | Refusal | Diagnosis | Document
"""What one turn may answer, part by part."""
