"""Every type that travels between folders.

Checkpoints store a class by its module path: this file never moves. All are frozen dataclasses; what is read from
files (clusters, signatures) has models of its own beside its loader.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scheduler = Literal["slurm", "pbs", "lsf", "flux"]
Framework = Literal["pytorch", "deepspeed", "accelerate", "lightning", "megatron"]
# Frameworks that people name and no template serves: heard, so that the refusal can say so.
UnservedFramework = Literal["jax", "tensorflow", "other"]
Strategy = Literal["ddp", "fsdp", "zero1", "zero2", "zero3", "tp", "pp", "3d", "none"]
Intent = Literal["generate", "port", "diagnose", "question", "smalltalk", "other"]
Origin = Literal["said", "script", "answer"]
Severity = Literal["error", "warning", "info"]
Backend = Literal["cuda", "rocm", "xpu"]

SCHEDULERS: tuple[Scheduler, ...] = ("slurm", "pbs", "lsf", "flux")
FRAMEWORKS: tuple[Framework, ...] = ("pytorch", "deepspeed", "accelerate", "lightning", "megatron")
STRATEGIES: tuple[Strategy, ...] = ("ddp", "fsdp", "zero1", "zero2", "zero3", "tp", "pp", "3d", "none")


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
    user's own lines and exports, carried over from
    a script.
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


@dataclass(frozen=True, slots=True)
class Understood:
    """One message, read: the intent, the request so far, and what a careful assistant still asks for, in order."""

    intent: Intent
    request: JobRequest
    missing: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class LaunchBundle:
    """What is handed over: the script, the files beside it, and the command that submits it."""

    name: str
    script: str
    files: tuple[SideFile, ...]
    submit: str


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


PassageKind = Literal["fact", "card", "doc", "issue", "ticket", "web"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that can be found and cited.

    source is an address or a path; date is ISO, or empty; path are the headings above it; score counts where it was
    found (higher is better). machine, scheduler and framework are empty where it holds for any.
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


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked next: the request's field, the words, and the choices that this machine offers (may be empty)."""

    field: str
    text: str
    options: tuple[str, ...] = ()


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
class LaunchPlan:
    """What was decided; nothing is open. The only thing that a template is given.

    ranks_per_node counts devices as the framework sees them: one rank each. entry is a path, a module (entry_kind
    `module`) or a program that is not Python. Shell text from the facts: preamble, setup, rendezvous_*, launch.rank and
    launch.local_rank, settings and variables with expand. Everything else is quoted when rendered. stage is the ZeRO
    stage, None without ZeRO. late_args are arguments that name what the rendezvous sets (MASTER_ADDR, WORLD_SIZE).
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
    mixed_precision: Literal["bf16", "fp16"] = "bf16"
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

    @property
    def ranks(self) -> int:
        """The world size."""
        return self.nodes * self.ranks_per_node


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text that came beside a message, kept in a file: its name as shown, its path, and how many lines it has."""

    name: str
    path: str
    lines: int


@dataclass(frozen=True, slots=True)
class Say:
    """Words of the assistant, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Made:
    """A script that was made, and all that a person should read with it.

    changes and diff tell what differs from the script before (empty for the first one; no diff for another machine).
    assumptions and notes are those not said with that script already; a placeholder account is always among them.
    """

    bundle: LaunchBundle
    title: str
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    diff: str = ""


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


Said = Say | Question | Made | Refusal | Diagnosis
"""What one turn may answer, part by part."""
